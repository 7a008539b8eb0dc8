"""Damaged tables: rows of numbers, or one line; another way of writing changes none."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzz.damage import attacks, damaged_bytes, tried

from cdspp.analysis.inspection import inspect_file
from cdspp.core.errors import DataError
from cdspp.core.labels import require_distinct
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import DomainRows, complete, read_domain

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3)).round(4)
TABLE = pd.DataFrame(X, columns=["a", "b", "c"])
TABLE.insert(0, "label", ["ant", "bee", "", "ant, red"] * 3)
TABLE.insert(0, "id", [f"r{k}" for k in range(12)])


def written(kind: str) -> bytes:
    stream = io.BytesIO()
    if kind == "parquet":
        TABLE.to_parquet(stream)
    elif kind == "npz":
        np.savez(stream, X=X, y=TABLE["label"].to_numpy("U8"), ids=np.arange(12))
    else:
        TABLE.to_csv(stream, index=False, sep="\t" if kind == "tsv" else ",")
    return stream.getvalue()


@attacks(150, 20_000)
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npz"])
def test_a_damaged_file_is_read_whole_or_named(
    kind: str, seeds: range, tmp_path: Path
) -> None:
    content, path = written(kind), tmp_path / f"a.{kind}"
    for seed in seeds:
        rng = random.Random(seed)
        path.write_bytes(damaged_bytes(content, rng))
        columns = Columns(*rng.choices((None, "a", "y"), (8, 1, 1), k=2))
        found = tried(lambda columns=columns: read_domain(path, columns), f"{seed}")
        if isinstance(found, DomainRows):
            assert found.X.ndim == 2
            assert len(found.X) == len(found.labels) == len(found.ids) > 0
            assert found.X.dtype == np.float64
        else:
            assert isinstance(found, DataError), f"{seed}: {found!r}"
            assert str(path) in str(found), f"{seed}: {found}"
            others = str(found).split("\n")[1:]
            listed = all(line.startswith(("  - ", "  Note: ")) for line in others)
            assert listed, f"{seed}: {found}"
            ours = isinstance(found.__cause__, NameError | AssertionError)
            assert not ours, f"{seed}: {found.__cause__!r}"


@attacks(50, 5000)
def test_another_way_of_writing_changes_nothing(seeds: range, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for seed in seeds:
        rng = random.Random(seed)
        table = TABLE[rng.sample([*TABLE], 5)]
        text = table.to_csv(
            index=False,
            sep=rng.choice(",;\t"),
            quoting=rng.choice((0, 1, 2)),
            lineterminator=rng.choice(("\n", "\r\n")),
            na_rep="",
        )
        text = rng.choice(("", "\ufeff", "\n", " \n")) + text + rng.choice(("", "\n\n"))
        path.write_text(text, encoding="utf-8", newline="")
        found = read_domain(path)
        names = [name for name in table if name not in ("id", "label")]
        assert found.features == tuple(names), seed
        np.testing.assert_array_equal(found.X, TABLE[names].to_numpy(), f"{seed}")
        assert found.labels == TABLE["label"].tolist(), seed
        assert found.ids == TABLE["id"].tolist(), seed


ODD_CELLS = ("", "NA", "x", "1_7", "2024-01-02", "1,234", "True", "-1", "1:30:00")
ODD_NAMES = ("a", "Label", "species", "", "3", "x y")


def as_source(path: Path, columns: Columns) -> None:
    """Read a file as the commands read a source with identifiers."""
    rows = complete(read_domain(path, columns))
    rows.require_decided()
    rows.require_labels()
    rows.require_distinct_ids()
    require_distinct({"it": rows.labels})


@attacks(80, 2000)
def test_an_inspection_refuses_what_a_fit_refuses(seeds: range, tmp_path: Path) -> None:
    path, outcomes = tmp_path / "a.csv", set()
    for seed in seeds:
        rng = random.Random(seed)
        table = TABLE.astype(str)
        for _ in range(rng.randint(0, 2)):
            row, column = rng.randrange(12), rng.randrange(5)
            table.iloc[row, column] = rng.choice((*ODD_CELLS, "bee", "Bee", "r3"))
        names = [*table]
        if rng.random() < 0.3:
            names[rng.randrange(5)] = rng.choice(ODD_NAMES)
        table.set_axis(names, axis=1).to_csv(path, index=False)
        columns = Columns(required=("label",))
        fault = tried(lambda columns=columns: as_source(path, columns), f"{seed}")
        found = tried(lambda columns=columns: inspect_file(path, columns), f"{seed}")
        refused = [str(found)] if isinstance(found, DataError) else [*found.refused]
        assert bool(refused) == isinstance(fault, DataError), (
            f"{seed}: {fault} {refused}"
        )
        outcomes.add(bool(refused))
    assert outcomes == {False, True}
