"""What importing loads, and how methods are found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cdspp
from cdspp.core.discovery import load_function
from cdspp.core.errors import ConfigError
from cdspp.methods import available, estimators, make, method_class

pytestmark = pytest.mark.usefixtures("no_own_methods")

METHODS = "import cdspp, cdspp.methods.svm_t; cdspp.CDSPP(), cdspp.SSAN()"
LISTED_METHODS = """
import cdspp.methods
cdspp.methods.available()
assert not {"cdspp.methods.cdspp.cdspp", "cdspp.methods.svm_t"} & set(sys.modules)
"""
DESCRIPTIONS = """
from cdspp.methods import available, needs
from cdspp.methods.descriptions import looks
looks(), [needs(name) for name in available()]
"""
DATA_SETS = """
from cdspp.datasets import available_datasets, make_dataset
[make_dataset(name).versions() for name in available_datasets()]
"""
EXTRACTORS = """
from cdspp.features import available_extractors, make_extractor
options = {"pca": {"energy": 0.5}, "published": {"name": "surf"}}
options["embeddings"] = {"file": "vectors.npz"}
[make_extractor(n, **options.get(n, {})) for n in available_extractors()]
"""
SMALL_JOBS = "import cdspp.stages.data, cdspp.stages.splits, cdspp.stages.score"
HEAVY = {"cv2", "jinja2", "matplotlib", "pandas", "pyarrow", "snakemake", "torch"}
READERS = {"PIL", "yaml"}
STUDY_PACKAGES = {
    f"cdspp.{package}"
    for package in ("study", "stages", "analysis", "report", "paper", "datasets")
} | {"cdspp.features", "cdspp.cli"}


# By the code, what it may not load.
LIGHT: dict[str, set[str]] = {
    "import cdspp": {*HEAVY, *READERS, *STUDY_PACKAGES, "sklearn", "numpy"},
    "from cdspp import CDSPP": HEAVY | READERS | STUDY_PACKAGES,
    METHODS: HEAVY,
    LISTED_METHODS: HEAVY,
    "import cdspp.stages.data, cdspp.stages.fit": HEAVY | READERS,
    DESCRIPTIONS: {*HEAVY, *READERS, *STUDY_PACKAGES, "sklearn", "numpy"},
    DATA_SETS: {*HEAVY, *READERS, "sklearn"},
    EXTRACTORS: {*HEAVY, *READERS, "sklearn"},
    SMALL_JOBS: {*HEAVY, *READERS, "sklearn", "scipy"},
    "import cdspp.stages.features": {*HEAVY, *READERS, "sklearn"},
    "import cdspp.core.scaling": {*HEAVY, *READERS, "sklearn"},
    "import cdspp.__main__": {*HEAVY, *READERS, "sklearn"},
}
# Scikit-learn, where it may be loaded, loads heavy libraries of its own accord: each
# code runs in a fork of an interpreter that has loaded it or nothing.
LOADED = """
import os, sys
from importlib import import_module
[import_module(name) for name in sys.argv[1].split()]
before = set(sys.modules)
for place, code in enumerate(sys.argv[2:]):
    if not os.fork():
        exec(code)
        loaded = set(sys.modules) - before
        loaded |= {name.partition(".")[0] for name in loaded}
        print(place, *loaded, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize("before", ["", "sklearn.base"])
def test_importing_and_listing_load_no_heavy_library(before: str) -> None:
    codes = [code for code in LIGHT if ("sklearn" in LIGHT[code]) != bool(before)]
    asked = [sys.executable, "-c", LOADED, before, *codes]
    done = subprocess.run(asked, capture_output=True, text=True)
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert len(found) == len(codes), done.stderr
    for place, code in enumerate(codes):
        loaded = set(found[str(place)].split())
        assert "cdspp" in loaded
        assert not LIGHT[code] & loaded, code


def test_a_fit_starts_without_pandas_which_is_there_afterwards() -> None:
    code = "import sys, cdspp.stages.fit; assert 'pandas' not in sys.modules\n"
    code += "import pandas, sklearn.utils.fixes; assert pandas.DataFrame is not None"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_estimators_are_listed_and_unknown_names_refused() -> None:
    missing = {*estimators()} - {*dir(cdspp)}
    assert not missing, "`make format` adds them to src/cdspp/__init__.pyi"
    for name, identifier in estimators().items():
        assert getattr(cdspp, name) is method_class(identifier)
    assert sorted(estimators().values()) == list(available())
    with pytest.raises(AttributeError, match="no attribute 'Cdspp'"):
        cdspp.Cdspp  # noqa: B018
    assert cdspp.available() == available()
    assert cdspp.make("cdspp", alpha=2.0).alpha == 2.0


def test_a_star_imports_every_public_name_and_every_method() -> None:
    found: dict[str, Any] = {}
    exec("from cdspp import *", found)
    known = {*estimators(), "SourceDomain", "compare", "make", "read_table"}
    assert known <= {*found}
    assert {*cdspp.__all__} == {*found} - {"__builtins__"}


@pytest.mark.slow
def test_a_type_checker_knows_the_methods_and_their_options(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    lines = ["from cdspp import CDSPP, SourceDomain", "reveal_type(CDSPP)"]
    lines += ["CDSPP(alpa=1)", "source = SourceDomain([[1.0]], ['a', 'b'])"]
    lines.append("CDSPP().fit([[1.0], [2.0]], ['a', None], source=source)")
    program.write_text("\n".join(lines))
    import mypy.api

    told, _, status = mypy.api.run([str(program), f"--cache-dir={tmp_path}"])
    assert status == 1
    assert 'Revealed type is "def (alpha: float =' in told
    assert 'Unexpected keyword argument "alpa" for "CDSPP"' in told
    assert "Found 1 error" in told


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cdsp", {}, "unknown method 'cdsp': did you mean 'cdspp'?"),
        ("cdspp", {"alhpa": 1}, "no option 'alhpa': did you mean 'alpha'?"),
        ("cdspp", {"alhpa": 1, "x": 2}, "2 problems:\n  - no option 'alhpa': did you "),
        ("zzz", {}, "unknown method 'zzz'. Known: cdls"),
    ],
)
def test_a_misspelt_method_or_option_is_corrected(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        make(name, **options)


def test_a_function_is_found_by_its_path_and_the_nearest_one_is_named() -> None:
    place = "cdspp.report.tables.benchmark:write_overview"
    assert load_function(place).__name__ == "write_overview"
    with pytest.raises(ConfigError, match=r"did you mean 'write_overview'"):
        load_function(place.replace("view", "veiw"))
    with pytest.raises(ConfigError, match=r"nothing_here"):
        load_function("nothing_here:write")
