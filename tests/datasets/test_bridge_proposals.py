"""Columns and objects that two tables may share: six pairs of files, and limits."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from cdspp.datasets.table_bridge import (
    common_ids,
    propose_columns,
    read_name,
    shared_columns,
)
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import DomainRows, read_domain

Tables = tuple[pd.DataFrame, pd.DataFrame]


def of_sklearn(name: str, **how: Any) -> pd.DataFrame:
    result: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True, **how).data
    return result


def halves(table: pd.DataFrame) -> Tables:
    """Return other rows for source and target."""
    return table[::2], table[1::2]


def units() -> Tables:
    """Return an equal name, lengths in mm and in cm, a column of each file alone."""
    names = ["mean texture", "mean radius", "mean perimeter", "worst radius"]
    one, other = halves(of_sklearn("breast_cancer"))
    ours, theirs = one[names], other[names] / [1, 10, 10, 1000]
    ours.columns = ["texture", "mean_radius_mm", "meanPerimeter.mm", "worst radius"]
    theirs.columns = [
        "texture",
        "Mean radius (cm)",
        "mean perimeter [cm]",
        "WorstRadius",
    ]
    alone = other["mean smoothness"]
    return ours.assign(symmetry=one["mean symmetry"]), theirs.assign(smoothness=alone)


def spelling() -> Tables:
    """Return wine with other spellings; malic and lactic acid are two things."""
    one, other = halves(of_sklearn("wine"))
    spelt = {
        "alcalinity_of_ash": "Alkalinity of ash",
        "alcohol": "ALCOHOL",
        "color_intensity": "colour-intensity",
        "flavanoids": "Flavonoids",
        "malic_acid": "lactic_acid",
        "total_phenols": "PhenolsTotal",
    }
    return one[[*spelt]], other[[*spelt]].rename(columns=spelt)


def renamed() -> Tables:
    """Return columns of other names, of which only the contents are alike."""
    one, other = halves(of_sklearn("breast_cancer").iloc[:, :5])
    return one, other.set_axis(["tin", "lead", "zinc", "iron", "gold"], axis="columns")


def seen_twice() -> Tables:
    """Return measures of patients, 50 of whom are in both files."""
    table = of_sklearn("diabetes", scaled=False)
    table.insert(0, "id", [f"P{7 * k + 100}" for k in range(len(table))])
    one = table[["id", "age", "bmi", "bp"]].head(150)
    return one, table[["id", "s4", "s5", "s6"]].iloc[100:300]


def unrelated(one: str, other: str) -> Tables:
    return of_sklearn(one), of_sklearn(other)


def read(folder: Path, tables: Tables, **how: Any) -> tuple[DomainRows, DomainRows]:
    paths = folder / "source.csv", folder / "target.csv"
    for path, table in zip(paths, tables, strict=True):
        table.to_csv(path, index=False)
    source, target = (read_domain(path, Columns(**how)) for path in paths)
    return source, target


OTHER_UNITS = (
    "meanPerimeter.mm=mean perimeter [cm]*10",
    "mean_radius_mm=Mean radius (cm)*10",
    "worst radius=WorstRadius",
)
OTHER_SPELLING = (
    "alcohol=ALCOHOL",
    "total_phenols=PhenolsTotal",
    "color_intensity=colour-intensity",
    "alcalinity_of_ash=Alkalinity of ash",
    "flavanoids=Flavonoids",
)
ALIKE = ("area=iron", "perimeter=zinc", "radius=tin", "texture=lead", "smoothness=gold")
SIX = {
    "units": (units(), OTHER_UNITS, 0),
    "spelling": (spelling(), OTHER_SPELLING, 0),
    "content": (renamed(), [f"mean {pair}" for pair in ALIKE], 0),
    "ids": (seen_twice(), (), 50),
    "nothing": (unrelated("wine", "breast_cancer"), (), 0),
    "nothing either": (unrelated("iris", "diabetes"), (), 0),
}


@pytest.mark.parametrize(("tables", "columns", "n_ids"), SIX.values(), ids=SIX)
def test_the_bridges_of_six_pairs_of_files_are_found_and_no_other(
    tables: Tables, columns: Sequence[str], n_ids: int, tmp_path: Path
) -> None:
    source, target = read(tmp_path, tables)
    shared = shared_columns(None, source, target)[0] or []
    result = propose_columns(source, target, shared)
    assert [*map(str, result)] == [*columns]
    assert len(common_ids(source, target)) == n_ids
    for each in result:  # what is proposed is a bridge
        assert shared_columns(str(each), source, target)[0]


def rows_of(table: pd.DataFrame) -> DomainRows:
    ids = [*map(str, range(len(table)))]
    return DomainRows("f.csv", table.to_numpy(float), ids, ids, tuple(table.columns))


def unrelated_tables() -> dict[str, pd.DataFrame]:
    """Return five tables, and each with columns of mean 0 and deviation 1."""
    result = {name: of_sklearn(name) for name in ("wine", "breast_cancer", "iris")}
    words = dict(zip([f"s{k}" for k in range(1, 7)], "abcdef", strict=True))
    result["diabetes"] = of_sklearn("diabetes", scaled=False).rename(columns=words)
    result["linnerud"] = datasets.load_linnerud(as_frame=True).frame
    return result | {f"{k} scaled": (t - t.mean()) / t.std() for k, t in result.items()}


def test_of_thousands_of_pairs_of_unrelated_columns_none_is_proposed() -> None:
    n_pairs = 0
    for one, other in combinations(unrelated_tables().items(), 2):
        if one[0].split()[0] != other[0].split()[0]:
            source, target = rows_of(one[1]), rows_of(other[1])
            assert not propose_columns(source, target, []), (one[0], other[0])
            n_pairs += source.X.shape[1] * target.X.shape[1]
    assert n_pairs == 5496


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mean radius (mm)", "mean_radius"),
        ("bodyWeight kg", "body weight (kg)"),
        ("radius_mean", "mean radius"),
        ("tumour size [cm]", "tumor.size.mm"),
        ("température", "Température_s"),
    ],
)
def test_names_agree_but_for_units_case_order_and_spelling(
    one: str, other: str
) -> None:
    assert read_name(one).agrees(read_name(other))
    assert read_name(other).agrees(read_name(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sepal length (cm)", "petal length (cm)"),
        ("hypertension", "hypotension"),
        ("temperature_min", "temperature_max"),
        ("mean area", "area"),
        ("heat", "wheat"),
        ("vitamin_c", "vitamin_d"),
        ("od280", "od315"),
        ("length_mm", "length_kg"),
        ("?", "#"),
    ],
)
def test_names_of_other_meanings_do_not_agree(one: str, other: str) -> None:
    assert not read_name(one).agrees(read_name(other))
    assert not read_name(other).agrees(read_name(one))


@pytest.mark.parametrize(
    ("source", "target", "times"),
    [("t_min", "t (s)", "*0.01666666667"), ("d_m", "d", "")],
)
def test_units_of_both_names_give_the_factor(
    source: str, target: str, times: str, tmp_path: Path
) -> None:
    values, factor = np.linspace(1, 2, 30), float(times[1:] or 1)
    both = pd.DataFrame({source: values}), pd.DataFrame({target: values / factor})
    [result] = propose_columns(*read(tmp_path, both), [])
    assert str(result) == f"{source}={target}{times}"
    assert result.ratio == pytest.approx(factor)


def drawn(n: int = 60, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: draw(rng, n) for name, draw in columns.items()})


def normal(scale: float = 1.0) -> Any:
    return lambda rng, n: scale * rng.standard_normal(n)


def heavy(rng: Any, n: int) -> Any:
    return rng.standard_cauchy(n) ** 3


def binary(rng: Any, n: int) -> Any:
    return rng.integers(2, size=n)


def rare(rng: Any, n: int) -> Any:
    return np.arange(n) % 10 == 0


def constant(rng: Any, n: int) -> Any:
    return np.ones(n)


@pytest.mark.parametrize(
    ("ours", "theirs", "n_found"),
    [
        ({"Lead": normal()}, {"lead": normal(3)}, 1),
        ({"Lead": normal()}, {"lead": heavy}, 0),  # contents contradict
        ({"lead_mm": normal()}, {"lead_cm": normal(10)}, 0),  # so do units
        ({"speed km_h": normal(3600)}, {"speed km_s": normal()}, 0),  # of a rate
        ({"Smoker": binary}, {"smoker": rare}, 1),
        ({"Smoker": binary}, {"smoker": normal()}, 0),
        ({"Lead": constant}, {"lead": constant}, 0),
        ({"a,b": normal()}, {"a b": normal()}, 0),  # no text of --shared
        ({"x1": normal(), "x2": normal()}, {"X1": normal(), "X2": normal(2)}, 0),
        ({"Lead": normal()}, {"lead": normal(), "LEAD": normal()}, 1),
        # Contents that are near say nothing of binary columns, or without others.
        ({"tin": binary, "iron": normal()}, {"gold": binary, "zinc": heavy}, 0),
        ({"tin": normal(), "ore": normal(9)}, {"gold": normal(), "zinc": heavy}, 1),
        ({"tin": normal(), "ore": normal(9)}, {"gold": normal(), "zinc": normal()}, 0),
        ({"tin_m": normal(), "a": normal(99)}, {"ore_g": normal(), "b": heavy}, 0),
    ],
)
def test_what_contradicts_or_says_nothing_is_not_proposed(
    ours: dict[str, Any], theirs: dict[str, Any], n_found: int, tmp_path: Path
) -> None:
    both = read(tmp_path, (drawn(**ours), drawn(90, **theirs)))
    assert len(propose_columns(*both, [])) == n_found


def test_few_rows_many_columns_and_huge_numbers_give_no_proposal(
    tmp_path: Path,
) -> None:
    few = drawn(19, Lead=normal()), drawn(lead=normal())
    assert not propose_columns(*read(tmp_path, few), [])
    words = [f"{a}{b}" for a in "abcdefghijk" for b in "lmnopqrstuv"]
    wide = drawn(20, **dict.fromkeys(words, normal()))
    wide = wide, wide.rename(columns=str.upper)
    assert not propose_columns(*read(tmp_path, wide), [])
    huge = drawn(Lead=normal(5e307)), drawn(lead=normal(1e-308))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not propose_columns(*read(tmp_path, huge), [])


def test_columns_that_are_shared_already_are_not_proposed_again(tmp_path: Path) -> None:
    both = read(tmp_path, spelling())
    taken = propose_columns(*both, [(0, 0)])
    assert "alcalinity_of_ash=Alkalinity of ash" not in map(str, taken)
    assert len(taken) == len(propose_columns(*both, [])) - 1


def with_ids(ours: Any, theirs: Any, name: str = "id") -> Tables:
    return (
        pd.DataFrame({name: ours, "lead": np.arange(len(ours))}),
        pd.DataFrame({name: theirs, "gold": np.arange(len(theirs))}),
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "n_found"),
    [
        (range(100, 160), range(140, 200), 20),
        (range(100, 159), range(140, 200), 0),
        (range(60), range(60), 0),
        (range(30, 99), range(50), 0),
        ([f"{k:03d}" for k in range(1, 61)], [f"{k:03d}" for k in range(1, 61)], 0),
        ([f"p{k}" for k in range(40)], [f"p{k}" for k in range(40)], 40),
        ([*range(100, 119), 119, 119], [*range(100, 120)], 0),
    ],
)
def test_ids_that_count_rows_or_stand_twice_are_no_objects(
    ours: Any, theirs: Any, n_found: int, tmp_path: Path
) -> None:
    both = read(tmp_path, with_ids(ours, theirs))
    assert len(common_ids(*both)) == n_found


def test_a_first_column_without_a_name_is_no_column_of_ids(tmp_path: Path) -> None:
    both = with_ids(range(100, 160), range(100, 160), "patient")
    assert len(common_ids(*read(tmp_path, both, id="patient"))) == 60
    named = with_ids(range(100, 160), range(100, 160), "")
    source, target = read(tmp_path, named)
    assert source.has_ids
    assert source.is_index
    assert not common_ids(source, target)
