"""Published files that hold many samples: texts of them, and rows of tables."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.downloads import Server, Toy, make_zip

from cdspp.core.errors import DataError
from cdspp.core.files import read_json
from cdspp.datasets import PublishedDataset
from cdspp.datasets.base import read_fetched, read_index
from cdspp.datasets.catalogue import load_catalogue
from cdspp.datasets.fetch import KEPT
from cdspp.datasets.resources import fetch_resource, make_files
from cdspp.features.precomputed import TableColumns
from cdspp.stages.data import prepare_dataset

CATALOGUE = Path(__file__).parents[2] / "resources" / "datasets.yaml"
ENTRIES = load_catalogue(CATALOGUE)
SENTENCES = {
    "train": [[f"{name} {k}", name] for k in range(6) for name in ("buy", "ask")],
    "oos": [["something else", "oos"]],
}
TEXTS = {
    "classes": ["ask", "buy"],
    "class_sizes": {"old": [2, 2], "new": [1, 2]},
    "paired": 3,
}
LISTS = {"format": "lists", "file": "all.json", "lists": ["train"]}

# As UCI writes it: codes 0 to 4, numbers with and without a point, ? for missing.
HEART = """63.0,1.0,145.0,233.0,3.0,6.0,0
67.0,0.0,0.0,0.0,?,3.0,2
37,1,130,250,?,?,4
?,1,?,204,?,?,0
"""
COLUMNS = {
    "format": "columns",
    "file": {"here": "here.data"},
    "columns": ["age", "sex", "trestbps", "chol", "ca", "thal"],
    "no_zero": ["trestbps", "chol"],
}
ROWS = {"classes": ["absent", "present"], "class_sizes": {"here": [2, 2]}}


def made_texts(folder: Path, **changes: Any) -> dict[str, list[str]]:
    """Deal out the sentences; return those of each domain in the published order."""
    entry = {**TEXTS, **changes.pop("entry", {})}
    content = {**SENTENCES, **changes}
    (folder / "all.json").write_text(json.dumps(content))
    paths = make_files(LISTS, entry, folder, folder / ".work")
    return {
        domain: [(folder / path).read_text().strip() for path in result]
        for domain, result in paths.items()
    }


def made_rows(folder: Path, text: str = HEART) -> dict[str, np.ndarray]:
    (folder / "here.data").write_text(text)
    paths = make_files(COLUMNS, ROWS, folder, folder / ".work")
    assert paths == {"here": ["here/rows.npz"]}
    with np.load(folder / "here" / "rows.npz") as arrays:
        return dict(arrays)


def test_the_first_texts_of_a_class_are_pairs_and_the_others_go_to_domains_in_turn(
    tmp_path: Path,
) -> None:
    pairs = ["ask 0", "ask 1", "buy 0"]
    assert made_texts(tmp_path) == {
        "old": ["ask 2", "ask 4", "buy 1", "buy 3", *pairs],
        "new": ["ask 3", "buy 2", "buy 4", *pairs],
    }


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ([["a", "ask"]], r"all\.json: expected 2 .*ask.*old, got 0"),
        ([["a", "sing"]], "lists train.*'sing'"),
        ([["same", "ask"]] * 9 + [[f"{k}", "buy"] for k in range(9)], "'same' occurs"),
    ],
)
def test_other_texts_are_refused(tmp_path: Path, train: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        made_texts(tmp_path, train=train)
    assert not (tmp_path / "texts").exists()


def test_rows_come_class_by_class_with_means_for_what_is_missing(
    tmp_path: Path,
) -> None:
    made = made_rows(tmp_path)
    # ca is missing in three of four rows; thal in two, which is not more than half.
    assert made["features"].tolist() == ["age", "sex", "trestbps", "chol", "thal"]
    age, pressure, thal, fat = 167 / 3, 137.5, 4.5, 229.0
    expected = [
        [63, 1, 145, 233, 6],
        [age, 1, pressure, 204, thal],
        [67, 0, pressure, fat, 3],
        [37, 1, 130, 250, thal],
    ]
    np.testing.assert_allclose(made["X"], expected)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("6.0,0", "6.0,1", r"class sizes \[2, 2\], .*class sizes \[1, 3\]"),
        ("233.0,", "", r"here\.data: line 1: expected 7 numbers, got 6"),
        ("130", "high", "line 3: .*number .*'high'"),
    ],
)
def test_other_rows_are_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        made_rows(tmp_path, HEART.replace(old, new, 1))
    assert not (tmp_path / "here").exists()


def test_what_is_made_of_a_fetched_file_is_recorded_and_made_again_when_kept(
    toy: Toy,
) -> None:
    names = ("mug", "mug", "bike", "mug", "bike")
    content = {"train": [[f"text {k}", name] for k, name in enumerate(names)]}
    url = toy.server.offer("all", json.dumps(content).encode())
    way = {"files": [{"name": "all.json", "urls": [url]}]}
    record = toy.fetch(way, make=LISTS)
    paths = {"paint": ["00000", "00001", "00002"], "real": ["00000", "00001"]}
    paths = {d: [f"texts/{d}/{n}.txt" for n in result] for d, result in paths.items()}
    assert record["images"] == paths
    assert record["files"] == sorted(["all.json", *paths["paint"], *paths["real"]])
    (toy.folder / paths["real"][0]).write_text("spoilt")
    assert toy.fetch(way, make=LISTS)["origin"] == {"all.json": KEPT}
    assert (toy.folder / paths["real"][0]).read_text() == "text 1\n"
    assert toy.server.requests == ["all"]


def test_clinc150_has_other_texts_in_each_domain_and_pairs_in_both(
    mirror_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "clinc150"
    names = {"dataset": "clinc150", "resource": "texts", "catalogue": CATALOGUE}
    record = folder / "texts.fetched.json"
    fetch_resource(**names, output=record, mirror=str(mirror_folder))
    prepare_dataset(name="clinc150", output=folder / "index.json", catalogue=CATALOGUE)
    index, paths = read_index(folder), read_fetched(record)["images"]
    content = read_json(folder / "data_full.json")
    labels = dict(content["train"])
    texts: dict[tuple[str, bool], set[str]] = {}
    for domain in index.domains:
        for sample in index.samples(domain):
            text = (folder / paths[domain][sample.position]).read_text().strip()
            assert sample.label == ("" if sample.paired else labels[text])
            texts.setdefault((domain, sample.paired), set()).add(text)
    assert {key: len(result) for key, result in texts.items()} == {
        ("old", False): 6000,
        ("old", True): 800,
        ("new", False): 4500,
        ("new", True): 800,
    }
    assert texts["old", True] == texts["new", True]
    parts = [texts["old", False], texts["new", False], texts["old", True]]
    assert len(set.union(*parts)) == 6000 + 4500 + 800
    assert {*Counter(labels[text] for text in parts[2]).values()} == {5, 6}


def patients(domain: str) -> str:
    """Return two healthy and three ill patients as UCI writes them."""
    lacking = {
        "hungarian": ("slope", "ca", "thal"),
        "switzerland": ("fbs", "ca"),
        "va": ("slope", "ca", "thal"),
    }.get(domain, ())
    columns = ENTRIES["heart-disease"]["resources"]["tables"]["make"]["columns"]
    lines = []
    for patient, code in enumerate((0, 2, 1, 0, 4)):
        row = {name: str(40 + patient + k) for k, name in enumerate(columns)}
        row |= dict.fromkeys(lacking if patient else (), "?")
        row |= {"chol": "0"} if domain == "switzerland" else {}
        lines.append(",".join([*row.values(), str(code)]))
    return "\n".join(lines) + "\n"


def test_heart_disease_comes_as_tables_whose_columns_differ_by_hospital(
    server: Server, tmp_path: Path
) -> None:
    entry = copy.deepcopy(ENTRIES["heart-disease"])
    entry["class_sizes"] = dict.fromkeys(entry["class_sizes"], [2, 3])
    archive, files = entry["resources"]["tables"]["ways"]
    members = {
        name: patients(name.split(".")[1]).encode() for name in archive["members"]
    }
    assert [file["name"] for file in files["files"]] == list(members)
    url = server.offer(
        "heart", make_zip({"index": b"", "cleveland.data": b"", **members})
    )
    archive["archive"]["urls"] = [url]
    entry["resources"]["tables"]["ways"] = [archive]
    catalogue, folder = tmp_path / "datasets.yaml", tmp_path / "data/heart-disease"
    catalogue.write_text(yaml.safe_dump({"heart-disease": entry}))
    names = {"dataset": "heart-disease", "resource": "tables", "catalogue": catalogue}
    fetch_resource(**names, output=folder / "tables.fetched.json")
    index = PublishedDataset("heart-disease", entry).prepare(folder)
    found = {}
    for domain in index.domains:
        index.check(domain)
        positions = index.positions(domain)
        X, columns = TableColumns().read(folder, domain, positions)
        found[domain] = set(columns.tolist())
        # A patient's age tells his row: 40, 43 are healthy, 41, 42, 44 are not.
        healthy = {40.0: "absent", 43.0: "absent"}
        labels = [healthy.get(age, "present") for age in X[:, 0]]
        assert labels == index.labels(domain)
    every = set(entry["resources"]["tables"]["make"]["columns"])
    assert found == {
        "cleveland": every,
        "hungarian": every - {"slope", "ca", "thal"},
        "switzerland": every - {"chol", "fbs", "ca"},
        "va": every - {"slope", "ca", "thal"},
    }
