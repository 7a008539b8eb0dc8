"""One word for one thing: the words that left are gone from the code."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "workflow", "resources", "benchmarks")
# Matplotlib calls the arrangement of a figure its layout, and Python what a package
# offers its entry points.
FOREIGN = {"layout": ("style.py",), "points": ("core/discovery.py",)}
# Where the paper's own numbers are read, compared and shown.
PAPERS_OWN = ("report/tables/times.py", "paper/")


def code() -> Iterator[Path]:
    for folder in FOLDERS:
        for suffix in ("*.py", "*.smk"):
            yield from (ROOT / folder).rglob(suffix)


@cache
def names() -> dict[str, list[str]]:
    """Return the places of each name in the code."""
    found: dict[str, list[str]] = {}
    for path in code():
        with path.open("rb") as stream:
            for token in tokenize.tokenize(stream.readline):
                if token.type == tokenize.NAME:
                    place = f"{path.relative_to(ROOT)}:{token.start[0]}"
                    found.setdefault(token.string, []).append(place)
    return found


def retired() -> dict[str, str]:
    """Return the words that left, with what stands in their place."""
    text = (ROOT / "docs" / "vocabulary.md").read_text()
    table = text[text.index("| gone |") :].splitlines()[2:]
    cells = (line.strip("| ").split(" | ", 1) for line in table if line)
    return {gone: instead for gone, instead in cells}


@pytest.mark.parametrize("word", retired())
def test_a_word_that_left_is_part_of_no_name(word: str) -> None:
    instead = retired()[word]
    found = [
        f"{name}, {place}"
        for name, places in names().items()
        if word in name.lower().split("_") and name not in instead
        for place in places
        if not any(file in place for file in FOREIGN.get(word, ()))
    ]
    assert not found, f"{word} is {instead} now: {found[:9]}"


def test_printed_is_a_word_for_the_numbers_of_the_paper_alone() -> None:
    places = [place for name in ("printed", "Printed") for place in names()[name]]
    files = {place.partition(":")[0] for place in places}
    library = {name.removeprefix("src/cdspp/") for name in files if "cdspp" in name}
    outside = [name for name in library if not name.startswith(PAPERS_OWN)]
    assert not outside


# No agent, or a clause where a noun serves; see CONTRIBUTING.md.
GONE = re.compile(
    r"\b(is|are|was|were) told\b|\b(is|are) had\b|\bsays? nothing\b|\bin the making\b"
    r"|\bwhat of (it|them)\b|written as it comes|and how many could"
)


def test_a_phrase_that_left_is_in_no_sentence() -> None:
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/guide/*.md"), *code()]
    pages += [*ROOT.rglob("src/**/*.j2"), *ROOT.glob("resources/**/*.yaml")]
    pages += [ROOT / "README.md", ROOT / "config.yaml"]
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in pages
        if path.name != "history.md"
        for match in GONE.finditer(path.read_text())
    ]
    assert not found
