"""Published data sets: samples from the catalogue, files and weights from records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cdspp.core.artifacts import read_features, read_json, write_json
from cdspp.core.errors import DataError
from cdspp.datasets import PublishedDataset, dataset_recipe, open_dataset
from cdspp.datasets.base import read_index, read_record, record_path
from cdspp.datasets.catalogue import checks_of, load_catalogue, published_storage
from cdspp.datasets.published import published_labels
from cdspp.stages.data import prepare_dataset
from cdspp.stages.features import build_codebook, extract_view

CATALOGUE = Path(__file__).parents[2] / "resources/datasets.yaml"
ENTRIES = load_catalogue(CATALOGUE)
FETCHED = [
    name
    for name, entry in ENTRIES.items()
    if "resources" in entry and "classes" in entry
]


@pytest.mark.parametrize("name", FETCHED)
def test_samples_follow_from_the_catalogue(name: str, tmp_path: Path) -> None:
    output = tmp_path / name / "index.json"
    prepare_dataset(name=name, output=output, catalogue=CATALOGUE)
    index, entry = read_index(output), ENTRIES[name]
    for domain in index.domains:
        labels = np.array(index.labels(domain))
        order = np.argsort(index.positions(domain))
        assert labels[order].tolist() == published_labels(entry, domain)
        assert index.ids(domain) == sorted(index.ids(domain))
        assert np.count_nonzero(labels[1:] != labels[:-1]) > len(labels) / 2


def test_no_document_is_on_both_sides_of_the_small_reuters_collection() -> None:
    samples = open_dataset("reuters-600", None, ENTRIES["reuters-600"]).generate(Path())
    ids = {domain: {s.id for s in found} for domain, found in samples.items()}
    assert ids["en"] == ids["fr"] == ids["gr"] == ids["it"]
    assert not ids["en"] & ids["sp"]
    assert len(ids["en"] | ids["sp"]) == 600


def test_a_row_of_one_view_is_the_same_sample_in_the_other_domain_only_if_shared() -> (
    None
):
    made = open_dataset("office-caltech-10", None, ENTRIES["office-caltech-10"])
    samples = made.generate(Path())
    ids = [s.id for found in samples.values() for s in found]
    assert len(set(ids)) == len(ids) == 2533


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
    with pytest.raises(DataError, match="mrc, domain en as source: .* not the publish"):
        prepare_dataset(name="mrc", output=output, catalogue=spoilt)
    assert not output.exists()


def test_only_what_decides_the_samples_remakes_the_index() -> None:
    entry = ENTRIES["mrc"]
    other_place = {**entry, "resources": {}, "licence": "another"}
    other_order = {**entry, "order": {"blocks": entry["classes"]}}
    marks = [
        PublishedDataset("mrc", e).fingerprint()
        for e in (entry, other_place, other_order)
    ]
    assert marks[0] == marks[1] != marks[2]
    assert dataset_recipe("mrc", None, entry)["fingerprint"] == marks[0]


def test_a_view_is_described_for_each_domain() -> None:
    entry = ENTRIES["mrc"]
    storage = published_storage(entry, "words", "gr")
    assert storage is not None
    assert (storage["file"], storage["width"]) == ("GR/Index_GR-GR", 34279)
    assert published_storage(entry, "words", "xx") is None
    assert published_storage(entry, "other", "gr") is None


def test_addresses_are_no_part_of_what_a_workflow_compares(tmp_path: Path) -> None:
    checks = checks_of(str(CATALOGUE), "nus-imagenet", "tags")
    assert set(checks["tag2image/NUSTAG_HIST.mat"]) == {"size", "sha256", "git_blob"}
    assert set(checks_of(str(CATALOGUE), "office-caltech-10", "images")) == {"manifest"}


class Photographs:
    """Two domains of fetched images, in the order of the published files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        sizes = {"web": [3, 2], "shop": [2, 4]}
        entry = {"kind": "images", "classes": ["cat", "dog"], "class_sizes": sizes}
        PublishedDataset("animals", {**entry, "resources": {}}).prepare(folder)
        self.index = folder / "index.json"
        rng = np.random.default_rng(0)
        images: dict[str, list[str]] = {}
        for domain, numbers in sizes.items():
            for label, number in zip(entry["classes"], numbers, strict=True):
                for k in range(number):
                    path = f"images/{domain}/{label}/{k}.png"
                    images.setdefault(domain, []).append(path)
                    shade = len(images[domain]) * 20
                    pixels = rng.integers(shade, shade + 9, (64, 64), dtype=np.uint8)
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    Image.fromarray(pixels).save(folder / path)
        self.record = record_path(folder.parent, "animals", "images")
        files = [path for paths in images.values() for path in paths]
        write_json(self.record, {"files": files, "images": images})


@pytest.fixture
def photographs(tmp_path: Path) -> Photographs:
    return Photographs(tmp_path / "animals")


def test_rows_are_those_of_the_fetched_images_at_the_samples_positions(
    photographs: Photographs, tmp_path: Path
) -> None:
    words = {"n_words": 3, "codebook_domain": "shop"}
    common: dict[str, Any] = {"index": photographs.index, "numeric_threads": 1}
    common |= {"extractor": "visual-words", "options": words}
    common |= {"fetched": photographs.record}
    build_codebook(**common, output=tmp_path / "words.npz")
    extract_view(
        **common,
        codebook=tmp_path / "words.npz",
        domain="web",
        output=tmp_path / "web.npz",
    )
    features = read_features(tmp_path / "web.npz")
    index = read_index(photographs.index)
    assert features.ids.tolist() == index.ids("web")
    images = read_json(photographs.record)["images"]["web"]
    (tmp_path / "animals" / images[4]).unlink()
    with pytest.raises(DataError, match=r"dog/1\.png: the fetched file is missing"):
        read_record(photographs.record)


def test_published_weights_are_read_from_their_record(
    photographs: Photographs, tmp_path: Path
) -> None:
    record = record_path(tmp_path, "backbones", "alexnet")
    record.parent.mkdir()
    write_json(record, {"files": ["alexnet.pth"]})
    (record.parent / "alexnet.pth").write_bytes(b"no weights")
    options = {"network": "alexnet", "weights": "IMAGENET1K_V1"}
    with pytest.raises(DataError, match=r"cannot load weights .*alexnet\.pth"):
        extract_view(
            extractor="cnn",
            options=options,
            index=photographs.index,
            fetched=photographs.record,
            weights=record,
            domain="web",
            output=tmp_path / "web.npz",
            numeric_threads=1,
        )


def test_a_damaged_record_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "x.fetched.json"
    path.write_text("[]")
    with pytest.raises(DataError, match="not the record of fetched files .* again"):
        read_record(path)
