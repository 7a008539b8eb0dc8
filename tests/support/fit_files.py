"""Fits on disk with records that fit them, as the fit stage writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.core.files import (
    content_digest,
    read_json,
    record_path,
    write_json,
    write_record,
)
from cdspp.core.names import fit_key, trials_of_block
from cdspp.core.provenance import ids_digest
from cdspp.stages.artifacts import FIT_COLUMNS, write_rows

# What a record says of its fit beside the trials, where no test looks at it.
RECORDED: Mapping[str, Any] = {"dataset": "goods", "overlap": "exclude", "versions": {}}
RECORDED_OF_TRIAL = {"rounds": 1, "tested": 1, "test_ids": ""}


def write_fit(
    path: Path,
    predictions: pd.DataFrame | Mapping[str, Sequence[Any]],
    trials: Mapping[int, Mapping[str, Any]] | None = None,
    inputs: Mapping[str, str] | None = None,
) -> None:
    """Write predictions and their record.

    `trials` holds what the record says otherwise of a trial; one without predictions
    has failed.
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
    write_record(path, "", inputs or {}, {**RECORDED, "trials": outcomes})


def rewrite_record(path: Path, **changes: Any) -> None:
    """Change the record of a file, whole again as a forger would have it."""
    content = {**read_json(record_path(path)), **changes}
    del content["digest"]
    write_json(record_path(path), {**content, "digest": content_digest(content)})
