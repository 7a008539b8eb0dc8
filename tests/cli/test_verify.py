"""The command `cdspp verify`: what it prints, and its exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.result_files import write_fit_record
from support.written_study import VerifiedStudy, write_page

from cdspp.__main__ import main
from cdspp.cli import run

DIGESTS = Path("results/shop/report/digests.json")


def test_verify_of_a_folder_without_scores_ends_with_2(
    tmp_path: Path, capsys: Any
) -> None:
    assert main(["verify", str(tmp_path)]) == 2
    assert "with scores in it" in capsys.readouterr().err


def test_where_fits_failed_a_strict_command_ends_with_1(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = VerifiedStudy(tmp_path / "results")
    verify = ["verify", "--strict", str(study.root)]
    assert main(verify) == 0
    study.write_fit(study.plan.rows[0], "web_photo", trials=(1,))
    study.write_scores()
    assert main([word for word in verify if word != "--strict"]) == 0
    output = capsys.readouterr().out.splitlines()[-1]
    assert output == "1 of 16 fits failed (svm-t 1)."
    # Snakemake has made all files that there are to make.
    monkeypatch.chdir(tmp_path)
    events = ({"event": "study", "study": "shop"}, {"event": "workflow_started"})
    both = {"level": "INFO", "dryrun": False}
    lines = "".join(f"{json.dumps(each | both)}\n" for each in events)
    program = f"import os; open(os.environ['{run.EVENTS}'], 'a').write({lines!r})"
    ended = [sys.executable, "-c", program]
    monkeypatch.setattr(run, "_command", lambda arguments: ended)
    again = ["run", "--strict"]
    assert main([word for word in again if word != "--strict"]) == 0
    for command in (verify, again):
        with pytest.raises(SystemExit) as stopped:
            main(command)
        assert stopped.value.code == 1
    output = capsys.readouterr().out
    assert output.count("1 of 16 fits failed (svm-t 1).") == 3
    assert output.count("Nothing to be done. Whole log: ") == 2


@pytest.fixture
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VerifiedStudy:
    """Return a study with a report, in the current folder."""
    monkeypatch.chdir(tmp_path)
    study = VerifiedStudy(tmp_path / "results")
    files = [study.scores, *sorted(study.results.glob("[fl]*/goods/*.*"))]
    page = study.root / "report/index.html"
    records = sorted(study.root.glob("fits/goods/**/1-2.json"))
    write_page([study.plan], page, records=records, files=files, config={"seed": 7})
    return study


def refused(capsys: Any) -> str:
    """Return what the check prints of results that differ."""
    with pytest.raises(SystemExit, match="1"):
        main(["verify", "results/shop"])
    return str(capsys.readouterr().out)


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize("key", ["files", "configuration", "page"])
def test_digests_of_another_type_are_a_fault_in_one_line(capsys: Any, key: str) -> None:
    assert main(["verify", "results/shop"]) == 0
    content = json.loads(DIGESTS.read_text())
    for value in (None, [], 5):
        DIGESTS.write_text(json.dumps(content | {key: value}))
        assert "digests.json: expected the digests of a report, but " in refused(capsys)


@pytest.mark.usefixtures("finished")
def test_a_name_in_the_digests_is_no_command_to_the_terminal(capsys: Any) -> None:
    content = json.loads(DIGESTS.read_text())
    content["files"]["shop/\x1b[2J"] = 64 * "0"
    DIGESTS.write_text(json.dumps(content))
    output = refused(capsys)
    assert "\x1b" not in output
    assert r"\x1b[2J" in output


@pytest.mark.parametrize("extra", [{"trials": 5}, {"trials": ["x"]}, {"dataset": 5}])
def test_a_record_of_other_types_is_a_fault_in_one_line(
    finished: VerifiedStudy, capsys: Any, extra: dict[str, Any]
) -> None:
    [record, *_] = sorted(finished.root.glob("fits/**/1-2.json"))
    content = json.loads(record.read_text())
    file = record.with_suffix(".parquet")
    content["extra"] |= extra
    write_fit_record(file, content["inputs"], content["extra"])
    assert "the record next to it has no trials or no data set" in refused(capsys)
