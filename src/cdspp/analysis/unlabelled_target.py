"""A target without labels: the source's labelled rows in the target's columns."""

from dataclasses import replace

import numpy as np

from cdspp.analysis.hold_outs import Problem
from cdspp.core.labels import UNLABELLED
from cdspp.core.names import STANDARDISE
from cdspp.core.scaling import fit_scaling
from cdspp.methods.joint_machine import ridge_map


def source_as_target(problem: Problem, *, each_scaled: bool) -> Problem:
    """Return an unscaled problem whose first rows are the source's, with its labels.

    Paired rows predict the columns of the target by a ridge map. Shared columns keep
    their values, or with `each_scaled` get the mean and spread of the target's.
    Other columns are constant, so that nothing is learnt from them.
    """
    source = problem.source
    assert source is not None
    X_source, y = np.asarray(source.X), np.asarray(source.y)
    rows = np.tile(problem.X.mean(axis=0), (len(y), 1))
    if source.paired_rows is not None:
        left, right = map(np.asarray, source.paired_rows)
        scaling, centre = fit_scaling(STANDARDISE, left), right.mean(axis=0)
        weights, _ = ridge_map(scaling.apply(left), right - centre)
        rows = scaling.apply(X_source) @ weights + centre
    if source.shared_columns is not None:
        columns, shared = np.transpose(source.shared_columns)
        values, in_target = X_source[:, columns], problem.X[:, shared]
        if each_scaled:
            values = fit_scaling(STANDARDISE, values).apply(values)
            values = values * in_target.std(axis=0) + in_target.mean(axis=0)
        rows[:, shared] = values
    codes = np.append(y, np.full(len(problem.X), UNLABELLED))
    X = np.concatenate([rows, problem.X])
    return replace(problem, X=X, codes=codes, source=None, scaling=None)
