"""Kills, changes and losses in any order: the last run leaves what a clean one does."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toy_study import CONFIG, Project

SCORES = "results/toy/scores/words.parquet"
METHOD = "src/cdspp/methods/svm_t/svm_t.py"
N_SEQUENCES, N_STEPS = 30, 4


def study(rng: np.random.Generator) -> dict[str, Any]:
    """Return one of some small studies: seed, labels and an option differ."""
    [benchmark] = CONFIG["benchmarks"]
    labels = {"source": 4, "target": int(rng.integers(1, 3))}
    methods = [
        {"id": "svm-t"},
        {"id": "cdspp", "options": {"alpha": 10.0 ** int(rng.integers(3))}},
    ]
    return {
        "trials": 2,
        "seed": int(rng.integers(2)),
        "benchmarks": [benchmark | {"tasks": ["left_right"], "labels": labels}],
        "methods": methods,
        "source_states": {"states": []},
        "curves": [],
        "deviations": [],
    }


class Story:
    """A project, and what happens to it."""

    def __init__(self, project: Project, rng: np.random.Generator) -> None:
        self.project, self.rng, self.config = project, rng, study(rng)
        self.told: list[str] = []
        project.write_config(**self.config)

    def steps(self) -> tuple[Callable[[], None], ...]:
        return (
            self.change,
            self.kill,
            self.edit_code_in_a_run,
            self.lose,
            self.edit_data,
        )

    def run(self) -> None:
        self.project.snakemake("--cores", "2", "--", SCORES)

    def change(self) -> None:
        self.config = study(self.rng)
        self.project.write_config(**self.config)

    def kill(self) -> None:
        """Kill the main process of a run alone, so that its jobs go on."""
        running = self.project.start("--cores", "2", "--", SCORES)
        time.sleep(float(self.rng.uniform(1, 5)))
        os.kill(running.pid, signal.SIGKILL)
        running.wait()

    def edit_code_in_a_run(self) -> None:
        """Change a method while a run is at work, and change it back."""
        module = self.project.folder / METHOD
        text = module.read_text()
        running = self.project.start("--cores", "2", "--", SCORES)
        time.sleep(float(self.rng.uniform(1, 4)))
        module.write_text(text.replace("tol=1e-3", "tol=10.0"))
        time.sleep(float(self.rng.uniform(0, 2)))
        module.write_text(text)
        running.communicate()

    def lose(self) -> None:
        shutil.rmtree(self.project.folder / ".snakemake", ignore_errors=True)

    def edit_data(self) -> None:
        path = self.project.folder / "texts/right/fruit/0.txt"
        path.write_text(" ".join(self.rng.permutation(path.read_text().split())[:8]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_SEQUENCES))
def test_whatever_happens_the_last_run_leaves_what_a_clean_one_does(
    repository: Path, tmp_path: Path, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    story = Story(Project(repository, tmp_path / "told"), rng)
    for _ in range(N_STEPS):
        step = story.steps()[rng.integers(5)]
        story.told.append(step.__name__)
        step()
        if rng.random() < 0.5:
            story.told.append("run")
            story.run()
    story.run()
    clean = Project(repository, tmp_path / "clean")
    shutil.rmtree(clean.folder / "texts")
    shutil.copytree(story.project.folder / "texts", clean.folder / "texts")
    clean.write_config(**story.config)
    clean.snakemake("--cores", "2", "--", SCORES)
    time.sleep(2)  # for jobs that outlived their run
    for path in [SCORES, *_fits(clean)]:
        ours, theirs = (p.folder / path for p in (story.project, clean))
        assert ours.read_bytes() == theirs.read_bytes(), (path, story.told)


def _fits(project: Project) -> list[Path]:
    found = project.folder.glob("results/toy/fits/**/*.parquet")
    return [path.relative_to(project.folder) for path in found]
