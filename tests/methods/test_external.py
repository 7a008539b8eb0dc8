"""Methods from outside: taken as classes, instances and paths; refused in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from support.toy_problem import toy_problem

from cdspp import CDSPP, load_model, make, save_model
from cdspp.core.errors import CollapseWarning, ConfigError, DataError
from cdspp.core.linalg import row_normalise
from cdspp.methods import available, method_class, register_external, register_method
from cdspp.methods.model_file import check_savable

MODULE = """
import numpy as np

class Mean:
    def __init__(self, shrink=0.0, random_state=None):
        self.shrink, self.random_state = shrink, random_state

    def fit(self, X, y, *, source):
        self.seen = len(X), sorted(set(y.tolist())), len(source.X)
        self.means = np.array([X[y == c].mean(axis=0) for c in range(max(y) + 1)])
        return self

    def predict(self, X):
        return ((X[:, None] - self.means) ** 2).sum(axis=2).argmin(axis=1)

class Spread:
    def fit(self, X, y, *, source):
        self.transduction_ = Mean().fit(X, y, source=source).predict(X)

class Wild(Mean):
    def predict(self, X):
        return np.full(len(X), 99)

class Blind:
    def fit(self, X, y):
        return self

class Empty:
    pass
"""


class Commonest(BaseEstimator):
    """A class of this module, with options that scikit-learn knows."""

    def __init__(self, most: int = 3) -> None:
        self.most = most

    def fit(self, X: Any, y: Any, *, source: Any) -> Commonest:
        self.common_ = np.bincount(y[y >= 0]).argmax()
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.common_)


class Bent(CDSPP):
    """A method of cdspp, derived from."""


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "outside_means.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("outside_means", None)
    register_external({})


@pytest.mark.usefixtures("outside")
def test_a_class_path_is_a_method_of_class_numbers_and_of_the_source() -> None:
    problem = toy_problem()
    model = problem.fit(make("outside_means:Mean", shrink=0.5))
    n_classes = len(np.unique(problem.truth))
    seen = len(problem.X), [-1, *range(n_classes)], len(problem.source.X)
    assert model.model_.seen == seen
    assert problem.accuracy(model) > 1.5 / n_classes
    assert clone(model).get_params() == {"shrink": 0.5, "random_state": None}
    assert (model.predict(problem.X) == model.predict(problem.X.copy())).all()


@pytest.mark.usefixtures("outside")
def test_a_class_without_predict_labels_the_rows_of_the_fit() -> None:
    problem = toy_problem()
    model = problem.fit(make("outside_means:Spread"))
    assert model.transductive
    other = problem.fit(make("outside_means:Mean"))
    assert (model.transduction_ == other.transduction_).all()
    with pytest.raises(ValueError, match="its fit did not have"):
        model.predict(problem.X + 1.0)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere:Mean", "import nowhere"),
        ("outside_means:Maen", "no class Maen: did you mean 'Mean'"),
        ("outside_means:Empty", "class with fit"),
        ("outside_means:Blind", "fit.*source.*kind: target-only"),
        ("mean", "unknown method 'mean'"),
    ],
)
@pytest.mark.usefixtures("outside")
def test_what_is_no_method_is_refused(place: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        method_class(place)


@pytest.mark.usefixtures("outside")
def test_a_prediction_that_is_no_label_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"predicts \[99\], .*labels"):
        toy_problem().fit(make("outside_means:Wild"))


@pytest.mark.usefixtures("outside")
def test_a_classifier_sees_the_target_alone_and_where_it_can_its_unlabelled_rows() -> (
    None
):
    inner = {"class": "sklearn.linear_model:LogisticRegression", "options": {"C": 2.0}}
    logistic = {"place": inner["class"], "kind": "target-only"}
    training = "sklearn.semi_supervised:SelfTrainingClassifier"
    register_external(
        {
            "logistic": logistic,
            "training": {"place": training, "kind": "target-only"},
        }
    )
    assert {"logistic", "training", "cdspp"} <= set(available())
    problem = toy_problem()
    alone = problem.fit(make("logistic", C=3.0))
    assert not alone.uses_source
    assert alone.supervised
    assert alone.model_.C == 3.0
    both = problem.fit(make("training", estimator=inner))
    assert not both.supervised
    assert both.model_.estimator.C == 2.0
    assert len(both.model_.labeled_iter_) == len(problem.X)


LOGISTIC = "sklearn.linear_model:LogisticRegression"
TRAINING = "sklearn.semi_supervised:SelfTrainingClassifier"
UNIT = ["sklearn.preprocessing:Normalizer"]


@pytest.mark.usefixtures("outside")
def test_transformers_that_a_study_names_go_before_a_class() -> None:
    said = {"place": LOGISTIC, "kind": "target-only"}
    register_external({"raw": said, "unit": {**said, "preprocessing": UNIT}})
    problem = toy_problem()
    units, lengths = row_normalise(problem.X), np.linspace(0.1, 30, len(problem.X))
    raw, unit = (
        make(name, C=100.0).fit(X, problem.y)
        for name, X in (("raw", units), ("unit", units * lengths[:, None]))
    )
    np.testing.assert_array_equal(raw.transduction_, unit.transduction_)
    found = unit.model_[-1].coef_
    np.testing.assert_allclose(found, raw.model_.coef_, rtol=1e-3, atol=1e-3)
    register_external({"cdspp-again": {"place": "cdspp:CDSPP", "preprocessing": UNIT}})
    with pytest.raises(ConfigError, match="remove preprocessing"):
        method_class("cdspp-again")


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize("preprocessing", [[], UNIT])
def test_self_training_that_adopts_nothing_says_so(preprocessing: list[str]) -> None:
    said = {"place": TRAINING, "kind": "target-only", "preprocessing": preprocessing}
    register_external({"training": said})
    problem = toy_problem()
    inner = {"class": LOGISTIC, "options": {"C": 1e-6}}
    with pytest.warns(CollapseWarning, match=r"pseudo-labels .* \d+"):
        idle = problem.fit(make("training", estimator=inner))
    assert idle.collapsed_ == "no pseudo-label"
    inner["options"] = {"C": 1e4}
    assert problem.fit(make("training", estimator=inner)).collapsed_ == ""
    whole = np.where(problem.y == -1, problem.truth, problem.y)
    assert make("training", estimator=inner).fit(problem.X, whole).collapsed_ == ""


def test_instances_bring_their_options_and_own_classes_keep_their_names() -> None:
    name = register_method(Commonest(most=5))
    assert name.endswith("Commonest(most=5)")
    assert make(name).most == 5
    assert make(name, most=2).most == 2
    assert method_class(name).display_name == "Commonest (most=5)"
    assert register_method(CDSPP) == register_method("cdspp") == "cdspp"
    changed = register_method(CDSPP(alpha=1.0))
    assert make(changed).alpha == 1.0
    with pytest.raises(ConfigError, match="has no get_params"):
        register_method(object())


def test_a_model_of_an_outside_class_is_loaded_where_the_caller_names_it(
    tmp_path: Path,
) -> None:
    problem = toy_problem()
    model = problem.fit(Bent())
    save_model(tmp_path / "bent.npz", model)
    with pytest.raises(DataError, match="external class .*Bent, .* given is none"):
        load_model(tmp_path / "bent.npz")
    with pytest.raises(DataError, match="class.*Commonest"):
        load_model(tmp_path / "bent.npz", class_=Commonest)
    again = load_model(tmp_path / "bent.npz", class_=Bent)
    assert type(again) is Bent
    assert (again.predict(problem.X) == model.predict(problem.X)).all()
    with pytest.raises(DataError, match="Save .*joblib"):
        check_savable(make(register_method(Commonest)))
