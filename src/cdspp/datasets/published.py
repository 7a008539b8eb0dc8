"""Published data sets: samples and splits that follow from the catalogue alone.

The published order of a domain is the order of its rows in the published matrices and
of its files by class and name. It decides the published splits; rows of features are
ordered by id all the same, so that no row number tells the class.

Trial t of a published study is the t-th mask over the samples of a domain in this
order. The masks come from a rule that depends on nothing but the labels, so they can be
drawn for any copy of the data (`draw_published`). The digests of the stored masks are
shipped with the project, and `check_published_splits` compares a copy with them.

Where the ten masks of a copy equal the stored ones, every trial labels the same places.
Other class sizes, another order of the class ids or of the blocks would show, because
they move the numbers of the random stream. Not seen are the order of the samples inside
a block, their features, two swapped samples that no trial labels, and the order of
classes that are labelled as a whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cdspp.core.errors import DataError
from cdspp.datasets.base import Dataset, Sample, opaque_id

__all__ = [
    "PublishedDataset",
    "check_published_splits",
    "draw_published",
    "masks_digest",
    "packed_digest",
    "published_labels",
]

DECISIVE = ("kind", "classes", "class_sizes", "order", "paired")
TRIALS = 10  # for which the authors stored masks
Rows = NDArray[np.intp]


class PublishedDataset(Dataset):
    """A data set of the catalogue (its `entry`) that is downloaded, not generated."""

    def __init__(self, identifier: str, entry: Mapping[str, Any]) -> None:
        self.identifier = identifier
        self.entry = entry
        self.kind = str(entry["kind"])
        self.domains = tuple(entry["class_sizes"])
        self.classes = tuple(entry["classes"])

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Return the samples; their files are fetched by others."""
        return {domain: self._samples(domain) for domain in self.domains}

    def placed(self, samples: Sequence[Sample]) -> Iterable[Sample]:
        """Return the samples, whose positions are those in the published files."""
        return samples

    def fingerprint(self) -> str:
        """Return a digest of what decides the samples and their order."""
        decisive = {key: self.entry.get(key) for key in DECISIVE}
        return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:16]

    def _samples(self, domain: str) -> list[Sample]:
        order = self.entry.get("order", {})
        start, step = order.get("places", {}).get(domain, (0, 1))
        room = self.identifier if order.get("shared") else f"{self.identifier}/{domain}"
        samples = []
        for number, label in enumerate(published_labels(self.entry, domain)):
            place = start + step * number
            samples.append(Sample(opaque_id(f"{room}/{place}"), "", label, place))
        n_alone = len(samples)
        for number in range(self.entry.get("paired", 0)):
            name = opaque_id(f"{self.identifier}/paired/{number}")
            samples.append(Sample(name, "", "", n_alone + number, paired=True))
        return samples


def published_labels(entry: Mapping[str, Any], domain: str) -> list[str]:
    """Return the classes of a domain's samples in the published order.

    The `order` of an entry of the catalogue names the classes in the order of their
    `blocks` where that is not the order of `classes`, and per domain the `rounds` in
    which the blocks come, as numbers of samples of each class.
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

    The classes are walked in the order of their ids, which is that of `class_order`. A
    class of `per_class` samples or fewer is labelled as a whole, takes nothing from the
    random stream, and has no unlabelled sample. Any other class of n samples takes n
    numbers from the stream, in the order of its samples: those with the `per_class`
    smallest are labelled, those with the `unlabelled` largest, never a labelled one, or
    all others if that is not given, are unlabelled.

    The `labels` (n,) stand in the published order, of which the places are returned,
    each ascending. The number of the trial is the seed of the stream; the published
    ones are 1 to 10. A domain as source and the same domain as target have equal
    streams.
    """
    names = np.asarray(labels)
    if unknown := sorted(set(names.tolist()) - set(class_order)):
        raise DataError(
            f"published splits: expected labels among {', '.join(class_order)}, got "
            f"{', '.join(map(repr, unknown))}. Name the classes as the catalogue does."
        )
    # The legacy generator, because it gives the numbers of the authors' MATLAB.
    stream = np.random.RandomState(trial)
    drawn, left = [], []
    for rows in (np.flatnonzero(names == name) for name in class_order):
        if len(rows) <= per_class:
            drawn.append(rows)
            continue
        rising = rows[np.argsort(stream.random_sample(len(rows)), kind="stable")]
        drawn.append(rising[:per_class])
        left.append(rising[per_class:][::-1][:unlabelled])
    return _ascending(drawn), _ascending(left)


def masks_digest(labels: ArrayLike, per_class: int, class_order: Sequence[str]) -> str:
    """Return the `packed_digest` of the masks of the ten published trials."""
    masks = np.zeros((TRIALS, np.size(labels)), dtype=bool)
    for mask, trial in zip(masks, range(1, TRIALS + 1), strict=True):
        rows, _ = draw_published(labels, per_class, trial, class_order=class_order)
        mask[rows] = True
    return packed_digest(masks)


def packed_digest(masks: ArrayLike) -> str:
    """Return the sha256 of masks (n_trials, n), each row packed to whole bytes."""
    packed = np.packbits(np.asarray(masks, dtype=bool), axis=1)
    return hashlib.sha256(packed.tobytes()).hexdigest()


def check_published_splits(
    *,
    dataset: str,
    domain: str,
    role: str,
    labels: ArrayLike,
    class_order: Sequence[str],
    expected: Mapping[str, Any],
) -> None:
    """Check that this copy of a domain gives the ten masks that the authors stored.

    `expected` is the content of ``published-splits.json``: by data set, role ("source"
    or "target") and domain the number `per_class`, the number `n` of samples, and the
    digest `sha256` of the masks. DataError says that the masks differ, or that there
    are none for this domain in this role.
    """
    roles = expected.get(dataset, {})
    if domain not in roles.get(role, {}):
        known = [f"{name} {', '.join(roles[name])}" for name in sorted(roles)]
        raise DataError(
            f"data set {dataset}: no splits are published for {domain} as {role}, only "
            f"for {'; '.join(known) or 'the data sets ' + ', '.join(expected)}. Choose "
            "another task, or draw the splits from a seed."
        )
    entry, n = roles[role][domain], np.size(labels)
    if n != entry["n"]:
        fault = f"there are {n} samples, and {entry['n']} in the published splits"
    elif masks_digest(labels, entry["per_class"], class_order) != entry["sha256"]:
        draws = f"the draws of the ten trials from {n} samples"
        fault = f"{draws} are not the published ones"
    else:
        return
    raise DataError(
        f"data set {dataset}, domain {domain} as {role}: {fault}. The order or the "
        "labels of this copy differ from the authors', so its results cannot be paired "
        "with the published trials. Fetch the published files again, or draw the "
        "splits from a seed."
    )


def _ascending(parts: Sequence[Rows]) -> Rows:
    return np.sort(np.concatenate([np.empty(0, dtype=np.intp), *parts]))
