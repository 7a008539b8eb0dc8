"""The headline of a study for a terminal: averages, answers, path of the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cdspp.analysis import answers, fit_records, ways
from cdspp.analysis.pairs import read_pairs
from cdspp.analysis.source_help import read_comparisons
from cdspp.core import wording
from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.report.tables.contents import untrained_text
from cdspp.stages.formats import read_csv

_OVERVIEW = {
    **dict.fromkeys(("benchmark", "title", "row", "display_name", "kind"), "str"),
    **{"shortened": "bool", "mean": "float64", "sd": "float64"},
}
_WHY = (
    "Tables show a dash, or fewer trials; why is in the report under What was run, and "
    "cdspp status names the log and how to try again."
)


def headline(results_dir: PathLike) -> str:
    """Write the overview, the answers and failures, and where the page is."""
    folder = Path(results_dir)
    path = folder / "tables" / "overview.csv"
    if not path.is_file():
        raise DataError(f"{path} does not exist. Run the study first: cdspp run")
    overview = read_csv(path, _OVERVIEW)
    titles = overview.drop_duplicates("benchmark").set_index("benchmark")["title"]
    grid = [["accuracy, percent (sd)", *titles]]
    for _, cells in overview.groupby("row", sort=False):
        first, row = cells.iloc[0], cells.set_index("benchmark")
        supervised = first["kind"] == "supervised"
        signs = wording.marks(supervised=supervised, shortened=first["shortened"])
        pairs = row.reindex(titles.index)[["mean", "sd"]].itertuples(index=False)
        numbers = [wording.percent(*pair) for pair in pairs]
        grid.append([first["display_name"] + signs, *numbers])
    openings = {str(name): _opening(folder, str(name)) for name in titles.index}
    known = [each for each in openings.values() if each is not None]
    lines = [ways.QUESTION, ways.statement(known), ""] if known else []
    for each in known:
        lines += [*ways.way_lines(each), ""]
    lines += [*wording.aligned(grid), ""]
    if any(f"({wording.DASH})" in cell for line in grid for cell in line):
        lines.insert(-1, f"({wording.DASH}): a single trial has no standard deviation.")
    for name, title in titles.items():
        lines += [f"{title}: {text}" for text in _benchmark_notes(folder, str(name))]
    scores = [folder / "scores" / f"{name}.parquet" for name in titles.index]
    if failed := fit_records.failures_of_scores(scores):
        lines += ["", f"FAILED: {failed} {_WHY}"]
    records = folder.joinpath("fits").glob("*/*/*/*/[!.]*.json")
    if mixed := fit_records.mixtures_note(records):
        lines += ["", mixed]
    report = folder / "report" / "index.html"
    written = report.is_file()
    lines += ["", f"Report: {report}" if written else "The report is not written yet."]
    return "\n".join(lines)


def _opening(folder: Path, benchmark: str) -> ways.Opening | None:
    """Return the ways of a benchmark; None where no table has them, as of 0.2.0."""
    gains = folder / "tables" / f"source-help_{benchmark}.csv"
    pairs = folder / "tables" / f"pairs_{benchmark}.csv"
    if not (gains.is_file() and pairs.is_file()):
        return None
    return ways.opening(read_comparisons(gains), read_pairs(pairs))


def _benchmark_notes(folder: Path, benchmark: str) -> Iterator[str]:
    path = folder / "tables" / f"contents_{benchmark}.csv"
    if path.is_file() and (text := untrained_text(path)):
        yield text
    path = folder / "tables" / f"source-help_{benchmark}.csv"
    if path.is_file() and _opening(folder, benchmark) is None:
        yield answers.answer(read_comparisons(path))
    predictions = folder / "predictions" / benchmark
    if predictions.is_dir():
        yield f"Predictions of rows without a label: {predictions}"
