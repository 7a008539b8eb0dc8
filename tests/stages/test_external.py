"""Predictions made elsewhere: exported for, taken in, and refused in a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from stages.room import N_PER_CLASS, Room

from cdspp.core.errors import DataError
from cdspp.core.files import read_json
from cdspp.core.provenance import USAGE
from cdspp.methods import register_external
from cdspp.methods.external import PREDICTIONS
from cdspp.stages.external import export_benchmark, external_places
from cdspp.stages.formats import FIT_COLUMNS, read_fit, read_rows

TASK = "left_right"
PAGE = Path(__file__).parents[2] / "docs/guide/own-method.md"


@pytest.fixture
def exported(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Yield a folder with what was exported, where the guide's program has run."""
    folder = tmp_path / "exported"
    assert export_benchmark(folder, [(TASK, room.files(TASK))], "exclude") == 2
    monkeypatch.chdir(folder)
    run_program()
    register_external({"theirs": {"place": "", "kind": PREDICTIONS}})
    yield folder
    register_external({})


def run_program() -> None:
    """Run the guide's program on what was exported."""
    opening = r"```python theirs.py\n(.*?)```"
    (program,) = re.findall(opening, PAGE.read_text(), re.S)
    exec(compile(program, str(PAGE), "exec"), {})


def take(room: Room, path: Path) -> Path:
    """Make the fit that is the predictions of a file."""
    files = {**room.files(TASK), "predictions": path}
    return room.fit(files=files, method="theirs")


def test_no_label_of_a_test_sample_is_exported(exported: Path) -> None:
    splits = pd.read_csv(exported / "splits.csv", keep_default_na=False)
    tested = splits[splits["role"] == "unlabelled"]
    assert len(tested) == 2 * 3 * (N_PER_CLASS - 3)
    assert set(tested["label"]) == {""}
    others = splits[splits["role"] != "unlabelled"]
    assert set(others["label"]) == {"a", "b", "c"}
    features = pd.read_parquet(exported / "features/right.alexnet-pca.parquet")
    assert list(features) == ["id", *(f"x{i}" for i in range(5))]
    assert not {"a", "b", "c"} & set(features.astype("str").to_numpy().ravel())


def test_a_program_of_the_guide_makes_a_row_with_scores(
    room: Room, exported: Path
) -> None:
    fit = take(room, exported / "theirs.csv")
    assert read_fit(fit).key.method == "theirs"
    assert room.score(fit)["accuracy"].min() > 0.6
    (first, _) = read_json(fit.with_suffix(".json"))["extra"]["trials"]
    assert {first[name] for name in USAGE} == {None}


def test_a_program_of_the_guide_keeps_classes_that_are_numbers(exported: Path) -> None:
    splits = pd.read_csv("splits.csv", keep_default_na=False)
    splits["label"] = splits["label"].replace({"a": "0", "b": "1", "c": "2"})
    splits.to_csv("splits.csv", index=False)
    run_program()
    predicted = pd.read_csv("theirs.csv", dtype="str")["predicted"]
    assert set(predicted) == {"0", "1", "2"}


def test_parquet_and_other_orders_and_samples_give_the_same_fit(
    room: Room, exported: Path
) -> None:
    known = read_rows(take(room, exported / "theirs.csv"), FIT_COLUMNS)
    table = pd.read_csv("theirs.csv", dtype={"id": "str"})
    more = table.assign(id="left00").head(1)
    shuffled = pd.concat([table.sample(frac=1, random_state=0), more])
    shuffled.assign(benchmark="toy", setting="main").to_parquet("theirs.parquet")
    found = read_rows(take(room, exported / "theirs.parquet"), FIT_COLUMNS)
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(known))


def test_a_trial_without_predictions_has_failed(room: Room, exported: Path) -> None:
    table = pd.read_csv("theirs.csv")
    table[table["trial"] == 1].to_csv("theirs.csv", index=False)
    done, failed = read_fit(take(room, exported / "theirs.csv")).record.trials
    assert (done["status"], failed["status"]) == ("ok", "failed")
    assert failed["reason"] == "theirs.csv has no predictions of trial 2"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda t: t.iloc[1:], "trial 1: 1 unlabelled row.* 27 .*prediction"),
        (lambda t: pd.concat([t, t.head(1)]), r"trial 1: right\d\d .*predicted"),
        (lambda t: t.assign(predicted="d"), "trial 1: 'd' .*class. Expected a, b"),
        (lambda t: t.drop(columns="id"), "lacks id. Expected .*columns task, trial"),
    ],
)
def test_what_does_not_fit_the_splits_is_refused(
    room: Room,
    exported: Path,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    told: str,
) -> None:
    change(pd.read_csv("theirs.csv")).to_csv("theirs.csv", index=False)
    with pytest.raises(DataError, match=told):
        take(room, exported / "theirs.csv")


def test_other_settings_need_predictions_of_their_own(
    room: Room, exported: Path
) -> None:
    files = {**room.files(TASK), "predictions": exported / "theirs.csv"}
    room.fit_states({"none": {"name": "none"}}, files=files, method="theirs")
    record = room.output("none", TASK, "theirs").with_suffix(".json")
    assert {t["status"] for t in read_json(record)["extra"]["trials"]} == {"failed"}


def test_a_file_that_is_not_there_or_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a Parquet or CSV file"):
        external_places(tmp_path / "none.csv")
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="expected a Parquet or CSV file"):
        external_places(path)
