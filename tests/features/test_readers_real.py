"""Readers on the published files themselves, where CDSPP_MIRROR names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.published_files import write_words

from cdspp.datasets.catalogue import load_catalogue, published_spec
from cdspp.datasets.published import published_labels
from cdspp.features.precomputed import read_matrix

ENTRIES = load_catalogue(Path(__file__).parents[2] / "resources/datasets.yaml")
OFFICE, NUS = ENTRIES["office-caltech-10"], ENTRIES["nus-imagenet"]
REUTERS = ENTRIES["reuters-600"]
FOLDERS = {
    "surf": "office-caltech-10/surf",
    "googlenet": "office-caltech-10/GoogleNet1024",
    "tags": "cdspp-hda",
    "words": "reuters",
}


def read(mirror: Path, entry: dict[str, Any], view: str, domain: str) -> Any:
    """Read a view of a domain as the catalogue says that it is stored."""
    spec = published_spec(entry, view, domain)
    path = mirror / FOLDERS[view] / Path(spec["file"]).name
    return read_matrix(path, spec, entry["classes"])


@pytest.mark.parametrize("domain", OFFICE["class_sizes"])
def test_the_published_surf_features_are_read(domain: str, mirror_folder: Path) -> None:
    X, labels = read(mirror_folder, OFFICE, "surf", domain)
    assert labels.tolist() == published_labels(OFFICE, domain)
    assert (np.rint(X) == X).all()
    assert 10 <= X.sum(axis=1).min() <= X.sum(axis=1).max() <= 625


@pytest.mark.parametrize("domain", ["dslr", "webcam"])
def test_the_published_googlenet_features_are_read(
    domain: str, mirror_folder: Path
) -> None:
    X, labels = read(mirror_folder, OFFICE, "googlenet", domain)
    assert labels.tolist() == published_labels(OFFICE, domain)
    assert X.min() == 0


def test_the_published_tag_features_are_read(mirror_folder: Path) -> None:
    X, labels = read(mirror_folder, NUS, "tags", "tags")
    assert labels.tolist() == published_labels(NUS, "tags")
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("language", REUTERS["class_sizes"])
def test_the_published_reuters_sample_is_read(
    language: str, mirror_folder: Path
) -> None:
    X, labels = read(mirror_folder, REUTERS, "words", language)
    assert labels.tolist() == np.repeat(REUTERS["order"]["blocks"], 100).tolist()
    assert X.data.min() < 0
    assert np.diff(X.indptr).min() > 0


def test_real_documents_written_as_lines_of_words_are_read_back(
    tmp_path: Path, mirror_folder: Path
) -> None:
    X, labels = read(mirror_folder, REUTERS, "words", "en")
    lines = []
    for row, label in enumerate(labels):
        words = X[[row]].tocoo()
        pairs = zip(words.coords[1] + 1, words.data, strict=True)
        lines.append(" ".join([label, *(f"{a}:{b}" for a, b in pairs)]))
    path, spec = write_words(tmp_path, lines)
    wide = spec | {"width": X.shape[1]}
    result, names = read_matrix(path, wide, REUTERS["classes"])
    assert abs(result - X).max() == 0
    assert names.tolist() == labels.tolist()
