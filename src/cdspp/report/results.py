"""The results of a finished study as data frames."""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cdspp.analysis.fit_records import read_fit_records, record_files
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.summary import read_scores, score_files
from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.study.shared_files import shared_features
from cdspp.study.stale import freshness_note, read_digests

__all__ = ["Results", "load_results"]


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a study.

    Attributes
    ----------
    scores : DataFrame
        Accuracy by benchmark, setting, task, method, trial and iteration, with the
        status of the trial, whether it has collapsed, and its number of test samples.
    fits : DataFrame
        The record of every trial of every fit: status and reason, seconds, memory, and
        the options that it `selected` if its method has a grid.
    comparisons : DataFrame
        By benchmark, method and task: the gain of the method over the baseline and over
        itself under every control, and the verdict on its source: `verdict` and
        `reason`, in the words of `cdspp.analysis.transfer`.
    folder : Path
        Folder of the study.
    """

    scores: pd.DataFrame
    fits: pd.DataFrame
    comparisons: pd.DataFrame
    folder: Path

    def table(self, name: str) -> pd.DataFrame:
        """Return a table of the study by its name, such as ``claims``.

        Columns of numbers are numeric, NaN if one is missing; all others are text.

        Raises
        ------
        DataError
            The study has no such table.
        """
        paths = {path.stem: path for path in self.folder.glob("t[ai]*s/[!.]*.csv")}
        if name not in paths:
            raise DataError(f"no table {name!r}{did_you_mean(name, paths)}")
        texts = pd.read_csv(paths[name], dtype="str", keep_default_na=False)
        return texts.apply(_numbers)

    def features(self) -> pd.DataFrame:
        """Return the files of features and labels by data set, domain and view.

        ``results/features/index.csv`` has the options of each view.

        Raises
        ------
        DataError
            The study has no report, which names its files.
        """
        results = self.folder.parent
        files = [str(results / name) for name in read_digests(self.folder).files]
        rows = [
            {**row, "labels": str(results / row["labels"])}
            for row in shared_features(files)
        ]
        columns = ["dataset", "domain", "view", "features", "labels"]
        return pd.DataFrame(rows, columns=columns)


def _numbers(texts: pd.Series) -> pd.Series:
    try:
        return texts.map(lambda text: float(text or "nan"))
    except ValueError:
        return texts


def load_results(folder: PathLike) -> Results:
    """Load the results of a study as data frames.

    Warns if files have changed since the report.

    Parameters
    ----------
    folder : path
        ``results/<study>``.

    Returns
    -------
    Results
        Data frames; accuracies and gains are fractions.

    Raises
    ------
    DataError
        The folder has no scores, or a table is missing.
    SchemaError
        Another version of the library wrote its files in a schema unknown to this one.
    """
    root = Path(folder)
    if note := freshness_note(root):
        warnings.warn(note, stacklevel=2)
    files = score_files(root)
    with suppress(DataError):  # no report yet
        digest_files = read_digests(root).files
        names = {Path(name).name for name in digest_files if "/scores/" in name}
        files = [file for file in files if file.name in names] or files
    by_benchmark = {file.stem: read_scores(file) for file in files}
    scores = pd.concat(by_benchmark, names=["benchmark"]).reset_index(level=0)
    tables = [root / f"tables/source-help_{name}.csv" for name in by_benchmark]
    # Fits that an edited study no longer has remain as files, but are not its results.
    key = ["benchmark", "setting", "task", "method", "trial"]
    fits = read_fit_records(record_files(root)).results
    fits = fits.merge(scores[key].drop_duplicates(), on=key).drop_duplicates(key)
    return Results(
        scores=scores,
        fits=fits.reset_index(drop=True),
        comparisons=pd.concat(map(read_comparisons, tables), ignore_index=True),
        folder=root,
    )
