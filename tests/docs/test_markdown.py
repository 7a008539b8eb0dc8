"""Plain Markdown: pages read well with a renderer that knows no directive of Sphinx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mdit_py_plugins")
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(
            ROOT / f"{n}.md"
            for n in ("README", "SECURITY", "CONTRIBUTING", "CHANGELOG")
        ),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/guide/*.md"),
    ]
)
RENDERER = MarkdownIt("commonmark").enable("table").use(footnote_plugin)
# Labels, containers, substitutions, and roles before code.
DIRECTIVE = re.compile(r"^\([\w-]+\)=$|^:::|\{\{|\{[\w:-]+\}`", re.M)


def slug(heading: str) -> str:
    """Return the anchor that a code host gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    tokens = RENDERER.parse(text)
    pairs = zip(tokens, tokens[1:], strict=False)
    return {
        slug(inner.content) for opened, inner in pairs if opened.type == "heading_open"
    }


def link_faults(page: Path, inline: Token) -> Iterator[str]:
    children = inline.children or []
    for opened, inner in zip(children, children[1:], strict=False):
        if opened.type != "link_open":
            continue
        target, _, anchor = str(opened.attrs["href"]).partition("#")
        if inner.type == "link_close" or not target + anchor:
            yield f"empty link: {inline.content}"
        elif not re.match(r"https?:", target):
            path = (page.parent / target) if target else page
            if not path.exists():
                yield f"no such file: {target}"
            elif anchor and anchor not in anchors(path.read_text()):
                yield f"no such heading: {target}#{anchor}"


def faults(page: Path, text: str) -> Iterator[str]:
    """Yield what a reader of the rendered page would stumble over."""
    tokens = RENDERER.parse(text)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "fence" and token.info.startswith("{"):
            yield f"directive: {token.info}"
        if token.type != "inline":
            continue
        bare = re.sub(r"`[^`]+`", "`", token.content)
        if found := DIRECTIVE.search(bare):
            yield f"directive: {found[0]}"
        if before and before.type in ("td_open", "th_open") and not token.content:
            yield f"empty cell in line {token.map and token.map[0] + 1}"
        if (
            before
            and before.type == "paragraph_open"
            and re.search(r"^\|", token.content, re.M)
        ):
            yield f"row outside of a table: {token.content}"
        yield from link_faults(page, token)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_reads_well_as_plain_markdown(page: Path) -> None:
    assert not [*faults(page, page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "text",
    [
        "```{include} x.md\n```",
        "(label)=\n# Heading",
        ":::{note}\n:::",
        "See {py:func}`fit`.",
        "All {{methods}} methods.",
        "See [](README.md).",
        "See [page](gone.md).",
        "See [page](#gone).",
        "| a | b |\n|---|---|\n| c |\n",
        "| a | b |\n|---|---|\n| c |\nd [^e] |\n",
        "Text\n\n| c | d |\n",
    ],
)
def test_a_fault_of_markdown_is_found(text: str) -> None:
    assert [*faults(ROOT / "README.md", text)]
