"""Fits of every candidate on draws of `benchmarks.decision_families`.

Run as a module, this file computes and stores the draws of a family in a process of its
own; `benchmarks.decisions` sends the requests and reads the records.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks.decision_families import FAMILIES, LABELS, Draw, Family
from benchmarks.decision_records import (
    DrawRecord,
    read_records,
    records_path,
    write_records,
)
from benchmarks.earlier_bet import Bet, earlier_bets
from cdspp.analysis.compare import candidates_of, compare
from cdspp.analysis.hold_outs import HoldOuts, Problem, all_folds
from cdspp.core.errors import DataError
from cdspp.methods import method_class
from cdspp.methods.base import UNLABELLED, Int

__all__ = ["SCALE", "hold_outs", "judge_draw", "judge_family", "possible_draws"]

# Defaults of `compare`.
_DEFAULTS = {name: p.default for name, p in signature(compare).parameters.items()}
REPEATS, TEST_SHARE, MAX_ROWS, SCALE = map(
    _DEFAULTS.__getitem__, ("repeats", "test_share", "max_rows", "scale")
)

# Codes by hold-out and labelled row, of unlabelled rows, and processor seconds.
Fit: TypeAlias = tuple[Int, Int, float]
NO_BET = Bet("", np.empty(0, dtype=int), 0.0)


def possible_draws(
    family: Family, labels: Sequence[int], numbers: Sequence[int]
) -> list[tuple[int, int, Draw]]:
    """Return draws with more labels than with the next smaller number a class.

    Without any label, only a source with a bridge says something of target rows.
    """
    draws = []
    for number in numbers:
        n_before = -1
        for count in LABELS:
            draw = family.draw(count, number)
            n_labelled = int(np.sum(draw.y != UNLABELLED))
            answerable = count or _bridge(draw)
            if count in labels and n_labelled > n_before and answerable:
                draws.append((count, number, draw))
            n_before = n_labelled
    return draws


def _bridge(draw: Draw) -> str:
    kinds = ("shared_columns", "paired_rows")
    found = [kind for kind in kinds if getattr(draw.source, kind) is not None]
    return found[0] if found else ""


def judge_family(
    family: str, labels: Sequence[int], numbers: Sequence[int], folder: str, code: str
) -> str:
    """Fit and store the draws that are not stored yet.

    Parameters
    ----------
    family : str
        A name of `FAMILIES`.
    labels, numbers : sequence of int
        Labels a class, and numbers of draws.
    folder : str
        Where records are stored, one file a family.
    code : str
        Where the code of the earlier version is.

    Returns
    -------
    str
        Why the data of the family are missing; empty if they are there.
    """
    path = records_path(Path(folder), family)
    records = read_records(path)
    stored = {record.key for record in records}
    try:
        draws = possible_draws(FAMILIES[family], labels, numbers)
    except (DataError, ImportError) as error:
        return str(error).splitlines()[0]
    missing = [each for each in draws if each[:2] not in stored]
    labelled = [each for each in missing if each[0]]
    seeds = [number for _, number, _ in labelled]
    bets = earlier_bets([draw for *_, draw in labelled], Path(code), seeds)
    bet_of = {each[:2]: bet for each, bet in zip(labelled, bets, strict=True)}
    for count, number, draw in missing:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bet = bet_of.get((count, number), NO_BET)
            records.append(judge_draw(draw, count, number, bet))
        write_records(path, records)
    return ""


def judge_draw(draw: Draw, labels: int, number: int, bet: Bet = NO_BET) -> DrawRecord:
    """Fit every candidate over hold-outs, and on all labelled rows."""
    fits = _fits(draw, number) if labels else _fits_of_source(draw, number)
    predicted, transduction, seconds = zip(*fits.values(), strict=True)
    return DrawRecord(
        labels=labels,
        number=number,
        bridge=_bridge(draw),
        y=draw.y,
        truth=draw.truth,
        names=np.array([*fits]),
        uses_source=np.array([method_class(name).uses_source for name in fits]),
        predicted=np.array(predicted),
        transduction=np.array(transduction),
        seconds=np.array(seconds),
        bet=bet.method,
        bet_codes=bet.codes,
        bet_seconds=bet.seconds,
    )


def hold_outs(draw: Draw, seed: int) -> HoldOuts:
    """Return the hold-outs of `compare` on a draw with labels, before any fit."""
    problem = Problem.of(draw.X, draw.y, draw.source, SCALE)
    repeats = REPEATS if problem.class_sizes.max() > 1 else 0
    folds = all_folds(problem, repeats, TEST_SHARE, MAX_ROWS, seed)
    return HoldOuts(problem, folds, SCALE, MAX_ROWS, seed)


def _fits(draw: Draw, seed: int) -> dict[str, Fit]:
    """Return the labels of the candidates of `compare` that do not fail."""
    runs = hold_outs(draw, seed)
    fits = {}
    for name in candidates_of(runs):
        start = time.process_time()
        predicted, codes = runs.predicted(name), runs.transduction(runs.problem, name)
        if codes is not None and name not in runs.failures:
            fits[name] = predicted, codes, time.process_time() - start
    return fits


def _fits_of_source(draw: Draw, seed: int) -> dict[str, Fit]:
    """Return the labels that the members of `compare` give without a target label."""
    start = time.process_time()
    found = compare(draw.X, draw.y, source=draw.source, seed=seed)
    members, n = found.estimator.members_, len(draw.X)
    each = (time.process_time() - start) / len(members)
    none = np.empty((0, 0), dtype=np.intp)
    return {name: (none, m.transduction_[-n:], each) for name, m in members.items()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(judge_family(**json.loads(sys.argv[1]))))
