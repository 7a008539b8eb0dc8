"""Readers on the published files themselves, where CDSPP_MIRROR names them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.published_files import mat_storage, write_words

from cdspp.datasets.readers import read_matrix

REAL_SURF = {"caltech10": 1123, "amazon": 958, "dslr": 157, "webcam": 295}
OFFICE = ["backpack", "bike", "calculator", "headphones", "keyboard"]
OFFICE += ["laptop", "monitor", "mouse", "mug", "projector"]


@pytest.mark.parametrize("domain", REAL_SURF)
def test_the_published_surf_features_are_read(domain: str, mirror_folder: Path) -> None:
    path = mirror_folder / "office-caltech-10/surf" / f"{domain}.mat"
    storage = mat_storage({"X": "fts", "labels": "labels", "label_base": 1}, width=800)
    X, labels = read_matrix(path, storage, OFFICE)
    assert X.shape == (REAL_SURF[domain], 800)
    assert (np.rint(X) == X).all()
    assert 10 <= X.sum(axis=1).min() <= X.sum(axis=1).max() <= 625
    assert labels.tolist() == sorted(labels)


@pytest.mark.parametrize("domain", ["dslr", "webcam"])
def test_the_published_googlenet_features_are_read(
    domain: str, mirror_folder: Path
) -> None:
    path = mirror_folder / "office-caltech-10/GoogleNet1024" / f"{domain}.mat"
    storage = mat_storage({"X": "fts", "labels": "labels", "label_base": 1}, width=1024)
    X, labels = read_matrix(path, storage, OFFICE)
    assert X.shape == (REAL_SURF[domain], 1024)
    assert X.min() == 0
    assert labels.tolist() == sorted(labels)


def test_the_published_tag_features_are_read(mirror_folder: Path) -> None:
    path = mirror_folder / "cdspp-hda/NUSTAG_HIST.mat"
    found = {"X": "data", "labels": "label", "label_base": 1, "orientation": "columns"}
    classes = list("12345678")
    X, labels = read_matrix(path, mat_storage(found, width=64), classes)
    assert X.shape == (800, 64)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-6)
    assert labels.tolist() == [name for name in classes for _ in range(100)]


WORDS = {"EN": 21531, "FR": 24893, "GR": 34279, "IT": 15506, "SP": 11547}


@pytest.mark.parametrize("language", WORDS)
def test_the_published_reuters_sample_is_read(
    language: str, mirror_folder: Path
) -> None:
    path = mirror_folder / "reuters/reuters-600.mat"
    storage = {"format": "triplets", "file": path.name, "X": f"EN_{language}_sample"}
    storage |= {"labels": "truth", "label_base": 1, "rows": 600}
    classes = ["C15", "CCAT", "E21", "ECAT", "GCAT", "M11"]
    X, labels = read_matrix(path, storage | {"width": WORDS[language]}, classes)
    assert X.shape == (600, WORDS[language])
    assert X.data.min() < 0
    assert np.diff(X.indptr).min() > 0
    assert labels.tolist() == [
        name
        for name in ("ECAT", "M11", "GCAT", "CCAT", "C15", "E21")
        for _ in range(100)
    ]


def test_real_documents_written_as_lines_of_words_are_read_back(
    tmp_path: Path, mirror_folder: Path
) -> None:
    classes = ["C15", "CCAT", "E21", "ECAT", "GCAT", "M11"]
    storage = {"format": "triplets", "file": "", "X": "EN_EN_sample", "rows": 600}
    storage |= {"labels": "truth", "label_base": 1, "width": WORDS["EN"]}
    expected = read_matrix(mirror_folder / "reuters/reuters-600.mat", storage, classes)
    lines = []
    for row, label in enumerate(expected.labels):
        words = expected.X[[row]].tocoo()
        pairs = zip(words.coords[1] + 1, words.data, strict=True)
        lines.append(" ".join([label, *(f"{a}:{b}" for a, b in pairs)]))
    path, storage = write_words(tmp_path, lines)
    found = read_matrix(path, storage | {"width": WORDS["EN"]}, classes)
    assert abs(found.X - expected.X).max() == 0
    assert found.labels.tolist() == expected.labels.tolist()
