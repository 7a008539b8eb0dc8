"""Records of what made a file, and inputs that are not what they should be."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.result_files import rewrite_record

from cdspp.core.code_digests import imported
from cdspp.core.errors import SchemaError
from cdspp.core.files import read_json, write_json
from cdspp.core.jobs import file_job, job
from cdspp.core.provenance import file_digest
from cdspp.core.records import (
    Specification,
    changes,
    read_record,
    record_mismatch,
    record_path,
    write_record,
)
from cdspp.methods import available, method_class

OPTIONS = {"options": {"alpha": 2}, "defaults": {"alpha": 10.0, "center": True}}
CODE = {"options": {**OPTIONS, "seed": 0}, "own_files": {}, "code": "code"}


def made_of(*inputs: str, **changes: Any) -> Specification:
    """Return the specification of a file that `make` makes of some inputs."""
    return Specification({name: name for name in inputs}, **{**CODE, **changes})


@pytest.fixture(autouse=True)
def _quiet_logger() -> Iterator[None]:
    logger = logging.getLogger("cdspp")
    handlers = list(logger.handlers)
    yield
    logger.handlers = handlers


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a file of a job from another one; the working folder has both."""
    monkeypatch.chdir(tmp_path)
    Path("index.json").write_text("1")
    make("view.npz", ["index.json"])
    return "view.npz"


def make(output: str, inputs: list[str]) -> None:
    with file_job("job.log", output, CODE, {name: name for name in inputs}):
        write_json(output, [Path(name).read_text() for name in inputs])


INDEX = made_of("index.json")


def test_a_file_is_what_its_record_says(made: str) -> None:
    assert not record_mismatch(made, INDEX)
    make("reduced.npz", [made])
    assert not record_mismatch("reduced.npz", made_of(made))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"code": "other"}, "it was made by other code"),
        ({"options": {**OPTIONS, "seed": 1}}, "seed 0 -> 1"),
        (
            {"options": {**CODE["options"], "options": {"alpha": 5, "k": "a"}}},
            "alpha 2 -> 5, k none -> a",
        ),
        ({"options": {**CODE["options"], "options": {}}}, "alpha 2 -> 10"),
        (
            {"options": {**CODE["options"], "defaults": {"center": False}}},
            "center true -> false",
        ),
        ({"options": {**CODE["options"], "seed": [*range(30)]}}, "other seed"),
        ({"own_files": {"words.npy": "0a"}}, "another words.npy"),
    ],
)
def test_a_reason_has_the_values_that_changed(
    made: str, changes: dict[str, Any], reason: str
) -> None:
    assert record_mismatch(made, made_of("index.json", **changes)) == reason


def test_many_other_digests_are_counted(made: str) -> None:
    before, now = ({f"a-{k}": letter * 64 for k in range(5)} for letter in "bc")
    record = read_record(made)._replace(options={"fits": before})
    assert changes(record, made_of(options={"fits": now})) == "5 other fits"


def test_other_inputs_are_a_reason(made: str) -> None:
    assert "other kinds" in record_mismatch(made, made_of("index.json", "words.npz"))


def test_a_default_that_is_given_changes_nothing(made: str) -> None:
    given = {"alpha": 2, "center": True}
    same = {**CODE["options"], "options": given, "defaults": {"alpha": 3.0}}
    assert not record_mismatch(made, made_of("index.json", options=same))


def test_another_content_of_the_same_size_and_time_is_seen(made: str) -> None:
    known, size = os.stat(made), os.path.getsize(made)
    Path(made).write_text("x" * size)
    os.utime(made, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert "it differs from the file" in record_mismatch(made)


def test_a_job_refuses_a_file_in_the_place_of_another(made: str) -> None:
    make("other.npz", ["view.npz"])
    Path("other.npz").replace(made)
    with pytest.raises(SystemExit, match=r"view\.npz: .*file"):
        make("fit.json", [made])
    record_path("other.npz").replace(record_path(made))
    with pytest.raises(
        SystemExit, match=r"next to it describes other\.npz\. Delete it and"
    ):
        make("fit.json", [made])
    assert not Path("fit.json").exists()


def test_a_damaged_record_is_said_to_be_damaged(made: str) -> None:
    kept = record_path(made).read_text()
    for text in ("", "[]", '{"file": "view.npz"}', kept.replace("inputs", "input")):
        record_path(made).write_text(text)
        assert "is missing or damaged" in record_mismatch(made)
        with pytest.raises(SystemExit, match=r"view\.npz: the record .*missing"):
            make("fit.json", [made])
    record_path(made).write_text(kept.replace('"code": "code"', '"code": "other"'))
    assert "record next to it was edited" in record_mismatch(made)
    record_path(made).unlink()
    assert "is missing or damaged" in record_mismatch(made)


@pytest.mark.parametrize("schema", [2, None])
def test_a_record_of_an_unknown_schema_is_refused_with_its_version(
    made: str, schema: Any
) -> None:
    rewrite_record(Path(made), schema=schema, version="9.8", more=[])
    message = (
        rf"view\.npz\.json: .*cdspp 9\.8 in schema {schema}; .*schema 1\. Use that "
        "version, or run .* another folder"
    )
    with pytest.raises(SchemaError, match=message):
        read_record(made)
    with pytest.raises(SchemaError, match=message):
        record_mismatch(made, INDEX)
    with pytest.raises(SystemExit, match=message):
        make("fit.json", [made])
    assert not Path("fit.json").exists()


def test_a_record_of_another_version_counts(
    made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite_record(Path(made), version="9.8")
    assert not record_mismatch(made, INDEX)
    monkeypatch.setattr("cdspp.__version__", "9.9")
    make("reduced.npz", [made])
    assert read_json("reduced.npz.json")["version"] == "9.9"
    assert not record_mismatch("reduced.npz", made_of(made))


def test_no_digest_of_code_follows_the_version() -> None:
    stages = ("data", "features", "fit", "score", "splits", "subspace")
    modules = [f"cdspp.stages.{name}" for name in stages]
    modules += [method_class(name).__module__ for name in available()]
    names = {name for name, _ in imported(modules)}
    assert "cdspp.core.linalg" in names
    assert "cdspp.core.version" not in names


def test_a_file_is_at_fault_where_its_input_is_another(made: str) -> None:
    make("reduced.npz", [made])
    Path("index.json").write_text("2")
    known: dict[str, str] = {}
    assert "made from another index.json than" in record_mismatch(made, INDEX, known)
    known[made] = ""  # the view is named, and not what rests on it
    assert not record_mismatch("reduced.npz", made_of(made), known)


def replace(name: str, how: str) -> None:
    """Put another content of the same size and time of change in a file."""
    known, path = os.stat(name), Path(name)
    content = path.read_text().replace("1", "2")
    if how != "written":
        path.unlink()
    if how != "removed":
        path.write_text(content)
        os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns + (how == "written")))


def work(made: str, how: str) -> None:
    with job("job.log", [made]):
        replace(made, how)
        write_json("fit.json", 1)


@pytest.mark.parametrize("how", ["written", "replaced", "removed"])
def test_an_input_that_changes_ends_a_job_without_a_result(made: str, how: str) -> None:
    with pytest.raises(SystemExit, match=r"view\.npz .*replaced.*job"):
        work(made, how)
    assert not Path("fit.json").exists()


def test_an_input_of_the_same_content_is_the_same(made: str) -> None:
    with job("job.log", [made]):
        Path("copy.npz").write_text(Path(made).read_text())
        Path("copy.npz").replace(made)
        write_json("fit.json", 1)
    Path(made).unlink()
    write_json("later.json", 1)  # after the job


def test_an_edit_while_the_clock_is_late_is_seen(
    made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(made).write_text("x")
    file, record = os.stat(made).st_ctime_ns, record_path(made)
    record.write_bytes(record.read_bytes())  # now the younger one
    assert file <= os.stat(record).st_ctime_ns
    assert not record_mismatch(made)
    monkeypatch.setattr(time, "time_ns", lambda: file - 10**9)
    assert "it differs from the file" in record_mismatch(made)


def test_a_copy_from_storage_is_what_a_job_made_there(made: str) -> None:
    disk, file = (
        Path(".snakemake/storage/fs/mnt/results/disk"),
        "results/features/x.npz",
    )
    for name in (file, "data/x/index.json"):
        for path in (Path(name), disk / name):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made, path)
    index = disk / "data/x/index.json"
    stored = made_of()._replace(inputs={"index": str(index)})
    here = made_of()._replace(inputs={"index": "data/x/index.json"})
    write_record(disk / file, stored, {str(index): file_digest(index)})
    assert not record_mismatch(disk / file, stored)
    shutil.copy(record_path(disk / file), record_path(file))
    assert not record_mismatch(file, here)
    Path("data/x/index.json").write_text("other")
    reason = "it was made from another data/x/index.json than the present one"
    assert record_mismatch(file, here) == reason
