"""Kept models: every inductive method predicts as before, and no code is run."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from support.quick_methods import every_form, method_of, quick
from support.toy_problem import toy_problem

import cdspp
from cdspp import CDSPP, PA, SourceDomain, load_model, save_model
from cdspp.core.errors import DataError, SchemaError
from cdspp.core.files import read_parts, write_parts
from cdspp.core.scaling import fit_scaling
from cdspp.methods import available, method_class

pytestmark = pytest.mark.usefixtures("few_trees")

NAMES = np.array(["ant", "bee", "cat", "dog"])


@every_form
def test_a_kept_model_predicts_as_it_did(form: str, tmp_path: Path) -> None:
    if method_class(method_of(form)).transductive:
        pytest.skip("labels the rows of the fit alone; see below")
    problem = toy_problem()
    model = problem.fit(quick(form))
    save_model(tmp_path / "model.npz", model)
    found: Any = load_model(tmp_path / "model.npz")
    new = problem.X + 0.01
    assert type(found) is type(model)
    assert found.get_params() == model.get_params()
    np.testing.assert_array_equal(found.predict(new), model.predict(new))
    np.testing.assert_array_equal(found.transduction_, model.transduction_)
    assert (found.n_iter_, found.collapsed_) == (model.n_iter_, model.collapsed_)
    rows = {"predict_proba": new, "transform": new}
    if model.uses_source:
        rows["transform_source"] = problem.source.X
    for name in filter(lambda name: hasattr(model, name), rows):
        expected = getattr(model, name)(rows[name])
        np.testing.assert_array_equal(getattr(found, name)(rows[name]), expected)
    assert_equal_history(found, model)


FRESH = """
import sys
import numpy as np
from pathlib import Path

for path in sorted(Path(sys.argv[1]).glob("*.npz")):
    for name in [name for name in sys.modules if name.startswith("cdspp")]:
        del sys.modules[name]
    from cdspp import load_model
    print(path.stem, *load_model(path).predict(np.load(sys.argv[2])))
"""


def test_a_model_is_read_where_nothing_else_was_imported(tmp_path: Path) -> None:
    problem, expected = toy_problem(), []
    # Of a module, one method imports what all do.
    for name in {method_class(name).__module__: name for name in available()}.values():
        if not method_class(name).transductive:
            model = problem.fit(quick(name))
            extras = {"scaling": fit_scaling("none", problem.X)}
            save_model(tmp_path / "kept" / f"{name}.npz", model, extras)
            expected.append(" ".join([name, *map(str, model.predict(problem.X))]))
    np.save(tmp_path / "rows.npy", problem.X)
    asked = [sys.executable, "-c", FRESH, tmp_path / "kept", tmp_path / "rows.npy"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == sorted(expected)


def test_a_model_of_scaled_rows_is_not_given_bare_ones(tmp_path: Path) -> None:
    problem = toy_problem()
    extras = {"scaling": fit_scaling("unit", problem.X)}
    save_model(tmp_path / "model.npz", problem.fit(CDSPP()), extras)
    with pytest.raises(DataError, match="--scale unit, so .* `cdspp predict`"):
        load_model(tmp_path / "model.npz")


def assert_equal_history(found: Any, model: Any) -> None:
    for ours, theirs in zip(found.history_, model.history_, strict=True):
        np.testing.assert_array_equal(ours.prediction, theirs.prediction)
        np.testing.assert_array_equal(ours.confidence, theirs.confidence)
        assert (ours.iteration, ours.n_selected) == (
            theirs.iteration,
            theirs.n_selected,
        )


@pytest.mark.parametrize("dtype", [str, object])
def test_labels_of_text_are_kept(dtype: Any, tmp_path: Path) -> None:
    problem = toy_problem()
    y = NAMES[problem.truth].astype(object)
    y[problem.unlabelled] = None
    source = SourceDomain(problem.source.X, NAMES[problem.source.y].astype(dtype))
    model = CDSPP().fit(problem.X, y, source=source)
    save_model(tmp_path / "model.npz", model)
    found = load_model(tmp_path / "model.npz").predict(problem.X)
    np.testing.assert_array_equal(found, model.predict(problem.X))
    assert set(found) <= set(NAMES)


def test_a_file_holds_arrays_and_json_and_no_pickle(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_model(path, toy_problem().fit(CDSPP()))
    with np.load(path, allow_pickle=False) as archive:
        tree = json.loads(str(archive["tree"]))
        assert not [n for n in archive.files if archive[n].dtype.hasobject]
    assert (tree["format"], tree["schema"]) == ("cdspp model", 1)
    assert tree["version"] == cdspp.__version__


def test_equal_models_have_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        save_model(tmp_path / name, toy_problem().fit(CDSPP()))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_what_could_not_be_used_or_kept_is_refused(tmp_path: Path) -> None:
    problem = toy_problem()
    for model, message in (
        (PA(max_iter=2), "PA is transductive"),
        (CDSPP(classifier=KNeighborsClassifier()), "CDSPP.classifier is a KNeighb"),
    ):
        with pytest.raises(DataError, match=message):
            save_model(tmp_path / "model.npz", problem.fit(model))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("share", [0.3, 0.999])
def test_a_file_cut_short_is_named(share: float, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_model(path, toy_problem().fit(CDSPP()))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=r"model\.npz: .*model.*, or damaged"):
        load_model(path)


class Trap:
    """Would leave a file behind if it was unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def test_a_file_that_would_run_code_is_not_run(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "run")
    bare, inside = tmp_path / "bare.npz", tmp_path / "inside.npz"
    bare.write_bytes(pickle.dumps(trap))
    np.savez(inside, tree=np.array([trap], dtype=object))
    for path in (bare, inside):
        with pytest.raises(DataError, match="model.*, or damaged"):
            load_model(path)
    assert not (tmp_path / "run").exists()


def changed(path: Path, change: Any) -> Path:
    """Save a model whose tree was changed by hand."""
    save_model(path, toy_problem().fit(CDSPP()))
    tree, arrays = read_parts(path, "")
    change(tree, arrays)
    write_parts(path, tree, arrays)
    return path


def model_part(tree: Any) -> Any:
    return tree["content"]["dict"]["model"]["method"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, a: t.update(format="other"), "not a model that"),
        (lambda t, a: a.pop("array-0"), "damaged model .*array-0"),
        (lambda t, a: model_part(t).update(identifier="os.system"), "damaged model"),
        (
            lambda t, a: model_part(t)["fitted"]["dict"].update(predict=1),
            "attribute predict",
        ),
        (lambda t, a: t["content"]["dict"].update(model=3), "damaged model"),
        (
            lambda t, a: model_part(t)["fitted"]["dict"]["_recogniser"].update(
                kind="Path"
            ),
            "damaged model .*Path",
        ),
    ],
)
def test_a_file_of_another_make_is_refused(
    change: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        load_model(changed(tmp_path / "model.npz", change))


@pytest.mark.parametrize("schema", [2, None])
def test_a_model_of_an_unknown_schema_is_refused_with_its_version(
    schema: Any, tmp_path: Path
) -> None:
    path = changed(
        tmp_path / "model.npz", lambda t, a: t.update(schema=schema, version="9.8")
    )
    message = (
        rf"model\.npz: .*cdspp 9\.8 .*schema {schema}; .* schema 1\. .*or fit again"
    )
    with pytest.raises(SchemaError, match=message):
        load_model(path)


def test_a_model_of_another_version_is_read(tmp_path: Path) -> None:
    path = changed(tmp_path / "model.npz", lambda t, a: t.update(version="9.8"))
    rows = toy_problem().X
    np.testing.assert_array_equal(
        load_model(path).predict(rows), toy_problem().fit(CDSPP()).predict(rows)
    )


def test_another_archive_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("text", "text")
    with pytest.raises(DataError, match="model.*, or damaged"):
        load_model(path)
    with pytest.raises(DataError, match="no such file"):
        load_model(tmp_path / "missing.npz")
