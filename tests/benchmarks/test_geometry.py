"""Gains by shared geometry, on two places of the grid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.geometry import Place, bench_geometry

PLACES = (Place(2, 5, 0.0), Place(2, 5, 1.0))
FEW = ("dama-plus", "cdspp")


@pytest.fixture(scope="module")
def gains() -> pd.DataFrame:
    return bench_geometry(draws=5, workers=2, places=PLACES, methods=FEW)


@pytest.mark.slow
def test_gains_are_those_of_the_accuracies(gains: pd.DataFrame) -> None:
    assert len(gains) == len(PLACES) * len(FEW)
    np.testing.assert_allclose(gains["gain"], gains["accuracy"] - gains["alone"])
    assert ((gains["low"] < gains["gain"]) & (gains["gain"] < gains["high"])).all()
    assert gains["accuracy"].between(0.3, 1.0).all()


@pytest.mark.slow
def test_gains_do_not_depend_on_the_number_of_processes(gains: pd.DataFrame) -> None:
    again = bench_geometry(draws=5, workers=1, places=PLACES, methods=FEW)
    pd.testing.assert_frame_equal(again, gains)
