"""Files of fits that are not what they say: each is named before it is scored."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from support.result_files import rewrite_record, write_fit

from cdspp.core.errors import DataError
from cdspp.core.provenance import file_digest
from cdspp.stages.formats import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    read_fit,
    read_frame,
    write_rows,
)
from cdspp.stages.score import write_predictions, write_scores

IDS = [f"sample-{i}" for i in range(12)]
AGAIN = r"Delete it and 1-2\.\w+ next to it, and run the study again"


class Fits:
    """Fits of two methods, on two trials of two iterations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for place, method in enumerate(("cdspp", "svm-t")):
            rows = [
                (trial, step, key, "ab"[(i + trial * step + place) % 2], 0.5)
                for trial in (1, 2)
                for step in (1, 2)
                for i, key in enumerate(IDS[trial : trial + 8])
            ]
            write_fit(self.path(method), pd.DataFrame(rows, columns=list(FIT_COLUMNS)))
        labels = {"id": IDS, "label": [*"ab"] * 6, "position": range(12)}
        write_rows(folder / "photo.parquet", LABEL_COLUMNS, labels)

    def path(self, method: str = "cdspp") -> Path:
        return self.folder / f"fits/goods/main/web_photo/{method}/1-2.parquet"

    def record(self, method: str = "cdspp") -> Path:
        return self.path(method).with_suffix(".json")

    def rewrite(self, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        """Change the predictions, and the digest in the record as a forger would."""
        rows = change(read_frame(self.path(), FIT_COLUMNS))
        write_rows(self.path(), FIT_COLUMNS, rows)
        rewrite_record(self.path(), sha256=file_digest(self.path()))

    def score(self) -> None:
        fits = [self.path("cdspp"), self.path("svm-t")]
        labels = [self.folder / "photo.parquet"]
        output, rows = (self.folder / f"scores.{form}" for form in ("parquet", "npz"))
        write_scores(fits=fits, labels=labels, output=output, rows=rows)


@pytest.fixture
def fits(tmp_path: Path) -> Fits:
    made = Fits(tmp_path)
    made.score()
    return made


def swap_trials(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(trial=3 - rows["trial"]).sort_values("trial", kind="stable")


def lose_an_iteration(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["trial"] == 1) | (rows["iteration"] == 1)]


REWRITTEN: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "duplicated rows": (
        lambda rows: pd.concat([rows, rows]),
        r"trial 1, iteration 1: expected the 8 .* got 16 rows of 8 samples",
    ),
    "a row in place of another": (
        lambda rows: rows.assign(id=rows["id"].replace(IDS[3], IDS[4])),
        r"trial 1, iteration 1: expected the 8 .* got 8 rows of 7 samples",
    ),
    "swapped trials": (swap_trials, "trial 1, iteration 1: expected the 8 test sam"),
    "a lost trial": (
        lambda rows: rows[rows["trial"] == 1],
        r"expected predictions of the trials \[1, 2\], got \[1\]",
    ),
    "a lost round": (lose_an_iteration, "trial 2: expected 2 iterations, got 1"),
}


@pytest.mark.parametrize(("change", "told"), REWRITTEN.values(), ids=REWRITTEN)
def test_rows_that_are_not_the_test_samples_once_each_are_named(
    fits: Fits, change: Callable[[pd.DataFrame], pd.DataFrame], told: str
) -> None:
    fits.rewrite(change)
    with pytest.raises(DataError, match=rf"cdspp/1-2\.parquet: {told}.*{AGAIN}"):
        fits.score()


def test_an_edited_prediction_is_named(fits: Fits) -> None:
    rows = read_frame(fits.path(), FIT_COLUMNS)
    write_rows(fits.path(), FIT_COLUMNS, rows.assign(predicted="a"))
    with pytest.raises(
        DataError, match=rf"cdspp/1-2\.parquet: it differs from the file that .*{AGAIN}"
    ):
        fits.score()


def swap(one: Path, other: Path) -> None:
    kept = one.read_bytes()
    shutil.copy(other, one)
    other.write_bytes(kept)


def test_two_swapped_fits_are_named(fits: Fits) -> None:
    swap(fits.path("cdspp"), fits.path("svm-t"))
    with pytest.raises(DataError, match=r"cdspp/1-2\.parquet: it differs from the"):
        fits.score()
    swap(fits.record("cdspp"), fits.record("svm-t"))
    told = r"cdspp/1-2\.parquet: the record next to it describes "
    with pytest.raises(DataError, match=rf"{told}.*goods/main/web_photo/svm-t/1-2"):
        fits.score()


@pytest.mark.parametrize("part", [1, 5])
def test_a_record_of_another_fit_is_named(fits: Fits, part: int) -> None:
    parts = [*fits.path().parts]
    parts[-part] = "3-4.parquet"
    rewrite_record(fits.path(), file="/".join(parts))
    with pytest.raises(DataError, match="the record next to it describes .*3-4"):
        fits.score()


@pytest.mark.parametrize("content", ["{}", "[1]", '{"trials": []}'])
def test_a_record_of_another_kind_is_refused(fits: Fits, content: str) -> None:
    fits.record().write_text(content)
    with pytest.raises(DataError, match=f"the record .* is missing or dam.*{AGAIN}"):
        read_fit(fits.path())


@pytest.mark.parametrize("name", ["path", "record"])
def test_a_file_that_is_cut_short_is_named(fits: Fits, name: str) -> None:
    path: Path = getattr(fits, name)()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"1-2\.parquet: .*Delete it and "):
        fits.score()


def test_predictions_of_rows_without_a_label_are_of_whole_fits_alone(
    fits: Fits,
) -> None:
    fits.rewrite(lambda rows: rows.iloc[::2])
    labels = [fits.folder / "photo.parquet"]
    with pytest.raises(DataError, match="expected the 8 test samples"):
        write_predictions(fits=[fits.path()], labels=labels, outputs=[])


def test_a_file_named_as_no_block_is_named(fits: Fits) -> None:
    copy = fits.path().with_stem("copy")
    shutil.copy(fits.path(), copy)
    shutil.copy(fits.record(), copy.with_suffix(".json"))
    rewrite_record(copy, file=str(copy))
    with pytest.raises(DataError, match="expected trials as its name, such as 1-5"):
        read_fit(copy)
