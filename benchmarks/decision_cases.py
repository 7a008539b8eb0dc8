"""Answers of `compare` on draws of `benchmarks.decision_families`, and the truth.

Run as a module, this file computes requests in a process of its own;
`benchmarks.decisions` sends the requests and counts the results.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.decision_families import FAMILIES, Draw
from benchmarks.labelling import simulate_labelling
from cdspp.analysis.best_bet import TARGET_ONLY
from cdspp.analysis.compare import compare, usual_methods
from cdspp.analysis.hold_outs import Problem
from cdspp.core.errors import DataError, MethodFailed
from cdspp.core.names import STANDARDISE
from cdspp.core.scaling import fit_scaling
from cdspp.methods import make_seeded, method_class
from cdspp.methods.base import UNLABELLED, Int
from cdspp.methods.problem import scale_domains

__all__ = ["TARGET_ONLY", "fit_name", "judge_draw", "judge_draws"]

EXTRA_CANDIDATE = "cdspp-bridge"  # also considered in hindsight if there is a bridge
WITH_SOURCE = "+source"


def fit_name(method: str, with_source: bool = True) -> str:
    """Return the name of a fit: its method, and whether it uses the source.

    >>> fit_name("cdspp"), fit_name("cdspp", False), fit_name("svm-t")
    ('cdspp+source', 'cdspp', 'svm-t')
    """
    return method + WITH_SOURCE * (with_source and method_class(method).uses_source)


def judge_draws(
    family: str, numbers: Sequence[int], coda: str = ""
) -> list[dict[str, Any]]:
    """Apply `judge_draw` to draws of a family.

    Without its data, the only record names what is `missing`.
    """
    records = []
    for number in numbers:
        try:
            draw = FAMILIES[family].draw(number)
        except (DataError, ImportError) as error:
            reason = str(error).splitlines()[0]
            return [{"family": family, "missing": reason}]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = judge_draw(draw, number, coda=coda)
        records.append({"family": family, "number": number, **record})
    return records


def judge_draw(draw: Draw, seed: int, *, coda: str = "") -> dict[str, Any]:
    """Run `compare` as a user would, and fit every candidate for the truth.

    Parameters
    ----------
    draw : Draw
        Rows, labels and the truth behind them.
    seed : int
        Seed of the comparison.
    coda : str, default=""
        A checkout of CODA, whose choice of rows takes part in the labelling.

    Returns
    -------
    dict
        The `candidates` with their gains; the fit that the bet deploys (`bet`); the
        accuracy of every candidate on unlabelled rows (`truth`); processor `seconds` of
        the answer; and the `labelling`, empty if the bet is `target-only`.
    """
    rows = draw.X, draw.y
    answer, seconds = _timed_answer(*rows, source=draw.source, seed=seed)
    bet = fit_name(answer.best_bet)
    names = dict.fromkeys([*_hindsight(draw), *map(fit_name, answer.candidates.method)])
    predictions = {name: _predictions(draw, draw.y, name) for name in names}
    hidden_codes = draw.truth[draw.y == UNLABELLED]
    return {
        "n_labelled": int(np.sum(draw.y != UNLABELLED)),
        "n_classes": len(np.unique(draw.truth)),
        "candidates": json.loads(answer.candidates.to_json(orient="records")),
        "bet": bet,
        "truth": {
            name: float(np.mean(codes == hidden_codes))
            for name, codes in predictions.items()
        },
        "seconds": seconds,
        "labelling": _labelling(draw, bet, seed, coda) if bet != TARGET_ONLY else [],
    }


def _timed_answer(*rows: Any, **options: Any) -> tuple[Any, float]:
    """Return the answer of `compare`, and its processor seconds."""
    start = time.process_time()
    answer = compare(*rows, **options)
    return answer, time.process_time() - start


def _hindsight(draw: Draw) -> list[str]:
    """Return the usual methods, with the source and without, and one more."""
    problem = Problem.of(draw.X, draw.y, draw.source, STANDARDISE)
    usual = usual_methods(problem)
    if problem.bridge:
        usual.append(EXTRA_CANDIDATE)
    # Without a source, a method with a bridge joins the target to itself.
    without_source = [name for name in usual if not method_class(name).bridges]
    return [*map(fit_name, usual), *(fit_name(name, False) for name in without_source)]


def _fit(draw: Draw, y: Int, name: str) -> tuple[Any, Any]:
    """Fit a deployed method as `cdspp fit` does; return it and the scaled rows."""
    method = name.removesuffix(WITH_SOURCE)
    if name == method:
        scaling, source = fit_scaling(STANDARDISE, draw.X), None
    else:
        scaling, source = scale_domains(STANDARDISE, draw.X, draw.source)
    X = scaling.apply(draw.X)
    model = make_seeded(method, 0)
    return model.fit(X, y, source=source), X


def _predictions(draw: Draw, y: Int, name: str) -> Int:
    """Return codes for the rows without a label; -1 if the method fails."""
    unlabelled = draw.y == UNLABELLED
    try:
        model, _ = _fit(draw, y, name)
    except MethodFailed:
        return np.full(int(unlabelled.sum()), UNLABELLED)
    codes: Int = model.transduction_[unlabelled]
    return codes


def _labelling(draw: Draw, bet: str, seed: int, coda: str) -> list[dict[str, Any]]:
    unlabelled = np.flatnonzero(draw.y == UNLABELLED)
    n_classes = len(np.unique(draw.truth))
    predictions = [_predictions(draw, draw.y, name) for name in (bet, TARGET_ONLY)]
    scores = []
    for name in (bet, TARGET_ONLY):
        model, X = _fit(draw, draw.y, name)
        if hasattr(model, "predict_proba"):
            scores.append(model.predict_proba(X[unlabelled]))
        else:
            scores.append(np.eye(n_classes)[model.transduction_[unlabelled]])

    def refit(rows: Int, fit: int) -> Int:
        y = draw.y.copy()
        y[unlabelled[rows]] = draw.truth[unlabelled[rows]]
        return _predictions(draw, y, (bet, TARGET_ONLY)[fit])

    return simulate_labelling(
        predictions,
        scores,
        draw.truth[unlabelled],
        refit,
        seed=seed,
        coda=coda,
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(judge_draws(**json.loads(sys.argv[1]))))
