"""What importing loads, and how methods are found."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

import cdspp
from cdspp.core.errors import ConfigError
from cdspp.methods import available, estimators, make


def test_importing_the_package_imports_no_heavy_library() -> None:
    heavy = ["cv2", "matplotlib", "pandas", "pyarrow", "snakemake", "torch"]
    code = f"""
import sys
import sklearn.base
before = set(sys.modules)
import cdspp
import cdspp.methods
cdspp.methods.available()
assert not (set(sys.modules) - before) & set({heavy!r}), sys.modules.keys()
modules = {{"cdspp.methods.cdspp.cdspp", "cdspp.methods.svm_t.svm_t"}}
assert not modules & set(sys.modules)
import cdspp.core.artifacts, cdspp.methods.cdspp.cdspp, cdspp.methods.svm_t.svm_t
assert not (set(sys.modules) - before) & set({heavy!r}), sys.modules.keys()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_estimators_are_listed_and_unknown_names_refused() -> None:
    assert set(estimators()) <= set(dir(cdspp))
    assert sorted(estimators().values()) == list(available())
    with pytest.raises(AttributeError, match="no attribute 'Cdspp'"):
        cdspp.Cdspp  # noqa: B018
    assert cdspp.available() == available()
    assert cdspp.make("cdspp", alpha=2.0).alpha == 2.0


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cdsp", {}, "unknown method 'cdsp': did you mean 'cdspp'?"),
        ("cdspp", {"alhpa": 1}, "no option 'alhpa': did you mean 'alpha'?"),
        ("zzz", {}, "unknown method 'zzz'. Known: cdls"),
    ],
)
def test_a_misspelt_method_or_option_is_corrected(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        make(name, **options)
