"""Files of a study that were changed after they were computed: each is named."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from support.result_files import rewrite_record, write_fit
from support.written_study import VerifiedStudy

from cdspp.analysis.verify import verify
from cdspp.core.errors import SchemaError
from cdspp.core.files import read_json, write_json
from cdspp.stages.formats import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    SPLIT_COLUMNS,
    read_frame,
    write_rows,
)
from cdspp.study.stale import (
    changed_note,
    digests_of_files,
    edited_outputs,
    write_digests,
)


@pytest.fixture
def study(tmp_path: Path) -> VerifiedStudy:
    return VerifiedStudy(tmp_path / "results")


def faults(study: VerifiedStudy) -> list[str]:
    return verify(study.root)[0]


def named(study: VerifiedStudy, *patterns: str) -> None:
    """Check that what is found is one fault for each pattern."""
    found = faults(study)
    assert len(found) == len(patterns), found
    for text, pattern in zip(found, patterns, strict=True):
        assert re.search(pattern, text), text


def edit_scores(study: VerifiedStudy, trial: int, **values: object) -> None:
    rows = read_frame(study.scores, SCORE_COLUMNS)
    cell = (rows["setting"] == "main") & (rows["method"] == "cdspp")
    chosen = cell & (rows["trial"] == trial) & (rows["task"] == "web_photo")
    rows.loc[chosen, list(values)] = list(values.values())
    write_rows(study.scores, SCORE_COLUMNS, rows)


def test_a_study_as_it_was_computed_has_no_fault(study: VerifiedStudy) -> None:
    faulty, told, _ = verify(study.root, {})
    assert faulty == []
    # Two methods, without a source and with noise, on two tasks.
    assert told == (
        "Checked 8 fits (16 trials), 1 file of scores, 0 digests in the report: all as "
        "computed. Not checked, because not listed in the report: 4 files of tables."
    )


def test_an_edited_score_is_named(study: VerifiedStudy) -> None:
    edit_scores(study, 2, accuracy=0.99)
    told = r"main/web_photo/cdspp, trial 2: iteration 1: accuracy 0\.99, but fit and"
    named(study, rf"scores/goods\.parquet: {told} labels yield 0\.[0-8]")


def test_scores_of_no_fit_and_missing_ones_are_named(study: VerifiedStudy) -> None:
    shutil.rmtree(study.root / "fits/goods/noise/web_photo")
    named(
        study, r"noise/web_photo/cdspp, trial 1: there are .* no fit \(and 1 trial mo"
    )
    study = VerifiedStudy(study.results)
    rows = read_frame(study.scores, SCORE_COLUMNS)
    gone = (rows["setting"] == "noise") & (rows["trial"] == 1)
    write_rows(study.scores, SCORE_COLUMNS, rows[~gone])
    study.write_tables()
    missing = "cdspp, trial 1: expected 2 rows, got 0"
    named(study, f"noise/photo_web/{missing}", f"noise/web_photo/{missing}")


def test_edited_labels_are_found_by_the_scores(study: VerifiedStudy) -> None:
    path = study.results / "labels/goods/photo.parquet"
    rows = read_frame(path, LABEL_COLUMNS)
    write_rows(path, LABEL_COLUMNS, rows.assign(label="pen"))
    found = faults(study)
    assert len(found) == 4  # fits to this target
    assert all("web_photo" in text for text in found)
    path.unlink()
    named(study, r"labels/goods/photo\.parquet: .*No such file")


@pytest.mark.parametrize("name", ["parquet", "json"])
def test_a_fit_in_the_place_of_another_is_named_once(
    study: VerifiedStudy, name: str
) -> None:
    shutil.copy(
        study.fit("svm-t").with_suffix(f".{name}"),
        study.fit("cdspp").with_suffix(f".{name}"),
    )
    named(study, r"main/web_photo/cdspp/1-2\.parquet: ")


def test_test_samples_that_are_not_those_of_the_split_are_named(
    study: VerifiedStudy,
) -> None:
    record = read_json(study.fit().with_suffix(".json"))
    rows = read_frame(study.fit(), FIT_COLUMNS)
    fewer = rows[~rows["id"].str.endswith("5")]  # and a record that fits them
    write_fit(study.fit(), fewer, inputs=record["inputs"])
    named(study, "trial 1: its test samples are not those of the split")


def test_a_fit_of_other_splits_or_features_is_named(study: VerifiedStudy) -> None:
    path = study.split("target", "photo")
    rows = read_frame(path, SPLIT_COLUMNS)
    write_rows(path, SPLIT_COLUMNS, rows.assign(row=0))
    named(study, *[r"web_photo/.*: its target_split \(sha256 \w{12}\) is not amo"] * 4)
    study = VerifiedStudy(study.results)
    features = study.results / "features/goods/photo.net-1f.npz"
    features.write_bytes(features.read_bytes()[:-1])
    assert len(faults(study)) == 8  # it is the source of one task, too


def test_fits_that_the_study_no_longer_asks_for_are_checked_and_counted_apart(
    study: VerifiedStudy,
) -> None:
    old = study.root / "fits/goods/noise/web_photo/svm-t/1-2.parquet"
    inputs = read_json(study.fit().with_suffix(".json"))["inputs"]
    write_fit(old, read_frame(study.fit(), FIT_COLUMNS), inputs=inputs)
    faulty, told, _ = verify(study.root)
    assert faulty == []
    assert "all as computed. 1 fit of these without a score. Not checked" in told
    old.write_bytes(b"")
    named(study, r"noise/web_photo/svm-t/1-2\.parquet: .* it is empty")


def write_report(study: VerifiedStudy, *more: Path) -> list[Path]:
    """Write what a page states of scores, tables, a figure and more; return these."""
    figure = study.root / "figures/methods_goods.svg"
    figure.parent.mkdir(exist_ok=True)
    figure.write_text("<svg></svg>")
    files = [*more, study.scores, *sorted(study.root.glob("tables/*.csv")), figure]
    page = study.root / "report/index.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text("<html></html>\n")
    write_digests(page, {}, digests_of_files(files, study.results))
    return files


def test_what_a_report_names_is_compared_with_its_digests(study: VerifiedStudy) -> None:
    *_, figure = write_report(study)
    faulty, told, _ = verify(study.root, {})
    assert faulty == []
    assert told.endswith("scores, 6 digests in the report: all as computed.")
    figure.write_text("<svg>other</svg>")
    named(study, r"methods_goods\.svg: the report used other content .* by h")
    figure.unlink()
    named(study, r"methods_goods\.svg: this input of the report is missing. Run")
    study.table("other").write_text("a\n1\n")
    assert verify(study.root, {})[1].endswith("in the report: 1 file of tables.")


def test_a_study_is_checked_from_within_its_folder(
    study: VerifiedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report(study)
    known = verify(study.root)
    monkeypatch.chdir(study.root)
    assert verify("tables/..") == known


def test_a_report_that_is_cut_short_is_named(study: VerifiedStudy) -> None:
    write_report(study)
    page = study.root / "report/index.html"
    page.write_text(page.read_text()[:-20])
    named(study, r"index\.html: it differs from the page .*truncated\. Delete it")
    assert f"interrupted run: {page}. A run remakes" in changed_note(study.root)


def test_a_report_without_digests_beside_it_is_named(study: VerifiedStudy) -> None:
    write_report(study)
    beside = study.root / "report/digests.json"
    for content in ("{", "{}"):
        beside.write_text(content)
        named(study, r"digests\.json: expected .*Delete it and run the study again")
    beside.unlink()
    named(study, r"digests\.json: expected .* Run the study again")


def test_fits_and_reports_of_an_unknown_schema_are_refused_by_one_error(
    study: VerifiedStudy,
) -> None:
    write_report(study)
    digests = study.root / "report/digests.json"
    content = read_json(digests)
    for version, schema in (("9.8", 1), ("9.8", 2)):
        write_json(digests, {**content, "version": version, "schema": schema})
        if schema == 1:
            assert faults(study) == []
    message = r"json: .*cdspp 9\.8 in schema 2; .* 1\. .*another folder"
    with pytest.raises(SchemaError, match=f"digests.{message}"):
        verify(study.root)
    digests.unlink()
    rewrite_record(study.fit(), version="9.8")
    assert not any("1-2.parquet" in text for text in faults(study))
    rewrite_record(study.fit(), schema=2)
    with pytest.raises(SchemaError, match=f"1-2.{message}"):
        verify(study.root)


def test_what_a_killed_job_left_half_written_is_no_fault(study: VerifiedStudy) -> None:
    for path in (study.scores, study.fit(), study.table("accuracy_goods")):
        path.with_name(f".{path.name}.a1b2c3d4{path.suffix}").write_bytes(b"half")
    assert faults(study) == []


def test_what_fits_rest_on_is_named_once_and_sound_fits_are_not(
    study: VerifiedStudy,
) -> None:
    features = study.results / "features/goods/web.net-1f.npz"
    labels = study.results / "labels/goods/photo.parquet"
    split = study.split("target", "photo")
    write_report(study, features, labels, split)
    assert faults(study) == []
    features.write_bytes(b"other")
    named(study, r"web\.net-1f\.npz: the report used other content")
    rows = read_frame(labels, LABEL_COLUMNS)
    write_rows(labels, LABEL_COLUMNS, rows.assign(label="pen"))
    split.unlink()
    other = r"photo\.parquet: the report used other content"
    gone = r"1-2\.parquet: this input of the report is missing"
    named(study, "web", other, gone)


def test_a_run_is_told_in_one_line_what_changed_since_the_report(
    study: VerifiedStudy,
) -> None:
    assert changed_note(study.root) == ""
    files = write_report(study)
    assert changed_note(study.root) == ""
    files[-1].unlink()
    assert changed_note(study.root) == ""
    own = [path for path in files[:-1] if path.is_relative_to(study.root)]
    for path in own:
        path.write_bytes(b"other")
    told = changed_note(study.root)
    assert told.startswith(f"{len(own)} files changed since the report")
    assert f"interrupted run: {own[0]}, " in told
    assert told.count(str(study.root)) == min(len(own), 3) + 1


def test_a_run_makes_again_what_was_edited_by_hand(study: VerifiedStudy) -> None:
    files = write_report(study)
    assert not edited_outputs(study.root)
    table = next(path for path in files if path.parent.name == "tables")
    table.write_text("edited")
    page = study.root / "report/index.html"
    assert edited_outputs(study.root) == {str(table), str(page)}
    page.with_name("digests.json").unlink()
    assert edited_outputs(study.root) == {str(page)}


ENDLESS = Path("/proc/sys/kernel/hostname")  # has a content and no size


@pytest.mark.skipif(not ENDLESS.exists(), reason="needs such a file")
def test_a_file_without_a_size_is_not_read(study: VerifiedStudy) -> None:
    """An archive of a stranger may name one of the system, which has no end."""
    page = write_report(study)[-1].parents[1] / "report/index.html"
    empty = study.results / "empty"
    empty.touch()
    write_digests(page, {}, digests_of_files([empty], study.results))
    empty.unlink()
    empty.symlink_to(ENDLESS)
    assert faults(study) == []
