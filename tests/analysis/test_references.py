"""Publications of methods, data sets and packages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cdspp.analysis.fit_records import cited_keys, read_bibliography
from cdspp.datasets.catalogue import load_catalogue
from cdspp.methods import available, method_class
from cdspp.methods.descriptions import cites_of

RESOURCES = Path(__file__).parents[2] / "resources"
ENTRIES = read_bibliography(RESOURCES / "references.bib")
CATALOGUE = load_catalogue(RESOURCES / "datasets.yaml")


def docstrings_of(method: str) -> str:
    """Return the docstrings of a method's class and of its base classes."""
    own = (c for c in method_class(method).__mro__ if c.__module__.startswith("cdspp."))
    return " ".join(c.__doc__ or "" for c in own)


DATA_SETS = {
    name: json.dumps(entry, ensure_ascii=False)
    for name, entry in CATALOGUE.items()
    if "classes" in entry
}
TEXTS = {name: docstrings_of(name) for name in available()} | DATA_SETS


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_data_set_names_a_publication(name: str) -> None:
    assert cited_keys(TEXTS[name], ENTRIES)


@pytest.mark.parametrize("name", available())
def test_every_method_cites_the_publications_of_its_docstring(name: str) -> None:
    assert cites_of(name), f"add `cites` to the description of {name}"
    assert {*cites_of(name)} == cited_keys(TEXTS[name], ENTRIES)


def test_every_publication_belongs_to_something() -> None:
    named = {key for text in TEXTS.values() for key in cited_keys(text, ENTRIES)}
    assert [e.key for e in ENTRIES if e.key not in named and not e.package] == []


def test_every_identifier_in_a_docstring_is_in_the_bibliography() -> None:
    known = "\n".join(entry.text for entry in ENTRIES)
    stated = {
        doi for text in TEXTS.values() for doi in re.findall(r":doi:`(.+?)`", text)
    }
    assert {doi for doi in stated if f"doi = {{{doi}}}" not in known} == set()


def test_a_title_that_is_part_of_another_one_is_not_named_by_it() -> None:
    text = 'Sun, B., "Return of frustratingly easy domain adaptation", AAAI 2016.'
    assert cited_keys(text, ENTRIES) == {"sun2016coral"}
