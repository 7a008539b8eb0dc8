"""Classes that a study names: known as methods, or refused in a line each."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.study_files import load
from support.toy_problem import toy_problem

from cdspp.core.errors import ConfigError
from cdspp.core.names import FitKey
from cdspp.methods import available, make, method_class, register_external
from cdspp.study.config import register_external_methods
from cdspp.study.specifications import Specifications

MODULE = """
import numpy as np
import own_helper

class First:
    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y, *, source):
        if self.depth < 1:
            raise ValueError("depth must be 1 or more")
        return self

    def predict(self, X):
        return np.full(len(X), own_helper.FIRST)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "own_first.py").write_text(MODULE)
    (tmp_path / "own_helper.py").write_text("FIRST = 0\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]
    for name in ("own_first", "own_helper"):
        sys.modules.pop(name, None)
    register_external({})


def faults(*methods: dict[str, Any]) -> list[str]:
    return list(register_external_methods({"methods": list(methods)}))


@pytest.mark.usefixtures("folder")
def test_a_class_in_the_folder_of_the_run_is_a_method() -> None:
    entry = {"id": "first", "class": "own_first:First", "display_name": "Always first"}
    assert not faults({"id": "cdspp"}, entry)
    assert "first" in available()
    model = toy_problem().fit(make("first"))
    assert model.display_name == "Always first"
    assert set(model.predict(toy_problem().X)) == {0}
    assert not faults({"id": "cdspp"})
    assert "first" not in available()


@pytest.mark.usefixtures("folder")
def test_another_class_or_transformer_under_one_name_makes_another_fit(
    embedded: dict[str, Any],
) -> None:
    """They are of one package, whose version is all that their code tells."""
    logistic = {"id": "own", "class": "sklearn.linear_model:LogisticRegression"}
    unit = {"preprocessing": ["sklearn.preprocessing:Normalizer"]}
    codes, others = set(), set()
    for change in ({}, {"class": "sklearn.linear_model:RidgeClassifier"}, unit):
        methods = [*embedded["methods"], {**logistic, **change}]
        study = load({**embedded, "methods": methods})
        keys = (
            FitKey("digits", "main", "print_sketch", name, "1-5")
            for name in ("own", "cdspp")
        )
        own, cdspp = map(Specifications(study).of_fit, keys)
        codes.add(own.code)
        others.add(cdspp.code)
    assert (len(codes), len(others)) == (3, 1)


@pytest.mark.usefixtures("folder")
def test_predictions_made_elsewhere_are_a_method(folder: Path) -> None:
    (folder / "theirs.csv").write_text("task,trial,id,predicted\n")
    entry = {"id": "theirs", "predictions": "theirs.csv", "display_name": "Theirs"}
    assert not faults({"id": "cdspp"}, entry)
    found = method_class("theirs")
    assert (found.display_name, found.uses_source) == ("Theirs", False)
    assert not faults(entry | {"states": ["none"]})
    assert method_class("theirs").uses_source
    (told,) = faults(entry | {"options": {"alpha": 1}})
    assert "methods[0].options: the study does not fit external" in told
    (told,) = faults(entry | {"id": "cdspp"})
    assert "choose another id" in told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, ""),
        ({"id": None}, "theirs.csv: lacks id"),
        ({"task": "print_skech"}, "tasks: unknown name .*mean 'print_sketch'"),
        ({"trial": "99"}, "trials: 99 is more"),
        ({"benchmark": "digit"}, "benchmark: unknown name .*mean 'digits'"),
        ({"setting": "labels-5"}, ""),
    ],
)
def test_predictions_of_what_the_study_does_not_have_are_a_fault(
    folder: Path, embedded: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    row = {
        "task": "print_sketch",
        "trial": "1",
        "id": "0001",
        "predicted": "3",
    } | change
    cells = {name: cell for name, cell in row.items() if cell}
    content = f"{','.join(cells)}\n{','.join(cells.values())}\n"
    (folder / "theirs.csv").write_text(content)
    embedded["methods"].append({"id": "theirs", "predictions": "theirs.csv"})
    if not message:
        assert load(embedded).methods["theirs"].predictions == "theirs.csv"
        return
    with pytest.raises(ConfigError, match="^the configuration: methods") as refused:
        load(embedded)
    assert re.search(rf"methods\[\d+\]\.predictions.*{message}", str(refused.value))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"id": "svm-t", "class": "own_first:First"}, "choose another id"),
        ({"id": "first", "class": "own_first:Frist"}, "did you mean 'First'"),
        ({"id": "first", "class": "own_second:First"}, "cannot import own_second"),
        ({"id": "cdspp", "seconds": 3}, "seconds: is given together with a class"),
        (
            {"id": "first", "class": "own_first:First", "options": {"depth": 0}},
            r"toy problem \(ValueError: depth must be 1 or more\)",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_fault_is_a_line_and_its_class_no_method(
    entry: dict[str, Any], message: str
) -> None:
    (told,) = faults(entry)
    assert told.startswith("methods[0].")
    assert re.search(message, told), told
    assert "first" not in available()
