"""Check wording in pages and code; a part of `make lint`.

Each line that is printed is a finding; without one the exit code is 0.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "workflow", "resources", "benchmarks")
# Where the paper's own numbers are read, compared and shown.
PAPERS_OWN = "src/cdspp/paper/"
PRINTED = ("printed", "Printed")
# No agent, or a clause where a noun serves; see CONTRIBUTING.md.
PHRASES = re.compile(
    r"\b(is|are|was|were) told\b|\b(is|are) had\b|\bsays? nothing\b|\bin the making\b"
    r"|\bwhat of (it|them)\b|written as it comes|and how many could"
)


def code_files(root: Path) -> Iterator[Path]:
    """Yield the Python and Snakemake files."""
    for folder in FOLDERS:
        for suffix in ("*.py", "*.smk"):
            yield from (root / folder).rglob(suffix)


def printed_elsewhere(root: Path) -> Iterator[str]:
    """Yield uses of *printed*, a word for the numbers of the paper only."""
    for path in (root / "src/cdspp").rglob("*.py"):
        name = path.relative_to(root).as_posix()
        if name.startswith(PAPERS_OWN):
            continue
        with path.open("rb") as stream:
            for token in tokenize.tokenize(stream.readline):
                if token.type == tokenize.NAME and token.string in PRINTED:
                    place = f"{name}:{token.start[0]}: {token.string}"
                    yield f"{place}: numbers of the paper alone are printed"


def unclear_phrases(root: Path) -> Iterator[str]:
    """Yield unclear phrases in pages, code, templates and resources."""
    pages = [*root.glob("docs/*.md"), *root.glob("docs/guide/*.md"), *code_files(root)]
    pages += [*root.rglob("src/**/*.j2"), *root.glob("resources/**/*.yaml")]
    pages += [root / "README.md", root / "config.yaml"]
    for page in pages:
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for match in PHRASES.finditer(line):
                place = f"{page.relative_to(root)}:{number}"
                yield f"{place}: {match.group()!r}: name the agent, or use a noun"


def findings(root: Path) -> list[str]:
    """Return a line for each finding."""
    return [*printed_elsewhere(root), *unclear_phrases(root)]


if __name__ == "__main__":
    found = findings(ROOT)
    print("\n".join(found) or "No unclear phrase.")
    sys.exit(bool(found))
