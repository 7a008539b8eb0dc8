"""Table 1: what a benchmark holds, counted from labels, features and splits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from support.report_data import make_plan
from support.result_files import CLASSES, write_block, write_domain, write_labels

from cdspp.core.errors import DataError
from cdspp.report.tables.contents import (
    build_contents_table,
    count_contents,
    untrained_text,
)
from cdspp.stages.formats import Features, read_features, write_features

PLAN = make_plan(benchmark="shops", tasks=["web_shop"]).of_data()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder named like a data set, with two domains and their splits."""
    root = tmp_path / "goods"
    root.mkdir()
    write_domain(root, "web", "words", each=4, width=5)
    write_domain(root, "shop", "net", each=3, width=7)
    source = [(1, f"web-{c}-{i}", "source", c) for c in CLASSES for i in range(2)]
    write_block(root / "splits", "source", "web", "1-1", source)
    write_block(
        root / "splits", "source", "web", "2-2", [(2, *row[1:]) for row in source[:3]]
    )
    target = [(k, f"shop-{c}-0", "labelled", c) for k in (1, 2) for c in CLASSES]
    tested = [(1, "cup", 1), (1, "cup", 2), (1, "pen", 1), (2, "pen", 1)]
    target += [(k, f"shop-{c}-{i}", "unlabelled", None) for k, c, i in tested]
    write_block(root / "splits", "target", "shop", "1-2", target)
    return root


def files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of a folder as the arguments of `read_contents`."""
    return {
        "labels": sorted(folder.glob("*.parquet")),
        "features": sorted(folder.glob("*.npz")),
        "splits": sorted(folder.glob("splits/*/*/*.parquet")),
    }


def test_samples_classes_features_and_labels_are_counted(folder: Path) -> None:
    source, target = count_contents(PLAN, **files(folder)).itertuples()
    assert list(source[1:]) == [
        *("shops", "source", "goods", "web", 8, 2, "words", 5, 0, 2),
        *(1, 2),  # labelled per class
        *(3, 4),  # labelled
        *(0, 0),  # unlabelled
    ]
    assert list(target[5:]) == [6, 2, "net", 7, 0, 2, 1, 1, 2, 2, 1, 3]


def test_trials_of_a_block_that_the_study_does_not_ask_for_do_not_count(
    folder: Path,
) -> None:
    plan = replace(PLAN, n_trials=1)
    source, target = count_contents(plan, **files(folder)).itertuples()
    assert (source.trials, target.trials) == (1, 1)
    assert (source.fewest_labelled, source.most_labelled) == (4, 4)


def test_untrained_networks_and_scales_are_told(folder: Path) -> None:
    [path] = folder.glob("shop.net-1f.npz")
    found = read_features(path)
    base = {"extractor": "cnn", "options": {"weights": "random"}}
    told = {"extractor": "pca", "options": {}, "view": base, "scale": "unit"}
    write_features(path, Features(found.X, found.ids, told))
    contents = count_contents(PLAN, **files(folder))
    assert contents["view"].tolist() == ["words", "net, random weights, scale unit"]


@pytest.mark.parametrize(
    ("views", "told"),
    [
        (["words", "net", "net"], ""),
        (["words", "net, random weights", "net, random weights, scale pca"], "target"),
        (["words", "net", "net, random weights"], "target (c)"),
        (
            ["words, random weights", *["net, random weights"] * 2],
            "source and the target",
        ),
    ],
)
def test_whose_features_come_from_random_weights_is_a_sentence(
    views: list[str], told: str, tmp_path: Path
) -> None:
    roles, path = ["source", "target", "target"], tmp_path / "contents_a.csv"
    frame = pd.DataFrame({"role": roles, "domain": ["a", "b", "c"], "view": views})
    frame.to_csv(path, index=False)
    said = f"Features of the {told} come from a network with random weights."
    assert untrained_text(path) == (said if told else "")


def test_each_role_is_described_by_its_own_view(folder: Path) -> None:
    write_domain(folder, "web", "net", each=4, width=11)
    plan = replace(PLAN, tasks=("web_web", "web_shop"))
    write_block(
        folder / "splits", "target", "web", "1-1", [(1, "web-cup-0", "labelled", "cup")]
    )
    found = count_contents(plan, **files(folder))
    columns = ["role", "domain", "view", "features"]
    assert found[columns].to_numpy().tolist() == [
        ["source", "web", "words", 5],
        ["target", "web", "net", 11],
        ["target", "shop", "net", 7],
    ]


def test_a_line_tells_numbers_and_ranges(folder: Path) -> None:
    table = build_contents_table(count_contents(PLAN, **files(folder)), PLAN)
    assert [[cell.text for cell in line.cells] for line in table.lines] == [
        ["web", "source", "goods", "words", "8", "2", "5", "1 to 2", "3 to 4", "–"],
        ["shop", "target", "goods", "net", "6", "2", "7", "1", "2", "1 to 3"],
    ]
    assert "(of 2)" in table.caption


def test_features_of_other_samples_than_the_labels_are_refused(folder: Path) -> None:
    write_labels(folder / "shop.parquet", "shop", CLASSES, 4)
    with pytest.raises(DataError, match=r"shop\.net-1f\.npz: 6 samples, but 8"):
        count_contents(PLAN, **files(folder))
