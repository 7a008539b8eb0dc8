"""Refits: one trial of an existing fit made again, and compared bit by bit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core import devices, provenance
from cdspp.core.files import content_digest
from cdspp.stages import formats
from cdspp.stages.fit import Fit, JobInputs, device_of_fit, refit_trial

# Fields of a trial's record that a refit has to repeat.
REPEATED = (
    *("status", "reason", "collapsed", "crashed", "selected"),
    *("rounds", "tested", "read", "test_ids"),
)
OTHER_MACHINE = "it was made on another processor, which alone may change last digits"

Rows = Mapping[str, NDArray[Any]]


class Refit(NamedTuple):
    """A refitted trial: a digest of its content, and its difference, if any."""

    digest: str
    difference: str


def compare_refit(job_inputs: JobInputs, fit: Fit, trial: int) -> Refit:
    """Fit a trial of an existing fit again, and compare it with the file.

    Call it within `cdspp.stages.fit.loaded_methods`; errors as in `read_fit` and
    `refit_trial`.
    """
    old = formats.read_fit(fit.predictions)
    extra, device = old.record.extra, device_of_fit(fit, job_inputs.gpus)
    if (extra["device"] == devices.PROCESSOR) != (device == devices.PROCESSOR):
        return Refit("", f"it was made on {extra['device']}, and now runs on {device}")
    [expected] = [each for each in old.record.trials if each["trial"] == trial]
    in_trial = old.columns["trial"] == trial
    rows = {name: values[in_trial] for name, values in old.columns.items()}
    result, values = refit_trial(job_inputs, fit, trial)
    new_rows = formats.as_read(formats.FIT_COLUMNS, values)
    digest = trial_digest(result, new_rows)
    if digest == trial_digest(expected, rows):
        return Refit(digest, "")
    text = _difference(expected, result, rows, new_rows)
    is_here = extra.get("platform") == provenance.hardware()
    return Refit(digest, text if is_here else f"{text}; {OTHER_MACHINE}")


def trial_digest(result: Mapping[str, Any], rows: Rows) -> str:
    """Return a digest of what a trial computed, to the last bit of its numbers."""
    fields = {name: result.get(name) for name in REPEATED}
    columns = {
        name: values.tolist()
        if values.dtype.hasobject
        else hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()
        for name, values in rows.items()
    }
    return content_digest([fields, columns])


def _difference(
    expected: Mapping[str, Any], result: Mapping[str, Any], rows: Rows, new_rows: Rows
) -> str:
    """Return in words how two results of one trial differ."""
    states = [f"{r['status']} {r['reason']}".strip() for r in (expected, result)]
    if states[0] != states[1]:
        return f"it ends with {states[1]!r} instead of {states[0]!r}"
    if expected["read"] != result["read"]:
        return "it reads other rows, labels or shares"
    parts = [
        f"{name} {_shown(result.get(name))} instead of {_shown(expected.get(name))}"
        for name in ("selected", "collapsed", "rounds")
        if result.get(name) != expected.get(name)
    ]
    old, new = _by_row(rows), _by_row(new_rows)
    if common := old.keys() & new.keys():
        labels = sum(old[row][0] != new[row][0] for row in common)
        share = f"{100 * labels / len(common):.3g} % of the labels differ"
        parts.append(f"{share} ({labels} of {len(common)})")
        pairs = np.array([(old[row][1], new[row][1]) for row in common])
        if np.isfinite(pairs).any():
            # A confidence that only one of both has counts as a difference of 1.
            gap = np.nan_to_num(abs(pairs[:, 0] - pairs[:, 1]), nan=1.0)
            gap[np.isnan(pairs).all(axis=1)] = 0.0
            parts.append(f"confidence by up to {gap.max():.2g}")
    return ", ".join(parts) or "its rows are in another order"


def _by_row(rows: Rows) -> dict[tuple[int, str], tuple[str, float]]:
    """Return label and confidence by iteration and id."""
    names = ("iteration", "id", "predicted", "confidence")
    iterations, ids, labels, confidences = (rows[name].tolist() for name in names)
    keys = zip(iterations, ids, strict=True)
    return dict(zip(keys, zip(labels, confidences, strict=True), strict=True))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={item}" for name, item in value.items()) or "nothing"
    return str(value or "none")
