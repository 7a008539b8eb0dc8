"""Labels, features, splits and fits on disk, as the stages write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cdspp.core.files import content_digest, read_json, write_json
from cdspp.core.names import PathLike, fit_key, trials_of_block
from cdspp.core.provenance import ids_digest
from cdspp.core.records import Specification, record_path, write_record
from cdspp.stages.formats import (
    FIT_COLUMNS,
    LABEL_COLUMNS,
    SPLIT_COLUMNS,
    Features,
    write_features,
    write_rows,
)

CLASSES = ("cup", "pen")

# Fields of a fit record, other than trials, that no test examines.
RECORDED: Mapping[str, Any] = {"dataset": "goods", "versions": {}}
RECORDED_OF_TRIAL = {"rounds": 1, "tested": 1, "test_ids": ""}


def write_fit(
    path: Path,
    predictions: pd.DataFrame | Mapping[str, Sequence[Any]],
    trials: Mapping[int, Mapping[str, Any]] | None = None,
    inputs: Mapping[str, str] | None = None,
) -> None:
    """Write predictions and their record.

    `trials` overrides fields in the record of a trial; a trial without predictions has
    failed.
    """
    write_rows(path, FIT_COLUMNS, predictions)
    rows, key = pd.DataFrame(predictions), fit_key(path)
    results = []
    for number in trials_of_block(key.block):
        own = rows[rows["trial"] == number]
        ids = own["id"].unique().tolist()
        result = {"trial": number, "status": "ok" if len(own) else "failed"}
        result |= {"reason": "", "collapsed": "", "rounds": own["iteration"].nunique()}
        result |= {"tested": len(ids), "test_ids": ids_digest(ids)}
        results.append(result | (trials or {}).get(number, {}))
    write_fit_record(path, inputs or {}, {**RECORDED, "trials": results})


def write_fit_record(
    path: PathLike, inputs: Mapping[str, str], extra: Mapping[str, Any]
) -> None:
    """Write the record of a fit from the digests of its inputs."""
    options = {"overlap": "exclude"}
    made_of = Specification({name: name for name in inputs}, options)
    write_record(path, made_of, inputs, extra)


def rewrite_record(path: Path, **changes: Any) -> None:
    """Change the record of a file and renew its digest, as a forger would."""
    content = {**read_json(record_path(path)), **changes}
    del content["digest"]
    write_json(record_path(path), {**content, "digest": content_digest(content)})


def write_labels(path: Path, prefix: str, classes: Sequence[str], each: int) -> Path:
    """Write a labels file with `each` samples per class."""
    pairs = [(f"{prefix}-{c}-{i}", c) for c in classes for i in range(each)]
    values = {"id": [p[0] for p in pairs], "label": [p[1] for p in pairs]}
    values["position"] = range(len(pairs))
    write_rows(path, LABEL_COLUMNS, values)
    return path


def write_domain(
    folder: Path,
    domain: str,
    view: str,
    each: int,
    width: int,
    labels: Path | None = None,
) -> None:
    """Write labels (`each` samples per class) and one view of a domain."""
    write_labels(labels or folder / f"{domain}.parquet", domain, CLASSES, each)
    ids = np.array([f"{domain}-{c}-{i}" for c in CLASSES for i in range(each)])
    X = np.zeros((ids.size, width))
    write_features(folder / f"{domain}.{view}-1f.npz", Features(X, ids[::-1], {}))


def write_block(
    folder: Path, role: str, domain: str, block: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Write rows of trial, id, role and label as a file of splits."""
    table = pd.DataFrame(rows, columns=["trial", "id", "role", "label"])
    path = folder / role / domain / f"{block}.parquet"
    write_rows(path, SPLIT_COLUMNS, table.assign(row=range(len(rows))))


def write_splits(
    folder: Path, domain: str, each: int, labelled: Mapping[int, int]
) -> None:
    """Write both roles of a domain; `labelled` maps a trial to a sample per class."""
    samples = [(f"{domain}-{c}-{i}", c, i) for c in CLASSES for i in range(each)]
    source, target = [], []
    for trial, number in labelled.items():
        source += [(trial, name, "source", c) for name, c, _ in samples]
        chosen = [sample for sample in samples if sample[2] == number]
        target += [(trial, name, "labelled", c) for name, c, _ in chosen]
        rest = [name for name, _, i in samples if i != number]
        target += [(trial, name, "unlabelled", None) for name in rest]
    block = f"{min(labelled)}-{max(labelled)}"
    write_block(folder, "source", domain, block, source)
    write_block(folder, "target", domain, block, target)
