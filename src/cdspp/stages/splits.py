"""Splits of trials into labelled and unlabelled samples: seeded, nested, per domain.

A domain's splits do not depend on the task, so that a target has the same labelled
samples for every source and every method. Source and target roles have separate files:
the file of a target holds no label of a test sample.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdspp.core import names
from cdspp.core.names import PathLike, trials_of_block
from cdspp.core.seeding import generator
from cdspp.datasets.base import read_index
from cdspp.datasets.published import draw_published
from cdspp.stages import formats

ROLES = {"source": names.SOURCE, "target": names.LABELLED}  # of labelled samples
NO_LABEL: Any = None  # of test samples, whose labels stay in this module


def draw_seeded(
    labels: NDArray[Any],
    per_class: int,
    rng: np.random.Generator,
    *,
    unlabelled: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows drawn as labelled and those left as unlabelled, ascending.

    If a class has fewer than `per_class` rows, all are labelled; of the other rows,
    `unlabelled` stay, or all. Rows without a label (None) are all unlabelled. One
    permutation per class is drawn whatever the numbers are, so that the rows of a
    smaller number are among those of a larger one.
    """
    is_unlabelled = np.array([label is None for label in labels], dtype=bool)
    labelled, rest = [], [np.flatnonzero(is_unlabelled)]
    for label in np.unique(labels[~is_unlabelled]):
        order = rng.permutation(np.flatnonzero(labels == label))
        labelled.append(order[:per_class])
        # From the end, so that more labelled rows leave the same unlabelled ones.
        rest.append(order[per_class:][::-1][:unlabelled])
    return np.sort(np.concatenate(labelled)), np.sort(np.concatenate(rest))


def write_split(
    *,
    labels: PathLike,
    output: PathLike,
    dataset: str,
    domain: str,
    role: str,
    protocol: str,
    per_class: int,
    unlabelled: int | None,
    classes: Sequence[str],
    block: str,
    seed: int,
) -> None:
    """Draw and write the splits of one domain, role and batch of trials.

    `output` receives `SPLIT_COLUMNS`; a source file has only labelled samples. The
    protocol selects `draw_seeded`, or `cdspp.datasets.published.draw_published` with
    the order of `classes`.
    """
    samples = formats.read_rows(labels, formats.LABEL_COLUMNS)
    ids, classes_of = samples["id"], samples["label"]
    order = np.argsort(samples["position"], kind="stable")
    # As published, because some methods depend on the order of their rows.
    positions = samples["position"] if protocol == "published" else np.arange(len(ids))
    rows: dict[str, list[Any]] = {name: [] for name in formats.SPLIT_COLUMNS}
    for trial in trials_of_block(block):
        if protocol == "seeded":
            rng = generator(seed, "split", dataset, domain, role, trial)
            drawn, rest = draw_seeded(classes_of, per_class, rng, unlabelled=unlabelled)
        else:
            options: dict[str, Any] = {"class_order": classes, "unlabelled": unlabelled}
            places = draw_published(classes_of[order], per_class, trial, **options)
            drawn, rest = (order[part] for part in places)
        rows_of_role = drawn if role == names.SOURCE else np.concatenate([drawn, rest])
        in_order = rows_of_role[np.argsort(positions[rows_of_role], kind="stable")]
        rows["trial"] += [trial] * len(in_order)
        rows["id"] += ids[in_order].tolist()
        rows["row"] += in_order.tolist()
        labelled = np.isin(in_order, drawn)
        rows["role"] += np.where(labelled, ROLES[role], names.UNLABELLED_ROLE).tolist()
        rows["label"] += np.where(labelled, classes_of[in_order], NO_LABEL).tolist()
    formats.write_rows(output, formats.SPLIT_COLUMNS, rows)


def write_pairs(*, index: PathLike, output: PathLike, block: str, seed: int) -> None:
    """Draw the order of a data set's paired rows for each trial of a batch.

    Fits use the first pairs, so that those of a smaller number are among those of a
    larger one. All domains have the same paired rows, which have no labels.
    """
    content = read_index(Path(index))
    domain = next(iter(content.domains))
    ids = np.array([sample.id for sample in content.samples(domain) if sample.paired])
    rows: dict[str, list[Any]] = {name: [] for name in formats.PAIR_COLUMNS}
    for trial in trials_of_block(block):
        rng = generator(seed, "pairs", content.dataset, trial)
        rows["trial"] += [trial] * len(ids)
        rows["id"] += rng.permutation(ids).tolist()
    formats.write_rows(output, formats.PAIR_COLUMNS, rows)


def write_test_shares(*, labels: PathLike, split: PathLike, output: PathLike) -> None:
    """Write the share of each class among the test samples, by trial and class.

    This is the only exception to the rule that no fit sees a test label: the published
    numbers of SHFA depend on these shares, so a study may give them to a method as its
    prior. Tables mark the row of such a method, and no comparison includes it.
    """
    truth = formats.labels_by_id(labels)
    classes = np.unique(list(truth.values()))
    drawn = formats.read_rows(split, formats.SPLIT_COLUMNS)
    rows: dict[str, list[Any]] = {name: [] for name in formats.SHARE_COLUMNS}
    for trial in np.unique(drawn["trial"]):
        is_tested = (drawn["trial"] == trial) & (drawn["role"] == names.UNLABELLED_ROLE)
        labels_tested = np.array([truth[name] for name in drawn["id"][is_tested]])
        rows["trial"] += [int(trial)] * len(classes)
        rows["label"] += classes.tolist()
        rows["share"] += [float(np.mean(labels_tested == label)) for label in classes]
    formats.write_rows(output, formats.SHARE_COLUMNS, rows)
