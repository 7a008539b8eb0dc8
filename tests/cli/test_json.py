"""What commands print for programs: one JSON object, with keys that a page lists."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.report_data import make_plan
from support.result_files import write_fit
from support.study_files import load_own
from support.toy_study import CONFIG, write_texts
from support.written_study import VerifiedStudy, WrittenStudy

from cdspp.analysis.kinds import LABELS_ONLY
from cdspp.cli.main import main
from cdspp.core.names import trials_of_block
from cdspp.core.run_lock import lock_run
from cdspp.methods import available, needs
from cdspp.stages.formats import FIT_COLUMNS
from cdspp.study.files import FIT, FIT_LOG
from cdspp.study.fit_jobs import fit_jobs

KEYS = Path(__file__).parents[2] / "docs/extensions/json_keys.yaml"
OWN = CONFIG | {"curves": [], "deviations": [], "source_states": {"states": []}}


def paths(content: Any, above: str = "") -> Iterator[str]:
    """Yield the keys of an object, with those of the objects in it and in its lists."""
    if isinstance(content, list) and content and isinstance(content[0], dict):
        for each in content:
            yield from paths(each, above)
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from paths(value, f"{above}.{key}" if above else key)
    else:
        yield above


def listed(command: str) -> set[str]:
    return {"schema_version", *yaml.safe_load(KEYS.read_text())[command]}


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    """Return a function that returns what a command prints as JSON."""

    def run(command: str, *words: str, code: int = 0) -> dict[str, Any]:
        try:
            ended = main([command, *words, "--json"])
        except SystemExit as stopped:
            ended = stopped.code
        assert ended == code
        content: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert content["schema_version"] == 2
        assert {*paths(content)} == listed(command)
        return content

    return run


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the folder a study with a fit, a failed job, a killed job and a run."""
    monkeypatch.chdir(tmp_path)
    write_texts(Path("texts"))
    Path("toy.yaml").write_text(yaml.safe_dump(OWN))
    first, second, third, *_ = fit_jobs(load_own(OWN))
    for key in first:
        rows = [(trial, 1, "a", "b", 0.5) for trial in trials_of_block(key.block)]
        file = Path(f"{FIT.format(study='toy', **key._asdict())}.parquet")
        write_fit(file, dict(zip(FIT_COLUMNS, zip(*rows, strict=True), strict=True)))
    ready = "ready after 1.0 s of processor time"
    for fits, end in ((second, "a.npz: cut"), (third, ready)):
        log = Path(FIT_LOG.format(study="toy", **fits[0]._asdict()))
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"2026-01-01 00:00:00,000 cdspp.core.jobs {end}\n")
        os.utime(log, (0, 0))  # of a run before
    own = lock_run()
    yield
    assert own.stream is not None
    own.stream.close()


def test_the_methods(printed) -> None:
    content = printed("methods")
    assert [each["method"] for each in content["methods"]] == [*available()]
    cdspp = next(each for each in content["methods"] if each["method"] == "cdspp")
    assert cdspp["display_name"] == "CDSPP"
    assert cdspp["needs"] == list(needs("cdspp"))


def test_the_plan_of_a_study(printed, begun: None) -> None:
    content = printed("plan", "toy.yaml")
    assert content["study"] == "toy"
    assert content["total"]["trials"] == 3 * 8
    assert content["trials"]["kept"] == 0
    counts = {each["reason"]: each["fits"] for each in content["trials"]["run"]}
    assert sum(counts.values()) == 24
    assert counts["not computed yet"] == 18
    assert len(content["to_make_again"]) == 3


def test_the_progress_of_a_study(printed, begun: None) -> None:
    content = printed("status", "toy.yaml")
    assert [each["lives"] for each in content["runs"]] == [True]
    [row] = [each for each in content["fits"] if each["method"] == "cdspp"]
    assert (row["done"], row["failed"], row["missing"]) == (2, 2, 4)
    [failure] = content["failures"]
    assert failure["reason"] == "a.npz: cut"
    assert "words left_right 3-4" in failure["what"]
    assert len(content["stopped"]) == 1
    assert content["resume"] == ""  # a run is at work
    [scores] = [each for each in content["files"] if each["stage"] == "scores"]
    assert scores["there"] == 0
    assert "results/toy/scores/words.parquet" in scores["missing"]


def test_where_fits_failed_the_exit_code_is_that_of_the_text(
    printed, begun: None
) -> None:
    printed("status", "--strict", "toy.yaml", code=1)


def test_the_headline_of_a_study(printed, tmp_path: Path) -> None:
    plan = make_plan()
    WrittenStudy(tmp_path / "toy", [plan], {"digits": {}}).make("table")
    content = printed("summary", str(tmp_path / "toy"))
    means = {each["row"]: each["mean"] for each in content["averages"]}
    assert {row.key for row in plan.rows if row.state == "real"} <= means.keys()
    [kind] = content["kinds"]
    assert (kind["heading"], kind["display_name"]) == (LABELS_ONLY, "CDSPP")
    assert kind["accuracy"] == pytest.approx(means["cdspp"])
    [best] = content["without_source"]
    lead = kind["accuracy"] - means["target-only"]
    assert kind["gain"] == pytest.approx(lead, abs=1e-3)
    assert best["accuracy"] >= means["target-only"]
    assert content["report"] is None


def test_the_check_of_a_study(printed, tmp_path: Path) -> None:
    study = VerifiedStudy(tmp_path / "results")
    content = printed("verify", str(study.root))
    assert content["differences"] == []
    assert (content["checked"]["fits"], content["checked"]["trials"]) == (8, 16)
    study.fit().write_bytes(b"")
    content = printed("verify", str(study.root), code=1)
    [difference] = content["differences"]
    assert "main/web_photo/cdspp/1-2.parquet: expected a Parquet file" in difference
    assert ": 1 difference. Not checked" in content["result"]


def test_a_mistake_prints_no_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["verify", str(tmp_path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("cdspp: error: ")
