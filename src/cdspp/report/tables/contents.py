"""Tables of the data: the contents of each domain, and overlaps within a task."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cdspp.core import names
from cdspp.core.errors import DataError
from cdspp.core.names import (
    UNLABELLED_ROLE,
    PathLike,
    Paths,
    feature_names,
    within_domain,
)
from cdspp.core.wording import DASH, task_title
from cdspp.report.tables.table import (
    Cell,
    Table,
    caption,
    fraction_cell,
    number_cell,
    write_tables,
)
from cdspp.stages import formats
from cdspp.study.plan import BenchmarkPlan, Plans

Splits = Mapping[tuple[str, str], pd.DataFrame]  # by role and domain

_RANDOM_WEIGHTS = "random weights"
_TREATMENT = {
    "keep": "They stay in the test, as in the published trials.",
    "exclude": "The fits leave them out of the test.",
}


def write_contents(
    plans: Plans, labels: Paths, features: Paths, splits: Paths, outputs: Paths
) -> None:
    """Write the contents of a benchmark, and the overlaps of its tasks."""
    [plan] = plans
    contents = count_contents(plan, labels, features, splits)
    overlap = count_overlap(read_splits(splits, plan.n_trials), plan)
    tables = build_contents_table(contents, plan), build_overlap_table(overlap, plan)
    write_tables(tables, outputs)


def read_splits(paths: Iterable[PathLike], n_trials: int) -> Splits:
    """Read ``.../<role>/<domain>/<block>.parquet``, with the blocks of each joined.

    Blocks are drawn whole; only trials up to `n_trials` are returned.
    """
    blocks: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in map(Path, paths):
        role, domain = path.parent.parts[-2:]
        block = formats.read_frame(path, formats.SPLIT_COLUMNS)
        in_study = block[block["trial"] <= n_trials]
        blocks.setdefault((role, domain), []).append(in_study)
    return {key: pd.concat(each, ignore_index=True) for key, each in blocks.items()}


def count_contents(
    plan: BenchmarkPlan, labels: Paths, features: Paths, splits: Paths
) -> pd.DataFrame:
    """Count the contents of a benchmark, one row per role and domain.

    DataError: features and labels have different samples.
    """
    label_files = {path.stem: path for path in map(Path, labels)}
    feature_files = {feature_names(path): Path(path) for path in features}
    blocks, roles = read_splits(splits, plan.n_trials), names.role_domains(plan.tasks)
    pairs, entries = [(r, domain) for r in roles for domain in roles[r]], []
    for role, domain in pairs:
        path = label_files[domain]
        features_path = feature_files[domain, plan.views[role]]
        class_of = formats.labels_by_id(path)
        described = formats.read_features(features_path)
        # Paired rows come last, and have no label.
        if class_of.keys() != set(described.ids[: len(class_of)]):
            raise DataError(
                f"{features_path}: {len(described.ids)} samples, but {len(class_of)} "
                f"in {path}, or other ids. Delete both, and run the study again."
            )
        entry = {
            "benchmark": plan.benchmark,
            "role": role,
            "dataset": path.parent.name,
            "domain": domain,
            "samples": len(class_of),
            "classes": len({label for label in class_of.values() if label}),
            "view": ", ".join([plan.views[role], *_view_notes(described.provenance)]),
            "features": int(described.X.shape[1]),
            "paired": len(described.ids) - len(class_of),
        }
        entries.append(entry | _trials(blocks[role, domain], class_of))
    return pd.DataFrame(entries)


def build_contents_table(contents: pd.DataFrame, plan: BenchmarkPlan) -> Table:
    """Build the table ``contents_<benchmark>``: a line per domain and role."""
    paired = bool(contents["paired"].any())
    left_out = any(map(within_domain, plan.tasks)) and plan.overlap == "exclude"
    but = ", except those that the task has labelled in its source" if left_out else ""
    text = caption("tables", "contents", trials=contents["trials"].max(), but=but)
    text += " Paired rows are in every domain, and in no other count." if paired else ""
    columns = {
        "Domain": lambda entry: Cell(entry.domain),
        "Serves as": lambda entry: Cell(entry.role),
        "Data set": lambda entry: Cell(entry.dataset),
        "View": lambda entry: Cell(entry.view),
        "Samples": lambda entry: number_cell(entry.samples),
        **({"Paired": lambda entry: number_cell(entry.paired)} if paired else {}),
        "Classes": lambda entry: number_cell(entry.classes),
        "Features": lambda entry: number_cell(entry.features),
        "Labelled per class": lambda entry: _range(entry, "labelled_per_class"),
        "Labelled": lambda entry: _range(entry, "labelled"),
        "Test": lambda entry: _range(entry, "unlabelled"),
    }
    return Table.of(
        f"contents_{plan.benchmark}",
        f"{plan.title}: contents",
        text,
        columns,
        contents.itertuples(),
        block=lambda entry: entry.role.capitalize(),
        data=contents,
        text_columns=4,
        headings=True,
    )


def untrained_text(path: PathLike) -> str:
    """Return a warning on features of untrained networks, by a ``contents_*.csv``."""
    contents = formats.read_csv(path, dict.fromkeys(("role", "domain", "view"), "str"))
    random = contents["view"].str.split(", ").map(lambda text: _RANDOM_WEIGHTS in text)
    parts = []
    for role in ("source", "target"):
        in_role = contents["role"] == role
        domains = contents["domain"][in_role & random]
        domain_text = f" ({', '.join(domains)})" if len(domains) < in_role.sum() else ""
        if len(domains):
            parts.append(f"the {role}{domain_text}")
    text = f"Features of {' and '.join(parts)} come from a network with "
    return f"{text}{_RANDOM_WEIGHTS}." if parts else ""


def count_overlap(splits: Splits, plan: BenchmarkPlan) -> pd.DataFrame:
    """Count the test samples that are also labelled in the source: one row per task."""
    return pd.DataFrame([_overlap(task, splits, plan.benchmark) for task in plan.tasks])


def build_overlap_table(overlap: pd.DataFrame, plan: BenchmarkPlan) -> Table:
    """Build the table ``overlap_<benchmark>``: a line per task that shares samples."""
    shared = overlap[overlap["shared_samples"] > 0]
    text = caption("tables", "overlap", treatment=_TREATMENT[plan.overlap])
    if shared.empty:
        text = "No test sample of any task and trial is a labelled source sample."
    elif len(shared) < len(overlap):
        text += " No other task shares a sample in any trial."
    within = {True: "within one domain", False: ""}
    columns = {
        "Task": lambda e: Cell(task_title(e.task), note=within[e.within_domain]),
        "Test samples": lambda e: Cell(f"{e.test_samples:.1f}".removesuffix(".0")),
        "In the source": lambda e: Cell(f"{e.shared_samples:.1f}"),
        "Share": lambda entry: fraction_cell(entry.share),
        "Lowest": lambda entry: fraction_cell(entry.lowest_share),
        "Highest": lambda entry: fraction_cell(entry.highest_share),
    }
    return Table.of(
        f"overlap_{plan.benchmark}",
        f"{plan.title}: test samples that the source has labelled",
        text,
        columns,
        shared.itertuples(),
        data=overlap,
        empty="",
    )


def _overlap(task: str, splits: Splits, benchmark: str) -> dict[str, object]:
    sources, target = names.task_domains(task)
    labelled = [splits["source", source] for source in sources]
    target_split = splits["target", target]
    trials = sorted(set(target_split["trial"]))
    tested = target_split[target_split["role"] == UNLABELLED_ROLE]
    of_source = pd.MultiIndex.from_frame(pd.concat(labelled)[["trial", "id"]])
    match = pd.MultiIndex.from_frame(tested[["trial", "id"]]).isin(of_source)
    counts = pd.Series(match).groupby(tested["trial"].to_numpy()).agg(["size", "sum"])
    number, shared = counts.reindex(trials, fill_value=0).to_numpy().T
    shares = shared / number
    entry = {"benchmark": benchmark, "task": task, "within_domain": within_domain(task)}
    return entry | {
        "trials": len(trials),
        "test_samples": float(number.mean()),
        "shared_samples": float(shared.mean()),
        "share": float(shares.mean()),
        "lowest_share": float(shares.min()),
        "highest_share": float(shares.max()),
    }


def _view_notes(provenance: Mapping[str, Any]) -> Iterator[str]:
    if "view" in provenance:
        yield from _view_notes(provenance["view"])
    if provenance.get("options", {}).get("weights") == names.UNTRAINED:
        yield _RANDOM_WEIGHTS
    if "scale" in provenance:
        yield f"scale {provenance['scale']}"


def _trials(split: pd.DataFrame, class_of: Mapping[str, str]) -> dict[str, int]:
    scored = split["id"].map(class_of).fillna("") != ""
    unlabelled = (split["role"] == UNLABELLED_ROLE) & scored
    labelled = split[split["role"] != UNLABELLED_ROLE]
    per_class = pd.crosstab(labelled["trial"], labelled["label"])
    per_trial = {
        "labelled_per_class": per_class.to_numpy(),
        "labelled": per_class.sum(axis=1),
        "unlabelled": unlabelled.groupby(split["trial"]).sum(),
    }
    counts = {"trials": split["trial"].nunique()}
    for name, each in per_trial.items():
        counts |= {f"fewest_{name}": int(each.min()), f"most_{name}": int(each.max())}
    return counts


def _range(entry: Any, name: str) -> Cell:
    low, high = getattr(entry, f"fewest_{name}"), getattr(entry, f"most_{name}")
    if name == "unlabelled" and entry.role == "source":
        return Cell(DASH)
    return Cell(f"{low} to {high}", value=high) if low < high else number_cell(high)
