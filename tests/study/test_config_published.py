"""Studies of published data: what the schema and the cross-checks find."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.io import savemat
from support.study_files import ROOT, load, load_own, read_study


@pytest.mark.parametrize("path", sorted((ROOT / "resources/studies").glob("*.yaml")))
def test_every_shipped_study_is_without_faults(path: Path) -> None:
    study = load_own(yaml.safe_load(path.read_text()))
    assert study.name == path.stem


def test_what_a_view_needs_fetched_depends_on_the_view_and_the_domain() -> None:
    study = load(read_study("office-caltech"))
    dataset = study.datasets["office-caltech-10"]
    assert dataset.resource(study.views["googlenet"], "dslr") == "googlenet-dslr"
    assert dataset.resource(study.views["alexnet-fc6"], "dslr") == "images"
    digits = study.datasets["digits"]
    assert digits.resource(study.views["alexnet-fc6"], "print") is None


def test_a_setting_may_run_some_tasks_only() -> None:
    study = load(read_study("office-caltech"))
    assert study.setting_tasks("surf-googlenet", "no-overlap") == (
        "dslr_dslr",
        "webcam_webcam",
    )
    assert study.overlap("surf-googlenet", "no-overlap") == "exclude"
    assert study.overlap("surf-googlenet", "noise") == "keep"


def test_kpg_rl_tells_how_to_run_the_authors_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "resources/studies/kpg-rl.yaml").read_text()
    own = yaml.safe_load("\n".join(re.findall(r"^#     (.*)$", text, re.MULTILINE)))
    classes = np.repeat(np.arange(1, 32), 11)
    rows = {"fts": np.ones((len(classes), 3)), "labels": classes[None]}
    for name in own["datasets"][0]["tables"].values():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        savemat(tmp_path / name, rows)
    monkeypatch.chdir(tmp_path)
    study = load_own({**yaml.safe_load(text), **own})
    assert len(study.benchmarks["balanced"].tasks) == 9
    assert study.split_counts("balanced", "main", "target") == (1, 6)
