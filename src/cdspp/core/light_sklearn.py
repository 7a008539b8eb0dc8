"""Imported first, this module keeps pandas out of the start of scikit-learn.

That saves time and memory. Scikit-learn imports pandas wherever it is installed, for
one function that receives the module anyway (`sklearn.utils.fixes`). pandas is hidden
only during this one import; tables are still read by pandas.
"""

import sys

if not {"pandas", "sklearn"} & set(sys.modules):
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        import sklearn.utils.fixes  # noqa: F401
    finally:
        del sys.modules["pandas"]
