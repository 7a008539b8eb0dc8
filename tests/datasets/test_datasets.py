"""Data sets: what is generated, what an index promises, and folders of one's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.downloads import contents, put
from support.published_files import are_mixed

from cdspp.core.errors import ConfigError, DataError
from cdspp.core.files import read_json, write_json
from cdspp.datasets import (
    Dataset,
    FolderDataset,
    Index,
    Sample,
    available_datasets,
    make_dataset,
    own_dataset,
    read_index,
)
from cdspp.datasets.catalogue import check_catalogued, load_catalogue

CATALOGUE = Path(__file__).parents[2] / "resources" / "datasets.yaml"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Index]:
    root, names = tmp_path_factory.mktemp("data"), available_datasets()
    return {name: make_dataset(name).prepare(root / name) for name in names}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parts = (("new", "old"), ("cat", "dog"), ("a.txt", "b.txt", ".hidden"))
    files = {"/".join(path): " ".join(path).encode() for path in product(*parts)}
    return put(tmp_path / "mine", files)


@pytest.mark.parametrize("name", available_datasets())
def test_the_catalogue_agrees_with_what_is_generated(
    name: str, prepared: dict[str, Index]
) -> None:
    index, entry = prepared[name], load_catalogue(CATALOGUE)[name]
    if not entry.get("versions", {}).items() <= index.versions.items():
        pytest.skip(f"the catalogue describes what {entry['versions']} gives")
    sizes = {domain: index.class_sizes(domain) for domain in index.domains}
    found = {"kind": index.kind, "classes": list(index.classes), "class_sizes": sizes}
    pairs = [s for s in index.samples(next(iter(index.domains))) if s.paired]
    found["paired"] = len(pairs)
    assert {"paired": 0, **entry} == {**entry, **found}
    dataset = make_dataset(name)
    assert (index.dataset, tuple(index.domains)) == (name, dataset.domains)
    assert index.versions == dataset.versions()


@pytest.mark.parametrize("name", available_datasets())
def test_preparing_twice_gives_the_same_bytes(
    name: str, prepared: dict[str, Index], tmp_path: Path
) -> None:
    make_dataset(name).prepare(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(prepared[name].root)


@pytest.mark.parametrize("name", available_datasets())
def test_rows_are_in_the_order_of_ids_and_pairs_are_the_same_in_every_domain(
    name: str, prepared: dict[str, Index]
) -> None:
    index, pairs = prepared[name], set()
    for domain in index.domains:
        samples = index.unpaired(domain)
        ids = [sample.id for sample in samples]
        assert index.samples(domain)[: len(ids)] == tuple(samples)
        assert ids == sorted(ids)
        names = [label for label in index.classes if len(label) > 1]
        assert not any(name in i for name in names for i in ids)
        assert are_mixed([sample.label for sample in samples])
        rest = index.samples(domain)[len(ids) :]
        assert not any(sample.label for sample in rest)
        pairs.add(tuple(sample.id for sample in rest))
        assert not {*ids} & {*chain(*pairs)}
    assert len(pairs) == 1


def test_no_digit_is_in_two_domains_and_none_is_lost(
    prepared: dict[str, Index],
) -> None:
    index = prepared["digits"]
    ids = [s.id for domain in index.domains for s in index.unpaired(domain)]
    pairs = [s.id for s in index.samples("print") if s.paired]
    assert sorted(ids + pairs) == [f"{number:04d}" for number in range(1797)]
    with Image.open(index.files("print")[0]) as image:
        assert (image.size, image.mode) == ((64, 64), "L")


def test_no_function_gives_its_documentation_and_its_code(
    prepared: dict[str, Index],
) -> None:
    index = prepared["docs-to-code"]
    docs, code = (
        [index.root / sample.path for sample in index.unpaired(domain)]
        for domain in ("docs", "code")
    )
    assert not {path.stem for path in docs} & {path.stem for path in code}
    merged = "\n".join(path.read_text() for path in code)
    for path in docs:
        first = " ".join(path.read_text().split("\n\n")[0].split())
        assert len(first) < 60 or first not in " ".join(merged.split())


class Tiny(Dataset):
    identifier, kind, domains, classes = "tiny", "texts", ("one",), ("a",)
    fails = False

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        (folder / "one").mkdir()
        (folder / "one" / "x.txt").write_text("x")
        if self.fails:
            raise RuntimeError("the disk is full")
        return {"one": [Sample("x", "one/x.txt", "a")]}


def test_a_failed_preparation_leaves_the_old_files_and_no_debris(
    tmp_path: Path,
) -> None:
    dataset = Tiny()
    dataset.prepare(tmp_path / "tiny")
    before = contents(tmp_path)
    dataset.fails = True
    with pytest.raises(RuntimeError, match="disk"):
        dataset.prepare(tmp_path / "tiny")
    assert contents(tmp_path) == before


def test_a_folder_of_texts_becomes_a_data_set(folder: Path, tmp_path: Path) -> None:
    index = FolderDataset("mine", folder).prepare(tmp_path / "data" / "mine")
    assert (index.kind, index.classes) == ("texts", ("cat", "dog"))
    sizes = {domain: index.class_sizes(domain) for domain in index.domains}
    assert sizes == {"new": [2, 2], "old": [2, 2]}
    assert [p.name for p in (tmp_path / "data" / "mine").iterdir()] == ["index.json"]
    assert all(path.is_absolute() for path in index.files("new"))
    by_class = {"cat": 2, "dog": 2}
    result = FolderDataset("mine", folder).contents()
    assert result == {"new": by_class, "old": by_class}


def test_a_folder_may_hold_pairs_of_files_that_are_no_class(
    folder: Path, tmp_path: Path
) -> None:
    for domain, suffix in (("new", "md"), ("old", "txt")):
        (folder / domain / "both").mkdir()
        for name in ("one", "two"):
            (folder / domain / "both" / f"{name}.{suffix}").write_text(domain)
    result = FolderDataset("mine", folder, paired="both")
    assert (result.classes, result.n_paired) == (("cat", "dog"), 2)
    assert result.contents()["new"] == {"cat": 2, "dog": 2}
    assert result.notes() == []
    index = result.prepare(tmp_path / "data" / "mine")
    ids = [[s.id for s in index.samples(d) if s.paired] for d in ("new", "old")]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 2
    assert FolderDataset("mine", folder).classes == ("both", "cat", "dog")
    (folder / "old" / "both" / "two.txt").unlink()
    with pytest.raises(DataError, match="has 1 of the 2 paired objects"):
        FolderDataset("mine", folder, paired="both")
    with pytest.raises(ConfigError, match="paired.*folder"):
        own_dataset("mine", {"folder": str(folder), "paired": True})


def renamed(pattern: str, suffix: str) -> Callable[[Path], None]:
    def rename(folder: Path) -> None:
        for path in sorted(folder.rglob(pattern)):
            path.rename(path.with_suffix(suffix))

    return rename


def emptied(folder: Path) -> None:
    for path in (folder / "old" / "dog").iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (shutil.rmtree, "mine: .*folder"),
        (emptied, "old/dog: .*folder.*texts"),
        (renamed("*.txt", ".so"), "image.*text.*suffix.*Known"),
    ],
)
def test_a_folder_that_is_no_data_set_is_refused(
    folder: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    spoil(folder)
    with pytest.raises(DataError, match=message):
        FolderDataset("mine", folder)


def test_a_domain_may_lack_a_class_which_is_told(folder: Path, tmp_path: Path) -> None:
    shutil.rmtree(folder / "old/dog")
    result = FolderDataset("mine", folder)
    assert result.contents() == {"new": {"cat": 2, "dog": 2}, "old": {"cat": 2}}
    assert result.notes() == [
        f"{folder}: some domains lack classes:\n"
        "    class  new  old\n    dog      2    -\n    cat      2    2"
    ]
    assert result.prepare(tmp_path / "data").class_sizes("old") == [2, 0]


def every_sample(**changes: str) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        for sample in content["domains"][1]["samples"]:
            sample.update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (every_sample(id="same"), "the id 'same' .*once"),
        (every_sample(label="cow"), "samples.*classes: cow"),
        (every_sample(path="b.txt"), r"domain old: the file .*b\.txt is missing"),
        (lambda c: c.update(kind="sounds"), "images, texts, features, tables, got 'so"),
        (lambda c: c.pop("classes"), r"index\.json: .*data set's index"),
    ],
)
def test_an_index_that_is_damaged_or_contradicts_itself_is_refused(
    folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    FolderDataset("mine", folder).prepare(tmp_path / "data")
    content = read_json(tmp_path / "data" / "index.json")
    change(content)
    write_json(tmp_path / "data" / "index.json", content)
    with pytest.raises(DataError, match=message):
        read_index(tmp_path / "data")


def test_sizes_other_than_the_catalogues_are_an_error(
    folder: Path, tmp_path: Path
) -> None:
    index = FolderDataset("mine", folder).prepare(tmp_path / "data")
    entry = {"kind": "texts", "classes": ["cat", "dog"]}
    entry |= {"class_sizes": {"new": [2, 2], "old": [2, 3]}}
    with pytest.raises(DataError, match=r"'old': \[2, 2\]}, .*catalogue"):
        check_catalogued(index, {"mine": entry})


def test_sizes_of_another_version_of_a_package_are_only_logged(
    prepared: dict[str, Index], caplog: pytest.LogCaptureFixture
) -> None:
    catalogue = load_catalogue(CATALOGUE)
    catalogue["docs-to-code"]["class_sizes"]["docs"][0] += 1
    catalogue["docs-to-code"]["versions"]["scipy"] = "1.99.0"
    check_catalogued(prepared["docs-to-code"], catalogue)
    assert "scipy 1.99.0" in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "read.*catalogue"),
        ("digits: {titel: x}", "digits: unknown key 'titel': did you mean 'title'"),
        ("digits: {title: x}", "digits: missing kind, licence"),
    ],
)
def test_a_faulty_catalogue_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "datasets.yaml").write_text(text)
    with pytest.raises(DataError, match=message):
        load_catalogue(tmp_path / "datasets.yaml")
