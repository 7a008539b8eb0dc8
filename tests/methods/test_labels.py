"""Labels as they are given."""

from __future__ import annotations

import warnings

import numpy as np

from cdspp import SourceDomain, make
from cdspp.core.errors import CollapseWarning


def test_one_label_a_class_is_usual_and_gives_no_warning() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.repeat(np.arange(30), 2)
    source = SourceDomain(rng.standard_normal((30, 5)), np.arange(30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CollapseWarning)
        make("cdspp").fit(X, np.where(np.arange(60) % 2, y, -1), source=source)
