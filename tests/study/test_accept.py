"""Fits of other code or versions: accepted on a sample, or refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.result_files import rewrite_record
from support.study_files import load_own
from support.toy_study import CONFIG, write_texts
from support.written_study import VerifiedStudy

from cdspp.analysis.fit_records import accepted_text, intact_jobs, sample_faults
from cdspp.cli.main import main
from cdspp.core import provenance
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.files import read_json, write_json
from cdspp.core.names import FitKey
from cdspp.core.run_lock import lock_run
from cdspp.stages import fit as stage
from cdspp.stages.fit import Fit, JobInputs, fit_block
from cdspp.stages.formats import (
    LABEL_COLUMNS,
    Features,
    read_fit_record,
    write_features,
    write_rows,
)
from cdspp.stages.splits import write_split
from cdspp.study import accept as accepting
from cdspp.study import specifications
from cdspp.study.accept import accept, affected_fits, sample_of
from cdspp.study.files import files_of_fit, label_file
from cdspp.study.model import Study
from cdspp.study.specifications import Specifications
from cdspp.study.stale import fit_file, unrecorded_files

METHODS: list[dict[str, Any]] = [{"id": "svm-t"}, {"id": "cdspp"}]
SMALL: dict[str, Any] = {"trials": 2, "block_size": 1, "curves": [], "deviations": []}
SMALL |= {"source_states": {"states": ["none"]}, "methods": METHODS}
CELLS = {("main", "svm-t"), ("main", "cdspp"), ("none", "cdspp")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Study]:
    """Return a folder with the fits of a study, to be copied, and the study."""
    folder = tmp_path_factory.mktemp("made")
    write_texts(folder / "texts", per_class=6)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        study = fitted(SMALL)
    return folder, study


@pytest.fixture
def study(
    made: tuple[Path, Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Study:
    """Return the study, with a copy of its fits in the working folder."""
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return made[1]


def fitted(changes: dict[str, Any]) -> Study:
    """Return a study whose inputs are drawn and whose fits are made."""
    study = load_own({**CONFIG, **changes})
    for key in keys_of(study):
        made_of = Specifications(study).of_fit(key)._replace(inputs={})
        files = files_of_fit(study, key)
        for role in ("source", "target"):
            draw_inputs(study, key, role, files)
        jobs = JobInputs(files, key.benchmark, key.task)
        fit_block(jobs, [Fit.specified(fit_file(study, key), made_of)])
    return study


def keys_of(study: Study) -> list[FitKey]:
    return [key for name in study.benchmarks for key in study.fits(name)]


def draw_inputs(study: Study, key: FitKey, role: str, files: dict[str, str]) -> None:
    domain = key.task.split("_")[role == "target"]
    labels = label_file(study, "words", domain)
    classes = np.repeat(["fruit", "metal", "river"], 6).tolist()
    ids = [f"{domain}{place}" for place in range(len(classes))]
    rows = {"id": ids, "label": classes, "position": range(len(ids))}
    write_rows(labels, LABEL_COLUMNS, rows)
    rng = np.random.default_rng(len(domain))
    X = rng.random((len(ids), 4)) + np.eye(3, 4)[np.repeat([0, 1, 2], 6)] / 2
    write_features(files[f"{role}_features"], Features(X, np.array(ids), {}))
    write_split(
        labels=labels,
        output=files[f"{role}_split"],
        dataset="words",
        domain=domain,
        role=role,
        block=key.block,
        **study.draw(key.benchmark, key.setting, role, domain),
    )


@pytest.fixture
def other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    change_code(monkeypatch)


def change_code(monkeypatch: pytest.MonkeyPatch, code: str = "other") -> None:
    monkeypatch.setattr(specifications, "code_digest", lambda *modules: code)


@pytest.fixture
def other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one label of cdspp change."""
    run = stage._run_trial

    def run_otherwise(job_inputs: Any, fit: Fit, trial: Any) -> Any:
        fields, iterations = run(job_inputs, fit, trial)
        if fit.method == "cdspp":
            last = iterations[-1]
            predicted = last.prediction.copy()
            predicted[0] = next(c for c in sorted(trial.classes) if c != predicted[0])
            iterations = [*iterations[:-1], replace(last, prediction=predicted)]
        return fields, iterations

    monkeypatch.setattr(stage, "_run_trial", run_otherwise)


def content() -> dict[Path, bytes]:
    """Return the content of all results."""
    files = (path for path in Path("results").rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files}


def jobs() -> list[Any]:
    return intact_jobs(Path("results/toy/fits").rglob("[0-9]*.json"))


def test_equal_fits_of_other_code_are_accepted_and_not_made_again(
    study: Study, other_code: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, old = content(), read_fit_record(fit_file(study, keys_of(study)[0]))
    said = accept(study)
    file = next(Path("results/toy/accepted").iterdir())
    sample = "a sample of 3 refitted trials is equal in every bit"
    assert said == (f"Accepted 12 fits without making them again: {sample} ({file}).")
    after = content()
    fits = [path for path in before if path.suffix == ".parquet"]
    assert all(after[path] == before[path] for path in fits)
    assert affected_fits(study) == []
    [trial] = read_fit_record(fit_file(study, keys_of(study)[0])).trials
    assert trial["accepted"]["code"] == old.code
    assert trial["accepted"]["versions"] == old.extra["versions"]
    monkeypatch.setattr(stage, "_run_trial", None)
    for key in keys_of(study):
        made_of = Specifications(study).of_fit(key)._replace(inputs={})
        places = JobInputs(files_of_fit(study, key), key.benchmark, key.task)
        fit_block(places, [Fit.specified(fit_file(study, key), made_of)])
    with pytest.raises(ConfigError, match="there is nothing to accept: no existing"):
        accept(study)


def test_a_difference_is_measured_and_nothing_is_written(
    study: Study, other_code: None, other_numbers: None
) -> None:
    before = content()
    with pytest.raises(DataError) as refused:
        accept(study)
    text = str(refused.value)
    assert text.startswith("2 of 3 refitted trials differ, so no fit is accepted. ")
    assert "words/main/cdspp on " in text
    assert "% of the labels differ (1 of " in text
    assert "cdspp run --remake" in text
    assert "svm-t" not in text
    assert content() == before


def test_the_largest_difference_in_confidence_is_named_and_counts_to_the_last_bit(
    study: Study, other_code: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stage._run_trial

    def run_otherwise(*arguments: Any) -> Any:
        fields, [*first, last] = run(*arguments)
        if last.confidence is None:
            return fields, [*first, last]
        confidence = np.asarray(last.confidence, np.float32).copy()
        confidence[0] = np.nextafter(confidence[0], np.float32(9))
        return fields, [*first, replace(last, confidence=confidence)]

    monkeypatch.setattr(stage, "_run_trial", run_otherwise)
    with pytest.raises(DataError, match=r"0 % of the labels .* confidence by up to \d"):
        accept(study)


def test_fits_of_other_package_versions_are_accepted_by_themselves(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert affected_fits(study) == []
    new = {**provenance.versions(), "numpy": "99.0"}
    monkeypatch.setattr(provenance, "versions", lambda: new)
    number = next(iter(jobs()))["versions"]["numpy"]
    assert "Accepted 12 fits" in accept(study)
    assert {job["versions"]["numpy"] for job in jobs()} == {"99.0"}
    text = accepted_text(jobs())
    assert text.startswith("12 of 12 fits were made by other code or packages (cdspp ")
    assert f"numpy {number}) and accepted: a sample of 3 refitted trials " in text


def test_a_killed_accept_leaves_whole_records_and_the_next_one_finishes(
    study: Study, other_code: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, n_left = accepting.write_record, iter([1, 1, 1])

    def write_some(*arguments: Any) -> None:
        if next(n_left, 0) == 0:
            raise KeyboardInterrupt
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(accepting, "write_record", write_some)
        with pytest.raises(KeyboardInterrupt):
            accept(study)
    assert len(affected_fits(study)) == 9
    assert "Accepted 9 fits" in accept(study)
    assert len(jobs()) == 12
    assert "12 of 12 fits were made by" in accepted_text(jobs())


def change_trial(file: str, **changes: Any) -> None:
    path = Path(file)
    extra = read_json(path.with_suffix(".json"))["extra"]
    trials = [{**trial, **changes} for trial in extra["trials"]]
    rewrite_record(path, extra={**extra, "trials": trials})


def test_the_sample_has_the_quickest_sound_trial_of_every_cell_and_origin(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [fit_file(study, key) for key in keys_of(study) if key.method == "svm-t"]
    main = [file for file in files if "/main/" in file]
    for seconds, file in enumerate(main):
        change_trial(file, seconds=float(seconds))
    change_trial(main[0], status="failed")
    rewrite_record(Path(main[3]), code="a third one")
    change_code(monkeypatch)
    sample = sample_of(affected_fits(study))
    chosen = {each.fit.file for each in sample if each.fit.file in main}
    assert chosen == {main[1], main[3]}
    assert {(e.fit.key.setting, e.fit.key.method) for e in sample} == CELLS


def test_a_trial_with_an_unexpected_error_is_neither_sampled_nor_accepted(
    study: Study, other_code: None
) -> None:
    crashed = fit_file(study, keys_of(study)[0])
    change_trial(crashed, crashed=True, seconds=0.0)
    assert "Accepted 11 fits" in accept(study)
    assert "accepted" not in read_fit_record(crashed).trials[0]
    with pytest.raises(ConfigError, match="nothing to accept"):
        accept(study)


def test_a_missing_input_and_another_input_are_named(
    study: Study, other_code: None
) -> None:
    before = [fit.file for fit in affected_fits(study)]
    split = Path(files_of_fit(study, keys_of(study)[0])["target_split"])
    kept = split.read_bytes()
    for path in split.parents[1].rglob("*.parquet"):
        path.write_bytes(kept[:-1] + b"?")
    with pytest.raises(DataError, match=r"12 files of fits cannot be accepted, first"):
        accept(study, before)
    for path in split.parents[1].rglob("*.parquet"):
        path.unlink()
    with pytest.raises(DataError, match=r"which is missing. Make it with cdspp run"):
        accept(study, before)


def test_verify_misses_a_lost_sample_and_a_run_does_not_remake_it(
    study: Study, other_code: None
) -> None:
    accept(study)
    file, root = next(Path("results/toy/accepted").iterdir()), Path("results/toy")
    entries = json.loads(file.read_text())["sample"]
    assert [{*entry} for entry in entries] == [{"digest", "fit", "inputs", "trial"}] * 3
    assert str(file) not in unrecorded_files(study)
    assert sample_faults(jobs(), root) == []
    file.write_text("{}")
    assert "differs from the one" in sample_faults(jobs(), root)[0]
    file.unlink()
    assert "is missing. Restore it" in sample_faults(jobs(), root)[0]


def test_verify_names_accepted_fits_and_their_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = VerifiedStudy(tmp_path / "results")
    file = written.root / "accepted/abc.json"
    write_json(file, {})
    sample = {"sample": str(file), "sha256": provenance.file_digest(file)}
    origin = {"code": "1", "versions": {"cdspp": "0.1.0"}, "refits": 5}
    change_trial(str(written.fit()), accepted=origin | sample)
    assert main(["verify", str(written.root)]) == 0
    said = "2 of 16 fits were made by other code or packages (cdspp 0.1.0) and accepted"
    assert f"all as computed. {said}: a sample of 5 " in capsys.readouterr().out
    file.unlink()
    with pytest.raises(SystemExit):
        main(["verify", str(written.root)])
    assert "fits were accepted is missing" in capsys.readouterr().out


def test_fits_accepted_twice_keep_their_first_origin(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = keys_of(study)[0]
    first = read_fit_record(fit_file(study, key)).code
    for code in ("second", "third"):
        with monkeypatch.context() as patch:
            change_code(patch, code)
            accept(study)
        [trial] = read_fit_record(fit_file(study, key)).trials
        assert trial["accepted"]["code"] == first
    accept(study)  # with the code that made them
    assert accepted_text(jobs()) == ""


def test_external_predictions_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_texts(tmp_path / "texts", per_class=6)
    rows = [f"left_right,1,right{row},metal" for row in range(18)]
    text = "\n".join(["task,trial,id,predicted", *rows])
    Path("mine.csv").write_text(text)
    [benchmark] = CONFIG["benchmarks"]
    own = {"benchmarks": [benchmark | {"tasks": ["left_right"]}], "trials": 1}
    own["methods"] = [{"id": "svm-t"}, {"id": "llm", "predictions": "mine.csv"}]
    study = fitted({**SMALL, **own})
    change_code(monkeypatch)
    assert "Accepted 2 fits without making them again" in accept(study)
    Path("mine.csv").write_text(text.replace("metal", "river"))
    change_code(monkeypatch, "a later one")
    assert {fit.key.method for fit in affected_fits(study)} == {"svm-t"}


@pytest.fixture
def active_run() -> Iterator[None]:
    lock = lock_run()
    yield
    assert lock.stream is not None
    lock.stream.close()


def test_an_active_run_and_options_of_another_study_are_refused(
    study: Study, other_code: None, active_run: None, capsys: Any
) -> None:
    with pytest.raises(ConfigError, match="a run is active in this folder"):
        accept(study)
    assert main(["run", "--accept", "--remake", "toy.yaml"]) == 2
    assert "expected --accept or --remake, got both" in capsys.readouterr().err
    for words in (["--config", "trials=2"], ["results/toy/scores/words.parquet"]):
        assert main(["run", "--accept", "toy.yaml", "--", *words]) == 2
        assert f"study from its file, without {words[0]}" in capsys.readouterr().err
