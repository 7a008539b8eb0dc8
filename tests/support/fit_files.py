"""Fits on disk with records that fit them, as the fit stage writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.core.names import fit_key, trials_of_block
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.stages.artifacts import FIT_COLUMNS, write_rows
from cdspp.stages.fit_files import write_record

# What a record says beside the identity of its fit, where no test looks at it.
RECORDED: Mapping[str, Any] = {
    "dataset": "goods",
    "overlap": "exclude",
    "inputs": {},
    "predictions": "",
    "made_of": "",
    "versions": {},
}
RECORDED_OF_TRIAL = {"rounds": 1, "tested": 1, "test_ids": ""}


def write_fit(
    path: Path,
    predictions: pd.DataFrame | Mapping[str, Sequence[Any]],
    trials: Mapping[int, Mapping[str, Any]] | None = None,
    **told: Any,
) -> None:
    """Write predictions and their record.

    `trials` holds what the record says otherwise of a trial, `told` of the fit; a trial
    without predictions has failed.
    """
    write_rows(path, FIT_COLUMNS, predictions)
    rows, key = pd.DataFrame(predictions), fit_key(path)
    outcomes = []
    for number in trials_of_block(key.block):
        own = rows[rows["trial"] == number]
        ids = own["id"].unique().tolist()
        outcome = {"trial": number, "status": "ok" if len(own) else "failed"}
        outcome |= {"reason": "", "collapsed": "", "rounds": own["iteration"].nunique()}
        outcome |= {"tested": len(ids), "test_ids": ids_digest(ids)}
        outcomes.append(outcome | (trials or {}).get(number, {}))
    record = {**RECORDED, **key._asdict(), "predictions": file_digest(path)}
    write_record(path.with_suffix(".json"), {**record, "trials": outcomes, **told})
