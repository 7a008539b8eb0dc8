"""More trials, or blocks of another size: only the trials are fitted that are new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stages.room import ROLES, SPLITS, Room
from support.result_files import rewrite_record

from cdspp.core.errors import DataError, SchemaError
from cdspp.core.files import read_json, write_json
from cdspp.core.records import Specification
from cdspp.stages import fit as stage
from cdspp.stages.fit import Fit, JobInputs, fit_block
from cdspp.stages.formats import read_fit
from cdspp.stages.splits import write_split

FitBlock = Callable[..., list[int]]


@pytest.fixture
def fit(room: Room, monkeypatch: pytest.MonkeyPatch) -> FitBlock:
    """Return a function that makes a block and tells which trials it fitted."""
    fitted: list[int] = []
    run = stage._run_trial

    def counted(job_inputs: Any, fit: Any, trial: Any) -> Any:
        fitted.append(trial.number)
        return run(job_inputs, fit, trial)

    def make(block: str, **changes: Any) -> list[int]:
        fitted.clear()
        for role, domain in ROLES.items():
            write_split(
                labels=room.labels(domain),
                output=room.split(role, domain),
                dataset="toy",
                domain=domain,
                role=role,
                **{**SPLITS, "block": block, **changes.pop("splits", {})},
            )
        path = folder(room) / f"{block}.parquet"
        values = {"options": changes.pop("options", {}), "source": {"name": "real"}}
        values |= {"overlap": "exclude", "seed": 0, "numeric_threads": 1}
        trials = changes.pop("trials", ())
        options = {"method": "svm-t", **values}
        made_of = Specification({}, options, code="1", trials=trials)
        files = room.files("left_right")
        fit = Fit.specified(path, made_of)
        fit_block(JobInputs(files, "toy", "left_right"), [fit])
        return [*fitted]

    monkeypatch.setattr(stage, "_run_trial", counted)
    return make


def folder(room: Room) -> Path:
    return room.folder / "fits/toy/main/left_right/svm-t"


def names(room: Room) -> list[str]:
    return sorted(path.name for path in folder(room).iterdir())


def test_a_fit_of_another_version_is_kept_and_of_an_unknown_schema_not_replaced(
    room: Room, fit: FitBlock
) -> None:
    fit("1-2")
    made = folder(room) / "1-2.parquet"
    rewrite_record(made, version="9.8")
    record = made.with_suffix(".json").read_bytes()
    assert fit("1-2") == []
    assert made.with_suffix(".json").read_bytes() == record
    rewrite_record(made, schema=2)
    record = made.with_suffix(".json").read_bytes()
    for block in ("1-2", "1-3"):
        with pytest.raises(SchemaError, match=r"cdspp 9\.8 in schema 2"):
            fit(block)
    assert made.with_suffix(".json").read_bytes() == record


def test_more_trials_fit_those_that_are_new_and_leave_no_orphan(
    room: Room, fit: FitBlock
) -> None:
    assert fit("1-4") == [1, 2, 3, 4]
    grown = folder(room) / "1-4.parquet"
    grown.rename(aside := room.folder / "kept.parquet")
    whole = [*fit("1-6")]  # without the old block
    alone = (folder(room) / "1-6.parquet").read_bytes()
    assert whole == [1, 2, 3, 4, 5, 6]
    (folder(room) / "1-6.parquet").unlink()
    (folder(room) / "1-6.json").unlink()
    assert fit("1-4") == [1, 2, 3, 4]
    assert (folder(room) / "1-4.parquet").read_bytes() == aside.read_bytes()
    assert fit("1-6") == [5, 6]
    assert (folder(room) / "1-6.parquet").read_bytes() == alone
    assert names(room) == ["1-6.json", "1-6.parquet"]
    read_fit(folder(room) / "1-6.parquet")


def test_blocks_of_another_size_fit_nothing(room: Room, fit: FitBlock) -> None:
    assert fit("1-6") == [1, 2, 3, 4, 5, 6]
    assert fit("1-4") == []
    assert "1-6.json" in names(room)  # the trials 5 and 6 are nowhere else
    assert fit("5-6") == []
    assert names(room) == ["1-4.json", "1-4.parquet", "5-6.json", "5-6.parquet"]
    assert fit("1-6") == []
    assert names(room) == ["1-6.json", "1-6.parquet"]


def test_a_block_has_the_trials_of_the_study_and_keeps_those_it_had(
    room: Room, fit: FitBlock
) -> None:
    path = folder(room) / "1-4.parquet"
    assert fit("1-4", trials=range(1, 3)) == [1, 2]
    of_two = path.read_bytes()
    assert fit("1-4", trials=range(1, 4)) == [3]
    of_three = path.read_bytes()
    assert fit("1-4", trials=range(1, 2)) == []
    assert path.read_bytes() == of_three
    extra = read_json(path.with_suffix(".json"))["extra"]
    extra["trials"][0] |= {"crashed": True}
    rewrite_record(path, extra=extra)
    assert fit("1-4", trials=range(1, 2)) == [1]
    assert path.read_bytes() == of_three
    path.unlink()
    assert fit("1-4", trials=range(1, 3)) == [1, 2]
    assert path.read_bytes() == of_two
    expected = Specification({}, read_fit(path).record.options, code="1")
    assert {*read_fit(path, expected._replace(trials=[1])).columns["trial"]} == {1}
    with pytest.raises(DataError, match="it lacks trials that the study asks for"):
        read_fit(path, expected._replace(trials=[1, 2, 3]))


def test_fewer_trials_have_the_bytes_of_a_study_that_never_had_more(
    room: Room, fit: FitBlock
) -> None:
    fit("1-2")
    never_more = (folder(room) / "1-2.parquet").read_bytes()
    fit("1-3")
    assert fit("1-2") == []
    assert (folder(room) / "1-2.parquet").read_bytes() == never_more
    assert "1-3.json" in names(room)  # with the third trial, for later


@pytest.mark.parametrize(
    "change",
    [{"options": {"C": 2.0}}, {"splits": {"seed": 1}}],
    ids=["option", "split"],
)
def test_trials_made_of_anything_else_are_fitted(
    room: Room, fit: FitBlock, change: dict[str, Any]
) -> None:
    fit("1-2")
    assert fit("1-3", **change) == [1, 2, 3]


def test_other_features_and_damaged_blocks_give_no_trial(
    room: Room, fit: FitBlock
) -> None:
    fit("1-2")
    room.write_features("right", seed=5)
    assert fit("1-3") == [1, 2, 3]
    content = (folder(room) / "1-3.parquet").read_bytes()
    (folder(room) / "1-3.parquet").write_bytes(content[:-9])
    assert fit("1-4") == [1, 2, 3, 4]
    record = folder(room) / "1-4.json"
    write_json(record, {**read_json(record), "code": "else"})  # its seal is broken
    assert fit("1-5") == [1, 2, 3, 4, 5]


def test_a_trial_that_crashed_is_fitted_again_alone(room: Room, fit: FitBlock) -> None:
    fit("1-3")
    path = folder(room) / "1-3.parquet"
    extra = read_json(path.with_suffix(".json"))["extra"]
    extra["trials"][1] |= {"crashed": True}
    rewrite_record(path, extra=extra)
    assert fit("1-3") == [2]
