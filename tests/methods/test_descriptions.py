"""Descriptions of methods: each class has one, nothing twice, with known values."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from support.quick_methods import every_method

from cdspp.core.errors import ConfigError
from cdspp.methods import (
    base,
    descriptions,
    identity,
    method_class,
    register_method,
)

DESCRIPTIONS = descriptions.read_descriptions()
CHANGES = {"order", "names", "rotation", "lengths", "scale", "extremes", "padding"}
TOPICS = {"clear classes", "classes of one domain", "no unlabelled rows"}
OF_TESTS = {
    *("quick", "able", "one_fit", "enough", "shown", "few_axes", "iterations"),
    *("out_of_range", "refuses", "problems", "seeded"),
}


@every_method
def test_a_class_has_its_facts_and_values_are_known(name: str) -> None:
    found, cls = DESCRIPTIONS[name], method_class(name)
    for key in descriptions.ATTRIBUTES:
        assert getattr(cls, key) == getattr(found, key)
    assert found.transductive == issubclass(cls, base.TransductiveClassifier)
    assert found.reads_of_source in {"nothing", "rows", "rows and labels"}
    assert found.bridges <= {"shared_columns", "paired_rows"}
    assert found.class_of_source_only in {"refused", "never", "may be predicted"}
    assert found.class_of_target_only in {"refused", "learned", "lost"}
    assert found.marker
    assert re.fullmatch("#[0-9a-f]{6}", found.colour)
    assert {*found.tests} <= OF_TESTS
    for reasons, known in ((found.depends_on, CHANGES), (found.cannot_learn, TOPICS)):
        listed = [topic for topics in reasons.values() for topic in topics]
        assert {*listed} <= known
        assert len(listed) == len({*listed})


def test_only_facts_that_affect_fits_identify_a_method() -> None:
    one = DESCRIPTIONS["cdspp"]
    assert identity("cdspp") == one.fit_text
    changes: dict[str, Any] = {
        each.name: "other" for each in fields(descriptions.Description)
    }
    changes |= {"bridges": frozenset({"paired_rows"}), "reads_of_source": "nothing"}
    affecting = {
        key
        for key, value in changes.items()
        if replace(one, **{key: value}).fit_text != one.fit_text
    }
    assert affecting == {*descriptions.OF_FITS, "reads_of_source"} - {"uses_source"}


def test_a_variant_and_a_class_of_a_user_have_their_own_facts() -> None:
    class Own(method_class("svm-t")):  # type: ignore[misc]
        identifier = "own"
        supervised = False

    assert (Own.identifier, Own.supervised) == ("own", False)
    assert (Own.display_name, Own.uses_source) == ("SVM_t", False)
    assert method_class("svm-t").identifier == "svm-t"
    name = register_method(method_class("svm-t")(C=2.0))
    assert method_class(name).identifier == name != "svm-t"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[a]\nclass = "A"\ndisplay_name = "A"\ncolor = "red"', "'color'.*'colour'"),
        ('[a]\ndisplay_name = "A"', r"one\.toml: the method a has no class\. Add"),
        ('[a]\nclass = "A"', "no display_name. Add"),
        ("[svm-t]", "another file has the method svm-t"),
    ],
)
def test_a_fault_in_a_file_is_named(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.toml").write_text(text)
    (tmp_path / "a.toml").write_text('[svm-t]\nclass = "B"\ndisplay_name = "B"')
    monkeypatch.setattr(descriptions, "__file__", str(tmp_path / "descriptions.py"))
    with pytest.raises(ConfigError, match=message):
        descriptions.read_descriptions.__wrapped__()
