"""Input and output of the commands on tables: rows, costs, predictions, labels."""

import logging
import shlex
import threading
import time
import warnings
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.cli.command import FORMATS
from cdspp.core.errors import DataError, LabelWarning, problems_text
from cdspp.core.files import write_csv
from cdspp.core.labels import (
    class_table,
    read_label_column,
    require_common,
    require_distinct,
    require_used,
)
from cdspp.core.memory import available_megabytes, memory_text
from cdspp.core.names import PCA, STANDARDISE_EACH, PathLike, Paths
from cdspp.core.scaling import Scaling, fit_scaling
from cdspp.core.wording import counted, duration, shortened
from cdspp.datasets import table_bridge, table_rows
from cdspp.datasets.table_files import Columns
from cdspp.datasets.table_rows import DomainRows
from cdspp.methods import method_class
from cdspp.methods.base import SourceDomain
from cdspp.methods.bridge import PAIRS, SAME_NAMES, SHARED, spread_text
from cdspp.methods.cost import LONG_SECONDS, Cost, Size, fit_cost

ROLES = ("source", "target")
# Highest chance of a false note on drift in a file, and lowest share of rows for one.
FALSE_ALARM, FEWEST_OUTSIDE = 0.01, 0.1
MOST_PROPOSED = 5

log = logging.getLogger(__name__)


def read_domains(
    arguments: Namespace, kinds: Collection[str], *, needs_labels: bool = True
) -> tuple[DomainRows, DomainRows | None, dict[str, Any], list[str]]:
    """Return target and source, what they share of the given `kinds`, and notes."""
    target, *sources = _read_complete(arguments, needs_labels)
    if not sources:
        return target, None, {}, []
    [source], bridge = sources, dict[str, Any]()
    notes = [*class_notes(sources[0], target)]
    shared, note, factors = None, "", np.ones(source.X.shape[1])
    if SHARED in kinds or arguments.shared:
        option = arguments.shared
        shared, note, factors = table_bridge.shared_columns(option, source, target)
        source = replace(source, X=source.X * factors)
    if SHARED in kinds and shared:
        bridge[SHARED] = shared
        if note:
            notes.append(note)
        if arguments.scale != STANDARDISE_EACH:
            notes += unit_notes(source, target, shared)
    if PAIRS in kinds and arguments.paired:
        formats = [columns_of(arguments, role, required=()) for role in ROLES]
        (left, right), note = table_bridge.read_pairs(
            arguments.paired, (source, target), formats, impute=arguments.impute
        )
        bridge[PAIRS] = left * factors, right
        notes.append(note)
    if SHARED in kinds and not arguments.shared and arguments.scale != PCA:
        notes += column_suggestions(source, target, shared or [])
    if PAIRS in kinds and not arguments.paired:
        notes += id_suggestions(source, target)
    return target, source, bridge, notes


def _read_complete(arguments: Namespace, needs_labels: bool) -> list[DomainRows]:
    """Return the rows of target and source, if any, without empty cells."""
    named = arguments.target_label or arguments.label
    required = ("label", "id") if needs_labels or named else ("id",)
    fill = partial(table_rows.complete, impute=arguments.impute)
    columns = columns_of(arguments, "target", required)
    # Predictions are written by identifier.
    checks: list[Any] = [DomainRows.require_distinct_ids, fill]
    files = [(arguments.target, columns, None, *checks)]
    if arguments.source:
        table_rows.require_two_files({role: getattr(arguments, role) for role in ROLES})
        # No output names source rows, so they need no identifiers.
        columns = columns_of(arguments, "source")
        checks = [_require_classes, lambda rows: fill(rows.without_declared())]
        files.append((arguments.source, columns, None, *checks))
    tables, faults = table_rows.gather_rows(table_rows.read_domain, files)
    if not faults:
        target, *sources = tables
        if arguments.drop:
            table_rows.require_dropped(arguments.drop, tables)
        seen = frozenset[str]().union(*(rows.label_column.seen for rows in tables))
        require_used(seen, [rows.path for rows in tables])
        with table_rows.classes_explained(tables):
            require_distinct({rows.path: rows.labels for rows in tables})
        for source in sources:
            if copied := source.copy_note(target) or target.copy_note(source):
                warnings.warn(copied, LabelWarning, stacklevel=2)
            source.require_labels()
            if needs_labels or any(target.labels):
                classes = {rows.path: filter(None, rows.labels) for rows in tables}
                with table_rows.classes_explained(tables):
                    require_common(classes, "--map-labels FILE")
        return [fill(target), *(fill(rows.without_declared()) for rows in sources)]
    if len(faults) == 1 < len(files):  # the other file has a label column
        of = "target" if faults[0].startswith(f"{arguments.target}: ") else "source"
        faults = [faults[0].replace("with --label", f"with --{of}-label")]
    raise DataError("\n".join(faults))


def _require_classes(source: DomainRows) -> None:
    """Raise DataError if only some rows of a source have a class."""
    source.require_decided()
    if any(source.labels):
        source.without_declared().require_labels(of_all=True)


def class_notes(*tables: DomainRows) -> Iterator[str]:
    """Yield a table of the classes of both files if they differ."""
    classes = {rows.path: [*filter(None, rows.labels)] for rows in tables}
    if len({frozenset(labels) for labels in classes.values()}) > 1:
        text = f"note: some classes are in one file only:{class_table(classes)}"
        yield table_rows.explain_classes(text, tables)


def unit_notes(
    source: DomainRows, target: DomainRows, shared: list[tuple[int, int]]
) -> Iterator[str]:
    """Name shared columns with probably different units, and options to fix them."""
    names, columns = (source.features, target.features), tuple(np.transpose(shared))
    if spreads := spread_text((source.X, target.X), columns, names):
        pair = f"{names[0][columns[0][0]]}={names[1][columns[1][0]]}*NUMBER"
        options = f"--shared {pair}, --scale {STANDARDISE_EACH} or --shared none"
        yield f"note: {spreads}: {options}."


def column_suggestions(
    source: DomainRows, target: DomainRows, shared: list[tuple[int, int]]
) -> Iterator[str]:
    """Suggest further columns to share, with the option that shares them."""
    for pair in table_bridge.propose_columns(source, target, shared)[:MOST_PROPOSED]:
        option = shlex.quote(f"{SAME_NAMES},{pair}" if shared else str(pair))
        yield f"suggestion: --shared {option}: {pair.numbers}"


def id_suggestions(source: DomainRows, target: DomainRows) -> Iterator[str]:
    """Suggest to pair the rows whose ids are in both files."""
    if ids := table_bridge.common_ids(source, target):
        paths = (Path(rows.path) for rows in (source, target))
        files = shlex.join(str(p.with_name(f"pairs-{p.name}")) for p in paths)
        rows = f"of {len(source.ids)} and {len(target.ids)} rows"
        move = "If equal ids name the same object, move these rows to separate files"
        finding = f"suggestion: {len(ids)} ids occur in both files"
        yield f"{finding}, {rows}. {move} and add --paired {files}"


def columns_of(
    arguments: Namespace, role: str, required: tuple[str, ...] = ("label",)
) -> Columns:
    """Return the format of the file of a role, whose own names take precedence."""
    label, id_ = (
        getattr(arguments, f"{role}_{option}", None) or getattr(arguments, option)
        for option in ("label", "id")
    )
    formats = {n: getattr(arguments, n) for n in FORMATS if getattr(arguments, n)}
    return Columns(label, id_, tuple(arguments.drop), required, **formats)


def drift_notes(rows: DomainRows, ranges: Any, n_fit: int) -> Iterator[str]:
    """Name columns with too many numbers outside the range of the rows of the fit.

    If rows resemble the `n_fit` rows of the fit, the number outside their range has a
    beta-binomial distribution, whatever the column's; by chance, a column is named in
    at most one of a hundred files.
    """
    from scipy.stats import betabinom

    n_rows, width = rows.X.shape
    if ranges is None or ranges.shape != (2, width) or n_fit < 2:
        return
    low, high = ranges
    outside = np.sum((low > rows.X) | (high < rows.X), axis=0)
    chances = betabinom.pmf(np.arange(n_rows + 1), n_rows, 2, n_fit - 1)
    rare = chances[::-1].cumsum()[::-1][outside] < FALSE_ALARM / width
    drifted = np.flatnonzero(rare & (outside >= FEWEST_OUTSIDE * n_rows))
    if not len(drifted):
        return
    names = rows.features or [f"column {k + 1}" for k in range(width)]
    descriptions = [
        f"{names[k]}: {100 * outside[k] / n_rows:.0f} % outside {low[k]:.4g} to "
        f"{high[k]:.4g}, median {np.median(rows.X[:, k]):.4g}"
        for k in drifted
    ]
    share = f"{len(drifted)} of {counted(width, 'column')}"
    fault = f"values in {share} are outside the range of the fit"
    remedy = "Convert them to the units of the fit, or fit again with such rows."
    yield f"note: {fault} ({shortened(descriptions, 5)}). {remedy}"


def scaled(rows: DomainRows, scaling: Scaling) -> DomainRows:
    """Return scaled rows with a note on the scaling; an error names the file."""
    try:
        X = scaling.apply(rows.X)
    except DataError as error:
        raise DataError(f"{rows.path}: {error}") from error
    return replace(rows, X=X, scaling=str(scaling), width=scaling.n_features)


def scale_domains(
    kind: str, target: DomainRows, source: DomainRows | None, bridge: Mapping[str, Any]
) -> tuple[DomainRows, DomainRows | None, SourceDomain | None, Scaling]:
    """Return both files scaled, shared columns alike, and the target's scaling."""
    scalings = []
    for rows in (target, source) if source else (target,):
        try:
            scalings.append(fit_scaling(kind, rows.X))
        except DataError as error:
            raise DataError(f"{rows.path}: {error}") from error
    scaling, source_scaling = scalings[0], scalings[-1]
    if source is None:
        return scaled(target, scaling), None, None, scaling
    if shared := bridge.get(SHARED):
        if kind == PCA:
            remedy = "Choose another scale, or --shared none."
            raise DataError(f"--scale pca leaves no columns to share. {remedy}")
        columns_source, columns = np.transpose(shared)
        scaling = scaling.with_columns_of(source_scaling, columns, columns_source)
    if PAIRS in bridge:
        left, right = bridge[PAIRS]
        bridge = {**bridge, PAIRS: (source_scaling.apply(left), scaling.apply(right))}
    source = scaled(source, source_scaling)
    domain = SourceDomain(source.X, list(source.labels), **bridge)
    return scaled(target, scaling), source, domain, scaling


def expected_cost(
    method: str,
    target: DomainRows,
    source: DomainRows | None,
    options: Mapping[str, Any] | None = None,
    *,
    remedy: str = "",
) -> Cost:
    """Return the expected cost of one fit of a method on rows of files.

    With a further `remedy`, DataError is raised if it exceeds the free memory.
    """
    n_labelled = sum(map(bool, target.labels))
    domain = source or target
    labelled = {label for rows in (target, domain) for label in rows.labels if label}
    size = Size(
        name=target.path,
        n_classes=len(labelled),
        n_source=len(source.labels) if source else n_labelled,
        d_source=domain.X.shape[1],
        n_labelled=n_labelled,
        n_unlabelled=len(target.labels) - n_labelled,
        d_target=target.X.shape[1],
    )
    cost = fit_cost(method_class(method), size, options or {})
    limit = available_megabytes() if remedy else None
    if limit is not None and cost.megabytes > limit:
        needed = f"about {memory_text(cost.megabytes)} of memory for these rows"
        fault = f"{method} would need {needed}, but only {memory_text(limit)} is free"
        advice = "Leave rows or features out (--scale pca keeps 50)"
        raise DataError(f"{fault}. {advice}, choose another method, or {remedy}.")
    return cost


@contextmanager
def log_progress(name: str, seconds: float) -> Iterator[None]:
    """Log the expected time of a long block, and its progress."""
    start, stop = time.monotonic(), threading.Event()

    def log_times() -> None:
        while not stop.wait(LONG_SECONDS):
            elapsed = time.monotonic() - start
            log.info("%s: %s of about %s", name, duration(elapsed), duration(seconds))

    if seconds >= LONG_SECONDS:
        log.info("%s: about %s on one core", name, duration(seconds))
    thread = threading.Thread(target=log_times, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def write_predictions(
    path: PathLike,
    ids: Iterable[str],
    predicted: Iterable[Any],
    confidence: Iterable[float] | None,
) -> None:
    """Write CSV: id, predicted, confidence (empty if the method has none)."""
    texts = "" if confidence is None else [f"{value:.6g}" for value in confidence]
    columns = {"id": list(ids), "predicted": list(predicted), "confidence": texts}
    write_csv(path, pd.DataFrame(columns, dtype=object))


def _read_filled_in(path: PathLike) -> pd.DataFrame:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        remedy = "Write one with `cdspp compare --rows-to-label FILE`."
        fault = f"not a file of rows to label ({error})"
        raise DataError(f"{path}: {fault}. {remedy}") from error


def read_rows_to_label(paths: Paths, target: DomainRows) -> list[pd.DataFrame]:
    """Return files of rows to label, with the positions of the rows in the target."""
    places, tables = {name: place for place, name in enumerate(target.ids)}, []
    for path in paths:
        table = _read_filled_in(path)
        for name in ("id", "label", "made_of"):
            if name not in table:
                remedy = "Use the file as `cdspp compare --rows-to-label` wrote it"
                rest = "and only fill in labels"
                raise DataError(f"{path}: no column {name!r}. {remedy}, {rest}.")
        if unknown := [name for name in table["id"] if name not in places]:
            fault = f"{target.path}, the target, has no row {unknown[0]!r}"
            raise DataError(f"{path}: {fault}. Pass the target that it was drawn from.")
        rows = [places[name] for name in table["id"]]
        tables.append(table.rename(columns={"id": "row"}).assign(row=rows))
    return tables


def write_rows_to_label(
    path: PathLike, earlier: Paths, table: pd.DataFrame, target: DomainRows
) -> None:
    """Write rows to label, after those of earlier files that have a label."""
    ids = [target.ids[row] for row in table["row"]]
    parts = [
        part[part["label"].str.strip() != ""] for part in map(_read_filled_in, earlier)
    ]
    parts.append(table.rename(columns={"row": "id"}).assign(id=ids))
    write_csv(path, pd.concat(parts).drop_duplicates("id"))


def join_labels(
    target: DomainRows, source: DomainRows | None, paths: Paths
) -> DomainRows:
    """Return the target with the labels of rows that were labelled on request.

    DataError: a label is not a class of either file.
    """
    labels = list(target.labels)
    classes = {*labels, *(source.labels if source else ())}
    remedy = "is not a class of the tables. Write a class as the tables spell it."
    texts = []
    for path, rows in zip(paths, read_rows_to_label(paths, target), strict=True):
        faults: dict[str, None] = {}
        for place, text in zip(rows["row"], rows["label"], strict=True):
            [label] = read_label_column([text]).labels
            if label and label not in classes:
                faults[f"{label!r} {remedy}"] = None
            labels[place] = label or labels[place]
        texts += [problems_text(str(path), [*faults])] if faults else []
    if texts:
        raise DataError("\n".join(texts))
    return replace(target, labels=tuple(labels))
