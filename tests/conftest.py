"""Fixtures that several test modules share."""

from __future__ import annotations

import copy
import os
import re
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdspp.core import errors
from cdspp.methods import VARIABLE
from cdspp.methods.problem import note_missing_source

if TYPE_CHECKING:
    from support.downloads import Server, Toy

ROOT = Path(__file__).parents[1]
Read = Callable[..., Any]
PARTS = *errors.EXTRAS, "snakemake"  # packages that extras bring
ABSENT = {name for name in PARTS if find_spec(name) is None}
WANTED: set[str] = set()  # by the present test


def _with_note(hint: Callable[..., str]) -> Callable[..., str]:
    """Note which packages were said to be missing."""

    @wraps(hint)
    def noted(package: str, *words: str) -> str:
        WANTED.add(package)
        return hint(package, *words)

    return noted


def _cached(read: Read) -> Read:
    """Parse each YAML file of the checkout once a process, as tests read them often."""
    contents: dict[tuple[Path, int], Any] = {}

    @wraps(read)
    def cached(path: str | os.PathLike[str], **how: bool) -> Any:
        place = Path(path).absolute()
        if not place.is_relative_to(ROOT) or not place.is_file():
            return read(path, **how)
        version = place, place.stat().st_mtime_ns
        if version not in contents:
            contents[version] = read(path, **how)
        return copy.deepcopy(contents[version])

    return cached


# Test processes share the cores; workers and their children inherit this.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Before other modules import them by name.
errors.install_hint = _with_note(errors.install_hint)
if "yaml" not in ABSENT:
    from cdspp.core import yaml_files
    from cdspp.datasets import catalogue

    yaml_files.read_yaml = _cached(yaml_files.read_yaml)
    catalogue.load_catalogue = _cached(catalogue.load_catalogue)


# It appears once a process, so that otherwise the first test would see it.
with warnings.catch_warnings(action="ignore"):
    note_missing_source()


@pytest.fixture(scope="module")
def few_candidates() -> Iterator[None]:
    """Leave the slow candidates out of the pool of `compare`."""
    from cdspp.analysis import pool

    pairs = {"paired_rows": ("paired-map-plus",)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "WITHOUT_SOURCE", ("logistic-regression", "target-only"))
        patch.setattr(
            pool, "BY_BRIDGE", {"shared_columns": ("shared-columns-plus",), **pairs}
        )
        yield


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the forests ten trees, where a test does not look at their accuracy."""
    from cdspp.methods import classifiers

    for name in ("random-forest", "extra-trees"):
        path, options = classifiers.CLASSIFIERS[name]
        changed = path, {**options, "n_estimators": 10}
        monkeypatch.setitem(classifiers.CLASSIFIERS, name, changed)  # type: ignore[arg-type]


# What takes longest, in this order, so that no worker waits for the other at the end.
LONG = (
    *(
        "tests/workflow/test_workflow.py",
        "tests/workflow/test_faults",
        "tests/test_wheel",
    ),
    *(
        "tests/docs/test_own",
        "tests/report/test_contract",
        "tests/report/page/test_page",
    ),
    *("tests/methods/test_known_answers", "tests/workflow/"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the tests that take longest."""
    last = len(LONG)
    items.sort(
        key=lambda item: next(
            (k for k, name in enumerate(LONG) if item.nodeid.startswith(name)), last
        )
    )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for no examples in docstrings of tests: they have none."""
    return [each for each in (yield) if type(each).__name__ != "DoctestModule"]


def _skip_absent(error: BaseException | None) -> None:
    """Skip what fails for want of an extra that is not installed."""
    if isinstance(error, ImportError):
        WANTED.update(re.findall(r"\w+", str(error)))
    if wanted := WANTED & ABSENT:
        pytest.skip(f"needs {', '.join(sorted(wanted))}", allow_module_level=True)


class _Module(pytest.Module):
    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            return super().collect()
        except self.CollectError as error:
            WANTED.clear()
            _skip_absent(error.__cause__)
            raise


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module:
    """Skip a file of tests that imports an absent package."""
    return _Module.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    """Skip a test that fails once it has met an absent package."""
    WANTED.clear()
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        _skip_absent(error)
        raise


pytest_runtest_setup = pytest_runtest_call


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def reference_folder() -> Path:
    """Return the folder of the authors' cases, or skip where there is none."""
    folder = os.environ.get("CDSPP_REFERENCE")
    if not folder:
        pytest.skip("CDSPP_REFERENCE names no folder of reference cases")
    return Path(folder)


@pytest.fixture(scope="session")
def mirror_folder() -> Path:
    """Return the folder of published files, or skip where there is none."""
    folder = os.environ.get("CDSPP_MIRROR")
    if not folder:
        pytest.skip("CDSPP_MIRROR names no folder of published files")
    return Path(folder)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Serve files on this machine, to be fetched without a pause or a mirror."""
    from support.downloads import serving

    from cdspp.datasets import fetch

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("CDSPP_MIRROR", raising=False)
    monkeypatch.setattr(fetch, "PAUSE", 0.0)
    with serving() as running:
        yield running


@pytest.fixture
def toy(tmp_path: Path, server: Server) -> Toy:
    """Return a published data set that nothing was fetched of."""
    from support.downloads import Toy

    return Toy(tmp_path, server)


@pytest.fixture
def no_own_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the methods that studies of other tests have registered."""
    monkeypatch.delenv(VARIABLE, raising=False)
