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
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decision_families import FAMILIES, LABELS, Draw, Family
from benchmarks.decision_records import (
    DrawRecord,
    read_records,
    records_path,
    write_records,
)
from benchmarks.earlier_bet import Bet, earlier_bets
from benchmarks.stand_ins import (
    candidates,
    fit_candidate,
    hold_outs,
    label_without_labels,
)
from cdspp.core.errors import DataError
from cdspp.methods import available, method_class
from cdspp.methods.base import UNLABELLED

__all__ = ["judge_draw", "judge_family", "possible_draws"]

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
    fits: dict[str, tuple[Any, Any, float]] = {}
    start = time.process_time()
    if labels:
        runs = hold_outs(draw.X, draw.y, draw.source, number)
        problem = runs.problem
        sizes = len(problem.labelled), len(np.unique(draw.truth))
        for name in candidates(problem.bridge, *sizes):
            start = time.process_time()
            fit = fit_candidate(runs, name)
            fits[name] = (*fit, time.process_time() - start)
    else:
        none = np.empty((0, 0), dtype=int)
        answers = label_without_labels(draw.X, draw.source)
        each = (time.process_time() - start) / len(answers)
        fits = {name: (none, codes, each) for name, codes in answers.items()}
    predicted, transduction, seconds = zip(*fits.values(), strict=True)
    return DrawRecord(
        labels=labels,
        number=number,
        bridge=_bridge(draw),
        y=draw.y,
        truth=draw.truth,
        names=np.array([*fits]),
        uses_source=np.array([_uses_source(name) for name in fits]),
        predicted=np.array(predicted),
        transduction=np.array(transduction),
        seconds=np.array(seconds),
        bet=bet.method,
        bet_codes=bet.codes,
        bet_seconds=bet.seconds,
    )


def _uses_source(name: str) -> bool:
    if name in available():
        return method_class(name).uses_source
    return name.startswith(("pooled", "stacked"))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(judge_family(**json.loads(sys.argv[1]))))
