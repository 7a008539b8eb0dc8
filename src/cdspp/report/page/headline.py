"""The headline of a study for a terminal: averages, answers, path of the report."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cdspp.analysis import fit_records, kinds
from cdspp.analysis.pairwise import read_pairwise
from cdspp.analysis.source_help import read_comparisons
from cdspp.core import wording
from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.report.tables.contents import untrained_text
from cdspp.report.tables.table import marks_legend
from cdspp.stages.formats import read_csv

_OVERVIEW = {
    **dict.fromkeys(("benchmark", "title", "row", "display_name", "kind"), "str"),
    **{"shortened": "bool", "mean": "float64", "sd": "float64"},
}
_FAILURE_HELP = (
    "Tables show a dash or fewer trials. The report lists the reasons under What was "
    "run; cdspp status names the logs and the command that repeats the fits."
)


class Headline(NamedTuple):
    """The content of a headline, with `titles` and `openings` by benchmark."""

    overview: pd.DataFrame
    titles: dict[str, str]
    openings: dict[str, kinds.Opening]
    notes: list[str]
    failures: str
    mixed_versions: str
    accepted: str
    report: Path

    def to_dict(self) -> dict[str, Any]:
        """Return it as values of JSON; unknown numbers are None."""
        content: dict[str, list[dict[str, Any]]] = {"kinds": [], "without_source": []}
        for name, opening in self.openings.items():
            labels = {"benchmark": name, "title": opening.title}
            for kind in opening.kinds:
                of = {k: None if v != v else v for k, v in asdict(kind.of).items()}
                of |= {
                    "display_name": of.pop("method"),
                    "verdict": kind.of.verdict.word,
                }
                of |= {"heading": kind.title, "of_kind": kind.of_kind, "own": kind.own}
                content["kinds"].append(of | labels)
            if opening.without:
                best = {"display_name": opening.without, "accuracy": opening.accuracy}
                best["best_of"] = opening.n_without
                content["without_source"].append({**labels, **best})
        openings = [*self.openings.values()]
        overview = self.overview.astype(object).where(self.overview.notna(), None)
        return {
            "statement": kinds.statement(openings) if openings else "",
            **content,
            "averages": overview.to_dict("records"),
            "notes": self.notes,
            "failures": self.failures,
            "mixed_versions": self.mixed_versions,
            "accepted": self.accepted,
            "report": str(self.report) if self.report.is_file() else None,
        }


def read_headline(results_dir: PathLike) -> Headline:
    """Return the headline of ``results/<study>``."""
    folder = Path(results_dir)
    path = folder / "tables" / "overview.csv"
    if not path.is_file():
        raise DataError(f"{path} does not exist. Run the study first: cdspp run")
    overview = read_csv(path, _OVERVIEW)
    benchmarks = overview.drop_duplicates("benchmark")
    titles = dict(zip(benchmarks["benchmark"], benchmarks["title"], strict=True))
    openings = {}
    for name in titles:
        gains = folder / "tables" / f"source-help_{name}.csv"
        pairwise = folder / "tables" / f"pairwise_{name}.csv"
        if gains.is_file() and pairwise.is_file():  # else the study is unfinished
            frames = read_comparisons(gains), read_pairwise(pairwise)
            openings[name] = kinds.opening(*frames)
    scores = [folder / "scores" / f"{name}.parquet" for name in titles]
    records = folder.joinpath("fits").glob("*/*/*/*/[!.]*.json")
    jobs = fit_records.scored_jobs(records, scores)
    return Headline(
        overview,
        titles,
        openings,
        [f"{t}: {text}" for k, t in titles.items() for text in _notes(folder, k)],
        fit_records.failures_of_scores(scores),
        fit_records.mixed_fits_text(jobs),
        fit_records.accepted_text(jobs),
        folder / "report" / "index.html",
    )


def headline(results_dir: PathLike) -> str:
    """Return the overview, the answers and failures, and the path of the page."""
    content = read_headline(results_dir)
    grid = [["accuracy in % (sd)", *content.titles.values()]]
    for _, cells in content.overview.groupby("row", sort=False):
        first, row = cells.iloc[0], cells.set_index("benchmark")
        supervised = first["kind"] == "supervised"
        signs = wording.marks(supervised=supervised, shortened=first["shortened"])
        pairs = row.reindex([*content.titles])[["mean", "sd"]].itertuples(index=False)
        numbers = [wording.percent(*pair) for pair in pairs]
        grid.append([first["display_name"] + signs, *numbers])
    openings = [*content.openings.values()]
    lines = [kinds.QUESTION, kinds.statement(openings), ""] if openings else []
    for each in openings:
        lines += [*kinds.kind_lines(each), ""]
    lines += [*wording.aligned(grid), ""]
    if legend := marks_legend(name for name, *_ in grid):
        lines.insert(-1, legend)
    if any(f"({wording.DASH})" in cell for line in grid for cell in line):
        lines.insert(-1, f"({wording.DASH}): a single trial has no standard deviation.")
    lines += content.notes
    if content.failures:
        lines += ["", f"FAILED: {content.failures} {_FAILURE_HELP}"]
    for note in filter(None, (content.mixed_versions, content.accepted)):
        lines += ["", note]
    written = content.report.is_file()
    page = f"Report: {content.report}" if written else "The report is not written yet."
    return "\n".join([*lines, "", page])


def _notes(folder: Path, benchmark: str) -> Iterator[str]:
    path = folder / "tables" / f"contents_{benchmark}.csv"
    if path.is_file() and (text := untrained_text(path)):
        yield text
    predictions = folder / "predictions" / benchmark
    if predictions.is_dir():
        yield f"Predictions of rows without a label: {predictions}"
