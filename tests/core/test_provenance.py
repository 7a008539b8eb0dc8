"""Digests of code, and the processor time of jobs."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from cdspp.core import code_cache, code_digests, provenance
from cdspp.core.errors import DataError
from cdspp.core.jobs import job, processor_time


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a copy of the library that digests are taken of."""
    copy = tmp_path / "cdspp"
    shutil.copytree(Path(provenance.__file__).parents[1], copy)
    monkeypatch.setattr(
        code_digests, "__file__", str(copy / "core" / "code_digests.py")
    )
    code_digests.code_digest.cache_clear()
    yield copy
    code_digests.code_digest.cache_clear()


def digests() -> dict[str, str]:
    code_digests.code_digest.cache_clear()
    names = ("svm_t", "cdspp.cdspp", "cdspp.structure_preserving")
    return {
        name.rpartition(".")[2]: code_digests.code_digest(f"cdspp.methods.{name}")
        for name in names
    }


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)


def test_an_edit_but_no_comment_changes_the_digest_of_what_imports_it(
    library: Path,
) -> None:
    before, file = digests(), library / "core" / "linalg.py"
    append(file, "\n# A comment.\n")
    file.write_text(file.read_text().replace("Numerical kernels", "Kernels"))
    assert digests() == before
    append(library / "methods" / "cdspp" / "structure_preserving.py", "\nextra = 1\n")
    after = digests()
    same = [name for name, digest in after.items() if digest == before[name]]
    assert same == ["svm_t"]


def test_an_import_inside_a_function_counts(library: Path) -> None:
    lazy = "\n\ndef later():\n    from cdspp.stages import splits\n    return splits\n"
    append(library / "core" / "linalg.py", lazy)
    before = digests()
    append(library / "stages" / "splits.py", "\nextra = 1\n")
    assert digests() != before


def test_the_digest_of_ids_has_no_order_but_counts_them() -> None:
    digest = provenance.ids_digest
    assert digest(["b", "a"]) == digest(["a", "b"]) != digest(["a", "b", "b"])


def test_a_module_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"cdspp\.nothing"):
        code_digests.code_digest("cdspp.nothing")


@pytest.fixture
def _quiet_logger() -> Iterator[None]:
    logger = logging.getLogger("cdspp")
    handlers = list(logger.handlers)
    yield
    logger.handlers = handlers


@pytest.mark.usefixtures("_quiet_logger")
def test_the_log_of_a_job_tells_its_processor_time(tmp_path: Path) -> None:
    with job(tmp_path / "one.log"):
        sum(range(100_000))
    start_up, total = processor_time([tmp_path])
    assert 0 < start_up <= total


@pytest.mark.usefixtures("_quiet_logger")
def test_a_fault_of_the_input_ends_a_job_with_one_line(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop, job(tmp_path / "one.log"):
        raise DataError("x.csv: empty")
    assert stop.value.code == "DataError: x.csv: empty"
    assert "x.csv: empty" in (tmp_path / "one.log").read_text()
    assert processor_time([tmp_path])[1] == 0


@pytest.mark.usefixtures("_quiet_logger")
def test_a_job_that_people_wait_for_shows_its_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with job(tmp_path / "one.log", echo=True):
        logger = logging.getLogger("cdspp.datasets.fetch")
        logger.info("photos.zip: 12.0 of 50.0 MiB")
        logger.error("photos.zip: gone")
    shown = capfd.readouterr().err
    assert "photos.zip: 12.0 of 50.0 MiB" in shown
    assert "gone" not in shown


def package(folder: Path) -> None:
    """Write a package of which one module imports another in two ways."""
    (folder / "own").mkdir(parents=True)
    for name, text in {"__init__": "", "helper": "A = 1\n", "constants": ""}.items():
        (folder / f"own/{name}.py").write_text(text)
    lines = ("from . import constants", "from .helper import A", "import own.constants")
    (folder / "own/mine.py").write_text("\n".join(lines))


@pytest.mark.parametrize("place", ["run", "elsewhere"])
def test_what_a_class_of_the_user_imports_counts_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Also by a relative import, and of a package that was installed as editable."""
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    folder = tmp_path / place
    package(folder)
    monkeypatch.syspath_prepend(folder)
    known = {_digest_of_mine()}
    for name in ("helper", "constants", "mine"):
        append(folder / f"own/{name}.py", "\nextra = 1\n")
        known.add(_digest_of_mine())
    assert len(known) == 4
    append(folder / "own/helper.py", "# A comment.\n")
    assert _digest_of_mine() in known


def _digest_of_mine() -> str:
    for kept in (code_digests.code_digest, code_digests._origin):
        kept.cache_clear()
    return code_digests.code_digest("own.mine")


def test_a_module_that_may_be_in_a_package_or_not_has_a_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ("try:", "    from .helper import A", "except ImportError:", "    A = 1")
    Path("alone.py").write_text("\n".join(lines))
    assert code_digests.code_digest("alone")


@pytest.fixture
def cache(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which a run has kept what it knows of modules."""
    folder = tmp_path / ".snakemake"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    digests()
    return folder / code_cache.CACHE


def forbid_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a digest of a module that is not known fail."""
    monkeypatch.delattr(code_digests, "_parse")


def test_the_next_start_parses_no_module_that_is_known(
    cache: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = digests()
    append(library / "core" / "linalg.py", "\nextra = 1\n")
    changed = digests()
    assert changed != expected
    forbid_parsing(monkeypatch)
    assert digests() == changed
    append(library / "core" / "linalg.py", "\nextra = 2\n")
    with pytest.raises(NameError):
        digests()


@pytest.mark.parametrize("damage", ["cut", "edited", "other code", "list"])
def test_a_damaged_cache_or_one_of_other_code_is_not_used(
    cache: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, text = digests(), cache.read_text()
    if damage == "other code":
        monkeypatch.setattr(code_cache, "_own_code", lambda: "other")
    else:
        first = next(iter(json.loads(text)["modules"].values()))[1]
        edited = text.replace(first, "0" * 64)
        cache.write_text({"cut": text[:-9], "edited": edited, "list": "[]"}[damage])
    code_cache._read.cache_clear()
    with code_cache.known_modules() as known:
        assert not known
    assert digests() == expected


def test_the_cache_is_bounded_and_only_where_a_run_was(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(code_cache, "MAX_MODULES", 2)
    with code_cache.known_modules() as known:
        known["new"] = ("cdspp",), "0" * 64
    with code_cache.known_modules() as known:
        assert len(known) == 2
        assert "new" in known
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    digests()
    assert not [*Path.cwd().rglob("*")]


@pytest.mark.parametrize("package", ["sklearn", "yaml", "numpy", "cdspp_nothing"])
def test_the_distributions_of_a_package_are_those_that_python_finds(
    package: str,
) -> None:
    found = {each.metadata["Name"] for each in code_digests._distributions(package)}
    assert found == {*metadata.packages_distributions().get(package, [])}
