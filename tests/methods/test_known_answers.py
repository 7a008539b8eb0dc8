"""The authors' code is met: exactly where it is deterministic, in a band elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.io import loadmat
from support.known_answers.digits_case import DigitsCase, digits_case

from cdspp import SourceDomain
from cdspp.methods import make


class Answer(NamedTuple):
    """A method with options, and where its answer stands: one line per method."""

    method: str
    options: Mapping[str, Any]
    variant: str = ""
    tolerance: int = 0


UNIT = {"eigenvector_scaling": "unit"}

EXACT = [
    Answer("cdspp", {}),
    Answer("cdspp", UNIT, "unit_two_norm"),
    Answer("cdspp-sup", {}),
    Answer("cdspp", {"dtype": "float32"}),
    Answer("cdspp-sup", {"dtype": "float32"}),
    Answer("cdspp-sup", UNIT, "unit_two_norm"),
    Answer("svm-t", {"strategy": "platt", "l2": False}),
    Answer("svm-t", {"l2": False}, "one_vs_one_raw"),
    Answer("svm-t", {}, "one_vs_one_l2"),
    Answer("svm-t", {"strategy": "decision", "l2": False}, "one_vs_rest_raw"),
    Answer("svm-t", {"strategy": "decision"}, "one_vs_rest_l2"),
    *(
        Answer(method, options, variant)
        for method in ("dama-sup", "dama", "dama-plus")
        for options, variant in (({}, ""), (UNIT, "unit_two_norm"))
    ),
    Answer("cdls-sup", {}),
    Answer("cdls", {}),
    Answer("tit", {}),
    Answer("ddacl", {"random_state": 7}, "fixed_start"),
    Answer("pa", {"random_state": 0}, tolerance=1),
    Answer("hfa", {}, tolerance=2),
    pytest.param(
        Answer("shfa", {}, "uniform_prior", tolerance=9), marks=pytest.mark.slow
    ),
    pytest.param(
        Answer("shfa", {"solver": "exact"}, "exact_qp_uniform_prior", tolerance=1),
        marks=pytest.mark.slow,
    ),
]

# Where random initial values matter: (method, options, band, seeds).
BANDS = [
    ("ddacl", {}, "default", 3),
    pytest.param("stn", {}, "default", 3, marks=pytest.mark.slow),
]

REFERENCE = [
    Answer("cdspp", {}, "accuracy"),
    Answer("cdspp-sup", {}, "accuracy"),
    Answer("cdspp", {"dtype": "float32"}, "accuracy"),
    Answer("cdspp-sup", {"dtype": "float32"}, "accuracy"),
    Answer("svm-t", {"strategy": "platt", "l2": False}, "accuracy"),
    Answer("svm-t", {"strategy": "platt"}, "platt_l2"),
    Answer("svm-t", {}, "one_vs_one_l2"),
    Answer("svm-t", {"strategy": "decision", "l2": False}, "one_vs_rest_raw"),
    Answer("svm-t", {"strategy": "decision"}, "one_vs_rest_l2"),
    Answer("dama-sup", {}, "accuracy"),
    Answer("dama", {}, "accuracy"),
    Answer("dama-plus", {}, "accuracy"),
    Answer("cdls-sup", {}, "accuracy"),
    Answer("cdls", {}, "accuracy"),
    Answer("tit", {}, "accuracy"),
    pytest.param(
        Answer("pa", {"random_state": 0}, "accuracy", 1), marks=pytest.mark.slow
    ),
    pytest.param(Answer("hfa", {}, "accuracy", 2), marks=pytest.mark.slow),
]

CASES = [
    *(f"mrc_EN_SP_trial{k}" for k in (1, 2, 3)),
    *(f"oc_surf-amazon_GoogleNet1024-dslr_trial{k}" for k in (1, 2, 3)),
    *(f"oc_surf-caltech10_GoogleNet1024-webcam_trial{k}" for k in (1, 2, 3)),
    "tit_decaf-webcam_surf-dslr_trial1",
]


def _label(answer: Answer) -> str:
    return "-".join(filter(None, (answer.method, answer.variant)))


@cache
def digits() -> DigitsCase:
    """Return the digits case, built once."""
    return digits_case()


@cache
def digits_answers() -> Mapping[str, Any]:
    """Return the answers of the authors' code on the digits case."""
    path = Path(__file__).parents[1] / "support/known_answers/digits.json"
    return json.loads(path.read_text())


def labels_of(text: str) -> np.ndarray:
    """Decode predictions: the last digit of the authors' labels 1 .. 10."""
    return (np.array([int(character) for character in text]) - 1) % 10


def fit_digits(method: str, **options: Any) -> Any:
    """Fit a method on the digits case."""
    X, y = digits().target()
    source = SourceDomain(digits().X_source, digits().y_source)
    return make(method, **options).fit(X, y, source=source)


def accuracies(model: Any, truth: np.ndarray) -> np.ndarray:
    """Return the accuracy of each iteration."""
    return np.array([np.mean(entry.prediction == truth) for entry in model.history_])


def test_the_digits_case_is_rebuilt_to_the_last_digit() -> None:
    case = digits()
    assert case.X_source.shape == (200, 64)
    assert case.X_labelled.shape == (30, 72)
    assert case.X_unlabelled.shape == (300, 72)
    assert case.X_unlabelled.sum() == pytest.approx(14299.524434641096, rel=1e-14)
    assert case.y_unlabelled.tolist() == [c for c in range(10) for _ in range(30)]


@pytest.mark.parametrize("answer", EXACT, ids=_label)
def test_every_predicted_label_of_the_digits_case_is_met(answer: Answer) -> None:
    known = digits_answers()[answer.method]
    known = known["variants"][answer.variant] if answer.variant else known
    model = fit_digits(answer.method, **answer.options)
    differing = model.history_[-1].prediction != labels_of(known["predictions"])
    assert differing.sum() <= answer.tolerance
    found = accuracies(model, digits().y_unlabelled)
    within = answer.tolerance / len(differing) + 1e-6
    assert found[-1] == pytest.approx(known["accuracy"], abs=within)
    if "per_iteration" in known:
        assert found == pytest.approx(known["per_iteration"], abs=within)


def test_every_label_of_every_round_of_cdspp_is_met() -> None:
    known = digits_answers()["cdspp"]["predictions_per_iteration"]
    history = fit_digits("cdspp").history_
    assert len(history) == len(known)
    for entry, text in zip(history, known, strict=True):
        np.testing.assert_array_equal(entry.prediction, labels_of(text))


@pytest.mark.parametrize(("method", "options", "band", "seeds"), BANDS)
def test_the_mean_over_seeds_lies_in_the_band(
    method: str, options: Mapping[str, Any], band: str, seeds: int
) -> None:
    known = digits_answers()[method]["band"][band]
    truth = digits().y_unlabelled
    found = [
        accuracies(fit_digits(method, random_state=seed, **options), truth)[-1]
        for seed in range(seeds)
    ]
    assert known["min"] <= np.mean(found) <= known["max"]
    assert abs(np.mean(found) - known["mean"]) <= known["sd"]


def fit_case(folder: Path, name: str, method: str, **options: Any) -> np.ndarray:
    """Fit a method on one of the authors' cases; return its accuracies."""
    case = loadmat(folder / "cases" / f"{name}.mat")
    labels = case["yt"].ravel().astype(int)
    truth = case["yu"].ravel().astype(int)
    source = SourceDomain(case["Xs"], case["ys"].ravel().astype(int))
    y = np.concatenate([labels, np.full(len(truth), -1)])
    X = np.vstack([case["Xt"], case["Xu"]])
    return accuracies(make(method, **options).fit(X, y, source=source), truth)


@cache
def reference_answers(folder: Path) -> Mapping[str, Any]:
    """Return the answers of the authors' code on the ten cases."""
    return json.loads((folder / "known_answers.json").read_text())


@pytest.mark.reference
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("answer", REFERENCE, ids=_label)
def test_the_authors_accuracy_is_met_on_their_case(
    answer: Answer, case: str, reference_folder: Path
) -> None:
    known = reference_answers(reference_folder)[answer.method]["results"].get(case)
    if known is None:
        pytest.skip("no answer for this case")
    found = fit_case(reference_folder, case, answer.method, **answer.options)
    n = loadmat(reference_folder / "cases" / f"{case}.mat")["yu"].size
    tolerance = answer.tolerance / n + 1e-6
    assert found[-1] == pytest.approx(known[answer.variant], abs=tolerance)
    if "per_iteration" in known:
        assert found == pytest.approx(known["per_iteration"], abs=tolerance)


@pytest.mark.reference
@pytest.mark.parametrize("case", CASES)
def test_ddacl_has_the_mean_over_the_seeds_of_the_port(
    case: str, reference_folder: Path
) -> None:
    known = reference_answers(reference_folder)["ddacl"]["results"][case]
    if "mean_over_seeds" not in known:
        pytest.skip("one run only")
    seeds = range(1, 11 if case.endswith("trial1") else 4)
    found = [
        fit_case(reference_folder, case, "ddacl", random_state=seed)[-1]
        for seed in seeds
    ]
    # Unbounded below on this pair of domains: rounding alone moves the accuracy.
    unbounded = "surf-amazon" in case
    within = 2 * known["sd_over_seeds"] if unbounded else 1e-4
    assert np.mean(found) == pytest.approx(known["mean_over_seeds"], abs=within)


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("case", CASES)
def test_shfa_with_the_true_shares_is_the_released_code(
    case: str, reference_folder: Path
) -> None:
    known = reference_answers(reference_folder)["shfa"]["results"].get(case)
    if known is None:
        pytest.skip("no answer for this case")
    solver = "exact" if "exact" in known.get("source", "") else "libsvm"
    truth = loadmat(reference_folder / "cases" / f"{case}.mat")["yu"].ravel()
    shares = np.unique(truth, return_counts=True)[1] / len(truth)
    found = fit_case(reference_folder, case, "shfa", prior=shares, solver=solver)
    assert abs(found[-1] - known["accuracy"]) <= 3 / len(truth) + 1e-6


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("case", CASES)
def test_stn_has_the_mean_over_seeds_of_the_port(
    case: str, reference_folder: Path
) -> None:
    known = reference_answers(reference_folder)["stn"]["results"][case]
    seeds = (known["seed"], 1, 2)
    found = [fit_case(reference_folder, case, "stn", random_state=s)[-1] for s in seeds]
    expected = [known["accuracy"], *known.get("other_seeds", {}).values()]
    # The seeds of the port differ by up to 1.7 points on one case.
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.02)


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize(
    "pair", sorted({case[:-1] for case in CASES if case.endswith("3")})
)
def test_ssan_has_the_median_over_trials_of_the_authors_code(
    pair: str, reference_folder: Path
) -> None:
    known = reference_answers(reference_folder)["ssan"]["results"]
    cases = [f"{pair}{trial}" for trial in (1, 2, 3)]
    # The last of the iterations may be a collapse, as the Notes of SSAN tell: about
    # one in ten is.
    found = [
        fit_case(reference_folder, case, "ssan", random_state=seed)[-1]
        for case in cases
        for seed in (known[case]["seed"], 1, 2)
    ]
    expected = np.median([known[case]["accuracy"] for case in cases])
    assert np.median(found) == pytest.approx(expected, abs=0.05)


@pytest.mark.reference
def test_the_digits_case_equals_the_one_the_authors_code_was_run_on(
    reference_folder: Path,
) -> None:
    stored = loadmat(reference_folder / "cases_digits.mat")
    np.testing.assert_allclose(digits().X_source, stored["Xs"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(digits().X_labelled, stored["Xt"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(digits().X_unlabelled, stored["Xu"], rtol=0, atol=1e-12)
