"""A problem of heterogeneous domain adaptation, and signs of a degenerate fit."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from datetime import date, timedelta
from functools import cache
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from cdspp.core.errors import MethodFailed, NoSourceWarning
from cdspp.core.linalg import Float, Int, counts, n_rows
from cdspp.core.names import PCA
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.core.wording import counted, shortened
from cdspp.methods.bridge import Bridge, check_bridge, read_bridge
from cdspp.methods.labels import Labels

# A fit is degenerate if one class has this share or more, or the mean cosine is above.
LARGEST_SHARE, LARGEST_COSINE = 0.95, 0.99

# Fewer rows are not tested: 95 % of them means all, which occurs by chance, and a few
# rows are often nearly parallel, for instance in scikit-learn's checks.
MIN_ROWS = 20

REMEDY = (
    "centre or scale the features (scale: standardise or pca in a view, --scale of the "
    "commands, a StandardScaler or PCA in Python), or label more rows."
)
NOT_SCALE = (
    "the scale of the features is not the cause; unless the class is that common, "
    "label more rows, or compare other methods."
)


@dataclass(frozen=True, eq=False, repr=False)
class SourceDomain:
    """The labelled source samples of a heterogeneous domain adaptation problem.

    The object has no length on purpose. Otherwise scikit-learn's cross-validation would
    silently slice a source with as many rows as the target.

    Parameters
    ----------
    X : array-like of shape (n_source, n_features_source)
        Source features, whose number and meaning may differ from the target's.
    y : array-like of shape (n_source,)
        Source labels, one per row.
    shared_columns : {"same-names"} or list of pairs, default=None
        Columns with the same meaning and unit in both domains, as pairs (source column,
        target column) of numbers, or of names in data frames; "same-names" for all
        columns with the same name in both.
    paired_rows : tuple of two array-likes, default=None
        Unlabelled rows of the same objects in both feature sets, of shapes (n_pairs,
        n_features_source) and (n_pairs, n_features). None may be in either domain.

    Notes
    -----
    Methods that cannot use shared columns or paired rows ignore them; the overview of
    methods lists those that can.

    Examples
    --------
    >>> from cdspp import SourceDomain
    >>> source = SourceDomain([[0.0, 1.0], [1.0, 0.0]], ["cat", "dog"])
    >>> len(source.X)
    2
    """

    X: ArrayLike
    y: Labels
    _: KW_ONLY
    shared_columns: Any = None
    paired_rows: Any = None

    def __post_init__(self) -> None:
        """Check the number of labels, if known, and what is shared."""
        rows, labels = (n_rows(part) for part in (self.X, self.y))
        if None not in (rows, labels) and rows != labels:
            raise ValueError(
                f"SourceDomain: X has {rows} rows and y has {labels} labels. Give one "
                "label for each row."
            )
        if self.shared_columns is not None or self.paired_rows is not None:
            check_bridge(self.shared_columns, self.paired_rows)

    def __repr__(self) -> str:
        """Return one line with the shape of the domain."""
        shape = getattr(self.X, "shape", None) or np.shape(np.asarray(self.X))
        parts = [f"rows: {shape[0]}, columns: {shape[1]}"]
        if self.shared_columns is not None:
            shared = self.shared_columns
            n_shared = "equal names" if isinstance(shared, str) else len(shared)
            parts.append(f"shared columns: {n_shared}")
        if self.paired_rows is not None:
            parts.append(f"paired rows: {n_rows(self.paired_rows[0])}")
        return f"<SourceDomain: {', '.join(parts)}>"

    def with_bridges(self, kinds: Collection[str]) -> SourceDomain:
        """Return the source with only these `kinds` of shared information."""
        return SourceDomain(self.X, self.y, **{k: getattr(self, k) for k in kinds})


@cache
def note_missing_source() -> None:
    """Warn, once a process, that a method which uses a source is fitted without one."""
    warnings.warn(
        "no source was given to a method that uses one, so the labelled target rows "
        "are its source. Pass source=SourceDomain(X_source, y_source) to fit, or "
        "params={'source': ...} to cross_val_score; fit target-only if there is none.",
        NoSourceWarning,
        stacklevel=3,
    )


@contextmanager
def number_errors(X: Any, name: str, *, sparse: bool = False) -> Iterator[None]:
    """Raise ValueError for masked values, paths of files, and non-numeric columns.

    `sparse` rows are refused unless the caller takes them.
    """
    from cdspp.methods import available, method_class

    if np.ma.is_masked(X):
        masked = f"{name}: {counted(int(X.mask.sum()), 'value')} of a masked array"
        raise ValueError(f"{masked} are missing. Fill them, or drop their rows.")
    if isinstance(X, str | PathLike):
        fault = f"{name}: expected rows of numbers, got {str(X)!r:.200}"
        raise ValueError(f"{fault}. Read files with cdspp.read_table.")
    if issparse(X) and not sparse:
        takes = ", ".join(
            name for name in available() if method_class(name).accepts_sparse
        )
        fault = f"{name}: expected dense rows, got sparse rows. Pass its toarray()"
        raise ValueError(f"{fault}; fits of these methods take sparse rows: {takes}.")
    if odd := _odd_columns(X):
        raise ValueError(_not_numbers(name, odd))
    try:
        yield
    except (TypeError, ValueError) as error:
        kinds: Any = getattr(X, "dtypes", None)
        pairs = kinds.items() if hasattr(kinds, "items") else ()
        named = [str(column) for column, kind in pairs if kind.kind not in "biuf"]
        converts = isinstance(error, TypeError) or "could not convert" in str(error)
        if not (named and converts):
            raise
        raise ValueError(_not_numbers(name, named)) from error


def _not_numbers(name: str, columns: Sequence[str]) -> str:
    return (
        f"{name}: {counted(len(columns), 'column')} of text or dates "
        f"({shortened(columns)}), expected numbers. Encode them, for example with "
        "cdspp.TableEncoder(categories='one-hot', dates='number')."
    )


def _odd_columns(X: Any) -> list[str]:
    """Name the columns of dates, durations and 1_7, which NumPy turns into numbers.

    Columns of text are named, too.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        kinds = dict(zip(map(str, X.columns), X.dtypes, strict=True))
        columns = ((name, kinds[str(name)], X[name]) for name in X.columns)
        if not any(_is_odd(kind, cells) for _, kind, cells in columns):
            return []
        return [
            k for k, kind in kinds.items() if getattr(kind, "kind", "O") not in "biuf"
        ]
    array = np.asarray(X) if isinstance(X, (list, tuple)) else X
    if (
        getattr(array, "ndim", 0) != 2
        or getattr(array.dtype, "kind", "") not in "mMOUS"
    ):
        return []
    parts = enumerate(np.asarray(array).T, start=1)
    return [f"column {k}" for k, cells in parts if _is_odd(cells.dtype, cells)]


def _is_odd(kind: Any, cells: Any) -> bool:
    """Return whether a column of a type has cells that no number stands for."""
    if hasattr(kind, "is_temporal"):  # a type of polars
        return bool(kind.is_temporal())
    if kind.kind not in "OUS":
        return bool(kind.kind in "mM")
    for cell in np.asarray(cells, dtype=object):
        if isinstance(cell, (date, timedelta, np.datetime64, np.timedelta64)):
            return True
        if isinstance(cell, str) and "_" in cell:
            return True
    return False


@dataclass(frozen=True, eq=False)
class Problem:
    """A validated problem with classes as codes ``0 .. n_classes - 1``.

    All rows are float64, those of `X_labelled` and `X_unlabelled` of equal width.
    """

    X_source: Float
    y_source: Int
    X_labelled: Float
    y_labelled: Int
    X_unlabelled: Float
    n_classes: int
    bridge: Bridge | None = None
    more_sources: tuple[tuple[Float, Int], ...] = ()

    @property
    def sources(self) -> tuple[tuple[Float, Int], ...]:
        """Rows and class codes of every source; usually there is one."""
        return (self.X_source, self.y_source), *self.more_sources

    def replace_source(self, X: Float, y: Int) -> Problem:
        """Return the problem with one other source instead of all sources."""
        return replace(self, X_source=X, y_source=y, more_sources=())

    def require_every_class(self, classes: NDArray[Any]) -> None:
        """Raise MethodFailed if a class has no source row or no labelled target row."""
        sides = ((self.y_source, "source"), (self.y_labelled, "labelled target"))
        for codes, side in sides:
            if len(missing := np.flatnonzero(counts(codes, self.n_classes) == 0)):
                raise MethodFailed(f"class {classes[missing[0]]} has no {side} row")

    def map_rows(self, source: Any, target: Any, unlabelled: Any = None) -> Problem:
        """Return the problem with a function applied to the rows of each domain."""
        return replace(
            self,
            X_source=source(self.X_source),
            more_sources=tuple((source(X), y) for X, y in self.more_sources),
            X_labelled=target(self.X_labelled),
            X_unlabelled=(unlabelled or target)(self.X_unlabelled),
            bridge=self.bridge and self.bridge.map_rows(source, target),
        )


def scale_domains(
    kind: str, X: ArrayLike, source: SourceDomain
) -> tuple[Scaling, SourceDomain]:
    """Return the scaling of target rows, seen or new, and the scaled source.

    Each domain is scaled by its own rows, except that shared columns have the source's
    scale, unless the kind is ``standardise-each``. Paired rows are scaled like the rows
    of their domain. The returned source refers to shared columns by number.
    """
    with number_errors(X, "X"), number_errors(source.X, "source.X"):
        rows, X_source = (check_array(part, dtype=np.float64) for part in (X, source.X))
    bridge = read_bridge(source, (X_source, rows), (source.X, X), check_array)
    if kind == PCA and len(bridge.source):
        raise ValueError(
            "shared_columns: principal components leave no columns to share. Choose "
            "another scale."
        )
    source_scaling = fit_scaling(kind, X_source)
    scaling = fit_scaling(kind, rows)
    scaling = scaling.with_columns_of(source_scaling, bridge.target, bridge.source)
    pairs = bridge.map_rows(source_scaling.apply, scaling.apply)
    shared = list(zip(bridge.source.tolist(), bridge.target.tolist(), strict=True))
    scaled = SourceDomain(
        source_scaling.apply(X_source),
        source.y,
        shared_columns=shared or None,
        paired_rows=(pairs.pairs_source, pairs.pairs_target) if pairs.n_pairs else None,
    )
    return scaling, scaled


class Collapse(NamedTuple):
    """A kind of degenerate fit, empty if none; `sentence` follows the method's name."""

    kind: str = ""
    sentence: str = ""


def find_collapse(
    predicted: NDArray[Any], n_labelled_classes: int, rows: Mapping[str, Any]
) -> Collapse:
    """Return the first sign of a degenerate fit.

    `predicted` are the labels of unlabelled rows; directions are compared in `rows`.
    """
    if n_labelled_classes > 1 and len(predicted) >= MIN_ROWS:
        labels, sizes = np.unique(predicted, return_counts=True)
        share = float(sizes.max() / len(predicted))
        if share >= LARGEST_SHARE:
            return Collapse(
                "one class",
                f"predicts class {labels[sizes.argmax()]} for {100 * share:.1f} % of "
                f"{len(predicted)} unlabelled rows, although {n_labelled_classes} "
                f"classes are labelled; {_remedy(rows)}",
            )
    for domain, X in rows.items():
        if (cosine := mean_cosine(X)) > LARGEST_COSINE:
            return Collapse(
                "parallel rows",
                f"sees {domain} rows that are nearly parallel: their mean cosine is "
                f"{cosine:.4f}, above the limit of {LARGEST_COSINE}; {REMEDY}",
            )
    return Collapse()


def _remedy(rows: Mapping[str, Any]) -> str:
    """Return what to do, depending on whether the rows of a domain lack a scale."""
    for X in rows.values():
        with np.errstate(over="ignore", invalid="ignore"):
            squares = X.multiply(X) if issparse(X) else X**2
            sums = np.asarray(squares.sum(axis=0)).ravel()
            is_one_column = len(sums) > 1 and sums.max() > LARGEST_COSINE * sums.sum()
        if is_one_column or mean_cosine(X) > LARGEST_COSINE:
            return REMEDY
    return NOT_SCALE if rows else REMEDY


def mean_cosine(X: Any) -> float:
    """Return the mean cosine of all pairs of nonzero rows; NaN for too few rows.

    It equals the squared length of the mean of the rows scaled to unit length.
    """
    # Rows whose squares overflow or underflow are left out as well.
    with np.errstate(over="ignore", under="ignore"):
        if issparse(X):
            lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        else:
            lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    is_counted = (lengths > 0) & np.isfinite(lengths)
    weights = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=is_counted)
    n = int(is_counted.sum())
    if n < MIN_ROWS:
        return float("nan")
    mean = (weights @ X) / n
    return float(mean @ mean)
