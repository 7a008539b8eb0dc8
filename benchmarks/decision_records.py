"""What is stored of a draw, so that rules can be judged again without any fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cdspp.core.outputs import atomic
from cdspp.methods.base import UNLABELLED, Float, Int

__all__ = ["DrawRecord", "read_records", "records_path", "write_records"]


@dataclass(frozen=True, eq=False)
class DrawRecord:
    """The labels of every candidate on a draw, and the truth.

    Attributes
    ----------
    labels, number : int
        Labels a class, and the number of the draw.
    bridge : str
        The kind of bridge of the source; empty if none.
    y, truth : ndarray of shape (n_target,)
        Codes of the classes: -1 where the label is hidden; of all rows.
    names : ndarray of shape (n_candidates,)
        The candidates.
    uses_source : ndarray of shape (n_candidates,)
        Whether each uses the source.
    predicted : ndarray of shape (n_candidates, repeats, n_labelled)
        Codes over hold-outs; -1 where a row is not held out, or the candidate fails.
    transduction : ndarray of shape (n_candidates, n_unlabelled)
        Codes by the fit on all labelled rows; -1 if it fails.
    seconds : ndarray of shape (n_candidates,)
        Processor seconds of all fits.
    bet : str
        The method on which version 0.3.0 bets; empty without labels.
    bet_codes : ndarray of shape (n_unlabelled,)
        Its codes.
    bet_seconds : float
        Processor seconds of its comparison.
    """

    labels: int
    number: int
    bridge: str
    y: Int
    truth: Int
    names: NDArray[Any]
    uses_source: NDArray[np.bool_]
    predicted: Int
    transduction: Int
    seconds: Float
    bet: str
    bet_codes: Int
    bet_seconds: float

    @property
    def key(self) -> tuple[int, int]:
        """The labels a class, and the number of the draw."""
        return self.labels, self.number

    def accuracy(self, codes: Int) -> float:
        """Return the share of unlabelled rows that codes label correctly."""
        return float(np.mean(codes == self.truth[self.y == UNLABELLED]))

    def accuracies(self) -> dict[str, float]:
        """Return the accuracy of each candidate on the unlabelled rows."""
        pairs = zip(self.names, self.transduction, strict=True)
        return {str(name): self.accuracy(codes) for name, codes in pairs}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return a record from the arrays of its fields."""
        scalars = {"int": int, "str": str, "float": float}
        values: dict[str, Any] = {}
        for field in fields(cls):
            value = arrays[field.name]
            convert = scalars.get(str(field.type), np.asarray)
            values[field.name] = convert(value)
        return cls(**values)


def records_path(folder: Path, family: str) -> Path:
    """Return the file with the records of a family."""
    return folder / f"{family.replace(',', '').replace(' ', '-')}.npz"


def read_records(path: Path) -> list[DrawRecord]:
    """Return the records of a family in the order of draws; none without a file."""
    if not path.exists():
        return []
    by_draw: dict[str, dict[str, Any]] = {}
    with np.load(path, allow_pickle=False) as stored:
        for key in stored:
            draw, _, field = key.rpartition("/")
            by_draw.setdefault(draw, {})[field] = stored[key]
    records = map(DrawRecord.of_arrays, by_draw.values())
    return sorted(records, key=lambda record: record.key)


def write_records(path: Path, records: list[DrawRecord]) -> None:
    """Replace the file with the records of a family."""
    arrays: dict[str, Any] = {
        f"{record.labels}/{record.number}/{field.name}": _small(
            getattr(record, field.name)
        )
        for record in records
        for field in fields(record)
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as temporary, Path(temporary).open("wb") as file:
        np.savez_compressed(file, **arrays)


def _small(value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    return array.astype(np.int16) if array.dtype.kind == "i" else array
