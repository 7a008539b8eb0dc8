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

METHODS = "import cdspp.methods.cdspp.cdspp, cdspp.methods.svm_t.svm_t"
LISTED_METHODS = """
import cdspp.methods
cdspp.methods.available()
assert not {"cdspp.methods.cdspp.cdspp", "cdspp.methods.svm_t.svm_t"} & set(sys.modules)
"""
DATA_SETS = """
from cdspp.datasets import available_datasets, make_dataset
[make_dataset(name).versions() for name in available_datasets()]
"""
EXTRACTORS = """
from cdspp.features import available_extractors, make_extractor
options = {"pca": {"energy": 0.5}, "published": {"name": "surf"}}
[make_extractor(n, **options.get(n, {})) for n in available_extractors()]
"""
SMALL_JOBS = "import cdspp.stages.data, cdspp.stages.splits, cdspp.stages.score"
HEAVY = {"cv2", "jinja2", "matplotlib", "pandas", "pyarrow", "snakemake", "torch"}
READERS = {"PIL", "yaml"}


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import cdspp", {*HEAVY, *READERS, "sklearn", "numpy"}),
        ("from cdspp import CDSPP", HEAVY | READERS),
        (METHODS, HEAVY),
        (LISTED_METHODS, HEAVY),
        ("import cdspp.stages.data, cdspp.stages.fit", HEAVY | READERS),
        (DATA_SETS, {*HEAVY, *READERS, "sklearn"}),
        (EXTRACTORS, {*HEAVY, *READERS, "sklearn"}),
        (SMALL_JOBS, {*HEAVY, *READERS, "sklearn", "scipy"}),
        ("import cdspp.stages.features", {*HEAVY, *READERS, "sklearn"}),
        ("import cdspp.core.components", {*HEAVY, *READERS, "sklearn"}),
        ("import cdspp.__main__", {*HEAVY, *READERS, "sklearn"}),
    ],
)
def test_importing_and_listing_load_no_heavy_library(
    code: str, heavy: set[str]
) -> None:
    # Scikit-learn, where it may be loaded, loads heavy libraries of its own accord.
    before = "" if "sklearn" in heavy else "import sklearn.base"
    code = f"import sys\n{before}\nbefore = set(sys.modules)\n{code}\n"
    code += "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("code", ["import cdspp", "from cdspp import CDSPP"])
def test_the_library_loads_no_room_of_a_study(code: str) -> None:
    code += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    rooms = {"study", "stages", "analysis", "report", "datasets", "features", "cli"}
    loaded = set(done.stdout.split())
    assert "cdspp" in loaded
    assert not loaded & {f"cdspp.{room}" for room in rooms}


def test_a_fit_starts_without_pandas_which_is_there_afterwards() -> None:
    code = "import sys, cdspp.stages.fit; assert 'pandas' not in sys.modules\n"
    code += "import pandas, sklearn.utils.fixes; assert pandas.DataFrame is not None"
    subprocess.run([sys.executable, "-c", code], check=True)


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
