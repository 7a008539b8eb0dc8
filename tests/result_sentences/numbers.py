"""The tables behind sentences on results: of studies, planted problems, the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import yaml
from result_sentences.pages import ROOT

from benchmarks.results import read_numbers
from cdspp.analysis.transfer import DISAGREE
from cdspp.methods import method_class

# What `python -m benchmarks verdicts` printed, which takes hours.
PRINTED_RATES = "docs/results/verdicts.txt"
# What `python -m benchmarks decisions --part both` printed, in an hour.
PRINTED_DECISIONS = "docs/results/decisions.txt"
# What `python -m benchmarks rows --part both` printed.
PRINTED_ROWS = "docs/results/rows.txt"
# What `python -m benchmarks decisions --cost` printed.
PRINTED_COST = "docs/results/cost.txt"


class Numbers:
    """Looks numbers up; KeyError where no table has them."""

    def __init__(self) -> None:
        files = (ROOT / "docs/results").glob("*.csv")
        self.studies = {path.stem: read_numbers(path) for path in files}

    def __call__(self, study: str, benchmark: str, row: str, what: str) -> str:
        """Return a number or verdict of a study as text."""
        return self.studies[study][benchmark, row, what]

    def verdict(self, study: str, benchmark: str, row: str, kind: str = "") -> str:
        """Return a verdict, or that accuracy and balanced accuracy disagree."""
        numbers = self.studies[study]
        reason = numbers.get((benchmark, row, f"{kind}reason"), "")
        return (
            DISAGREE
            if reason == DISAGREE
            else self(study, benchmark, row, f"{kind}verdict")
        )

    def accuracy(self, study: str, benchmark: str, row: str) -> float:
        """Return an accuracy, averaged over tasks and trials."""
        return float(self(study, benchmark, row, "accuracy"))

    @cached_property
    def config(self) -> dict[str, Any]:
        """The configuration of the embedded study."""
        found: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())
        return found

    def left_out(self, benchmark: str) -> str:
        """Name the methods that a benchmark of the embedded study leaves out."""
        known = {entry["id"]: entry for entry in self.config["benchmarks"]}
        return _named(known[benchmark]["leave_out"])

    def without_states(self) -> str:
        """Name the methods with a source that run in no other state of it."""
        benchmarks = self.config["benchmarks"]
        left = set.intersection(*({*entry["leave_out"]} for entry in benchmarks))
        methods = self.config["methods"]
        bare = [
            m["id"] for m in methods if m.get("states") == [] and m["id"] not in left
        ]
        return _named(bare)

    @cached_property
    def geometry(self) -> pd.DataFrame:
        """The gains on planted problems by labels, classes and shared geometry."""
        return pd.read_csv(ROOT / "docs/shared-geometry.csv")

    def geometry_gains(self, classes: Sequence[int], shared: float) -> pd.Series:
        """Return mean gains by method, with these numbers of classes."""
        found = self.geometry
        here = found[found["classes"].isin(classes) & (found["shared"] == shared)]
        return here.groupby("method")["gain"].mean()

    @cached_property
    def rates(self) -> dict[str, list[list[float]]]:
        """The printed error rates: by kind, rows and method, a list a table.

        First intervals that hold the truth, then false verdicts with their bounds.
        """
        text = self.page(PRINTED_RATES)
        found: dict[str, list[list[float]]] = {}
        for line in re.findall(r"^(.+ +(?:6|15|60) +cdspp.*)$", text, re.M):
            key, numbers = re.split(r"(?<=cdspp)(?!-)|(?<=cdspp-sup)", line)
            values = map(float, re.findall(r"\d+\.\d+", numbers))
            found.setdefault(" ".join(key.split()), []).append(list(values))
        return found

    def page(self, name: str) -> str:
        """Return the text of a file of the repository."""
        return (ROOT / name).read_text()

    def decisions(
        self, part: str, start: str, section: str = "", page: str = PRINTED_DECISIONS
    ) -> list[str]:
        """Return the numbers of the first line of a part that starts so, as printed.

        The line is below the heading `section`, if it is given.
        """
        _, _, text = self.page(page).partition(f"\n{part}: ")
        lines = text.partition(section)[2] if section else text
        line = next(x for x in lines.splitlines() if x.startswith(f"  {start}  "))
        return re.findall(r"[+−]?\d+(?:\.\d+)?", line.removeprefix(f"  {start}"))

    def printed(self, start: str) -> list[float]:
        """Return the rates, without bounds, of a line of simulated rows."""
        text = self.page(PRINTED_RATES)
        [line] = re.findall(rf"^{re.escape(start)}(.*)$", text, re.M)
        return [float(x) for x in re.findall(r"(\d+\.\d) \(", line)]


def _named(methods: Sequence[str]) -> str:
    names = [str(method_class(name).display_name) for name in methods]
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
