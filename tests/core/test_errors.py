"""No space, no permission, no memory: one line, and nothing half-made on the disk."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cdspp.core.errors import (
    DiskFullError,
    NotWritableError,
    out_of_memory,
    raise_write_error,
)
from cdspp.core.files import write_json, write_parts
from cdspp.core.jobs import job
from cdspp.core.outputs import atomic
from cdspp.stages.formats import LABEL_COLUMNS, Features, write_features, write_rows

FULL_DEVICE = Path("/dev/full")
SAID = {
    errno.ENOSPC: (DiskFullError, "{folder}.*space left .* Make room"),
    errno.EDQUOT: (DiskFullError, "{folder}.*space left .* Make room"),
    errno.EACCES: (NotWritableError, "{path}.* Allow it"),
    errno.EPERM: (NotWritableError, "{path}.* Allow it"),
    errno.EROFS: (NotWritableError, "{path}.* another disk"),
    errno.EISDIR: (NotWritableError, "{path}.* folder"),
    errno.EIO: (NotWritableError, "{path}.* the disk"),
}


def draw(path: Path) -> None:
    from cdspp.report.figures.style import canvas

    with canvas(2, 2, [path]) as figure:
        figure.subplots()


def tabulate(path: Path) -> None:
    import pandas as pd

    from cdspp.report.tables.table import Cell, Line, Table, write_tables

    data = pd.DataFrame({"a": [1.0]})
    write_tables([Table("f", "F", "", ("a",), (Line((Cell("b"),)),), data)], [path])


WRITERS: dict[str, Callable[[Path], None]] = {
    "f.parquet": lambda path: write_rows(
        path, LABEL_COLUMNS, {"id": ["a"], "label": ["b"], "position": [0]}
    ),
    "f.json": lambda path: write_json(path, {"a": 1}),
    "f.npz": lambda path: write_features(
        path, Features(np.ones((2, 2)), np.array(["a", "b"]), {})
    ),
    "model.npz": lambda path: write_parts(path, {"a": 1}, {"b": np.ones(3)}),
    **dict.fromkeys(["f.svg", "f.png"], draw),
    **dict.fromkeys(["f.csv", "f.md", "f.tex"], tabulate),
}


@pytest.fixture(autouse=True)
def _quiet_logger() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("cdspp", "py.warnings")]
    before = [list(logger.handlers) for logger in loggers]
    yield
    for logger, handlers in zip(loggers, before, strict=True):
        logger.handlers = handlers
    logging.captureWarnings(False)


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, str], None]:
    """Return a function that lets a function of `os` or `Path` fail."""

    def start(number: int, place: str) -> None:
        def fail(*args: Any, **options: Any) -> None:
            raise OSError(number, os.strerror(number), *map(str, args[:1]))

        owner = os if place == "open" else Path
        monkeypatch.setattr(owner, place, fail)

    return start


@pytest.mark.parametrize(
    ("number", "place"),
    [
        *((number, "open") for number in SAID),
        *((errno.ENOSPC, place) for place in ("mkdir", "chmod", "replace")),
    ],
)
def test_what_keeps_a_file_from_being_written_is_said_in_a_line(
    number: int, place: str, tmp_path: Path, refuse: Callable[[int, str], None]
) -> None:
    path = tmp_path / "f.json"
    path.write_text("old")
    kind, said = SAID[number]
    refuse(number, place)
    with pytest.raises(kind, match=said.format(folder=tmp_path, path=path)):
        write_json(path, {})
    assert [file.name for file in tmp_path.iterdir()] == ["f.json"]
    assert path.read_text() == "old"


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="needs a device that is full")
@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_tells_that_the_disk_is_full(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_on_full_disk(path: Path, *_: int) -> int:
        path.symlink_to(FULL_DEVICE)
        return open_file(path, os.O_RDWR)

    open_file = os.open
    monkeypatch.setattr(os, "open", open_on_full_disk)
    with pytest.raises(DiskFullError, match="space.*disk") as said:
        WRITERS[name](tmp_path / name)
    assert "\n" not in str(said.value)
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_way_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(NotWritableError, match="A file.*: move it"):
        write_json(tmp_path / "results" / "f.json", {})


@pytest.mark.parametrize(
    ("error", "lacking"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 bytes"), True),
        (type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory"), True),
        (RuntimeError("another fault"), False),
        (OSError(errno.ENOENT, "No such file"), False),
    ],
)
def test_memory_that_ran_out_is_known_by_any_name(
    error: Exception, lacking: bool
) -> None:
    assert out_of_memory(error) == lacking


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError("Unable to\nallocate 7 GiB"), "MemoryError: .*7 GiB.* mem_mb"),
        (
            OSError(errno.ENOSPC, "No space left"),
            "job.*: No space left .* Make",
        ),
        (
            OSError(errno.EACCES, "No permission", "x.csv"),
            "x.csv: Permission denied. All",
        ),
        (KeyError("a"), r"^KeyError: 'a' \(test_errors.py, .*\. Traceback: .*5\.log$"),
        (DiskFullError("results: no space"), "DiskFullError: results: no space"),
        (NotWritableError("f.csv: no"), "NotWritableError: f.csv: no"),
    ],
)
def test_a_job_ends_with_one_line_and_its_log_has_the_rest(
    error: Exception, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "embedded" / "fits" / "1-5.log"
    path.parent.mkdir(parents=True)
    with pytest.raises(SystemExit, match=said) as stop, job(path):
        raise error
    line = str(stop.value.code)
    assert "\n" not in line
    own = isinstance(error, DiskFullError | NotWritableError)
    assert own or str(path) in line or "x.csv" in line
    assert ("Traceback" in path.read_text()) == (not own)


def test_a_log_that_cannot_be_opened_ends_the_job_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "f.log").mkdir()
    with (
        pytest.raises(SystemExit, match=r"f\.log: cannot be written"),
        job(tmp_path / "f.log"),
    ):
        pass


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="needs a device that is full")
def test_a_log_on_a_full_disk_keeps_still(capsys: pytest.CaptureFixture[str]) -> None:
    with job(FULL_DEVICE):
        logging.getLogger("cdspp.stages").info("a line")
    assert capsys.readouterr().err == ""


def test_a_fault_of_reading_is_none_of_writing(tmp_path: Path) -> None:
    fault = PermissionError(errno.EACCES, "Permission denied", "/elsewhere/x.csv")
    with pytest.raises(PermissionError), atomic(tmp_path / "f.csv"):
        raise fault
    raise_write_error(fault, tmp_path / "f.csv")
    with pytest.raises(NotWritableError):
        raise_write_error(fault, "/elsewhere/f.csv")
