"""The vote of `compare` on stored labels of candidates, also with other constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.decision_cases import REPEATS
from benchmarks.decision_records import DrawRecord
from cdspp.analysis.ballot import Ballot
from cdspp.analysis.pool import NO_VOTE_UNTESTED
from cdspp.analysis.vote import NOT_TESTED, SHRINKAGE, TEMPERATURE, Estimate, accuracy
from cdspp.methods.base import UNLABELLED, Int

__all__ = ["Answer", "answer", "ballot_of", "source_gain"]

UNKNOWN = Estimate(np.nan, np.nan, np.nan)


class Answer(NamedTuple):
    """Codes of unlabelled rows, and the estimate of their accuracy."""

    codes: Int
    accuracy: Estimate


def answer(
    record: DrawRecord,
    *,
    with_source: bool = True,
    without: Sequence[str] = (),
    shrinkage: float = SHRINKAGE,
    temperature: float = TEMPERATURE,
) -> Answer:
    """Return the vote of a draw's candidates, or of those without the source.

    Candidates named by `without` do not vote, nor those that `compare` leaves out.
    """
    names = [n for n in _voters(record, with_source) if n not in without]
    ballot = _ballot(record, shrinkage, temperature).of(names)
    if not ballot.held_out.size:
        return Answer(ballot.labels, UNKNOWN)
    estimate = accuracy(ballot.right, ballot.codes, ballot.class_shares)
    return Answer(ballot.labels, estimate)


def ballot_of(record: DrawRecord) -> Ballot:
    """Return the ballot of the candidates that vote in `compare`."""
    return _ballot(record).of(_voters(record, True))


def source_gain(record: DrawRecord) -> tuple[float, float, float]:
    """Return what the source adds to the vote, with its interval."""
    ballot = ballot_of(record)
    members = _voters(record, False)
    truth = np.full(len(ballot.labels), NOT_TESTED)
    found = ballot.gain_over(members, truth)
    return found.gain, found.low, found.high


def _ballot(
    record: DrawRecord,
    shrinkage: float = SHRINKAGE,
    temperature: float = TEMPERATURE,
) -> Ballot:
    names = [*map(str, record.names)]
    return Ballot(
        dict(zip(names, record.predicted.astype(np.intp), strict=True)),
        dict(zip(names, record.transduction.astype(np.intp), strict=True)),
        record.truth[record.y != UNLABELLED].astype(np.intp),
        int(record.truth.max()) + 1,
        REPEATS,
        shrinkage,
        temperature,
    )


def _voters(record: DrawRecord, with_source: bool) -> list[str]:
    left_out = NO_VOTE_UNTESTED if record.labels == 1 else ()
    pairs = zip(map(str, record.names), record.uses_source, strict=True)
    return [n for n, uses in pairs if n not in left_out and (with_source or not uses)]
