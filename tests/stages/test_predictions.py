"""Rows without a label: unlabelled in every split, predicted by vote, never scored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from stages.room import SPLITS
from support.result_files import write_fit

from cdspp.stages.formats import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    SCORE_COLUMNS,
    read_frame,
    write_rows,
)
from cdspp.stages.score import accuracies, vote, write_predictions, write_scores
from cdspp.stages.splits import draw_seeded, write_split


def fit_rows(*rows: tuple[int, int, str, str, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(FIT_COLUMNS))


def test_rows_without_a_label_are_in_every_unlabelled_part() -> None:
    labels = np.array(["a", None, "b", "a", None, "b"], dtype=object)
    drawn, rest = draw_seeded(labels, 1, np.random.default_rng(0), unlabelled=1)
    assert {1, 4} <= set(rest)
    assert not {1, 4} & set(drawn)
    known = np.array(["a", "b", "a", "b"], dtype=object)
    again, others = draw_seeded(known, 1, np.random.default_rng(0))
    places = np.array([0, 2, 3, 5])
    np.testing.assert_array_equal(drawn, places[again])
    np.testing.assert_array_equal(sorted({*rest} - {1, 4}), places[others])


def test_the_label_of_most_trials_wins_and_ties_go_to_the_first_name() -> None:
    found = vote(
        fit_rows(
            (1, 1, "p", "b", 0.9),  # of an iteration before the last
            (1, 2, "p", "a", 0.5),
            (2, 2, "p", "a", 0.7),
            (3, 2, "p", "b", 0.9),
            (1, 2, "o", "b", 0.5),
            (2, 2, "o", "a", 0.5),
        )
    )
    assert found["id"].tolist() == ["o", "p"]
    assert found["predicted"].tolist() == ["a", "a"]
    assert found["agreement"].tolist() == [1 / 2, 2 / 3]
    assert found["trials"].tolist() == [2, 3]
    np.testing.assert_allclose(found["confidence"], [0.5, 0.6])


def files(folder: Path) -> tuple[Path, Path]:
    """Write the labels of a target, one of them missing, and the fit of one trial."""
    labels = folder / "shop.parquet"
    content = {"id": ["p", "q", "r"], "label": ["a", None, "b"], "position": [0, 1, 2]}
    write_rows(labels, LABEL_COLUMNS, content)
    fit = folder / "goods/main/web_shop/cdspp/1-1.parquet"
    rows = fit_rows((1, 1, "p", "a", np.nan), (1, 1, "q", "b", np.nan))
    write_fit(fit, rows)
    return labels, fit


def test_rows_without_a_label_are_predicted_and_not_scored(tmp_path: Path) -> None:
    labels, fit = files(tmp_path)
    output = tmp_path / "predictions/goods/web_shop/cdspp.csv"
    write_predictions(fits=[fit], labels=[labels], outputs=[output])
    assert output.read_text() == (
        "id,predicted,agreement,trials,confidence\nq,b,1.0,1,\n"
    )
    output, rows = (tmp_path / f"scores.{form}" for form in ("parquet", "npz"))
    write_scores(fits=[fit], labels=[labels], output=output, rows=rows)
    [score] = read_frame(tmp_path / "scores.parquet", SCORE_COLUMNS).itertuples()
    assert (score.n_samples, score.accuracy) == (1, 1.0)


def test_a_split_holds_rows_without_a_label_as_unlabelled(tmp_path: Path) -> None:
    labels, _ = files(tmp_path)
    how = SPLITS | {"per_class": 1, "classes": ["a", "b"], "dataset": "goods"}
    splits = []
    for role in ("target", "source"):
        output = tmp_path / f"{role}.split"
        write_split(labels=labels, output=output, domain="shop", role=role, **how)
        splits.append(pd.read_parquet(output))
    target, source = splits
    assert set(target.loc[target["role"] == "unlabelled", "id"]) == {"q"}
    assert target.groupby("trial").size().tolist() == [3, 3]
    assert set(source["id"]) == {"p", "r"}


def test_accuracies_are_of_all_samples_and_means_over_classes() -> None:
    truth, predicted = np.array([*"aaab"]), np.array([*"aabb"])
    found = accuracies(truth, predicted)
    assert found == (0.75, 0.8333333333333333, 0.7333333333333334)
