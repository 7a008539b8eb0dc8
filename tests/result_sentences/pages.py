"""The sentences of pages, and those among them that may state a result."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
APART = {"vocabulary.md"}  # defines words
HEADINGS = "registry.py"  # of the report's parts
_NUMBER = re.compile(
    r"\d+\.\d|\d %|\d of (the )?\d|\bpoints?\b|\bpercent\b"
    r"|\b(one|two|three|four|five|six|seven|eight|nine|ten|fifteen) (points|times)\b"
)
_VERDICT = re.compile(
    r"\b(helps?|helped|hurts?|inconclusive|(positive|negative) transfer|no better"
    r"|better"
    r"|worse|gains?|gained|loses?|lose|lost|beats?|reach(es)?|leads?|outperforms?"
    r"|improves?|useless|costs? \w+ points|hardly|collapses?|diverges?"
    r"|the (more|fewer|most|least)|(every|no|most|all) methods?|full length"
    r"|(costs?|adds?|gives?) (it|them|\w+ (little|nothing)|little|nothing|more|less)"
    r")\b",
    re.IGNORECASE,
)


def one_line(text: str) -> str:
    """Return text with single blanks."""
    return " ".join(text.split())


def result_pages() -> list[Path]:
    """Return the pages whose sentences may state results."""
    guides = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/guide/*.md")]
    pages = [ROOT / "README.md", *(p for p in guides if p.name not in APART)]
    report = ROOT / "src/cdspp/report"
    templates = report / "page/templates"
    texts = [*templates.rglob("*.html.j2"), templates / "prose.toml", report / HEADINGS]
    return sorted([*pages, *ROOT.glob("docs/gallery/*.py"), *texts])


def sentences(page: Path) -> Iterator[str]:
    """Yield sentences, lines of tables and lines of printed blocks of a page."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".toml":
        text = "\n\n".join(_values(tomllib.loads(text)))
    elif page.name == HEADINGS:
        parts = (
            p.value for p in ast.walk(ast.parse(text)) if isinstance(p, ast.Constant)
        )
        text = "\n\n".join(part for part in parts if " " in str(part))
    elif page.suffix == ".py":
        text = ast.get_docstring(ast.parse(text)) or ""
    if page.suffix == ".j2":
        text = re.sub(r"\{[%#].*?[%#]\}", "\n\n", text, flags=re.DOTALL)
        text = re.sub(r"</?(li|p|h\d|ul|dt|dd|figcaption|small)\b[^>]*>", "\n\n", text)
        text = re.sub(r"<[^>]*>", "", text)
    parts = re.split(r"^```([^\n]*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    for place, part in enumerate(parts):
        if place % 3 == 0:
            yield from _of_prose(part)
        elif place % 3 == 2 and parts[place - 1].strip() == "text":
            if page.name == "README.md":  # tests/test_readme.py prints them again
                continue
            yield from (one_line(line) for line in part.splitlines() if line.strip())


def _values(part: dict[str, Any] | str) -> Iterator[str]:
    for value in part.values() if isinstance(part, dict) else ():
        yield from _values(value)
    if isinstance(part, str):
        yield part


def _of_prose(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    rows = [line for line in lines if line.strip().startswith("|")]
    yield from map(one_line, rows)
    rest = "\n".join(line for line in lines if not line.strip().startswith("|"))
    for paragraph in re.split(r"\n\s*\n|^\s*(?:[*-]|\d+\.) |^#+ ", rest, flags=re.M):
        ends = r"(?<=[.!?])[*_]*\s+(?=[*_(\"]*[A-Z0-9]|`|\[)"
        yield from filter(None, re.split(ends, one_line(paragraph)))


def may_state_a_result(sentence: str) -> bool:
    """Whether a sentence has a number of a result, or a word of a verdict.

    The target of a link states nothing.
    """
    text = re.sub(r"\]\([^)]*\)", "]", sentence)
    return bool(_NUMBER.search(text) or _VERDICT.search(text))
