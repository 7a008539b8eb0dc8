"""Published data sets: samples from the catalogue, files and weights from records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.downloads import put
from support.published_files import are_mixed

from cdspp.core.errors import DataError
from cdspp.core.files import read_json, write_json
from cdspp.datasets import PublishedDataset, dataset_recipe, open_dataset
from cdspp.datasets.base import read_fetched, read_index, record_path
from cdspp.datasets.catalogue import load_catalogue
from cdspp.datasets.published import published_labels
from cdspp.features.visual_words import VisualWords
from cdspp.stages.data import prepare_dataset
from cdspp.stages.features import build_codebook, extract_view
from cdspp.stages.formats import read_features

CATALOGUE = Path(__file__).parents[2] / "resources/datasets.yaml"
ENTRIES = load_catalogue(CATALOGUE)
FETCHED = [name for name in ENTRIES if {"resources", "classes"} <= set(ENTRIES[name])]
FETCHED.remove("mrc")  # 110 thousand documents; their splits are compared elsewhere


@pytest.mark.parametrize("name", FETCHED)
def test_samples_follow_from_the_catalogue(name: str, tmp_path: Path) -> None:
    output = tmp_path / name / "index.json"
    prepare_dataset(name=name, output=output, catalogue=CATALOGUE)
    index, entry = read_index(output), ENTRIES[name]
    for domain in index.domains:
        samples = index.unpaired(domain)
        in_order = sorted(samples, key=lambda sample: sample.position)
        assert [s.label for s in in_order] == published_labels(entry, domain)
        assert [s.id for s in samples] == sorted(s.id for s in samples)
        assert are_mixed([s.label for s in samples])


def test_no_document_is_on_both_sides_of_the_small_reuters_collection() -> None:
    samples = open_dataset("reuters-600", None, ENTRIES["reuters-600"]).generate(Path())
    ids = {domain: {s.id for s in result} for domain, result in samples.items()}
    assert ids["en"] == ids["fr"] == ids["gr"] == ids["it"]
    assert not ids["en"] & ids["sp"]
    assert len(ids["en"] | ids["sp"]) == 600


def test_classes_in_another_order_contradict_the_published_splits(
    tmp_path: Path,
) -> None:
    text = CATALOGUE.read_text()
    order = "[ECAT, M11, GCAT, CCAT, C15, E21]"
    assert order in text
    spoilt = tmp_path / "datasets.yaml"
    spoilt.write_text(text.replace(order, "[C15, CCAT, E21, ECAT, GCAT, M11]", 1))
    digests = CATALOGUE.with_name("published-splits.json")
    (tmp_path / digests.name).write_bytes(digests.read_bytes())
    output = tmp_path / "mrc" / "index.json"
    with pytest.raises(DataError, match="mrc, domain.*source: .*publish"):
        prepare_dataset(name="mrc", output=output, catalogue=spoilt)
    assert not output.exists()


def test_only_what_decides_the_samples_remakes_the_index() -> None:
    entry = ENTRIES["mrc"]
    other_place = {**entry, "resources": {}, "licence": "another"}
    other_order = {**entry, "order": {"blocks": entry["classes"]}}
    entries = (entry, other_place, other_order)
    marks = [PublishedDataset("mrc", e).fingerprint() for e in entries]
    assert marks[0] == marks[1] != marks[2]
    assert dataset_recipe("mrc", None, entry)["fingerprint"] == marks[0]


@pytest.fixture
def photographs(tmp_path: Path) -> dict[str, Any]:
    """Return index and record of two domains of images, in the published order."""
    sizes = {"web": [3, 2], "shop": [2, 4]}
    entry = {"kind": "images", "classes": ["cat", "dog"], "class_sizes": sizes}
    PublishedDataset("animals", entry).prepare(tmp_path / "animals")
    images: dict[str, list[str]] = {}
    for domain in sizes:
        names = enumerate(published_labels(entry, domain))
        images[domain] = [f"{domain}-{number}-{label}.png" for number, label in names]
    files, rng = sum(images.values(), []), np.random.default_rng(0)
    for name in files:
        pixels = rng.integers(0, 256, (64, 64), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "animals" / name)
    record = record_path(tmp_path, "animals", "images")
    write_json(record, {"files": files, "images": images})
    return {"index": record.with_name("index.json"), "fetched": record}


def test_rows_are_those_of_the_fetched_images_at_the_samples_positions(
    photographs: dict[str, Any], tmp_path: Path
) -> None:
    options = {"n_words": 3, "codebook_domain": "shop"}
    common: dict[str, Any] = {"extractor": "visual-words", "options": options}
    words, output = tmp_path / "words.npz", tmp_path / "web.npz"
    build_codebook(files=photographs, **common, numeric_threads=1, output=words)
    read = {**photographs, "codebook": words}
    extract_view(files=read, **common, numeric_threads=1, domain="web", output=output)
    index, features = read_index(photographs["index"]), read_features(output)
    assert features.ids.tolist() == index.ids("web")
    images = read_json(photographs["fetched"])["images"]["web"]
    files = [tmp_path / "animals" / images[place] for place in index.positions("web")]
    expected = VisualWords(**options).extract(files, read_features(words).X)
    np.testing.assert_array_equal(features.X, expected)


def test_a_fetched_file_that_is_missing_is_named(photographs: dict[str, Any]) -> None:
    photographs["fetched"].with_name("web-4-dog.png").unlink()
    with pytest.raises(DataError, match=r"4-dog\.png: .*fetched.*missing"):
        read_fetched(photographs["fetched"])


def test_published_weights_are_read_from_their_record(
    photographs: dict[str, Any], tmp_path: Path
) -> None:
    record = record_path(tmp_path, "backbones", "alexnet")
    put(tmp_path, {"backbones/alexnet.pth": b"no weights"})
    write_json(record, {"files": ["alexnet.pth"]})
    with pytest.raises(DataError, match=r"alexnet\.pth: expected a state dict"):
        extract_view(
            files={**photographs, "weights": record},
            extractor="cnn",
            options={"network": "alexnet", "weights": "IMAGENET1K_V1"},
            domain="web",
            output=tmp_path / "web.npz",
            numeric_threads=1,
        )
