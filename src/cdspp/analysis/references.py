"""The publications that a finished study rests on, as BibTeX."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.analysis.fit_records import FitRecords
from cdspp.core.names import PathLike
from cdspp.core.version import VERSION
from cdspp.methods import available, method_class
from cdspp.study.stale import read_digests

# Software that every study uses and no record names.
ALWAYS = ("cdspp", "snakemake")
_ENTRY = re.compile(r"^@\w+\{([\w-]+),\n.*?^\}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)


class Entry(NamedTuple):
    """A publication; `title` is normalised, `text` the BibTeX."""

    key: str
    title: str
    package: str
    text: str


def read_bibliography(path: PathLike) -> list[Entry]:
    """Read a BibTeX file that has one field a line."""
    entries = []
    for found in _ENTRY.finditer(Path(path).read_text(encoding="utf-8")):
        fields = defaultdict(str, _FIELD.findall(found[0]))
        title = _normalised(fields["title"])
        entries.append(Entry(found[1], title, fields["package"], found[0]))
    return entries


def references_of(
    folder: PathLike,
    records: FitRecords,
    bibliography: Iterable[Entry],
    catalogue: Mapping[str, Any],
) -> str:
    """Return the BibTeX of the methods, data sets and packages of a finished study."""
    root = Path(folder)
    configuration = read_digests(root).configuration
    methods = records.results["method"].unique()
    datasets = dict.fromkeys(job["dataset"] for job in records.jobs)
    own = {each["id"]: each.get("cites", "") for each in configuration["methods"]}
    packages = {*ALWAYS, *(name for job in records.jobs for name in job["versions"])}
    texts = {name: docstrings_of(name) for name in methods}
    for name in datasets:
        texts[name] = json.dumps(catalogue.get(name, ""), ensure_ascii=False)
    entries, cited, comments = list(bibliography), set[str](), []
    for name, text in texts.items():
        if keys := cited_keys(text, entries):
            cited |= keys
        else:
            reference = own.get(name) or "this program knows no publication"
            comments.append(f"% {name}: {reference}")
    head = f"% What the study {root.resolve().name} rests on, by cdspp {VERSION}."
    found = [e.text for e in entries if e.package in packages or e.key in cited]
    return "\n\n".join(["\n".join([head, *comments]), *found])


def cited_keys(text: str, entries: Iterable[Entry]) -> set[str]:
    """Return the keys of the publications that a text names by their titles."""
    rest, keys = f" {_normalised(text)} ", set()
    for entry in sorted(entries, key=lambda entry: -len(entry.title)):
        if (title := f" {entry.title} ") in rest:
            rest = rest.replace(title, " | ")  # a shorter title may be part of it
            keys.add(entry.key)
    return keys


def docstrings_of(method: str) -> str:
    """Return the docstrings of a method's class and of those that it derives from."""
    if method not in available():
        return ""
    own = (c for c in method_class(method).__mro__ if c.__module__.startswith("cdspp."))
    return " ".join(c.__doc__ or "" for c in own)


def _normalised(text: str) -> str:
    """Return a text without capitals, braces and marks, to find titles in."""
    return " ".join(re.findall(r"\w+", text.replace("{", "").replace("}", "").lower()))
