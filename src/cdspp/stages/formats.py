"""File formats between the stages of a study: NPZ for features, Parquet for rows.

Parquet files carry no variable metadata, so that equal rows give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cdspp.core import files
from cdspp.core.files import read_error
from cdspp.core.names import FitKey, PathLike, fit_key, task_domains, trials_of_block
from cdspp.core.outputs import atomic
from cdspp.core.provenance import file_digest, ids_digest
from cdspp.core.records import (
    MISSING,
    Record,
    Specification,
    read_record,
    record_error,
    record_mismatch,
)

if TYPE_CHECKING:
    import pandas as pd

Columns = Mapping[str, str]

# Converters of text in a CSV file, by type.
_CONVERTERS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int64": int,
    "float64": lambda text: float(text or "nan"),
    "bool": {"true": True, "false": False}.__getitem__,
}
SHIPPED = "Take it from the repository again."  # remedy for shipped files

LABEL_COLUMNS: Columns = {"id": "string", "label": "string", "position": "int32"}
SPLIT_COLUMNS: Columns = {
    "trial": "int32",
    "id": "string",
    "row": "int32",
    "role": "string",
    "label": "string",
}
PAIR_COLUMNS: Columns = {"trial": "int32", "id": "string"}
SHARE_COLUMNS: Columns = {"trial": "int32", "label": "string", "share": "float64"}
FIT_COLUMNS: Columns = {
    "trial": "int32",
    "iteration": "int32",
    "id": "string",
    "predicted": "string",
    "confidence": "float32",
}
# Arrays with one entry per row, except for the last.
SUBSPACE_ARRAYS = ("iteration", "group", "id", "xy", "predicted", "final_fit")
SCORE_COLUMNS: Columns = {
    "setting": "string",
    "task": "string",
    "method": "string",
    "trial": "int32",
    "iteration": "int32",
    "status": "string",
    "collapsed": "bool",
    "n_samples": "int32",
    "accuracy": "float64",
    "mean_class_accuracy": "float64",
    "macro_f1": "float64",
}


@dataclass(frozen=True, eq=False)
class Features:
    """One view of one domain: `X` (n, d) float32, dense or CSR, with names if any."""

    X: Any
    ids: np.ndarray
    provenance: Mapping[str, Any]
    columns: np.ndarray | None = None


def write_features(path: PathLike, features: Features) -> None:
    """Write a view as NPZ (float32, no pickles; a sparse matrix by its CSR parts)."""
    from scipy import sparse  # here, because most jobs need no SciPy

    parts: dict[str, Any]
    if sparse.issparse(features.X):
        X = sparse.csr_array(features.X).astype(np.float32)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        parts["shape"] = np.asarray(X.shape)
    else:
        parts = {"X": np.asarray(features.X, dtype=np.float32)}
    parts["ids"] = np.asarray(features.ids, dtype=np.str_)
    if features.columns is not None:
        parts["columns"] = np.asarray(features.columns, dtype=np.str_)
    provenance = json.dumps(dict(features.provenance), sort_keys=True)
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, provenance=np.asarray(provenance), **parts)


def read_features(path: PathLike) -> Features:
    """Read a file of `write_features`; DataError if it is anything else."""
    what = "a feature file (NPZ)"
    arrays = files.read_arrays(path, what)
    try:
        provenance = json.loads(str(arrays["provenance"]))
        ids = arrays["ids"]
        if "X" in arrays:
            X: Any = arrays["X"]
        else:
            from scipy import sparse

            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            X = sparse.csr_array(parts, shape=tuple(arrays["shape"]))
    except files.READ_ERRORS as error:
        raise read_error(path, what, f"it is damaged: {error}") from error
    if np.ndim(X) != 2 or np.shape(ids) != X.shape[:1]:
        shapes = f"an array of shape {np.shape(X)} and ids of shape {np.shape(ids)}"
        raise read_error(path, what, f"it has {shapes}")
    return Features(X, ids, provenance, arrays.get("columns"))


def read_subspace(path: PathLike) -> dict[str, np.ndarray]:
    """Read `SUBSPACE_ARRAYS` by name; DataError if the file differs in form."""
    what = "a subspace (NPZ)"
    arrays = files.read_arrays(path, what)
    if lacking := [name for name in SUBSPACE_ARRAYS if name not in arrays]:
        raise read_error(path, what, f"it has no {', '.join(lacking)}")
    shapes = [arrays[name].shape for name in SUBSPACE_ARRAYS]
    rows = shapes[0][:1]
    if shapes != [rows, rows, rows, (*rows, 2), rows, ()]:
        raise read_error(path, what, f"it has arrays of the shapes {shapes}")
    return arrays


def write_rows(
    path: PathLike, columns: Columns, values: Mapping[str, Sequence[Any]]
) -> None:
    """Write named columns as Parquet with the declared types, in the given order."""
    import pyarrow.parquet as pq

    with atomic(path) as temporary:
        pq.write_table(_table(columns, values), temporary)


def as_read(
    columns: Columns, values: Mapping[str, Sequence[Any]]
) -> dict[str, np.ndarray]:
    """Return what `read_rows` would read after `write_rows`."""
    table = _table(columns, values)
    return {name: table[name].to_numpy() for name in columns}


def _table(columns: Columns, values: Mapping[str, Sequence[Any]]) -> Any:
    import pyarrow as pa

    types = {name: pa.type_for_alias(kind) for name, kind in columns.items()}
    return pa.table(dict(values), schema=pa.schema(types))


def read_rows(path: PathLike, columns: Columns) -> dict[str, np.ndarray]:
    """Read the named columns; strings become object arrays, nulls None or NaN.

    DataError: the file is missing or damaged, or lacks a column of the declared type.
    """
    import pyarrow.lib
    import pyarrow.parquet as pq

    what = f"a Parquet file with the columns {', '.join(columns)}"
    files.check_opening(path, what, b"PAR1")
    try:
        table = pq.read_table(path, columns=list(columns))
        kinds = {name: table.schema.field(name).type for name in columns}
        values = {name: table[name].to_numpy() for name in columns}
    except (OSError, KeyError, ValueError, pyarrow.lib.ArrowException) as error:
        raise read_error(path, what, f"it is damaged: {error}") from error
    for name, kind in columns.items():
        if kinds[name] != pyarrow.lib.type_for_alias(kind):
            raise read_error(path, what, f"{name} has type {kinds[name]}, not {kind}")
    return values


def read_frame(path: PathLike, columns: Columns) -> pd.DataFrame:
    """Read the named columns as a data frame; errors as in `read_rows`."""
    import pandas as pd

    return pd.DataFrame(read_rows(path, columns))


def read_csv(path: PathLike, types: Columns, remedy: str = "") -> pd.DataFrame:
    """Read columns of a CSV file to the last digit, and texts literally.

    By column, `types` has ``str``, ``bool``, ``int64`` or ``float64``. A missing number
    is NaN; a text never is, because a class may be called NA. DataError, with the
    `remedy` if no study makes the file: it is missing, or its columns or types differ.
    """
    import pandas as pd

    try:
        texts = pd.read_csv(path, dtype="str", keep_default_na=False, encoding="utf-8")
        if lacking := [name for name in types if name not in texts]:
            raise ValueError(f"it lacks {', '.join(lacking)}")
        return pd.DataFrame({name: _typed(texts[name], types[name]) for name in types})
    except (OSError, ValueError) as error:
        what = f"a CSV file with the columns {', '.join(types)}"
        wrong = getattr(error, "strerror", None) or str(error)
        raise read_error(path, what, wrong, remedy) from error


def _typed(texts: pd.Series, kind: str) -> pd.Series:
    """Convert texts as Python does, which is exact."""
    try:
        return texts.map(_CONVERTERS[kind]).astype(kind)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{texts.name} must be {kind}: {error}") from error


def labels_by_id(path: PathLike) -> dict[str, str]:
    """Read a file of labels as a mapping from id to label, empty if unlabelled."""
    columns = read_rows(path, LABEL_COLUMNS)
    labels = (label or "" for label in columns["label"])
    return dict(zip(columns["id"], labels, strict=True))


class ExpectedFits(NamedTuple):
    """The specifications that a configuration requires of the fits of a benchmark.

    Their keys are ``<setting>/<method>``, and their inputs are patterns of
    `cdspp.stages.trials.TaskFiles`, as in `input_files`.
    """

    specifications: Mapping[str, Specification]

    def of(self, path: PathLike) -> Specification:
        """Return the specification of one fit, empty if there is none."""
        key = fit_key(path)
        name = f"{key.setting}/{key.method}"
        found = self.specifications.get(name, Specification()).of_block(key.block)
        return found._replace(inputs=input_files(found.inputs, key))


def input_files(patterns: Mapping[str, str], key: FitKey) -> dict[str, str]:
    """Return the files of a fit by the patterns of its method and setting."""
    sources, target = task_domains(key.task)
    files_of_fit = {}
    for name, pattern in patterns.items():
        path = pattern.replace("{target}", target).replace("{block}", key.block)
        domains = sources if "{source}" in path else sources[:1]
        for number, source in enumerate(domains, start=1):
            numbered = name if number == 1 else f"{name}_{number}"
            files_of_fit[numbered] = path.replace("{source}", source)
    return files_of_fit


def input_kind(name: str) -> str:
    """Return the name of an input without the number of its source, if any."""
    return name.rstrip("_0123456789")


@dataclass(frozen=True, eq=False)
class FitFile:
    """A fit as read: predictions by `FIT_COLUMNS`, and its record."""

    path: Path
    key: FitKey
    columns: Mapping[str, NDArray[Any]]
    record: Record

    def first_trials(self, n_trials: int) -> FitFile:
        """Return the fit with its trials up to a number."""
        kept = self.columns["trial"] <= n_trials
        columns = {name: values[kept] for name, values in self.columns.items()}
        record = self.record.first_trials(n_trials)
        return replace(self, columns=columns, record=record)


def read_fit_record(path: PathLike) -> Record:
    """Read the record of a fit, by its path or that of the fit.

    DataError as in `read_record`, or if the fit is not named after its trials.
    """
    file = Path(path).with_suffix(".parquet")
    record = read_record(file)
    try:
        trials_of_block(file.stem)
    except ValueError as error:
        wrong = f"expected trials as its name, such as 1-5, got {file.stem!r}"
        raise record_error(file, wrong) from error
    trials, dataset = record.extra.get("trials"), record.extra.get("dataset")
    lists = isinstance(trials, list) and all(isinstance(t, dict) for t in trials)
    if not lists or not isinstance(dataset, str):
        raise record_error(file, "the record next to it has no trials or no data set")
    return record


def read_fit(
    path: PathLike,
    expected: Specification | None = None,
    digests: dict[str, str] | None = None,
) -> FitFile:
    """Read the predictions of a fit, and check them against its record and path.

    Of a fit with more trials than `expected`, only the expected ones are returned.
    DataError: predictions or record are damaged, were changed or belong to another fit;
    the predicted samples are not the test samples of each trial, once per iteration; or
    the fit is not as `expected`, for instance written late by a job of an earlier run.
    `digests` caches those of inputs, by path, between calls.
    """
    file = Path(path)
    record, columns = read_fit_record(file), read_rows(file, FIT_COLUMNS)
    fit = FitFile(file, fit_key(file), columns, record)
    _check_rows(fit)
    digests_of_files = {} if digests is None else digests
    digests_of_files[str(file)] = file_digest(file)
    if reason := record_mismatch(file, expected, digests_of_files, record=record):
        lacks = "it lacks trials that the study asks for"
        raise record_error(file, lacks if reason == MISSING else reason)
    trials = expected.trials if expected else ()
    return fit.first_trials(max(trials)) if trials else fit


def _check_rows(fit: FitFile) -> None:
    columns = fit.columns
    results = {o["trial"]: o for o in fit.record.trials if o["rounds"] and o["tested"]}
    if (trials_of_rows := np.unique(columns["trial"]).tolist()) != [*results]:
        expected = f"expected predictions of the trials {[*results]}"
        raise record_error(fit.path, f"{expected}, got {trials_of_rows}")
    for trial, result in results.items():
        in_trial, tested = columns["trial"] == trial, result["tested"]
        ids = columns["id"][in_trial]
        iterations = rows_by_iteration(columns["iteration"][in_trial])
        if len(iterations) != result["rounds"]:
            expected = f"trial {trial}: expected {result['rounds']} iterations"
            raise record_error(fit.path, f"{expected}, got {len(iterations)}")
        known_samples = np.empty(0, dtype=object)
        for number, rows in iterations.items():
            samples = ids[rows]
            # Iterations share one order, so most need no digest.
            if np.array_equal(samples, known_samples):
                continue
            if len(samples) != tested or ids_digest(samples) != result["test_ids"]:
                where = f"trial {trial}, iteration {number}"
                expected = f"expected the {tested} test samples of the split, once each"
                count = f"got {len(samples)} rows of {len(set(samples))} samples"
                raise record_error(fit.path, f"{where}: {expected}, {count}")
            known_samples = samples


def rows_by_iteration(iterations: NDArray[Any]) -> dict[int, NDArray[np.intp]]:
    """Return the positions of the rows of each iteration, in linear time."""
    order = np.argsort(iterations, kind="stable")
    numbers, starts = np.unique(iterations[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))
