"""Table 1, counted from the data: domains, samples, classes, features, labels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.analysis.splits import read_splits, split_of
from cdspp.core.errors import DataError
from cdspp.core.names import UNLABELLED_ROLE, UNTRAINED, within_domain
from cdspp.core.wording import DASH
from cdspp.report.tables.table import Cell, Table
from cdspp.stages.artifacts import labels_by_id, read_csv, read_features
from cdspp.study.plan import BenchmarkPlan

__all__ = ["build_contents_table", "count_contents", "untrained_text"]

PathLike = str | os.PathLike[str]

_ROLES = ("source", "target")
_RANDOM_WEIGHTS = "random weights"


def count_contents(
    plan: BenchmarkPlan,
    labels: Sequence[PathLike],
    features: Sequence[PathLike],
    splits: Sequence[PathLike],
) -> pd.DataFrame:
    """Count what a benchmark holds: a row a role and domain, sources first.

    The order is that in which the tasks name domains. Files of labels are named
    ``.../<dataset>/<domain>.parquet``, those of features
    ``.../<dataset>/<domain>.<view>.npz``; of splits all blocks of all domains are
    needed. Counted are samples, classes and features of the domain, and over trials the
    fewest and most labelled samples of a class, labelled samples, and unlabelled ones,
    which are the test samples. `DataError` says that the file of a domain is missing,
    or that features and labels have other samples.
    """
    label_files = {path.stem: path for path in map(Path, labels)}
    feature_files = {path.stem: path for path in map(Path, features)}
    blocks = read_splits(splits)
    found = []
    for place, role in enumerate(_ROLES):
        view = plan.views[role]
        for domain in dict.fromkeys(task.split("_")[place] for task in plan.tasks):
            names = _file(label_files, domain)
            described = _file(feature_files, f"{domain}.{view}")
            entry: dict[str, Any] = {"benchmark": plan.benchmark, "role": role}
            entry |= {"dataset": names.parent.name, "domain": domain}
            entry |= _domain(names, described, view)
            found.append(entry | _trials(split_of(blocks, role, domain), names))
    return pd.DataFrame(found)


def build_contents_table(contents: pd.DataFrame, plan: BenchmarkPlan) -> Table:
    """Build the table ``contents_<benchmark>``: a line a domain and role."""
    paired = bool(contents["paired"].any())
    pairs = " Paired samples are in every domain, and none of these." * paired
    exception = ""
    if any(map(within_domain, plan.tasks)) and plan.overlap == "exclude":
        exception = ", save those that the task has labelled in its source"
    trials = contents["trials"].max()
    columns = {
        "Domain": lambda entry: Cell(entry.domain),
        "Serves as": lambda entry: Cell(entry.role),
        "Data set": lambda entry: Cell(entry.dataset),
        "View": lambda entry: Cell(entry.view),
        "Samples": lambda entry: _number(entry.samples),
        **({"Paired": lambda entry: _number(entry.paired)} if paired else {}),
        "Classes": lambda entry: _number(entry.classes),
        "Features": lambda entry: _number(entry.features),
        "Labelled per class": lambda entry: _range(entry, "labelled_per_class"),
        "Labelled": lambda entry: _range(entry, "labelled"),
        "Test": lambda entry: _range(entry, "unlabelled"),
    }
    return Table.of(
        f"contents_{plan.benchmark}",
        f"{plan.title}: what it holds",
        "Counted from the files of features, labels and splits: labelled and test "
        f"samples of a trial, a range where trials (of {trials}) or classes differ. "
        f"Every unlabelled target sample is a test sample{exception}.{pairs}",
        columns,
        contents.itertuples(),
        block=lambda entry: entry.role.capitalize(),
        data=contents,
        text_columns=4,
        headings=True,
    )


def untrained_text(path: PathLike) -> str:
    """Say, by a ``contents_*.csv``, which features untrained networks made, if any."""
    contents = read_csv(path, dict.fromkeys(("role", "domain", "view"), "str"))
    random = contents["view"].str.split(", ").map(lambda told: _RANDOM_WEIGHTS in told)
    parts = []
    for role in _ROLES:
        ours = contents["role"] == role
        domains = contents["domain"][ours & random]
        some = f" ({', '.join(domains)})" if len(domains) < ours.sum() else ""
        parts += [f"the {role}{some}"] * bool(len(domains))
    whose = " and ".join(parts)
    told = f"Features of {whose} come from a network with {_RANDOM_WEIGHTS}."
    return told if parts else ""


def _file(files: dict[str, Path], key: str) -> Path:
    if key not in files:
        known = ", ".join(files) or "none"
        raise DataError(
            f"expected a file of {key}, got those of {known}. Give the files of all "
            "domains that the tasks use."
        )
    return files[key]


def _domain(labels: Path, features: Path, view: str) -> dict[str, object]:
    known, described = labels_by_id(labels), read_features(features)
    # Paired samples come last, and have no label.
    if known.keys() != set(described.ids[: len(known)]):
        raise DataError(
            f"{features}: {len(described.ids)} samples, but {len(known)} in {labels}, "
            "or others. Delete both and run again."
        )
    return {
        "samples": len(known),
        "classes": len({label for label in known.values() if label}),
        "view": ", ".join([view, *_told(described.provenance)]),
        "features": int(described.X.shape[1]),
        "paired": len(described.ids) - len(known),
    }


def _told(provenance: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a reader has to know of a view: untrained networks, the scale."""
    if "view" in provenance:
        yield from _told(provenance["view"])
    if provenance.get("options", {}).get("weights") == UNTRAINED:
        yield _RANDOM_WEIGHTS
    if "scale" in provenance:
        yield f"scale {provenance['scale']}"


def _trials(split: pd.DataFrame, labels: Path) -> dict[str, int]:
    """Count samples by trial: labelled ones of each class, labelled, tested."""
    known = labels_by_id(labels)
    scored = split["id"].map(known).fillna("") != ""
    unlabelled = (split["role"] == UNLABELLED_ROLE) & scored
    labelled = split[split["role"] != UNLABELLED_ROLE]
    per_class = pd.crosstab(labelled["trial"], labelled["label"])
    per_trial = {
        "labelled_per_class": per_class.to_numpy(),
        "labelled": per_class.sum(axis=1),
        "unlabelled": unlabelled.groupby(split["trial"]).sum(),
    }
    counts = {"trials": split["trial"].nunique()}
    for name, found in per_trial.items():
        counts |= {f"fewest_{name}": int(found.min()), f"most_{name}": int(found.max())}
    return counts


def _number(number: int) -> Cell:
    return Cell(str(number), value=number)


def _range(entry: Any, name: str) -> Cell:
    low, high = getattr(entry, f"fewest_{name}"), getattr(entry, f"most_{name}")
    if name == "unlabelled" and entry.role == "source":
        return Cell(DASH)
    return Cell(f"{low} to {high}", value=high) if low < high else _number(high)
