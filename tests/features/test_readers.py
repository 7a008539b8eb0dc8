"""Readers of published matrices, on small files in the published forms."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.published_files import (
    CLASSES,
    LABELS,
    MAT_CASES,
    N_ROWS,
    REAL,
    TRIPLET_ROWS,
    TRIPLETS,
    WIDTH,
    WORD_LINES,
    write_mat,
    write_triplets,
    write_words,
)

from cdspp.core.errors import DataError
from cdspp.datasets.catalogue import load_catalogue
from cdspp.features.precomputed import check_spec, read_matrix

SURF = "Office-Caltech SURF"
COUNTS, CODES = MAT_CASES[SURF].variables.values()


def write_csv(
    folder: Path, labels: list[Any] = LABELS, **changes: Any
) -> tuple[Path, dict[str, Any]]:
    """Write two domains, line by line in turn, as the features on figshare are.

    A change `line` replaces the third line, `domain` the one to be read.
    """
    lines: list[list[Any]] = [[*"01234", "label", "domain"]]
    for values, label in zip(REAL, labels, strict=True):
        lines.append([*values, label, "art"])
        lines.append([*-values, label, "RealWorld"])
    if "line" in changes:
        lines[2] = changes["line"]
    path = folder / "features.csv"
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    spec = {"format": "csv", "file": path.name, "width": WIDTH, "label_base": 0}
    return path, spec | {"domain": changes.get("domain", "realworld")}


def refuse(
    path: Path, spec: dict[str, Any], message: str, classes: list[str] = CLASSES
) -> None:
    """Assert that reading fails with one message that names the file."""
    with pytest.raises(DataError, match=message) as caught:
        read_matrix(path, spec, classes)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("case", MAT_CASES)
def test_every_published_matlab_form_is_read(
    case: str, compressed: bool, tmp_path: Path
) -> None:
    file = write_mat(tmp_path, case, compressed=compressed)
    X, labels = read_matrix(*file, CLASSES)
    assert X.dtype == np.float32
    assert X.flags["C_CONTIGUOUS"]
    np.testing.assert_array_equal(X, MAT_CASES[case].expected)
    assert labels.tolist() == LABELS


def test_counts_stored_in_one_byte_do_not_wrap(tmp_path: Path) -> None:
    full = np.full((N_ROWS, WIDTH), 255, np.uint8)
    X = read_matrix(*write_mat(tmp_path, SURF, fts=full), CLASSES)[0]
    assert X.sum() == 255 * N_ROWS * WIDTH


def test_a_sparse_variable_stays_sparse(tmp_path: Path) -> None:
    file = write_mat(tmp_path, "Office-Caltech DeCAF6", feas=sparse.csc_array(REAL))
    X = read_matrix(*file, CLASSES)[0]
    assert (X.format, X.dtype) == ("csr", np.float32)
    np.testing.assert_array_equal(X.toarray(), REAL)


@pytest.mark.parametrize("write", [write_triplets, write_words])
def test_documents_become_rows_and_those_without_words_are_zero(
    write: Callable[[Path], tuple[Path, dict[str, Any]]], tmp_path: Path
) -> None:
    X, labels = read_matrix(*write(tmp_path), CLASSES)
    assert (X.format, X.dtype) == ("csr", np.float32)
    np.testing.assert_array_equal(X.toarray(), TRIPLET_ROWS)
    assert labels.tolist() == LABELS


@pytest.mark.parametrize("end", ["", "\r\n", "\n\n \n"])
def test_empty_lines_at_the_end_are_no_documents(end: str, tmp_path: Path) -> None:
    assert read_matrix(*write_words(tmp_path, end=end), CLASSES)[0].shape[0] == N_ROWS


@pytest.mark.parametrize(
    "labels", [LABELS, [CLASSES.index(label) for label in LABELS]], ids=["names", "ids"]
)
def test_of_a_csv_file_the_lines_of_one_domain_are_taken(
    labels: list[Any], tmp_path: Path
) -> None:
    X, names = read_matrix(*write_csv(tmp_path, labels), CLASSES)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, -REAL)
    assert names.tolist() == LABELS


def test_a_class_whose_name_is_a_number_is_a_name_in_csv(tmp_path: Path) -> None:
    path, spec = write_csv(tmp_path, [1, 1, 2, 2, 2, 3])
    names = read_matrix(path, spec, ["1", "2", "3"])[1]
    assert names.tolist() == ["1", "1", "2", "2", "2", "3"]


MAT_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({"fts": None}, "variable fts; .*labels"),
    "narrow": ({"fts": COUNTS[:, :4]}, "4 columns .6 rows., .*width.* 5"),
    "turned": ({"fts": COUNTS.T}, "width is 5; .* see orientation"),
    "text": ({"fts": "abc"}, "fts.*matrix.*, got str96"),
    "complex": ({"fts": COUNTS * 1j}, "of numbers, got complex128"),
    "NaN": ({"fts": REAL * [1, 1, np.nan, 1, 1]}, "NaN .*infinite values.* 6 of 6"),
    "sparse NaN": ({"fts": sparse.csc_array(REAL + np.inf)}, "NaN .*infinite values"),
    "fewer labels": ({"labels": CODES[1:]}, "5 labels for 6 rows"),
    "one-hot labels": ({"labels": np.eye(6)[:, :3]}, "row.*column .* 6 x 3"),
    "sparse labels": ({"labels": sparse.csc_array(CODES * 1.0)}, "row.*column"),
    "no labels": ({"labels": np.empty((0, 0))}, "0 labels for 6 rows"),
    "code 0": ({"labels": CODES - 1}, "2 labels.*class .codes 0.; .* are 1 to 3"),
    "code 4": ({"labels": CODES + 1}, "1 labels.*class .codes 4."),
    "half": ({"labels": CODES - 0.5}, "6 labels.*class .codes 0.5, 1.5, 2.5."),
}


@pytest.mark.parametrize(
    ("changes", "message"), MAT_FAULTS.values(), ids=MAT_FAULTS.keys()
)
def test_a_wrong_matlab_file_is_one_error(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    refuse(*write_mat(tmp_path, SURF, **changes), message)


def test_a_missing_file_names_the_resource_to_fetch(tmp_path: Path) -> None:
    path, spec = write_mat(tmp_path, SURF)
    path.unlink()
    refuse(path, spec | {"resource": "surf"}, "no such file. Fetch .* surf first")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_matlab_file_cut_anywhere_is_damaged(
    compressed: bool, tmp_path: Path
) -> None:
    path, spec = write_mat(tmp_path, SURF, compressed=compressed)
    whole = path.read_bytes()
    # The last bytes of a file may be padding.
    for length in range(0, len(whole) - 8, 29):
        path.write_bytes(whole[:length])
        refuse(path, spec, "damaged, or not|no variable")


def test_a_changed_byte_of_a_compressed_matlab_file_is_found(tmp_path: Path) -> None:
    path, spec = write_mat(tmp_path, SURF, compressed=True)
    whole = path.read_bytes()
    variables_start = 128 + 8
    for place in range(variables_start, len(whole), 17):
        changed = bytearray(whole)
        changed[place] ^= 0x55
        path.write_bytes(changed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refuse(path, spec, str(path))


@pytest.mark.parametrize("content", [b"<!DOCTYPE html><html>", b"\0" * 200, b""])
def test_what_is_no_matlab_file_is_told(content: bytes, tmp_path: Path) -> None:
    path, spec = write_mat(tmp_path, SURF)
    path.write_bytes(content)
    refuse(path, spec, "damaged, or not a MATLAB file|no variable fts")


def test_a_matlab_file_of_version_7_3_is_told(tmp_path: Path) -> None:
    path, spec = write_mat(tmp_path, SURF)
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124)
    path.write_bytes((text + b"\x00\x02IM").ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n")
    refuse(path, spec, r"MATLAB 7.3 \(HDF5\) file; .* MATLAB, save .* with '-v7'")


TRIPLET_FAULTS = [
    ([7, 1, 1.0], "row 7 of EN_EN_sample is document 7, word 1, but .* are 1 to 6"),
    ([1, 6, 1.0], "row 7 .* document 1, word 6, .* words 1 to 5"),
    ([1.5, 2, 1.0], "row 7 .* document 1.5, word 2"),
    ([2, 2, np.nan], "NaN .*infinite values.* 1 of 6 rows: row 2"),
    ([1, 3, 9.0], "1 words.*document"),
]


@pytest.mark.parametrize(
    ("table", "message"),
    [(np.vstack([TRIPLETS, row]), message) for row, message in TRIPLET_FAULTS]
    + [(TRIPLETS[:, :2], "k x 3 .* got float64 of shape 6 x 2")],
)
def test_a_wrong_table_of_triplets_is_one_error(
    table: np.ndarray, message: str, tmp_path: Path
) -> None:
    refuse(*write_triplets(tmp_path, table), message)


WORD_FAULTS = [
    ("apple 6:1", "line 7: word 6, .*words.* 1 to 5"),
    ("apple 99999999999:1", "line 7: expected <word>:<value>, got '99999999999:1'"),
    ("apple 1:2:3", "line 7: expected <word>:<value>, got '1:2:3'"),
    ("apple 2:1 2:1", "line 7: .*word"),
    ("apple 1:nan", "NaN .*infinite values.* 1 of 7 rows: row 7"),
    ("apple 1:1e60", "NaN .*infinite values.* 1 of 7 rows: row 7"),
    ("Apple 1:1", "line 7: unknown class 'Apple'; classes.*apple, pear, plum"),
]


@pytest.mark.parametrize(("line", "message"), WORD_FAULTS)
def test_a_wrong_line_of_words_is_named(
    line: str, message: str, tmp_path: Path
) -> None:
    refuse(*write_words(tmp_path, [*WORD_LINES, line]), message)


CSV_FAULTS = [
    ({"line": [1, 2, 3, 4, "apple", "art"]}, "line 3: 6 fields instead.* 5 . 2"),
    ({"line": [1, 2, "x", 4, 5, "apple", "realworld"]}, "line 3: .*number .*'x'"),
    ({"line": [1, 2, "nan", 4, 5, "apple", "realworld"]}, "infinite .* row 1"),
    ({"line": [1, 2, 3, 4, 5, "appel", "realworld"]}, "unknown class 'appel'"),
    ({"labels": [0, 0, 1, 1, 1, 3]}, "1 labels.*class .codes 3.; .* are 0 to 2"),
    ({"domain": "clipart"}, "line.*clipart; it has RealWorld, art"),
]


@pytest.mark.parametrize(("changes", "message"), CSV_FAULTS)
def test_what_is_wrong_in_a_csv_file_is_named(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    refuse(*write_csv(tmp_path, **changes), message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "mta"}, "format .* 'mta': did you mean 'mat'"),
        ({"witdh": 5}, "format mat: unknown key 'witdh': did you mean 'width'"),
        ({"format": "csv"}, "format csv also needs domain"),
    ],
)
def test_a_wrong_storage_is_named(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path, spec = write_mat(tmp_path, SURF)
    refuse(path, spec | changes, f"specification of .*published.mat: {message}")


def test_every_storage_of_the_catalogue_is_valid(repository: Path) -> None:
    formats = set()
    for name, entry in load_catalogue(repository / "resources/datasets.yaml").items():
        for view, spec in entry.get("published", {}).items():
            check_spec(f"{name} {view}", spec)
            formats.add(spec["format"])
    assert formats == {"mat", "triplets", "words", "csv"}


def test_words_of_a_line_may_stand_in_any_order(tmp_path: Path) -> None:
    lines = ["apple 3:1.25 1:-4.5", *WORD_LINES[1:]]
    X = read_matrix(*write_words(tmp_path, lines), CLASSES)[0]
    assert X.indices[:2].tolist() == [0, 2]
    assert X.data[:2].tolist() == [-4.5, 1.25]
