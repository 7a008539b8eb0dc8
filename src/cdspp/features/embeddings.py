"""Vectors from a file of the user, one per image or text, matched by identifiers."""

from __future__ import annotations

import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from json import loads
from pathlib import Path, PurePath
from typing import Any, ClassVar

import numpy as np

from cdspp.core.errors import DataError, out_of_memory, short_message
from cdspp.core.linalg import require_finite
from cdspp.core.provenance import file_digest
from cdspp.core.wording import counted, shortened
from cdspp.features.base import FileExtractor

# Identifiers and vectors: a matrix, or one array for each identifier.
Vectors = tuple[list[str], np.ndarray]

MOST_BYTES = 16 << 30  # of the arrays in a file
NAMED = 3  # identifiers in a message
IDS = ("id", "ids")  # usual names of identifiers
DEPTHS = 3, 2, 1  # folders and name of a file that its identifier may have


@dataclass(frozen=True)
class Embeddings(FileExtractor):
    """Vectors that another program has computed from the same files.

    An identifier is the path of its file, or the end of the path, with or without
    suffix: ``web/chair/0001.jpg``, ``chair/0001`` and ``0001`` are possible, in one
    form for all files. Vectors of other files are ignored.

    Parquet files have a column of identifiers, and one of lists of numbers or a column
    per number. In NPZ and safetensors files, each vector is an array named by its
    identifier, or the vectors are a matrix; its identifiers are an array of text, in
    safetensors a JSON list in the metadata entry ``ids``.
    """

    identifier: ClassVar[str] = "embeddings"
    kind: ClassVar[str] = "files"

    file: str | None = None  #: Path of the vectors.
    #: Name of the identifiers: by default ``id``, ``ids``, or the only texts.
    id: str | None = None
    #: Name of the vectors: by default, the only lists or matrix.
    vector: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        suffixes = f"a path that ends in {', '.join(_READERS)}"
        if not isinstance(self.file, str) or self._suffix not in _READERS:
            raise self.refuse("file", suffixes)
        for option in ("id", "vector"):
            if not isinstance(getattr(self, option), str | None):
                raise self.refuse(option, "a name")

    @property
    def _suffix(self) -> str:
        return Path(str(self.file)).suffix.lower()

    @property
    def own_files(self) -> tuple[Path, ...]:
        """The file of vectors."""
        return (Path(str(self.file)),)

    @property
    def megabytes(self) -> float:
        """Memory of the vectors and of their copies."""
        return 3 * self.own_files[0].stat().st_size / 2**20

    def recorded_options(self) -> dict[str, Any]:
        """Return the options, with the file as its checksum, not its path."""
        digest = f"sha256:{file_digest(self.own_files[0])}"
        return super().recorded_options() | {"file": digest}

    def check_own_files(self, domains: Iterable[Sequence[Path]] = ()) -> None:
        """Raise DataError unless the file has a vector for each file of domains."""
        ids, _ = self._read()
        for files in domains:
            self._rows(files, ids)

    def extract(self, files: Sequence[Path]) -> np.ndarray:
        """Return the vectors of `files`, float32, one row per file."""
        ids, vectors = self._read()
        rows = self._rows(files, ids)
        with np.errstate(over="ignore"):  # infinity is refused below
            X = vectors[rows].astype(np.float32)
        remedy = "Compute these vectors again."
        require_finite(X, [ids[row] for row in rows], str(self.file), remedy)
        return X

    def _read(self) -> Vectors:
        try:
            ids, vectors = _READERS[self._suffix](self.own_files[0], self)
        except DataError as error:
            raise DataError(f"{self.file}: {error}") from error
        except Exception as error:  # readers raise any error for damaged files
            if out_of_memory(error):
                raise
            fault = f"{self.file}: not a readable file of vectors"
            raise DataError(f"{fault} ({short_message(error)}).") from error
        ids = [unicodedata.normalize("NFC", text) for text in ids]
        if repeated := [text for text, n in Counter(ids).items() if n > 1]:
            fault = f"{counted(len(repeated), 'identifier')} with more than one vector"
            text = f"{fault}: {shortened(repeated, NAMED)}. Keep one of each."
            raise DataError(f"{self.file}: {text}")
        return ids, vectors

    def _rows(self, files: Sequence[Path], ids: Sequence[str]) -> list[int]:
        """Return the row of each file, by the form of identifier that finds most.

        Rows of one file each count first: short forms may find more, but several.
        """
        best, most, found = dict[str, list[int]](), list[str](), (-1, -1)
        paths = [PurePath(unicodedata.normalize("NFC", str(path))) for path in files]
        for depth in DEPTHS:
            by_end = defaultdict[str, list[int]](list)
            for row, text in enumerate(ids):
                parts = text.replace("\\", "/").split("/")
                by_end["/".join(parts[-depth:])] += [row]
            for each in (paths, [path.with_suffix("") for path in paths]):
                names = ["/".join(path.parts[-depth:]) for path in each]
                counts = Counter(name for name in names if name in by_end)
                single = [k for k, n in counts.items() if n == len({*by_end[k]}) == 1]
                if (len(single), counts.total()) > found:
                    best, most, found = by_end, names, (len(single), counts.total())
        if missing := [name for name in most if name not in best]:
            fault = f"no vector for {len(missing)} of {len(files)} files"
            text = f"{fault} ({shortened(missing, NAMED)})"
            has = f"It has {counted(len(ids), 'vector')} ({shortened(ids, NAMED)})"
            raise DataError(f"{self.file}: {text}. {has}.")
        clashes = [
            name for name, n in Counter(most).items() if n > 1 or len({*best[name]}) > 1
        ]
        if clashes:
            fault = f"{counted(len(clashes), 'identifier')} of several files"
            remedy = "Use paths such as <domain>/<class>/<file>"
            text = f"{fault} or vectors: {shortened(clashes, NAMED)}. {remedy}."
            raise DataError(f"{self.file}: {text}")
        return [best[name][0] for name in most]


def _read_parquet(path: Path, options: Embeddings) -> Vectors:
    import pyarrow as pa
    from pyarrow import parquet
    from pyarrow import types as kinds

    with parquet.ParquetFile(path) as file:
        groups = range(file.metadata.num_row_groups)
        _check_size(sum(file.metadata.row_group(k).total_byte_size for k in groups))
        fields = {field.name: field.type for field in file.schema_arrow}
        texts = [n for n, t in fields.items() if kinds.is_string(t)]
        texts += [n for n, t in fields.items() if kinds.is_large_string(t)]
        id_ = _chosen("id", options.id, fields, texts)
        lists = [n for n, t in fields.items() if hasattr(t, "value_type")]
        lists = [n for n in lists if not kinds.is_dictionary(fields[n])]
        if options.vector is None and not lists:
            lists = [n for n, t in fields.items() if _is_number(t) and n != id_]
        else:
            lists = [_chosen("vector", options.vector, fields, lists)]
        table = file.read(columns=[id_, *lists])
    ids = [*map(str, table[id_].to_pylist())]
    columns = [table[name].combine_chunks() for name in lists]
    if len(columns) == 1 and hasattr(columns[0].type, "value_type"):
        return ids, _matrix_of_lists(ids, columns[0])
    if not columns:
        raise DataError(f"no column of numbers: {shortened([*fields], 5)}.")
    cells = (column.cast(pa.float64()) for column in columns)
    return ids, np.stack([c.to_numpy(zero_copy_only=False) for c in cells], axis=1)


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind))


def _matrix_of_lists(ids: Sequence[str], column: Any) -> np.ndarray:
    from pyarrow import compute

    if not _is_number(column.type.value_type):
        raise DataError(f"expected lists of numbers, got {column.type}.")
    lengths = compute.fill_null(compute.list_value_length(column), 0).to_numpy()
    _check_lengths(ids, lengths)
    values = np.asarray(column.flatten().to_numpy(zero_copy_only=False))
    return values.reshape(len(ids), -1)


def _check_lengths(ids: Sequence[str], lengths: Sequence[int]) -> None:
    """Raise DataError unless all vectors have one length, of 1 or more."""
    counts = Counter(map(int, lengths))
    usual, n_usual = counts.most_common(1)[0] if counts else (0, 0)
    if usual < 1:
        raise DataError("expected vectors of numbers, got empty ones.")
    if n_usual < len(ids):
        pairs = zip(ids, lengths, strict=True)
        others = [f"{text} ({n})" for text, n in pairs if n != usual]
        text = f"{len(others)} of {len(ids)} vectors have another length than {usual}"
        raise DataError(f"{text}: {shortened(others, NAMED)}.")


def _read_npz(path: Path, options: Embeddings) -> Vectors:
    with zipfile.ZipFile(path) as archive:
        _check_size(sum(info.file_size for info in archive.infolist()))
    with np.load(path, allow_pickle=False) as archive:
        try:
            arrays = {name: archive[name] for name in archive.files}
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            remedy = "Save identifiers with dtype=str, vectors as one matrix"
            text = "an array holds pickled objects, which are not read"
            raise DataError(f"{text}. {remedy}.") from error
    texts = [n for n, array in arrays.items() if array.dtype.kind == "U"]
    if not texts and options.id is None:
        return _stacked(arrays)
    ids = arrays[_chosen("id", options.id, arrays, texts)]
    return _paired(ids.ravel().tolist(), arrays, options)


def _read_safetensors(path: Path, options: Embeddings) -> Vectors:
    from safetensors import safe_open

    _check_size(path.stat().st_size)
    with safe_open(path, framework="numpy") as file:
        names, texts = [*file.keys()], file.metadata() or {}
        kinds = {file.get_slice(name).get_dtype() for name in names}
    # NumPy has no numbers of the kind bfloat16.
    framework = "pt" if "BF16" in kinds else "numpy"
    with safe_open(path, framework=framework) as file:
        tensors = {name: file.get_tensor(name) for name in names}
    if framework == "pt":
        tensors = {name: each.float().numpy() for name, each in tensors.items()}
    key = options.id or next((name for name in IDS if name in texts), None)
    if key is None:
        return _stacked(tensors)
    return _paired(loads(texts[_chosen("id", key, texts, ())]), tensors, options)


def _stacked(arrays: Mapping[str, np.ndarray]) -> Vectors:
    """Return arrays with one vector each as a matrix."""
    others = [n for n, a in arrays.items() if a.ndim != 1 or a.dtype.kind not in "fiu"]
    if others or not arrays:
        expected = "expected identifiers and a matrix, or a vector for each identifier"
        raise DataError(f"{expected}, got {shortened([*arrays], NAMED) or 'nothing'}.")
    ids = [*arrays]
    _check_lengths(ids, [len(array) for array in arrays.values()])
    return ids, np.stack([arrays[name] for name in ids])


def _paired(
    ids: Sequence[Any], arrays: Mapping[str, np.ndarray], options: Embeddings
) -> Vectors:
    """Return identifiers with the matrix of their vectors."""
    matrices = [n for n, a in arrays.items() if a.ndim == 2 and a.dtype.kind in "fiu"]
    vectors = arrays[_chosen("vector", options.vector, arrays, matrices)]
    if vectors.ndim != 2 or len(vectors) != len(ids) or not vectors.size:
        got = f"{' x '.join(map(str, vectors.shape))} numbers"
        raise DataError(f"expected a vector for each of {len(ids)} ids, got {got}.")
    return [*map(str, ids)], vectors


def _chosen(
    option: str, name: str | None, present: Mapping[str, Any], usual: Sequence[str]
) -> str:
    """Return the name of identifiers or vectors; DataError if it is not clear."""
    names = [name] if name else [n for n in IDS if option == "id" and n in present]
    if names and names[0] in present:
        return names[0]
    if not name and len(usual) == 1:
        return usual[0]
    expected = f"expected {name!r}" if name else f"the option {option} must name one"
    raise DataError(f"{expected}; there are {shortened([*present], 5) or 'none'}.")


def _check_size(n_bytes: int) -> None:
    if n_bytes > MOST_BYTES:
        raise DataError(f"{n_bytes} bytes of arrays, more than {MOST_BYTES}.")


_READERS: Mapping[str, Callable[[Path, Embeddings], Vectors]] = {
    ".parquet": _read_parquet,
    ".npz": _read_npz,
    ".safetensors": _read_safetensors,
}
