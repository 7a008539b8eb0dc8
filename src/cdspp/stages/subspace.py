"""The common subspace of one trial in two dimensions, one view for all iterations."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import linalg

from cdspp.core import devices, errors, labels
from cdspp.core.linalg import Float, column_signs, row_normalise
from cdspp.core.names import PathLike
from cdspp.core.outputs import atomic
from cdspp.methods import make, option_defaults
from cdspp.methods.base import UNLABELLED
from cdspp.stages.formats import SUBSPACE_ARRAYS
from cdspp.stages.trials import TaskFiles, Trial, read_trials

log = logging.getLogger(__name__)

_NUMBERS, _WORDS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.str_)
NO_ROWS = _NUMBERS, _WORDS, _WORDS, np.empty((0, 2)), _WORDS, np.asarray(False)


def fixed_view(iterations: list[Float], anchors: int) -> list[Float]:
    """Return planar coordinates of the same rows in every iteration, in one fixed view.

    The subspace of each iteration is rotated to fit that of the last one on the first
    `anchors` rows (the labelled ones); all are then projected to the two leading
    principal axes of the last iteration. Narrower iterations are padded with zeros.
    """
    width = max(2, *(Z.shape[1] for Z in iterations))
    padded = [np.pad(Z, ((0, 0), (0, width - Z.shape[1]))) for Z in iterations]
    last = padded[-1]
    centre = last.mean(axis=0)
    axes = linalg.svd(last - centre, full_matrices=False)[2][:2].T
    axes *= column_signs(axes)
    views = []
    for Z in padded:
        rotation = linalg.orthogonal_procrustes(Z[:anchors], last[:anchors])[0]
        views.append((Z @ rotation - centre) @ axes)
    return views


def write_subspace(
    *,
    method: str,
    options: Mapping[str, Any],
    files: TaskFiles,
    output: PathLike,
    overlap: str,
    numeric_threads: int,
) -> None:
    """Fit the first trial of a batch again and write its subspace by iteration.

    If a method can fit once more on all its pseudo-labels (`final_fit`), it does so
    here: with T iterations there are T + 1, as in Algorithm 2 of the paper. `output`
    receives `SUBSPACE_ARRAYS`, with `predicted` empty for given labels, and without
    rows if the method fails.
    """
    with devices.limit_threads(numeric_threads):
        trial = next(read_trials(files, overlap=overlap))
        try:
            arrays = _arrays(method, options, trial)
        except Exception as error:
            if errors.stops_job(error):
                raise
            # The record of the fit has the failure; the figure is empty and says so.
            log.exception("the method failed, so there is no subspace")
            arrays = dict(zip(SUBSPACE_ARRAYS, NO_ROWS, strict=True))
    with atomic(output) as temporary, temporary.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def _arrays(method: str, options: Mapping[str, Any], trial: Trial) -> dict[str, Any]:
    extra = {"final_fit": True} if "final_fit" in option_defaults(method) else {}
    model = make(method, **{**options, "keep_projections": True, **extra})
    with labels.keep_labels(*trial.classes):
        model.fit(trial.X, trial.y, source=trial.source)
    n_given = len(trial.source_ids) + len(trial.labelled_ids)
    # Source, labelled and unlabelled rows in the subspace of each iteration.
    is_labelled = np.array([label != UNLABELLED for label in trial.y])
    X_source = row_normalise(np.asarray(trial.source.X, dtype=np.float64))
    X_target = row_normalise(trial.X.astype(np.float64))
    iterations = []
    for P_source, P_target in filter(None, (r.projections for r in model.history_)):
        known = np.vstack([X_source @ P_source, X_target[is_labelled] @ P_target])
        all_rows = np.vstack([known, X_target[~is_labelled] @ P_target])
        iterations.append(row_normalise(all_rows - known.mean(axis=0)))
    views = fixed_view(iterations, anchors=n_given)
    groups = ["source", "labelled", "unlabelled"]
    ids = [trial.source_ids, trial.labelled_ids, trial.test_ids]
    group = np.repeat(groups, [len(part) for part in ids])
    no_labels = np.full(n_given, "")
    predicted = [np.append(no_labels, r.prediction.astype(str)) for r in model.history_]
    return {
        "iteration": np.repeat(np.arange(1, len(views) + 1), len(group)),
        "group": np.tile(group, len(views)),
        "id": np.tile(np.concatenate(ids).astype(np.str_), len(views)),
        "xy": np.vstack(views),
        "predicted": np.concatenate(predicted),
        "final_fit": np.asarray(bool(extra) and len(views) > 1),
    }
