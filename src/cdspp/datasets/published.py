"""Published data sets: samples and splits that follow from the catalogue only.

Samples of a domain have the order of its rows in the published matrices and of its
files by class and name. Rows of features are nevertheless ordered by id, so that no row
number reveals the class. Trial t is the t-th mask over the samples in this order.

Digests of the masks detect other class sizes, and another order of the class ids or of
the blocks, which shift the numbers of the random stream. They do not detect the order
of samples inside a block, their features, two swapped samples that no trial labels, or
the order of classes that are labelled as a whole.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cdspp.core.errors import DataError
from cdspp.datasets.base import Dataset, Sample, opaque_id

DECISIVE = ("kind", "classes", "class_sizes", "order", "paired")
TRIALS = 10  # number of trials with stored masks
Rows = NDArray[np.intp]


class PublishedDataset(Dataset):
    """A data set of the catalogue (its `entry`) that is downloaded, not generated."""

    keeps_positions = True

    def __init__(self, identifier: str, entry: Mapping[str, Any]) -> None:
        self.identifier = identifier
        self.entry = entry
        self.kind = str(entry["kind"])
        self.domains = tuple(entry["class_sizes"])
        self.classes = tuple(entry["classes"])

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Return the samples; their files are fetched separately."""
        return {domain: self._samples(domain) for domain in self.domains}

    def fingerprint(self) -> str:
        """Return a digest of the facts that determine the samples and their order."""
        decisive = {key: self.entry.get(key) for key in DECISIVE}
        return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:16]

    def _samples(self, domain: str) -> list[Sample]:
        order = self.entry.get("order", {})
        start, step = order.get("places", {}).get(domain, (0, 1))
        base = self.identifier if order.get("shared") else f"{self.identifier}/{domain}"
        samples = []
        for number, label in enumerate(published_labels(self.entry, domain)):
            place = start + step * number
            samples.append(Sample(opaque_id(f"{base}/{place}"), "", label, place))
        n_unpaired = len(samples)
        for number in range(self.entry.get("paired", 0)):
            name = opaque_id(f"{self.identifier}/paired/{number}")
            samples.append(Sample(name, "", "", n_unpaired + number, paired=True))
        return samples


def published_labels(entry: Mapping[str, Any], domain: str) -> list[str]:
    """Return the classes of a domain's samples in the order of the published files.

    The `order` of an entry lists the classes in the order of their `blocks`, by default
    that of `classes`, and by domain the `rounds` in which the blocks come, as numbers
    of samples per class.
    """
    order = entry.get("order", {})
    blocks = order.get("blocks", entry["classes"])
    rounds = order.get("rounds", {}).get(domain)
    if rounds is not None:
        return [name for n in rounds for name in blocks for _ in range(n)]
    sizes = dict(zip(entry["classes"], entry["class_sizes"][domain], strict=True))
    return [name for name in blocks for _ in range(sizes[name])]


def draw_published(
    labels: ArrayLike,
    per_class: int,
    trial: int,
    *,
    class_order: Sequence[str],
    unlabelled: int | None = None,
) -> tuple[Rows, Rows]:
    """Return the labelled and the unlabelled rows of a trial, by the authors' rule.

    The rule visits the classes in `class_order`. A class of at most `per_class` samples
    is labelled as a whole and uses no random numbers. Any other class of n samples uses
    n numbers, in the order of its samples: those with the `per_class` smallest are
    labelled; those with the `unlabelled` largest, or by default all others, are
    unlabelled. Rows are positions in the published files, ascending. The seed is the
    number of the trial, for both source and target.
    """
    names = np.asarray(labels)
    # The legacy generator gives the same numbers as the authors' MATLAB.
    stream = np.random.RandomState(trial)
    labelled, others = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    for rows in (np.flatnonzero(names == name) for name in class_order):
        if len(rows) <= per_class:
            labelled.append(rows)
            continue
        ranked = rows[np.argsort(stream.random_sample(len(rows)), kind="stable")]
        labelled.append(ranked[:per_class])
        others.append(ranked[per_class:][::-1][:unlabelled])
    return np.sort(np.concatenate(labelled)), np.sort(np.concatenate(others))


def packed_digest(masks: ArrayLike) -> str:
    """Return the sha256 of masks (n_trials, n), each row packed to whole bytes."""
    packed = np.packbits(np.asarray(masks, dtype=bool), axis=1)
    return hashlib.sha256(packed.tobytes()).hexdigest()


def check_published_splits(
    where: str, labels: ArrayLike, class_order: Sequence[str], stored: Mapping[str, Any]
) -> None:
    """Raise DataError unless the domain `where` gives the ten `stored` masks.

    Their `per_class`, `n` and `sha256` are in ``published-splits.json``.
    """
    n, per_class = np.size(labels), stored["per_class"]
    masks = np.zeros((TRIALS, n), dtype=bool)
    for trial, mask in enumerate(masks, start=1):
        rows, _ = draw_published(labels, per_class, trial, class_order=class_order)
        mask[rows] = True
    if n == stored["n"] and packed_digest(masks) == stored["sha256"]:
        return
    raise DataError(
        f"{where}: the trials drawn from its {n} samples are not the published ones of "
        f"{stored['n']}. The order or labels of this copy differ from the authors', so "
        "its results cannot be paired with the published trials. Fetch the published "
        "files again, or draw the splits from a seed."
    )
