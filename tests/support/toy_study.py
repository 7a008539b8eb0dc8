"""A tiny study of generated text files, run in a copy of the project."""

from __future__ import annotations

import copy
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from support.warm_start import run_warm

from cdspp.cli.main import main

WORDS = {
    "fruit": ["apple", "pear", "plum", "cherry", "grape", "lemon", "melon", "fig"],
    "metal": ["iron", "copper", "zinc", "silver", "gold", "nickel", "tin", "lead"],
    "river": ["rhine", "danube", "volga", "nile", "congo", "amazon", "ganges", "tiber"],
}
COMMON = "the of and to in is that it for on with as was at by"

CONFIG: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("toy.yaml").read_text()
)


def write_texts(
    folder: Path,
    per_class: int = 10,
    domains: Iterable[str] = ("left", "right"),
    seed: int = 0,
) -> None:
    rng = np.random.default_rng(seed)
    for domain in domains:
        for name, words in WORDS.items():
            target = folder / domain / name
            target.mkdir(parents=True)
            for i in range(per_class):
                text = [*rng.choice(words, 6), *rng.choice(COMMON.split(), 12)]
                (target / f"{i}.txt").write_text(" ".join(rng.permutation(text)))


def shared(folder: Path, name: str) -> str:
    """Return the path of a shared file that is named without digests."""
    *parents, data, file = name.split("/")
    stem, _, suffix = file.rpartition(".")
    file = f"{stem}-????????.npz" if suffix == "npz" else file
    [path] = folder.glob("/".join([*parents, f"{data}*", file]))
    return path.relative_to(folder).as_posix()


class Project:
    """A copy of the workflow and the library with a toy study."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.folder = folder
        for name in ("workflow", "profiles", "resources", "envs", "src"):
            ignored = shutil.ignore_patterns("*.egg-info")
            shutil.copytree(repository / name, folder / name, ignore=ignored)
        for name in ("Snakefile", "config.yaml"):
            shutil.copy(repository / name, folder / name)
        write_texts(folder / "texts")
        self.write_config()

    def copied(self, folder: Path) -> Project:
        """Return a copy of the project in its present state; file times are equal."""
        pipes = shutil.ignore_patterns("*.end")  # pipes of finished scripts
        shutil.copytree(self.folder, folder, ignore=pipes, dirs_exist_ok=True)
        project = copy.copy(self)
        project.folder = folder
        return project

    def write_config(self, **changes: Any) -> None:
        """Write the study file, with top-level keys replaced."""
        (self.folder / "toy.yaml").write_text(yaml.safe_dump({**CONFIG, **changes}))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start Snakemake on the toy study, in a process group of its own."""
        command = [sys.executable, "-m", "snakemake", "--configfile", "toy.yaml"]
        return subprocess.Popen(
            [*command, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run_cold(self, *arguments: str) -> str:
        """Run Snakemake in a new process, which finds plug-ins of the project."""
        running = self.start(*arguments)
        output, _ = running.communicate()
        assert running.returncode == 0, output
        return output

    def snakemake(self, *arguments: str, ok: bool = True) -> str:
        code, output = run_warm(
            ["snakemake", "--configfile", "toy.yaml", *arguments], self.folder
        )
        assert (code == 0) == ok, output
        return output

    def fit_inputs(self, study: str) -> dict[Path, set[str]]:
        """Return the inputs of each file of predictions, by the job graph."""
        summary = self.snakemake("--cores", "1", "--detailed-summary")
        table = summary[summary.index("output_file\t") :]
        rows = csv.DictReader(table.splitlines(), delimiter="\t")
        fits = f"results/{study}/fits/"
        return {
            Path(row["output_file"]): set(row["input-file(s)"].split(","))
            for row in rows
            if re.fullmatch(rf"{fits}.*\.parquet", row["output_file"])
        }

    def planned(self, *arguments: str) -> Plan:
        words = ["--configfile", "toy.yaml", "--cores", "2", *arguments]
        return planned(self.folder, *words)


@dataclass(frozen=True)
class Plan:
    """The jobs of a dry run, by rule, and the output files of each."""

    output: str
    rules: Counter[str]
    jobs: list[dict[str, Any]]  # as in Snakemake's events

    @property
    def files(self) -> list[list[str]]:
        return [job["output"] for job in self.jobs]

    @property
    def fits(self) -> list[list[str]]:
        """The output files of each fit job."""
        pattern = re.compile(r"results/toy/fits/[\w-]+/(.*)\.parquet")
        matches = (filter(None, map(pattern.search, files)) for files in self.files)
        fits = ([match[1] for match in each] for each in matches)
        return [each for each in fits if each]


def planned(folder: Path, *arguments: str) -> Plan:
    events = folder / "events.jsonl"
    events.unlink(missing_ok=True)
    to_file = ("--logger", "cdspp", "--logger-cdspp-events", events.name)
    code, output = run_warm(["snakemake", "-n", *to_file, *arguments], folder)
    assert code == 0, output
    lines = map(json.loads, events.read_text().splitlines())
    jobs = [line for line in lines if line.get("event") == "job_info"]
    # A rule of fits is named after its benchmark and methods.
    rules = [re.sub("^fit_.*", "fit", job["rule_name"]) for job in jobs]
    return Plan(output, Counter(rules), jobs)


def status_text(*words: str) -> str:
    """Return the answer of `cdspp status` in the working folder."""
    with redirect_stdout(StringIO()) as output:
        main(["status", *words])
    return output.getvalue()
