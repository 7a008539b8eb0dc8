"""Samples of a folder without a label: the folder unlabelled, and files of labels."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from cdspp.core.errors import DataError
from cdspp.datasets import FolderDataset, dataset_recipe
from cdspp.datasets.base import opaque_id


def write_texts(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = [f"{d}/{k}/{i}.txt" for d in ("new", "old") for k in "ab" for i in (1, 2)]
    return write_texts(tmp_path / "mine", *names)


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    """Return the flat folder of a domain with a file of labels."""
    old = [f"mine/old/{label}/{i}.txt" for label in "ab" for i in (1, 2)]
    new = [f"mine/new/{name}.txt" for name in ("one", "two", "gr\xfcn", "four")]
    write_texts(tmp_path, *old, *new)
    write_labels(tmp_path / "mine/new", "one.txt,a", "two.txt,b", "gr\xfcn.txt,a")
    return tmp_path / "mine/new"


def write_labels(folder: Path, *rows: str, header: str = "file,label") -> None:
    (folder / "labels.csv").write_text("\n".join([header, *rows]))


def test_a_folder_of_class_folders_keeps_its_fingerprint(folder: Path) -> None:
    write_texts(folder, "new/both/x.txt", "old/both/x.md", "new/README.txt")
    for paired in (None, "both"):
        result = FolderDataset("mine", folder, paired=paired)
        assert result.fingerprint() == "88a3e1965a3e2bfb"


def test_files_in_the_folder_unlabelled_have_no_label(
    folder: Path, tmp_path: Path
) -> None:
    write_texts(folder, "new/unlabelled/1.txt", "new/unlabelled/\xfc.txt")
    result = FolderDataset("mine", folder)
    assert result.contents() == {
        "new": {"": 2, "a": 2, "b": 2},
        "old": {"a": 2, "b": 2},
    }
    assert result.notes() == [
        f"{folder}/new: 2 of 6 texts have no label; as a target they are predicted.",
        f"{folder}: files in a folder named unlabelled have no label. If it is a "
        "class, name it with --keep-label, in a study with keep_labels.",
    ]
    index = result.prepare(tmp_path / "data")
    assert index.classes == ("a", "b")
    found = {s.id: (s.path, s.label) for s in index.samples("new")}
    # Their ids are paths, by which a user finds the predictions.
    paths = ["new/unlabelled/1.txt", "new/unlabelled/\xfc.txt"]
    assert [found.pop(path) for path in paths] == [(path, "") for path in paths]
    assert found[opaque_id("new/a/1.txt")] == ("new/a/1.txt", "a")


def test_a_class_called_unlabelled_keeps_its_name_and_fingerprint(folder: Path) -> None:
    write_texts(folder, "new/unlabelled/1.txt", "old/Unlabeled/1.txt")
    with pytest.raises(DataError, match="old/Unlabeled: expected the name unlabelled"):
        FolderDataset("mine", folder)
    (folder / "old/Unlabeled").rename(folder / "old/unlabelled")
    changed = FolderDataset("mine", folder)
    kept = FolderDataset("mine", folder, keep_labels=["unlabelled"])
    assert kept.classes == ("a", "b", "unlabelled")
    assert kept.notes() == []
    assert kept.fingerprint() == "5c299a1e757317e3"
    assert changed.fingerprint() != kept.fingerprint()


def test_a_file_of_labels_names_the_labelled_files_of_a_flat_folder(
    flat: Path, tmp_path: Path
) -> None:
    # As a Mac writes the name of the file.
    (flat / "gr\xfcn.txt").rename(flat / unicodedata.normalize("NFD", "gr\xfcn.txt"))
    write_texts(flat, "unlabelled/1.txt", ".hidden.txt")
    own = {"folder": str(flat.parent)}
    index = FolderDataset("mine", flat.parent).prepare(tmp_path / "data")
    names = {Path(s.path).name: s.label for s in index.samples("new")}
    assert sorted(names.values()) == ["", "", "a", "a", "b"]
    assert names["one.txt"] == "a"
    assert not names["four.txt"] + names["1.txt"]
    before = dataset_recipe("mine", own)
    write_labels(flat, "one.txt,b", "two.txt,b", "gr\xfcn.txt,a")
    assert dataset_recipe("mine", own) != before


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["on.txt,a"], r"1 row of no file: line 5, 'on.txt' \(may be 'one.txt'\)"),
        (["old/a/1.txt,a"], "no file: line 5, 'old/a/1.txt'.*with their suffix"),
        ([".hidden.txt,a"], "1 row of no file: line 5"),
        (["one.txt,b"], r"same file: one.txt \(2 rows\)\. Keep one"),
        (["four.txt,"], "1 row without a label: line 5, 'four.txt'. Label"),
        (["four.txt,NA"], r"\(read as unlabelled: 'NA'\).*If 'NA' is a class"),
        (["four.txt,Unlabelled"], r"\(read as unlabelled: 'Unlabelled'\)"),
        (["four.png,a"], "names 1 file, not texts by suffix: four.png"),
    ],
)
def test_a_faulty_row_of_a_file_of_labels_is_named(
    flat: Path, rows: list[str], message: str
) -> None:
    write_texts(flat, "four.png", ".hidden.txt")
    write_labels(flat, "one.txt,a", "two.txt,b", "gr\xfcn.txt,a", *rows)
    with pytest.raises(DataError, match=f"labels.csv: .*{message}"):
        FolderDataset("mine", flat.parent)


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("name,label", ["one.txt,a"], "one column 'file', got name, label"),
        ("file,class", ["one.txt,a"], "one column 'label', got file, class"),
        ("file,label", [], "a row per labelled file, got none"),
    ],
)
def test_a_faulty_file_of_labels_is_named(
    flat: Path, header: str, rows: list[str], message: str
) -> None:
    write_labels(flat, *rows, header=header)
    with pytest.raises(DataError, match=f"labels.csv: expected {message}"):
        FolderDataset("mine", flat.parent)


def test_a_word_of_a_file_of_labels_is_a_class_if_it_is_kept(flat: Path) -> None:
    write_labels(flat, "one.txt,NA", "two.txt,unlabelled")
    kept = ["NA", "unlabelled"]
    result = FolderDataset("mine", flat.parent, keep_labels=kept)
    assert result.contents()["new"] == {"": 2, "NA": 1, "unlabelled": 1}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["x/unlabelled/1.txt"], "x: no sample has a label. Add a folder per class"),
        (["old/unlabelled/a/1.txt"], "unlabelled: the folder has no texts. Put some"),
        (["new/labels.csv"], r"new: expected class folders or .*got both \(a, b\)"),
        (["x/1.txt"], "x has no class folder .*labels.csv with the columns file and"),
        ([os.fsdecode(b"new/a/\xff.txt")], r"the name '\\udcff.txt' is not UTF-8"),
    ],
)
def test_a_doubtful_folder_is_refused(
    folder: Path, names: list[str], message: str
) -> None:
    write_paths = [folder / name for name in names]
    for path in write_paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with pytest.raises(DataError, match=message):
        FolderDataset("mine", folder)


def test_paths_that_are_no_file_of_a_class_folder_are_listed(folder: Path) -> None:
    write_texts(folder, "new/README.txt", "new/a/more/1.txt")
    (folder / "old/b/gone.txt").symlink_to("nowhere")
    (folder / "old/c").symlink_to("b")
    (folder / "new/c").symlink_to("a")
    result = FolderDataset("mine", folder)
    paths = "new/README.txt, new/a/more, new/c/more, old/b/gone.txt, old/c/gone.txt"
    text = "5 paths left out, no file of a class folder"
    assert result.notes() == [f"{folder}: {text}: {paths}"]
    assert result.contents()["old"] == {"a": 2, "b": 2, "c": 2}
