"""The feature stage: paths in, NPZ files out."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.downloads import put

from cdspp.core.errors import DataError
from cdspp.datasets import FolderDataset, read_index
from cdspp.stages.features import build_codebook, extract_view
from cdspp.stages.formats import Features, read_features, write_features

FILES = ("index", "codebook", "view")
WORDS: dict[str, Any] = {"n_words": 3, "codebook_domain": "one"}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, rng = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    for domain, label, number in product(("one", "two"), ("cat", "dog"), "01"):
        path = root / "own" / domain / label / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (64, 64), dtype=np.uint8)).save(path)
    FolderDataset("pictures", root / "own").prepare(root / "data")
    return root / "data" / "index.json"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("texts")
    words = ["red", "green", "blue", "black", "white", "brown"]
    for domain, number in product(("one", "two"), range(6)):
        text = " ".join([*words[: number + 1], domain]).encode()
        put(root / "own", {f"{domain}/class{number % 2}/{number}.txt": text})
    FolderDataset("colours", root / "own").prepare(root / "data")
    return root / "data" / "index.json"


def extract(output: Path, extractor: str, **given: Any) -> Features:
    given = {"options": {}, "domain": "two", "numeric_threads": 1} | given
    files = {name: given.pop(name) for name in FILES if name in given}
    extract_view(files=files, extractor=extractor, output=output, **given)
    return read_features(output)


def learn(output: Path, index: Path, extractor: str, **options: Any) -> Path:
    """Build a codebook and return where it is."""
    given: dict[str, Any] = {"output": output, "options": options}
    given["files"] = {"index": index}
    build_codebook(extractor=extractor, numeric_threads=1, **given)
    return output


def test_visual_words_pass_through_a_codebook_and_give_the_same_bytes_again(
    images: Path, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"index": images, "options": WORDS}
    written = set()
    for _ in range(2):
        codebook = learn(tmp_path / "codebook.npz", images, "visual-words", **WORDS)
        output = tmp_path / "two.npz"
        view = extract(output, "visual-words", codebook=codebook, **given)
        written.add((codebook.read_bytes(), output.read_bytes()))
    assert len(written) == 1
    assert read_features(codebook).X.shape == (3, 128)
    assert view.X.shape == (4, 3)
    np.testing.assert_array_equal(view.X.sum(axis=1), 81)
    provenance = view.provenance
    assert (provenance["domain"], provenance["codebook"]["domain"]) == ("two", "one")
    assert provenance["extractor"] == "visual-words"


def test_rows_follow_the_index_and_carry_no_labels(texts: Path, tmp_path: Path) -> None:
    view = extract(tmp_path / "two.npz", "text", index=texts)
    assert view.ids.tolist() == read_index(texts).ids("two")
    stored = (tmp_path / "two.npz").read_bytes()
    assert b"class0" not in stored
    assert b"class1" not in stored


@pytest.mark.parametrize("extractor", ["text", "visual-words"])
def test_files_that_are_not_those_of_the_index_are_refused(
    images: Path, texts: Path, tmp_path: Path, extractor: str
) -> None:
    index = texts if extractor == "text" else images
    output = tmp_path / "one.npz"
    calls = {
        "text": partial(extract, output, "text", index=index, domain="one"),
        "visual-words": partial(learn, output, index, "visual-words", **WORDS),
    }
    file = next(iter(read_index(index).files("one")))
    kept = file.read_bytes()
    file.write_bytes(next(iter(read_index(index).files("two"))).read_bytes())
    try:
        with pytest.raises(DataError, match="domain one: .*files"):
            calls[extractor]()
    finally:
        file.write_bytes(kept)
    assert not [*tmp_path.iterdir()]


def test_a_view_is_reduced_and_remembers_its_origin(
    texts: Path, tmp_path: Path
) -> None:
    base = extract(tmp_path / "two.text.npz", "text", index=texts)
    given = {"options": {"energy": 0.9}, "view": tmp_path / "two.text.npz"}
    view = extract(tmp_path / "two.pca.npz", "pca", **given)
    assert view.ids.tolist() == base.ids.tolist()
    assert view.X.shape[1] == view.provenance["components"] < base.X.shape[1]
    assert view.provenance["energy"] >= 0.9
    assert view.provenance["view"] == base.provenance
    options = {"center": True, "n_components": None, "energy": 0.9}
    assert view.provenance["options"] == options


def test_a_scaled_view_is_the_view_scaled_by_all_rows_of_the_domain(
    texts: Path, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"options": {"n_components": 3}}
    given["view"] = tmp_path / "two.text.npz"
    extract(given["view"], "text", index=texts)
    bare = extract(tmp_path / "bare.npz", "pca", **given)
    view = extract(tmp_path / "two.npz", "pca", scale="standardise", **given)
    X = np.asarray(bare.X, dtype=np.float64)
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(view.X, expected, rtol=1e-4, atol=1e-4)
    assert view.provenance == {**bare.provenance, "scale": "standardise"}


def test_a_sparse_view_cannot_be_standardised(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="text, domain two: scale: standardise would"):
        extract(tmp_path / "two.npz", "text", index=texts, scale="standardise")
    assert not (tmp_path / "two.npz").exists()
    unit = extract(tmp_path / "two.npz", "text", index=texts, scale="unit")
    np.testing.assert_allclose(unit.X.multiply(unit.X).sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("extractor", "options", "kind"),
    [("cnn", {"layer": "pool"}, "images"), ("text", {}, "texts")],
)
def test_the_same_input_gives_the_same_bytes(
    extractor: str, options: Any, kind: str, request: Any, tmp_path: Path
) -> None:
    given = {"index": request.getfixturevalue(kind), "options": options}
    view = extract(tmp_path / "first.npz", extractor, **given)
    extract(tmp_path / "second.npz", extractor, **given)
    first, second = (tmp_path / f"{name}.npz" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    assert view.provenance["extractor"] == extractor
    assert "numpy" in view.provenance["versions"]


def test_thread_counts_are_as_before_afterwards(images: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    import cv2

    before = (torch.get_num_threads(), cv2.getNumThreads())
    seen = []
    original = torch.nn.Sequential.forward

    def spy(self, pixels):  # type: ignore[no-untyped-def]
        seen.append(torch.get_num_threads())
        return original(self, pixels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.Sequential, "forward", spy)
        options = {"layer": "pool"}
        extract(tmp_path / "view.npz", "cnn", index=images, options=options)
    assert set(seen) == {1}
    assert (torch.get_num_threads(), cv2.getNumThreads()) == before


def test_values_that_are_not_finite_are_named_by_id(tmp_path: Path) -> None:
    X = np.ones((3, 2), dtype=np.float32)
    X[1, 0] = np.nan
    ids = np.array(["first", "second", "third"])
    write_features(tmp_path / "view.npz", Features(X, ids, {}))
    given = {"options": {"energy": 0.5}, "view": tmp_path / "view.npz"}
    with pytest.raises(DataError, match="in 1 of 3 rows: second"):
        extract(tmp_path / "out.npz", "pca", **given)
    assert not (tmp_path / "out.npz").exists()
