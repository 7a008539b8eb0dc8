"""The vote of methods: what it counts, what a file keeps, what files are refused."""

from __future__ import annotations

import copy
import pickle
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from methods.test_classifiers import KNOWN, SOURCE, TRUTH, X, Y
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cdspp import Pooled, SourceDomain, Vote, load_model, make, save_model
from cdspp.core.errors import DataError, SchemaError
from cdspp.core.files import read_parts
from cdspp.methods.external import wrap_object
from cdspp.methods.model_file import check_savable
from cdspp.methods.problem import scale_domains

NAMES = np.array(["ant", "bee", "cat"])
LABELS = np.where(KNOWN, NAMES[Y], None)
NAMED = SourceDomain(SOURCE.X, NAMES[SOURCE.y], shared_columns=SOURCE.shared_columns)
POOL = ("cdspp", "target-only", "logistic-regression", "shared-columns-plus")


def members(*names: str) -> list[tuple[str, Any]]:
    seeded = ("random-forest", "extra-trees", "pooled-random-forest")
    return [
        (name, make(name, **({"random_state": 0} if name in seeded else {})))
        for name in names
    ]


@cache
def fitted() -> Vote:
    every = members(*POOL, "shrunken-lda", "random-forest", "pooled-random-forest")
    weights = [1, 2, 1, 1.5, 1, 2, 2]
    return Vote(every, weights).fit(X, LABELS, source=NAMED)


def test_a_row_has_the_class_with_the_largest_sum_of_weights() -> None:
    weights, vote = [1.0, 2.0, 0.5, 1.25], Vote(members(*POOL), [1, 2, 0.5, 1.25])
    vote.fit(X, LABELS, source=NAMED)
    sums, inductive = np.zeros((2, len(X), 3))
    for name, weight in zip(POOL, weights, strict=True):
        model = make(name)
        domain = NAMED.with_bridges(model.bridges)
        scaling, domain = scale_domains("standardise", X, domain)
        model.fit(scaling.apply(X), LABELS, source=domain)
        sums += weight * (model.transduction_[:, None] == NAMES)
        inductive += weight * (model.predict(scaling.apply(X))[:, None] == NAMES)
    np.testing.assert_allclose(vote.votes_, sums / 4.75, atol=1e-9)
    np.testing.assert_array_equal(vote.transduction_, NAMES[sums.argmax(axis=1)])
    np.testing.assert_allclose(vote.votes(X), inductive / 4.75, atol=1e-9)
    np.testing.assert_array_equal(vote.predict(X), NAMES[inductive.argmax(axis=1)])
    np.testing.assert_array_equal(vote.transduction_[KNOWN], LABELS[KNOWN])
    assert (vote.votes_[KNOWN].max(axis=1) == 1).all()
    assert vote.classes_.tolist() == [*NAMES]
    assert vote.n_features_in_ == X.shape[1]
    assert np.mean(vote.transduction_ == NAMES[TRUTH]) > 0.85


def test_ties_go_to_the_first_class() -> None:
    class Always:
        """Predicts one class."""

        def __init__(self, code: int = 0) -> None:
            self.code = code

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {"code": self.code}

        def fit(self, X: Any, y: Any, *, source: Any) -> Any:
            return self

        def predict(self, X: Any) -> np.ndarray:
            return np.full(len(X), self.code)

    three = [("b", Always(1)), ("a", Always(0)), ("a2", Always(0))]
    vote = Vote(three, [0.6, 0.2, 0.4]).fit(X, LABELS, source=NAMED)
    assert set(vote.predict(X)) == {"ant"}  # 0.2 + 0.4 is above 0.6 in floating point
    vote = Vote([*three, ("c", Always(2))], [0.3, 0.1, 0.2, 0]).fit(X, LABELS)
    assert set(vote.predict(X)) == {"ant"}
    assert "c" not in vote.members_


def test_the_vote_is_an_estimator_of_scikit_learn() -> None:
    vote = fitted()
    again = clone(vote).fit(X, LABELS, source=NAMED)
    for copied in (again, pickle.loads(pickle.dumps(vote)), copy.deepcopy(vote)):
        np.testing.assert_array_equal(copied.votes(X), vote.votes(X))
    pipeline = make_pipeline(StandardScaler(), clone(vote))
    pipeline.fit(X, LABELS, vote__source=NAMED)
    assert np.mean(pipeline.predict(X) == NAMES[TRUTH]) > 0.85


def test_members_of_other_packages_are_pickled_as_well() -> None:
    own = [
        ("near", KNeighborsClassifier(1)),
        ("pooled", Pooled(KNeighborsClassifier(3))),
    ]
    own.append(("variant", wrap_object(make("cdspp", alpha=3.0))[1]()))
    vote = Vote(own).fit(X, LABELS, source=NAMED)
    copied = pickle.loads(pickle.dumps(vote))
    np.testing.assert_array_equal(copied.votes(X), vote.votes(X))
    assert copied.members_["variant"].alpha == 3.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": []}, "members: expected different names, got"),
        ({"members": members("cdspp") * 2}, "expected different names, got .*cdspp"),
        ({"weights": [1.0]}, "weights: expected 2 numbers, not negative.*got"),
        ({"weights": [1.0, -1.0]}, "weights: expected 2 numbers"),
        ({"weights": [0, 0]}, "weights: expected 2 numbers"),
        ({"scale": "zscore"}, "'scale' parameter of Vote must be"),
    ],
)
def test_what_is_no_vote_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vote(**{"members": members("cdspp", "svm-t"), **options}).fit(X, LABELS)


def test_a_stored_vote_predicts_as_before_and_holds_no_object(tmp_path: Path) -> None:
    vote = fitted()
    save_model(tmp_path / "vote.npz", vote)
    found: Any = load_model(tmp_path / "vote.npz")
    new = X + 0.1
    np.testing.assert_array_equal(found.votes(new), vote.votes(new))
    np.testing.assert_array_equal(found.transduction_, vote.transduction_)
    refitted = clone(found).fit(X, LABELS, source=NAMED)
    np.testing.assert_array_equal(refitted.votes_, vote.votes_)
    with np.load(tmp_path / "vote.npz", allow_pickle=False) as archive:
        assert not any(archive[name].dtype.hasobject for name in archive.files)


def test_members_that_cannot_be_stored_are_named_before_the_fit(tmp_path: Path) -> None:
    near = Pooled(KNeighborsClassifier())
    own = {"class": "sklearn.neighbors:KNeighborsClassifier"}
    vote = Vote(members("cdspp", "pa"))
    with pytest.raises(DataError, match="the member pa: PA is transductive"):
        check_savable(vote)
    for name, member in (("near", near), ("it", KNeighborsClassifier())):
        with pytest.raises(DataError, match=f"the member {name}: .*KNeighborsClassif"):
            check_savable(Vote([*members("cdspp"), (name, member)]))
    with pytest.raises(DataError, match=r"Pooled\.estimator names the class sklearn"):
        check_savable(Pooled(own))
    wrapped = wrap_object(Pooled("extra-trees", random_state=0))[1]()
    model = wrapped.fit(X, LABELS, source=NAMED)
    save_model(tmp_path / "model.npz", model)
    found = load_model(tmp_path / "model.npz")
    assert type(found) is Pooled
    np.testing.assert_array_equal(found.predict(X), model.predict(X))


# Hostile files: a change of the tree of a stored vote, or of one of its arrays.
FOREST, LDA, SCALING = "random-forest", "shrunken-lda", "scalings_"


class Stored:
    """The parts of a stored vote, for changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree, self.arrays = read_parts(path, "a model")
        self.content = self.tree["content"]["dict"]["model"]["method"]
        self.fitted = self.content["fitted"]["dict"]

    def member(self, name: str) -> dict[str, Any]:
        return self.fitted["members_"]["dict"][name]["method"]

    def rule(self, name: str = FOREST) -> dict[str, Any]:
        return self.member(name)["fitted"]["dict"]["_rule"]["fields"]

    def first_option(self) -> dict[str, Any]:
        members = self.content["options"]["dict"]["members"]["list"]
        return members[0]["tuple"][1]["method"]

    def weights(self) -> dict[str, Any]:
        return self.fitted["weights_"]["dict"]

    def change(self, node: Any, edit: Callable[[np.ndarray], Any]) -> None:
        array = self.arrays[node["array"]].copy()
        found = edit(array)
        self.arrays[node["array"]] = array if found is None else np.asarray(found)

    def write(self) -> None:
        import json

        with self.path.open("wb") as stream:
            text = np.asarray(json.dumps(self.tree))
            np.savez(stream, allow_pickle=True, tree=text, **self.arrays)


def put(place: Any, value: Any) -> Callable[[np.ndarray], None]:
    def edit(array: np.ndarray) -> None:
        array[place] = value

    return edit


def in_forest(name: str, edit: Callable[[np.ndarray], Any]) -> Callable[[Stored], None]:
    return lambda stored: stored.change(stored.rule()[name], edit)


def in_lda(name: str, edit: Callable[[np.ndarray], Any]) -> Callable[[Stored], None]:
    return lambda stored: stored.change(stored.rule(LDA)[name], edit)


def a_chain(stored: Stored) -> None:
    n, rule = 25_000, stored.rule()
    leaves = np.arange(1, n, 2)[:, None]
    children = np.full((n, 2), -1)
    children[np.r_[0, leaves[:-1, 0] + 1]] = np.hstack([leaves, leaves + 1])
    stored.change(rule["children"], lambda _: children[: n - 1 + n % 2])
    size = len(stored.arrays[rule["children"]["array"]])
    stored.change(rule["roots"], lambda _: np.array([0]))
    for name, kind in (("features", int), ("thresholds", float), ("outcomes", int)):
        stored.change(rule[name], lambda _, kind=kind: np.zeros(size, dtype=kind))


def below_its_child(children: np.ndarray) -> np.ndarray:
    """Return the same trees, where a node has changed places with its child."""
    parent = next(k for k in children[0] if children[k, 0] >= 0)
    child = children[parent, 0]
    places = np.arange(len(children))
    places[[parent, child]] = child, parent
    return np.where(children < 0, -1, places[children])[places]


def second_parent(children: np.ndarray) -> None:
    inner = np.flatnonzero(children[:, 0] >= 0)
    children[inner[0], 1] = children[inner[0], 0]


def compressed(stored: Stored) -> None:
    stored.write()
    with zipfile.ZipFile(stored.path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.filelist}
    with zipfile.ZipFile(stored.path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)


def into(place: Callable[[Stored], Any], **values: Any) -> Callable[[Stored], None]:
    return lambda stored: place(stored).update(values)


HOSTILE: dict[str, Callable[[Stored], None]] = {
    "a node is its own child": in_forest("children", put((0, 0), 0)),
    "a child above its parent": in_forest("children", below_its_child),
    "a child beyond the nodes": in_forest("children", put((0, 1), 10**9)),
    "a child in the next tree": in_forest("children", lambda c: c + (c >= 0)),
    "a negative child": in_forest("children", put((0, 0), -2)),
    "one child": in_forest("children", put((0, 1), -1)),
    "a node with two parents": in_forest("children", second_parent),
    "a chain too deep": a_chain,
    "children as fractions": in_forest("children", lambda c: c.astype(float)),
    "children as objects": in_forest("children", lambda c: c.astype(object)),
    "three children": in_forest("children", lambda c: np.c_[c, c[:, 0]]),
    "a feature beyond those of the fit": in_forest("features", put(0, X.shape[1])),
    "a negative feature": in_forest("features", put(0, -1)),
    "a threshold that is no number": in_forest("thresholds", put(0, np.nan)),
    "fewer thresholds than nodes": in_forest("thresholds", lambda t: t[1:]),
    "an outcome beyond the shares": in_forest("outcomes", put(-1, 10**6)),
    "shares without end": in_forest("shares", put((0, 0), np.inf)),
    "more shares than classes": in_forest("shares", lambda s: np.c_[s, s]),
    "no tree": in_forest("roots", lambda r: r[:0]),
    "roots that leave nodes out": in_forest("roots", lambda r: r + 1),
    "roots in disorder": in_forest("roots", lambda r: r[::-1]),
    "a class of nobody": in_forest("present", put(-1, 10**9)),
    "classes in disorder": in_forest("present", lambda p: p[::-1]),
    "features of another table": into(lambda s: s.rule(), n_features=10**12),
    "weights of another width": in_lda("weights", lambda w: w[1:]),
    "weights that are no numbers": in_lda("weights", put((0, 0), np.nan)),
    "weights as text": in_lda("weights", lambda w: w.astype(str)),
    "negative votes": into(lambda s: s.weights(), **{FOREST: -1.0}),
    "fewer votes than members": lambda s: s.weights().pop(FOREST),
    "more features than the file has": into(lambda s: s.fitted, n_features_in_=10**12),
    "a member of no known class": into(lambda s: s.member(FOREST), identifier="trap"),
    "an estimator to import": into(
        lambda s: s.content["options"]["dict"]["members"]["list"][0]["tuple"][1][
            "method"
        ],
        identifier="pooled-logistic-regression",
        options={"dict": {"estimator": {"dict": {"class": "os:system"}}}},
    ),
    "a method in place of predict": into(lambda s: s.fitted, predict=None),
    "a member without a scaling": lambda s: s.fitted[SCALING]["dict"].pop(FOREST),
    "a vote in a vote": lambda s: s.fitted["members_"]["dict"].update(
        {FOREST: {"method": copy.deepcopy(s.content)}}
    ),
    "compressed": compressed,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_one_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "vote.npz"
    save_model(path, fitted())
    stored = Stored(path)
    stored.write()
    load_model(path)  # as it was, until the change
    HOSTILE[name](stored)
    if name != "compressed":
        stored.write()
    with pytest.raises((DataError, SchemaError)) as refused:
        load_model(path)
    text = str(refused.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert "damaged" in text
