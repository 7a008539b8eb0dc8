"""Check that words that left the vocabulary are gone; a part of `make lint`.

One word for one thing: `docs/vocabulary.md` lists the words that left, and this file
the phrases. Each line that is printed is a finding; without one the exit code is 0.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "workflow", "resources", "benchmarks")
# Matplotlib calls the arrangement of a figure its layout and has outlines, Python calls
# what a package offers its entry points, and a pipe has an end for reading.
# Snakemake has storage.
FOREIGN = {
    "layout": ("style.py", "figures/ways.py"),
    "outline": ("figures/samples.py",),
    "points": ("core/discovery.py",),
    "reading": ("cli/run.py",),
    "storage": ("rules/data.smk",),
}
# Names of Python, and the key of a study file.
KEPT = ("round", "display_name", "DISPLAY_NAMES")
# Where the paper's own numbers are read, compared and shown.
PAPERS_OWN = ("src/cdspp/paper/",)
# No agent, or a clause where a noun serves; see CONTRIBUTING.md.
PHRASES = re.compile(
    r"\b(is|are|was|were) told\b|\b(is|are) had\b|\bsays? nothing\b|\bin the making\b"
    r"|\bwhat of (it|them)\b|written as it comes|and how many could"
)


def code_files(root: Path) -> Iterator[Path]:
    """Yield the Python and Snakemake files whose names follow the vocabulary."""
    for folder in FOLDERS:
        for suffix in ("*.py", "*.smk"):
            yield from (root / folder).rglob(suffix)


def read_names(root: Path) -> dict[str, list[str]]:
    """Return the places, ``file:line``, of each name in the code."""
    places: dict[str, list[str]] = {}
    for path in code_files(root):
        with path.open("rb") as stream:
            for token in tokenize.tokenize(stream.readline):
                if token.type == tokenize.NAME:
                    place = f"{path.relative_to(root)}:{token.start[0]}"
                    places.setdefault(token.string, []).append(place)
    return places


def retired_words(root: Path) -> dict[str, str]:
    """Return the words that left, with what is in their place."""
    text = (root / "docs/vocabulary.md").read_text(encoding="utf-8")
    table = text[text.index("| gone |") :].splitlines()[2:]
    cells = (line.strip("| ").split(" | ", 1) for line in table if line)
    return {word: instead for word, instead in cells}


def retired_names(root: Path, names: dict[str, list[str]]) -> Iterator[str]:
    """Yield names that have a word that left."""
    for word, instead in retired_words(root).items():
        wanted = f"_{word.replace(' ', '_')}_"
        for name, places in names.items():
            parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
            if wanted not in f"_{parts}_" or name in instead or name in KEPT:
                continue
            for place in places:
                if not any(file in place for file in FOREIGN.get(word, ())):
                    yield f"{place}: {name}: write {instead} in place of {word}"


def printed_elsewhere(names: dict[str, list[str]]) -> Iterator[str]:
    """Yield uses of *printed*, a word for the numbers of the paper only."""
    for name in ("printed", "Printed"):
        for place in names.get(name, ()):
            if "cdspp" in place and not place.startswith(PAPERS_OWN):
                yield f"{place}: {name}: numbers of the paper alone are printed"


def retired_phrases(root: Path) -> Iterator[str]:
    """Yield phrases that left, in pages, code, templates and resources."""
    words = "|".join(word for word in retired_words(root) if " " in word)
    phrases = re.compile(rf"{PHRASES.pattern}|\b({words})")
    pages = [*root.glob("docs/*.md"), *root.glob("docs/guide/*.md"), *code_files(root)]
    pages += [*root.rglob("src/**/*.j2"), *root.glob("resources/**/*.yaml")]
    pages += [root / "README.md", root / "config.yaml"]
    for page in pages:
        if page.name in ("history.md", "vocabulary.md"):
            continue
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for match in phrases.finditer(line):
                yield f"{page.relative_to(root)}:{number}: {match.group()!r} has left"


def findings(root: Path) -> list[str]:
    """Return a line for each word or phrase that left and is still in use."""
    names = read_names(root)
    return [
        *retired_names(root, names),
        *printed_elsewhere(names),
        *retired_phrases(root),
    ]


if __name__ == "__main__":
    found = findings(ROOT)
    print("\n".join(found) or "All words are in the vocabulary.")
    sys.exit(bool(found))
