"""The table of methods with their publications, from their descriptions."""

from __future__ import annotations

import re
from pathlib import Path

from cdspp.methods import needs
from cdspp.methods.descriptions import read_descriptions

__all__ = ["method_references"]

BIBLIOGRAPHY = Path(__file__).parents[2] / "resources/references.bib"
GROUPS = ("labels", "shared columns", "paired rows", "target labels")
LIBRARIES = ("fan2008liblinear", "flamary2021pot")  # beside the publication of a method
ACCENTS = {r"{\"o}": "ö", r"{\'e}": "é", r"\'e": "é", r"{\'c}": "ć"}


def _reference(entry: str) -> str:
    """Return authors and year of a BibTeX entry, as a link if it has an address."""
    for coded, letter in ACCENTS.items():
        entry = entry.replace(coded, letter)
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.M))
    names = [
        re.sub("[{}]", "", n.split(",")[0]) for n in fields["author"].split(" and ")
    ]
    authors = " & ".join(names) if len(names) < 3 else f"{names[0]} et al."
    text = f"{authors} {fields['year']}"
    doi = f"https://doi.org/{fields['doi']}" if "doi" in fields else ""
    address = doi or fields.get("url", "")
    return f"[{text}]({address})" if address else text


def method_references() -> str:
    """Return the table: methods, by what they need, and what they cite."""
    parts = BIBLIOGRAPHY.read_text(encoding="utf-8").split("\n@")[1:]
    entries = {part[part.index("{") + 1 : part.index(",")]: part for part in parts}
    groups: dict[str, dict[str, list[str]]] = {group: {} for group in GROUPS}
    for name, method in read_descriptions().items():
        [*_, group] = [each for each in GROUPS if each in needs(name)]
        cites = [key for key in method.cites if key not in LIBRARIES] or method.cites
        cited = "; ".join(_reference(entries[key]) for key in cites)
        groups[group].setdefault(cited, []).append(method.display_name)
    lines = ["| methods | publications |", "|---|---|"]
    for group in groups.values():
        lines += [f"| {', '.join(names)} | {cited} |" for cited, names in group.items()]
    return "\n".join(lines) + "\n"
