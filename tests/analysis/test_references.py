"""Publications of methods, data sets and packages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cdspp.analysis.fit_records import (
    cited_keys,
    docstrings_of,
    read_bibliography,
)
from cdspp.core.errors import DataError
from cdspp.datasets.catalogue import load_catalogue
from cdspp.methods import available
from cdspp.study.stale import read_digests

RESOURCES = Path(__file__).parents[2] / "resources"
ENTRIES = read_bibliography(RESOURCES / "references.bib")
CATALOGUE = load_catalogue(RESOURCES / "datasets.yaml")
TEXTS = {name: docstrings_of(name) for name in available()} | {
    name: json.dumps(entry, ensure_ascii=False)
    for name, entry in CATALOGUE.items()
    if "classes" in entry
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_method_and_data_set_names_a_publication(name: str) -> None:
    assert cited_keys(TEXTS[name], ENTRIES)


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


def test_a_folder_without_a_report_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="report.*finished"):
        read_digests(tmp_path)
