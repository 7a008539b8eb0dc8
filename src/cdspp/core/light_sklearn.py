"""Imported first, this module keeps pandas out of the start of scikit-learn.

That saves time and memory. Scikit-learn imports pandas wherever it is installed, for
one function that receives the module anyway (`sklearn.utils.fixes`). pandas is hidden
only during this one import; tables are still read by pandas. Imports leave no garbage,
so none is collected meanwhile.
"""

import gc
import sys

if "sklearn" not in sys.modules:
    collects, hides = gc.isenabled(), "pandas" not in sys.modules
    gc.disable()
    if hides:
        sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        import sklearn.utils.fixes  # noqa: F401
    finally:
        if hides:
            del sys.modules["pandas"]
        if collects:
            gc.freeze()
            gc.unfreeze()  # into the oldest generation, which is rarely searched
            gc.enable()
