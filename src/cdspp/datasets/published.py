"""Published data sets: samples follow from the catalogue, files are fetched.

The published order of a domain is the order of its rows in the published matrices and
of its files by class and name. It decides the published splits; rows of features are
ordered by id all the same, so that no row number tells the class.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdspp.datasets.base import Dataset, Sample, opaque_id

__all__ = ["PublishedDataset", "published_labels"]

DECISIVE = ("kind", "classes", "class_sizes", "order", "paired")


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
