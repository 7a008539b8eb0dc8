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
from support.toy_study import CONFIG, WORDS, Project

SCORES = "results/toy/scores/words.parquet"
METHOD = "src/cdspp/methods/svm_t.py"
N_SEQUENCES, N_STEPS = 30, 4
WEIGHTS = "w.txt"
KINDS = (
    "results/features/*/*.npz",
    "results/labels/*/*.parquet",
    "results/toy/splits/**/*.parquet",
)
EXTRACTOR = """
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cdspp.features.base import FileExtractor


@dataclass(frozen=True)
class Weighted(FileExtractor):
    identifier, kind = "weighted", "texts"
    weights: str = "w.txt"

    @property
    def own_files(self):
        return (Path(self.weights),)

    def extract(self, files):
        rows = map(str.split, Path(self.weights).read_text().splitlines())
        weights = {word: float(number) for word, number in rows}
        texts = [file.read_text().split() for file in files]
        X = [[weights[word] * t.count(word) for word in weights] for t in texts]
        return np.array(X) + 0.1
"""


def study(rng: np.random.Generator) -> dict[str, Any]:
    """Return one of some small studies: seed, labels and an option differ.

    Its source is a view of which the weights are a file of the user.
    """
    [benchmark] = CONFIG["benchmarks"]
    own = {"id": "own", "extractor": "weighted:Weighted"}
    benchmark = benchmark | {"source_view": "own", "tasks": ["left_right"]}
    labels = {"source": 4, "target": int(rng.integers(1, 3))}
    methods = [
        {"id": "svm-t"},
        {"id": "cdspp", "options": {"alpha": 10.0 ** int(rng.integers(3))}},
    ]
    return {
        "trials": 2,
        "seed": int(rng.integers(2)),
        "views": [*CONFIG["views"], own],
        "benchmarks": [benchmark | {"labels": labels}],
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
        (project.folder / "weighted.py").write_text(EXTRACTOR)
        self.write_weights()
        project.write_config(**self.config)

    def steps(self) -> tuple[Callable[[], None], ...]:
        return (
            self.change,
            self.kill,
            self.edit_code_in_a_run,
            self.lose,
            self.edit_data,
            self.replace_weights,
            self.exchange,
            self.in_a_run,
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
        module.write_text(text.replace("codes, self.C)", "codes, self.C / 1e6)"))
        time.sleep(float(self.rng.uniform(0, 2)))
        module.write_text(text)
        running.communicate()

    def in_a_run(self) -> None:
        """Change what a run reads while it is at work."""
        steps = self.replace_weights, self.edit_data, self.exchange
        step = steps[self.rng.integers(len(steps))]
        self.told.append(step.__name__)
        running = self.project.start("--cores", "2", "--", SCORES)
        time.sleep(float(self.rng.uniform(0, 4)))
        step()
        running.communicate()

    def lose(self) -> None:
        shutil.rmtree(self.project.folder / ".snakemake", ignore_errors=True)

    def edit_data(self) -> None:
        path = self.project.folder / "texts/right/fruit/0.txt"
        path.write_text(" ".join(self.rng.permutation(path.read_text().split())[:8]))

    def write_weights(self) -> None:
        """Write weights of words; the file is always of one size."""
        words = [word for each in WORDS.values() for word in each]
        rows = zip(words, self.rng.uniform(1, 9, len(words)), strict=True)
        lines = "".join(f"{word} {weight:.3f}\n" for word, weight in rows)
        (self.project.folder / WEIGHTS).write_text(lines)

    def replace_weights(self) -> None:
        """Put other weights at the same path, as old as those before."""
        path = self.project.folder / WEIGHTS
        known = path.stat()
        self.write_weights()
        os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))

    def exchange(self) -> None:
        """Put a file that fits rest on in another one's place, maybe with a record."""
        kind = KINDS[self.rng.integers(len(KINDS))]
        files = sorted(self.project.folder.glob(kind))
        if len(files) > 1:
            foreign, own = self.rng.choice(len(files), 2, replace=False)
            for suffix in ("", ".json")[: self.rng.integers(1, 3)]:
                shutil.copy2(f"{files[foreign]}{suffix}", f"{files[own]}{suffix}")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_SEQUENCES))
def test_whatever_happens_the_last_run_leaves_what_a_clean_one_does(
    repository: Path, tmp_path: Path, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    story = Story(Project(repository, tmp_path / "told"), rng)
    for _ in range(N_STEPS):
        step = story.steps()[rng.integers(len(story.steps()))]
        story.told.append(step.__name__)
        step()
        if rng.random() < 0.5:
            story.told.append("run")
            story.run()
    story.run()
    clean = Project(repository, tmp_path / "clean")
    shutil.rmtree(clean.folder / "texts")
    shutil.copytree(story.project.folder / "texts", clean.folder / "texts")
    for name in (WEIGHTS, "weighted.py"):
        shutil.copy(story.project.folder / name, clean.folder / name)
    clean.write_config(**story.config)
    clean.snakemake("--cores", "2", "--", SCORES)
    time.sleep(2)  # for jobs that outlived their run
    for path in [SCORES, *_fits(clean)]:
        ours, theirs = (p.folder / path for p in (story.project, clean))
        assert ours.read_bytes() == theirs.read_bytes(), (path, story.told)


def _fits(project: Project) -> list[Path]:
    found = project.folder.glob("results/toy/fits/**/*.parquet")
    return [path.relative_to(project.folder) for path in found]
