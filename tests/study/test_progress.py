"""How far a study is, from records and logs that lie there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.result_files import RECORDED, RECORDED_OF_TRIAL, write_fit_record
from support.study_files import load_own
from support.toy_study import CONFIG, status_text, write_texts

from cdspp.cli import study as commands
from cdspp.core.errors import DataError
from cdspp.core.jobs import job
from cdspp.core.names import FitKey, trials_of_block
from cdspp.core.run_lock import lock_run
from cdspp.study.files import FIT, FIT_LOG
from cdspp.study.fit_jobs import fit_jobs
from cdspp.study.model import Study
from cdspp.study.progress import study_progress

OWN = CONFIG | {"curves": [], "deviations": [], "source_states": {"states": []}}
METHODS = ("svm-t", "cdspp", "target-only")


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    write_texts(Path("texts"))
    return load_own(OWN)


def write_fit(
    study: Study, key: FitKey, reason: str = "", crashed: bool = False
) -> None:
    file = Path(FIT.format(study=study.name, **key._asdict()))
    file.parent.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {"status": "failed" if reason else "ok"}
    result |= {"reason": reason, "crashed": crashed, "collapsed": ""}
    result |= RECORDED_OF_TRIAL
    trials = [{"trial": n, **result} for n in trials_of_block(key.block)]
    Path(f"{file}.parquet").touch()
    write_fit_record(f"{file}.parquet", {}, {**RECORDED, "trials": trials})


def log_of(fits: list[FitKey]) -> str:
    return FIT_LOG.format(study="toy", **fits[0]._asdict())


def write_log(fits: list[FitKey], error: BaseException | None) -> Path:
    log = Path(log_of(fits))
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with job(log):
            if error is not None:
                raise error
    except (SystemExit, KeyError, KeyboardInterrupt):
        pass
    return log


def counts(study: Study) -> dict[str, dict[str, int]]:
    found = study_progress(study).fits
    return {method: dict(+found["words", method]) for method in METHODS}


def test_fits_are_counted_by_trial(study: Study) -> None:
    assert counts(study) == dict.fromkeys(METHODS, {"missing": 8})
    jobs = list(fit_jobs(study))
    assert len({log_of(entry) for entry in jobs}) == len(jobs)
    for key in jobs[0]:
        write_fit(study, key, "no class left" if key.method == "cdspp" else "")
    found = counts(study)
    assert found["svm-t"] == {"done": 2, "missing": 6}
    assert found["cdspp"] == {"failed": 2, "missing": 6}
    [failure] = study_progress(study).failures
    assert failure.reason == "no class left"
    assert failure.log == log_of(jobs[0])
    assert "cdspp in main, 2 of its trials" in failure.what


def test_a_job_that_ended_with_an_error_is_failed(study: Study) -> None:
    entry, *_ = fit_jobs(study)
    write_log(entry, KeyError("left"))
    assert counts(study)["svm-t"] == {"failed": 2, "missing": 6}
    [failure] = study_progress(study).failures
    assert (failure.reason, failure.log) == ("KeyError: 'left'", log_of(entry))
    for key in entry:  # made since
        write_fit(study, key)
    assert not study_progress(study).failures


def test_a_job_without_an_end_runs_as_long_as_a_run_lives(study: Study) -> None:
    entry, *_ = fit_jobs(study)
    log = write_log(entry, KeyboardInterrupt())
    progress = study_progress(study)
    assert progress.stopped == [log_of(entry)]
    assert counts(study)["svm-t"] == {"missing": 8}
    own = lock_run()
    assert own.stream is not None
    os.utime(log)
    assert counts(study)["svm-t"] == {"running": 2, "missing": 6}
    os.utime(log, (0, 0))  # of a run before
    assert counts(study)["svm-t"] == {"missing": 8}
    own.stream.close()


def test_the_text_names_what_failed_and_what_is_missing(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(files: Any) -> Study:
        return study

    monkeypatch.setattr(commands, "read_study", known)
    entry, *_ = fit_jobs(study)
    write_log(entry, DataError("a.npz: damaged"))
    lines = status_text("own study.yaml").splitlines()
    assert lines[0] == "toy: no run is active in this folder"
    assert "failed: a.npz: damaged" in lines
    assert (
        f"  words left_right 1-2, svm-t, cdspp, target-only: {log_of(entry)}" in lines
    )
    assert any(line.split() == ["all", "0", "6", "0", "18"] for line in lines)
    assert any(line.split() == ["scores", "0", "1"] for line in lines)
    assert "  results/toy/scores/words.parquet" in lines
    assert lines[-1].endswith("cdspp run 'own study.yaml' --cores 8")


def test_where_the_fit_of_the_showcase_crashed_its_subspace_is_made_again(
    study: Study,
) -> None:
    every = [key for entry in fit_jobs(study) for key in entry]
    for key in every:
        write_fit(study, key, "x" * (key.method == "cdspp"), key.method == "cdspp")
    crashed = study_progress(study).to_repeat
    fits = [key for key in every if key.method == "cdspp"]
    assert len(crashed) == len(fits) + 1
    assert "results/toy/subspace/words/left_right.npz" in crashed
