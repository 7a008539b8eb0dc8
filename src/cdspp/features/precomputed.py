"""Features that need no computation: published matrices, and columns of tables.

A *specification* describes how published features are stored, see `published_spec`.
"""

from __future__ import annotations

import csv
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse import issparse

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import DataError
from cdspp.core.files import READ_ERRORS
from cdspp.core.linalg import require_finite
from cdspp.core.provenance import file_digest
from cdspp.datasets.base import ROWS_NAME
from cdspp.datasets.catalogue import REMEDY, mismatch, refuse_unknown_keys
from cdspp.features.base import Extractor

MISMATCH = (
    "this copy has another order or other labels, so its results cannot be paired with "
    "the published trials. Fetch it from another address of the catalogue."
)
Spec = Mapping[str, Any]
Content = tuple[Any, np.ndarray]

KEYS: Mapping[str, tuple[str, ...]] = {
    "mat": ("file", "X", "labels", "label_base", "width"),
    "triplets": ("file", "X", "labels", "label_base", "width", "rows"),
    "words": ("file", "width"),
    "csv": ("file", "domain", "label_base", "width"),
}
OPTIONAL = ("format", "resource", "rows")


@dataclass(frozen=True)
class Published(Extractor):
    """Features that were published ready-made; nothing is computed."""

    identifier: ClassVar[str] = "published"
    kind: ClassVar[str] = "features"
    modules: ClassVar[tuple[str, ...]] = ("numpy", "scipy.io")

    name: str | None = None  #: Name of the published features in the catalogue.

    def __post_init__(self) -> None:
        """Check the options."""
        if not isinstance(self.name, str) or not self.name:
            raise self.refuse("name", "the name of published features")

    def read(
        self,
        folder: str | Path,
        spec: Mapping[str, Any],
        classes: Sequence[str],
        labels: Sequence[str],
        positions: Sequence[int],
    ) -> tuple[Any, dict[str, Any]]:
        """Return the rows of the samples, (n, width) float32, and a record of the file.

        Sample i has the class ``labels[i]`` and is in row ``positions[i]``, counted
        from 0; the samples are all rows, unless the specification gives another number.
        """
        path = Path(folder) / spec["file"]
        X, names = read_matrix(path, spec, classes)
        rows = np.asarray(positions, dtype=np.intp)
        n_rows = spec.get("rows", rows.max() + 1)
        if len(names) != n_rows:
            message = f"{path}: {len(names)} rows for {n_rows} samples"
            raise DataError(f"{message}; {MISMATCH}")
        order = np.argsort(rows)
        stored, expected = names[rows[order]], np.array(labels, object)[order]
        if len(wrong := np.flatnonzero(stored != expected)):
            row = wrong[0]
            raise DataError(
                f"{path}: {len(wrong)} of {len(rows)} labels differ, the first in row "
                f"{rows[order][row] + 1}: {stored[row]}, expected {expected[row]}; "
                f"{MISMATCH}"
            )
        return X[rows], {"storage": dict(spec), "sha256": file_digest(path)}


@dataclass(frozen=True)
class TableColumns(Extractor):
    """Numbers of a table, scaled by the view's `scale`."""

    identifier: ClassVar[str] = "table"
    kind: ClassVar[str] = "tables"
    names_columns: ClassVar[bool] = True

    def read(
        self, folder: str | Path, domain: str, positions: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a domain, (n, width) float64, and the columns' names."""
        path = Path(folder) / domain / ROWS_NAME
        try:
            with np.load(path, allow_pickle=False) as archive:
                return archive["X"][list(positions)], archive["features"]
        except READ_ERRORS as error:
            message = f"{path}: not the rows of the table ({error})"
            raise DataError(f"{message}. Delete it and run again.") from error


def check_spec(where: str, spec: Spec) -> None:
    """Raise DataError unless a specification has a known format and all its keys."""
    kind = str(spec.get("format"))
    if kind not in KEYS:
        message = f"{where}: format must be one of {', '.join(KEYS)}, got {kind!r}"
        raise DataError(f"{message}{did_you_mean(kind, KEYS)}")
    if missing := [key for key in KEYS[kind] if key not in spec]:
        raise DataError(f"{where}: format {kind} also needs {', '.join(missing)}.")
    keys = [*KEYS[kind], *OPTIONAL]
    if kind == "mat":
        keys.append("orientation")
    refuse_unknown_keys(spec, keys, f"{where}: format {kind}: ")


def read_matrix(path: str | Path, spec: Spec, classes: Sequence[str]) -> Content:
    """Return published features, X (n, d) float32, and the n names of their classes.

    The ``format`` of its specification is one of

    ``mat``
        MATLAB 5: variable `X` (n, d), with ``orientation: columns`` (d, n), dense or
        sparse; variable `labels`, a row or a column of codes.
    ``triplets``
        MATLAB 5: variable `X` (k, 3), rows document, word, value, numbered from 1;
        variable `labels` as above.
    ``words``
        Text, a document per line: ``<class> <word>:<value> <word>:<value> ...``, words
        numbered from 1. A line without words is a row of zeros.
    ``csv``
        A header; then per line d values, a label (code or class name) and a domain, of
        which those of `domain` are read, ignoring case.

    `width` is d, `label_base` is the code of the first of the `classes`, `rows` is n.
    Rows keep the order of the file; sparse rows become a CSR array.
    """
    file = Path(path)
    check_spec(f"specification of {file}", spec)
    if not file.is_file():
        message = f"{file}: no such file. Fetch the data set's resource"
        raise DataError(f"{message} {spec.get('resource', 'that holds it')} first.")
    # Values too large for float32 become infinite, which is checked below.
    with np.errstate(over="ignore"):
        X, labels = _READERS[spec["format"]](file, spec, classes)
    n_rows, width = X.shape
    if width != spec["width"]:
        fault = f"{width} columns ({n_rows} rows), but its width is {spec['width']}"
        if n_rows == spec["width"] and spec["format"] == "mat":
            fault += "; it seems to be transposed, see orientation"
        raise mismatch(file, fault)
    if spec.get("rows", n_rows) != n_rows:
        raise mismatch(file, f"{n_rows} rows, but it should have {spec['rows']}")
    if len(labels) != n_rows:
        raise mismatch(file, f"{len(labels)} labels for {n_rows} rows")
    require_finite(X, [f"row {k + 1}" for k in range(n_rows)], str(file), REMEDY)
    return X, labels


def _read_mat(file: Path, spec: Spec, classes: Sequence[str]) -> Content:
    X, codes = _load_variables(file, spec["X"], spec["labels"])
    numeric = X.dtype.kind in "biuf"
    if not numeric or X.ndim < 2 or any(length != 1 for length in X.shape[2:]):
        message = f"variable {spec['X']} must be a matrix of numbers"
        raise mismatch(file, f"{message}, got {_kind(X)}")
    X = (X if issparse(X) else X.reshape(X.shape[:2])).astype(np.float32)
    X = X.T if spec.get("orientation") == "columns" else X
    X = sparse.csr_array(X) if issparse(X) else np.ascontiguousarray(X)
    return X, _class_names(file, codes, spec["label_base"], classes)


def _read_triplets(file: Path, spec: Spec, classes: Sequence[str]) -> Content:
    value, codes = _load_variables(file, spec["X"], spec["labels"])
    if issparse(value) or value.dtype.kind not in "iuf" or value.shape[1:] != (3,):
        message = f"variable {spec['X']} must be a k x 3 matrix of numbers"
        raise mismatch(file, f"{message}, got {_kind(value)}")
    shape = (spec["rows"], spec["width"])
    places, weights = value[:, :2].astype(np.float64), value[:, 2].astype(np.float32)
    inside = (places >= 1) & (places <= shape) & (places == np.rint(places))
    if not inside.all():
        row = int(np.argmin(inside.all(axis=1)))
        place = "document {:g}, word {:g}".format(*places[row])
        expected = f"documents are 1 to {shape[0]}, words 1 to {shape[1]}"
        raise mismatch(file, f"row {row + 1} of {spec['X']} is {place}, but {expected}")
    rows, columns = places.astype(np.intp).T - 1
    X = sparse.csr_array((weights, (rows, columns)), shape=shape)
    if repeated := len(value) - X.nnz:
        raise mismatch(file, f"{repeated} words are repeated within a document")
    return X, _class_names(file, codes, spec["label_base"], classes)


def _load_variables(file: Path, *names: str) -> list[Any]:
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    # Errors that SciPy raised on files with changed or missing bytes.
    damage = (MatReadError, zlib.error, MemoryError, ArithmeticError, UnboundLocalError)
    try:
        content = loadmat(file, variable_names=names, appendmat=False)
        available = [name for name, *_ in whosmat(file, appendmat=False)]
    except NotImplementedError as error:
        message = f"{file}: a MATLAB 7.3 (HDF5) file; only older formats are read. In"
        raise DataError(f"{message} MATLAB, save its variables with '-v7'.") from error
    except (OSError, ValueError, TypeError, LookupError, *damage) as error:
        fault = f"damaged, or not a MATLAB file ({error})"
        raise mismatch(file, fault) from error
    if missing := [name for name in names if name not in content]:
        text = ", ".join(available) or "none"
        raise mismatch(file, f"no variable {', '.join(missing)}; it has {text}")
    return [content[name] for name in names]


def _kind(value: Any) -> str:
    return f"{value.dtype.name} of shape {' x '.join(map(str, value.shape))}"


def _class_names(
    file: Path, codes: np.ndarray, base: int, classes: Sequence[str]
) -> np.ndarray:
    numeric = not issparse(codes) and codes.dtype.kind in "biuf"
    if not numeric or codes.size != max(codes.shape):
        message = "labels must be a row or a column of numbers"
        raise mismatch(file, f"{message}, got {_kind(codes)}")
    codes = codes.ravel()
    unknown = codes[~np.isin(codes, np.arange(len(classes)) + base)]
    if len(unknown):
        text = ", ".join(f"{code:g}" for code in np.unique(unknown)[:5])
        fault = f"{len(unknown)} labels are not a class (codes {text})"
        raise mismatch(file, f"{fault}; codes are {base} to {base + len(classes) - 1}")
    return np.asarray(np.array(classes, dtype=object)[codes.astype(np.intp) - base])


def _read_words(file: Path, spec: Spec, classes: Sequence[str]) -> Content:
    class_of = {name.encode(): name for name in classes}
    labels: list[str] = []
    columns, weights, ends = array("i"), array("d"), array("q", [0])
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            category, *pairs = line.split()
            if category not in class_of:
                fault = f"line {number}: unknown class {_excerpt(category)}"
                raise mismatch(file, f"{fault}; classes are {', '.join(classes)}")
            labels.append(class_of[category])
            words, values = _read_pairs(file, f"line {number}", pairs, spec["width"])
            columns.extend(words)
            weights.extend(values)
            ends.append(len(columns))
    parts = np.asarray(weights, dtype=np.float32), np.asarray(columns) - 1
    X = sparse.csr_array((*parts, np.asarray(ends)), (len(labels), spec["width"]))
    X.sort_indices()
    return X, np.array(labels, dtype=object)


def _read_pairs(
    file: Path, line: str, pairs: list[bytes], width: int
) -> tuple[array[int], array[float]]:
    words, values = array("i"), array("d")
    for pair in pairs:
        try:
            word, value = pair.split(b":")
            words.append(int(word))
            values.append(float(value))
        except (ValueError, OverflowError) as error:
            fault = f"{line}: expected <word>:<value>, got {_excerpt(pair)}"
            raise mismatch(file, fault) from error
    if wrong := [word for word in words if not 1 <= word <= width]:
        raise mismatch(file, f"{line}: word {wrong[0]}, but words are 1 to {width}")
    if len(set(words)) < len(words):
        raise mismatch(file, f"{line}: a word occurs more than once")
    return words, values


def _read_csv(file: Path, spec: Spec, classes: Sequence[str]) -> Content:
    width, domain = spec["width"], str(spec["domain"]).casefold()
    rows, labels, domains = [], [], set()
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            lines = csv.reader(stream)
            next(lines, None)  # the header
            for fields in lines:
                line = f"line {lines.line_num}"
                if len(fields) != width + 2:
                    fault = f"{len(fields)} fields instead of {width} + 2"
                    raise mismatch(file, f"{line}: {fault}")
                domains.add(fields[-1])
                if fields[-1].casefold() != domain:
                    continue
                labels.append(fields[-2])
                try:
                    rows.append(np.array(fields[:width], dtype=np.float32))
                except ValueError as error:
                    raise mismatch(file, f"{line}: not a number ({error})") from error
    except (OSError, UnicodeError, csv.Error) as error:
        raise mismatch(file, f"cannot be read as CSV ({error})") from error
    if not rows:
        text = ", ".join(sorted(domains)) or "none"
        raise mismatch(file, f"no line of domain {spec['domain']}; it has {text}")
    X = np.array(rows, dtype=np.float32)
    if set(labels) <= set(classes):
        return X, np.array(labels, dtype=object)
    try:
        codes = np.array(labels, dtype=np.float64)
    except ValueError as error:
        unknown = next(label for label in labels if label not in classes)
        raise mismatch(file, f"unknown class {unknown!r}") from error
    return X, _class_names(file, codes, spec["label_base"], classes)


def _excerpt(text: bytes) -> str:
    return repr(text[:40].decode(errors="replace"))


_READERS: Mapping[str, Callable[[Path, Spec, Sequence[str]], Content]] = {
    "mat": _read_mat,
    "triplets": _read_triplets,
    "words": _read_words,
    "csv": _read_csv,
}
