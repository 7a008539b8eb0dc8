"""The digits case and the authors' cases as problems that methods can be fitted on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io import loadmat
from support.known_answers.digits_case import digits_case
from support.toy_problem import ToyProblem

from cdspp import SourceDomain


def digits_problem() -> ToyProblem:
    """Return the digits case."""
    case = digits_case()
    X, y = case.target()
    truth = np.concatenate([case.y_labelled, case.y_unlabelled])
    return ToyProblem(X, y, truth, SourceDomain(case.X_source, case.y_source))


def authors_problem(folder: Path, name: str) -> ToyProblem:
    """Return the first trial of a case of the authors, its classes numbered from 0."""
    case = loadmat(folder / "cases" / f"{name}_trial1.mat")
    labelled, truth, of_source = (
        case[key].ravel().astype(int) - 1 for key in ("yt", "yu", "ys")
    )
    return ToyProblem(
        X=np.vstack([case["Xt"], case["Xu"]]).astype(float),
        y=np.concatenate([labelled, np.full(len(truth), -1)]),
        truth=np.concatenate([labelled, truth]),
        source=SourceDomain(case["Xs"].astype(float), of_source),
    )
