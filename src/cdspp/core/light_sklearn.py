"""Imported first, this keeps pandas out of scikit-learn's start: a second of each job.

Scikit-learn imports pandas wherever it is installed, for one function that is handed
the module anyway (`sklearn.utils.fixes`). Tables are read by pandas all the same: it is
hidden for this one import alone.
"""

from __future__ import annotations

import sys

if not {"pandas", "sklearn"} & set(sys.modules):
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        import sklearn.utils.fixes  # noqa: F401
    finally:
        del sys.modules["pandas"]
