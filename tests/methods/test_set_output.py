"""Rows in the common space as a frame, with names for its columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.quick_methods import quick
from support.toy_problem import toy_problem

from cdspp.methods import available, method_class
from cdspp.methods.shared.common_subspace import CommonSpaceMethod

METHODS = [m for m in available() if issubclass(method_class(m), CommonSpaceMethod)]


@pytest.mark.parametrize("name", METHODS)
def test_the_common_space_has_named_columns(name: str) -> None:
    problem = toy_problem()
    model = problem.fit(quick(name))
    names = model.get_feature_names_out().tolist()
    stem = type(model).__name__.lower()
    Z = model.transform(problem.X)
    assert names == [f"{stem}{k}" for k in range(Z.shape[1])]
    index = [f"row {k}" for k in range(len(problem.X))]
    frame = model.set_output(transform="pandas").transform(
        pd.DataFrame(problem.X, index=index)
    )
    assert frame.columns.tolist() == names
    assert frame.index.tolist() == index
    # A frame's rows lie otherwise in memory: the last digits may differ.
    np.testing.assert_allclose(frame, Z, rtol=1e-6, atol=1e-9)
