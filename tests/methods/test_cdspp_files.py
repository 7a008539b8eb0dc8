"""CDSPP on rows that stay in their file equals CDSPP on the same rows in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.svm import SVC
from support.known_answers.digits_case import digits_case
from support.toy_problem import SHAPES, toy_problem

from cdspp import (
    CDSPP,
    CDSPPPCA,
    CDSPPBridge,
    CDSPPSup,
    ParquetRows,
    SourceDomain,
    TargetOnly,
    make,
)
from cdspp.core import file_rows, memory
from cdspp.core.errors import CollapseWarning, DataError
from cdspp.methods.cdspp.structure_preserving import (
    ChunkedSide,
    RowsInUse,
    Side,
    side_of,
    solve_projection,
)

CHUNK = 100


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "CHUNK_VALUES", CHUNK)


def mapped(folder: Path, name: str, X: np.ndarray) -> np.memmap:
    np.save(folder / f"{name}.npy", X)
    return np.load(folder / f"{name}.npy", mmap_mode="r")


def parquet(folder: Path, name: str, X: np.ndarray) -> ParquetRows:
    path = folder / f"{name}.parquet"
    columns = {f"f{k}": X[:, k] for k in range(X.shape[1])}
    pq.write_table(pa.table(columns), path, row_group_size=31)
    return ParquetRows(path)


def mixed(folder: Path, name: str, X: np.ndarray) -> Any:
    return X if name == "source" else mapped(folder, name, X)


STORES = {"map": mapped, "parquet": parquet, "source in memory": mixed}


def fit_both(
    model: Any, store: Any, folder: Path, parts: tuple[np.ndarray, ...]
) -> tuple[Any, Any, Any, Any]:
    """Fit on the same rows in memory and in files; return fits and files."""
    X, y, X_source, y_source = parts
    expected = type(model)(**model.get_params(deep=False))
    expected.fit(X, y, source=SourceDomain(X_source, y_source))
    target, source = store(folder, "target", X), store(folder, "source", X_source)
    model.fit(target, y, source=SourceDomain(source, y_source))
    return model, expected, target, source


def assert_equal_fits(found: Any, expected: Any) -> None:
    for name in ("projection_", "projection_source_", "eigenvalues_"):
        scale = np.abs(getattr(expected, name)).max()
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=0, atol=1e-10 * scale
        )
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    for ours, theirs in zip(found.history_, expected.history_, strict=True):
        np.testing.assert_array_equal(ours.prediction, theirs.prediction)
        np.testing.assert_allclose(ours.confidence, theirs.confidence, atol=1e-10)
        assert ours.n_selected == theirs.n_selected
    assert found.collapsed_ == expected.collapsed_


def toy_parts(dtype: Any, **shape: Any) -> tuple[np.ndarray, ...]:
    """Return rows in an order that mixes labelled and unlabelled ones."""
    problem = toy_problem(unlabelled_per_class=25, spread=0.8, **shape)
    order = np.random.default_rng(3).permutation(len(problem.y))
    source = problem.source
    return (
        problem.X[order].astype(dtype),
        problem.y[order],
        source.X.astype(dtype),
        source.y,
    )


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_fit_on_files_is_that_in_memory(
    store: str, shape: str, dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = toy_parts(dtype, **SHAPES[shape])
    if store == "parquet":  # in parts of ten rows, whatever the width
        monkeypatch.setattr(file_rows, "CHUNK_VALUES", 10 * parts[0].shape[1])
    found, expected, *_ = fit_both(CDSPP(), STORES[store], tmp_path, parts)
    assert_equal_fits(found, expected)


@pytest.mark.parametrize(
    "model",
    [
        CDSPPSup(),
        TargetOnly(),
        CDSPP(final_fit=True, selection="all", max_iter=3),
        CDSPP(center=False, normalize_means=False, eigenvector_scaling="unit"),
        CDSPP(n_components=2, alpha=0.1, keep_projections=True),
    ],
    ids=str,
)
def test_every_option_does_on_files_what_it_does_in_memory(
    model: Any, tmp_path: Path
) -> None:
    found, expected, *_ = fit_both(model, mapped, tmp_path, toy_parts(np.float32))
    assert_equal_fits(found, expected)


@pytest.mark.parametrize("kind", ["shared_columns", "paired_rows"])
def test_a_bridge_does_on_files_what_it_does_in_memory(
    kind: str, tmp_path: Path
) -> None:
    X, y, X_source, y_source = toy_parts(np.float64)
    rows = (X_source[:9] + 0.1, X[:9] + 0.1)
    bridge: Any = {
        kind: {"shared_columns": [(0, 1), (2, 0)], "paired_rows": rows}[kind]
    }
    files = mapped(tmp_path, "target", X), mapped(tmp_path, "source", X_source)
    found, expected = (
        CDSPPBridge().fit(target, y, source=SourceDomain(source, y_source, **bridge))
        for target, source in (files, (X, X_source))
    )
    assert_equal_fits(found, expected)


def test_handwritten_digits_get_the_same_labels_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_rows, "CHUNK_VALUES", 2000)
    case = digits_case()
    X, y = case.target()
    parts = X.astype(np.float32), y, case.X_source.astype(np.float32), case.y_source
    found, expected, *_ = fit_both(CDSPP(), mapped, tmp_path, parts)
    assert_equal_fits(found, expected)


@pytest.mark.parametrize("store", [mapped, parquet])
def test_rows_of_files_are_predicted_and_placed_as_those_in_memory(
    store: Any, tmp_path: Path
) -> None:
    parts = toy_parts(np.float32)
    found, expected, target, source = fit_both(CDSPP(), store, tmp_path, parts)
    X, _, X_source, _ = parts
    np.testing.assert_array_equal(found.predict(target), expected.predict(X))
    for name, rows, array in (
        ("predict_proba", target, X),
        ("transform", target, X),
        ("transform_source", source, X_source),
    ):
        ours, theirs = getattr(found, name)(rows), getattr(expected, name)(array)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match="features"):
        found.predict(mapped(tmp_path, "narrow", np.repeat(X[:, :3], 4, axis=0)))
    with pytest.raises(ValueError, match="features"):
        found.transform_source(mapped(tmp_path, "wide", np.hstack([X_source] * 2)))


def test_without_a_source_the_labelled_rows_of_the_file_serve(tmp_path: Path) -> None:
    X, y, *_ = toy_parts(np.float32)
    found = CDSPP().fit(mapped(tmp_path, "target", X), y)
    assert_equal_fits(found, CDSPP().fit(X, y))


def test_where_every_row_of_the_file_has_a_label_all_serve(tmp_path: Path) -> None:
    problem = toy_problem(unlabelled_per_class=25)
    rows = mapped(tmp_path, "target", problem.X)
    found = CDSPP().fit(rows, problem.truth, source=problem.source)
    expected = CDSPP().fit(problem.X, problem.truth, source=problem.source)
    assert_equal_fits(found, expected)


def test_a_collapse_is_found_in_a_file_as_in_memory(tmp_path: Path) -> None:
    X, y, X_source, y_source = toy_parts(np.float64)
    parts = X + 1e3, y, X_source, y_source
    with pytest.warns(CollapseWarning):
        found, expected, *_ = fit_both(CDSPP(), mapped, tmp_path, parts)
    assert found.collapsed_ == expected.collapsed_ != ""


def test_no_more_than_some_chunks_of_the_file_are_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_rows, "CHUNK_VALUES", 2**14)
    n, d = 4000, 256
    rng = np.random.default_rng(0)
    y = np.arange(n) % 4
    X = rng.standard_normal((4, d))[y] + rng.standard_normal((n, d))
    rows = mapped(tmp_path, "target", X.astype(np.float32))
    y[40:] = -1
    CDSPP().fit(rows, y)
    tracemalloc.start()
    model = CDSPP().fit(rows, y)
    model.predict_proba(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Four matrices of d x d, ten numbers a row, four chunks; the rows are 8 MB.
    assert peak < 8 * (4 * d * d + 30 * n + 6 * 2**14) < 8 * n * d / 1.5


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_the_file_is_left_as_it_was(mode: Any, tmp_path: Path) -> None:
    X, y, *_ = toy_parts(np.float64)
    mapped(tmp_path, "target", X)
    rows = np.load(tmp_path / "target.npy", mmap_mode=mode)
    model = CDSPP().fit(rows, y, source=SourceDomain(rows, np.arange(len(X)) % 4))
    model.predict(rows)
    model.transform_source(rows)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(np.load(tmp_path / "target.npy"), X)


def test_rows_of_a_file_that_are_not_finite_are_named(tmp_path: Path) -> None:
    X, y, *_ = toy_parts(np.float32)
    X[17, 1] = np.nan
    with pytest.raises(DataError, match=r"target\.npy, among .*: NaN or .* rows: 17\."):
        CDSPP().fit(mapped(tmp_path, "target", X), y)


def test_a_classifier_of_ones_own_is_fitted_on_all_projected_rows(
    tmp_path: Path,
) -> None:
    model = CDSPP(classifier=SVC(kernel="linear"))
    found, expected, *_ = fit_both(model, mapped, tmp_path, toy_parts(np.float32))
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(found.projection_, expected.projection_, atol=1e-10)


def test_matrices_that_do_not_fit_are_refused_with_both_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, X_source, y_source = toy_parts(np.float32, d_target=80)
    rows = mapped(tmp_path, "target", X)
    monkeypatch.setattr(memory, "available_megabytes", lambda: 0.01)
    message = "CDSPP .* 100 rows of 80 .* 0 MB .* 0 MB is free. Leave .*out"
    with pytest.raises(DataError, match=message):
        CDSPP().fit(rows, y, source=SourceDomain(X_source, y_source))


@pytest.mark.parametrize("method", ["svm-t", "cdls-sup", "cdspp-pca"])
def test_methods_that_hold_their_rows_read_the_file_or_say_what_they_lack(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, X_source, y_source = toy_parts(np.float32)
    source = SourceDomain(X_source, y_source)
    expected = make(method).fit(X, y, source=source).transduction_
    for rows in (mapped(tmp_path, "t", X), parquet(tmp_path, "t", X)):
        found = make(method).fit(rows, y, source=source)
        np.testing.assert_array_equal(found.transduction_, expected)
    monkeypatch.setattr(memory, "available_megabytes", lambda: 0.001)
    name = type(make(method)).__name__
    with pytest.raises(DataError, match=f"{name} .* memory as float64"):
        make(method).fit(mapped(tmp_path, "t", X), y, source=source)
    assert make(method).fit(X, y, source=source).n_iter_


# More rows in use than features, and so few less that they are taken as enough.
@pytest.mark.parametrize("d", [6, 40])
def test_a_side_of_chunks_answers_as_one_in_memory(d: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X, codes = rng.standard_normal((60, d)), np.arange(60) % 3
    rows, used = file_rows.in_file(mapped(tmp_path, "X", X)), np.arange(0, 60, 2)
    parts = [RowsInUse(X[:7], codes[:7]), RowsInUse(rows, codes[used], used)]
    found = side_of(parts, 3, 10.0)
    assert isinstance(found, ChunkedSide)
    whole = RowsInUse(np.vstack([X[:7], X[used]]), found.codes)
    expected = side_of([whole], 3, 10.0)
    for one, other in ((found, expected), (expected, found)):
        ours, theirs = (
            solve_projection(one, other),
            solve_projection(expected, expected),
        )
        np.testing.assert_allclose(ours.target, theirs.target, atol=1e-12)
        np.testing.assert_allclose(ours.sources[0], theirs.sources[0], atol=1e-12)
    np.testing.assert_allclose(found.sums, expected.sums, atol=1e-12)


def test_few_rows_in_use_are_solved_for_by_rows() -> None:
    rows = RowsInUse(np.eye(40), np.zeros(35, dtype=np.intp), np.arange(35))
    assert isinstance(side_of([rows], 1, 10.0), Side)


def test_principal_components_are_not_among_what_reads_files() -> None:
    assert CDSPP.reads_files
    assert not CDSPPPCA.reads_files
