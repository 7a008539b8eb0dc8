"""`cdspp inspect`, and `inspect` of Python: what is believed before a fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image
from scipy.sparse import csr_array

import cdspp
from cdspp.analysis.inspection import inspect_file
from cdspp.cli.main import main
from cdspp.datasets.table_files import Columns

KEYS = Path(__file__).parents[2] / "docs/extensions/json_keys.yaml"
LISTED = yaml.safe_load(KEYS.read_text(encoding="utf-8"))["inspect"]
# Each row and column has one thing to decide; the middle of 99 marks a missing number.
CELLS = [
    ["Study of plants", "", "", "", "", "", ""],
    ["species", "id", "height", "width", "seen", "site", "code"],
    ["rose", "r1", "1,5", "1", "2024-01-13", "Nordö", "99"],
    ["rose", "r2", "2,5", "NA", "2024-01-14", "B", "3"],
    ["lily", "r3", "x", "3", "2024-01-15", "B", "4"],
    ["Lily", "r3", "4,5", "", "2024-01-16", "B", "2"],
    ["-1", "r5", "5,5", "5", "2024-01-17", "B", "1"],
]
DECISIONS = {
    "height": "'x' is not a number: correct the cells, or --drop height",
    "seen": "holds dates .*--dates number or parts, or --drop seen",
    "site": "holds text .*--categories one-hot or frequency, or --drop site",
    "Lily": "differ only in capitals.*--map-labels FILE.*--keep-label",
    "r3": "the id 'r3' occurs 2 times",
    "NA": "the number is missing .2 in all.*--impute",
    "-1": "1 of 5 labels are -1.*--keep-label=-1 .*--unlabelled=-1",
}


def as_csv(path: Path, rows: list[list[str]] = CELLS) -> Path:
    lines = (";".join(cells) for cells in rows)
    path.write_text("\n".join(lines) + "\n", encoding="cp1252")
    return path


def test_every_doubt_of_a_table_is_a_line_with_what_to_type(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    as_csv(Path("a.csv"))
    assert main(["inspect", "a.csv", "--label", "species"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 100
    head, _, rest = text.partition(", refused until you decide:\n")
    assert head.startswith("a.csv: 5 rows, 4 labelled in 3 classes, read as unlab")
    assert "read as text, CP1252, cells between semicolons" in head
    assert "label 'species': rose 2, lily 1, Lily 1" in head
    refused, _, rest = rest.partition("  Doubtful:\n")
    lines = re.split(r"\n?  - ", re.sub(r"\n {6}", " ", refused).rstrip())[1:]
    assert len(lines) == len(DECISIONS)
    for line, pattern in zip(lines, DECISIONS.values(), strict=True):
        assert re.search(pattern, line), line
    assert "read as cp1252 (not UTF-8" in rest
    assert "1 line above the header left out" in rest
    assert "99 in code may mark missing numbers" in rest
    assert re.search(r"width +number +1 to 5 +1 NA, 1 empty\n", rest)
    assert re.search(r"height +number with comma, refused +1.5 to 5.5\n", rest)
    # What an option decides is refused no more.
    options = ["--drop", "height", "--dates", "number", "--categories", "one-hot"]
    options += ["--impute", "--keep-label=-1", "--keep-label", "Lily", "--id", "code"]
    assert main(["inspect", "a.csv", "--label", "species", *options]) == 0
    text = capsys.readouterr().out
    assert [line for line in text.split("\n") if "- " in line[:5]][0].startswith(
        "  - the header has a column 'id', but the id column is 'code'."
    )
    assert text.count("  - the header") == text.count("1 problem, refused") == 1


def test_without_a_label_column_the_likely_one_is_named(
    tmp_path: Path, capsys: Any
) -> None:
    assert main(["inspect", str(as_csv(tmp_path / "a.csv"))]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "label: no column 'label'; 'species' is likely" in text
    assert "Name it with --label species." in text
    assert "--drop species" not in text  # it is no feature


def test_formats_give_the_same_beliefs(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    numbers = {"1,5": 1.5, "2,5": 2.5, "4,5": 4.5, "5,5": 5.5}
    cells = [[numbers.get(cell, cell) for cell in row] for row in CELLS[1:]]
    pd.DataFrame(cells).to_excel(tmp_path / "a.xlsx", index=False, header=False)
    columns = Columns(label="species", required=("label",))
    files = as_csv(tmp_path / "a.csv", CELLS[1:]), tmp_path / "a.xlsx"
    one, other = (inspect_file(path, columns).to_dict() for path in files)
    for key in ("rows", "labels", "id", "undecided", "read_as_unlabelled"):
        assert one[key] == other[key], key
    # The decimal sign is that of the text of the cells.
    for column in (*one["columns"], *other["columns"]):
        del column["sign"]
        column["fault"] = column["fault"].replace("line", "row")  # of equal number
    assert one["columns"] == other["columns"]
    refused = [re.sub(r"^line (?=\d)", "row ", text) for text in one["refused"]]
    assert refused == other["refused"]


def test_two_files_show_both_ranges_and_a_table_of_classes(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    mass, age = rng.normal(900, 50, 40), rng.integers(20, 80, 40)
    kinds = np.array(["cat", "dog"] * 20)
    source = pd.DataFrame({"mass_g": mass, "age": age, "label": kinds})
    target = pd.DataFrame({"mass (kg)": mass / 1000 + 0.2, "age": age + 0.5})
    source.to_csv("source.csv", index=False)
    labels = np.where(np.arange(40) < 4, np.where(kinds == "cat", "cat", "fox"), "")
    target.assign(label=labels).to_csv("target.csv", index=False)
    assert main(["inspect", "source.csv", "target.csv"]) == 0
    text = capsys.readouterr().out
    both = text.partition("source.csv as the source, target.csv as the target:")[2]
    for line in ("dog +20 +-", "fox +- +2", "cat +20 +2"):
        assert re.search(f"\n +{line}\n", both), line
    low, high = age.min(), age.max()
    assert re.search(f"age +{low} to {high} +{low}.5 to {high}.5", both)
    assert "--shared 'same-names,mass_g=mass (kg)*1000'" in both
    assert main(["inspect", "source.csv", "target.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {*_keys(found)} <= {"schema_version", *LISTED}
    assert [of["source"] for of in found["both"]["columns"]] == ["age"]
    assert found["both"]["classes"]["target.csv"] == {"cat": 2, "fox": 2}
    # -1 is a question in the source only.
    target.assign(label=["-1", *labels[1:]]).to_csv("target.csv", index=False)
    source.assign(label=["-1", *kinds[1:]]).to_csv("source.csv", index=False)
    assert main(["inspect", "source.csv", "target.csv", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["files"]
    assert ["labels are -1" in str(of["refused"]) for of in (first, second)] == [
        *(True, False),
    ]
    assert (first["undecided"], second["undecided"]) == (1, 1)


def _keys(content: Any, above: str = "") -> Iterator[str]:
    """Yield the paths of keys that the page of commands lists."""
    for part in content if isinstance(content, list) else [content]:
        for key, value in part.items():
            path = f"{above}{key}"
            is_listed = any(name.startswith(f"{path}.") for name in LISTED)
            yield from _keys(value, f"{path}.") if is_listed else [path]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Return a folder of images of 8 bits and of 12, and a stray text."""
    ramp = np.linspace(0, 4095, 32 * 32).reshape(32, 32)
    for domain, name, scale in (("web", "{}.png", 16), ("phone", "{}.tif", 1)):
        for label in ("cat", "dog"):
            folder = tmp_path / "photos" / domain / label
            folder.mkdir(parents=True)
            for k in range(4):
                kind = np.uint8 if scale > 1 else np.uint16
                pixels = (ramp / scale / (4 - k)).astype(kind)
                Image.fromarray(pixels).save(folder / name.format(k))
    (tmp_path / "photos/web/cat/notes.txt").write_text("no image")
    return tmp_path / "photos"


def test_a_folder_of_images_shows_modes_ranges_and_what_a_network_sees(
    photos: Path, capsys: Any
) -> None:
    page = photos.with_name("look.html")
    assert main(["inspect", str(photos), "--page", str(page)]) == 0
    text = capsys.readouterr().out
    said = " ".join(text.split())
    assert "images, 2 domains (16 images and 1 .txt)" in said
    assert "1 file skipped, not images by suffix: web/cat/notes.txt" in said
    assert re.search(r"phone +TIFF +I;16 +0 to 4095 +1\n", text)
    assert re.search(r"web +PNG +L +0 to 255 +1\n", text)
    assert main(["inspect", str(photos), "--json"]) == 0
    keys = {*_keys(json.loads(capsys.readouterr().out))}
    assert keys <= {"schema_version", *LISTED}
    content = page.read_text(encoding="utf-8")
    assert content.count("data:image/png;base64,") == 2 * 2 * 4  # domains, extractors
    assert "http" not in re.sub('http-equiv|lang="en"', "", content)
    assert main(["inspect", str(photos), "--page", str(page)]) == 2
    assert "overwrite it with --force" in capsys.readouterr().err


def test_thumbnails_have_the_range_of_all_images_of_a_domain(photos: Path) -> None:
    import base64
    import io

    from cdspp.analysis.folder_inspection import inspect_folder, pictures

    views = dict(pictures(inspect_folder(photos).data))
    addresses = views["phone, as the extractor cnn sees it"]
    files = [base64.b64decode(address.partition(",")[2]) for address in addresses]
    maxima = [np.asarray(Image.open(io.BytesIO(file))).max() for file in files]
    # Every second file: those with a quarter and half of the values of the brightest.
    assert len(maxima) == 4
    assert [round(4 * m / 255) for m in map(int, maxima)] == [1, 2, 1, 2]


def test_a_damaged_image_is_refused_and_has_no_range(photos: Path, capsys: Any) -> None:
    (photos / "web/dog/9.png").write_bytes(b"no image")
    assert main(["inspect", str(photos)]) == 0
    text = capsys.readouterr().out
    said = " ".join(text.split())
    assert "decide: - 1 of 9 images cannot be read: " in said
    assert re.search(r"web +PNG +L +unknown +1\n", text)


def test_a_folder_of_texts_shows_tokens(tmp_path: Path, capsys: Any) -> None:
    for domain, text in (("hi", "हिन्दी भाषा सुंदर है"), ("en", "a cat_food tin")):
        for label in ("x", "y"):
            folder = tmp_path / domain / label
            folder.mkdir(parents=True)
            for k in range(3):
                (folder / f"{k}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "en/x/0.txt").write_bytes(b"caf\xe9")
    assert main(["inspect", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"hi +4 +हिन्दी भाषा सुंदर है\n", text)
    assert re.search(r"en +3 +cat food tin\n", text)
    said = " ".join(text.split())
    assert re.search(r"decide: - \S+/en/x/0.txt: cannot be read as utf-8", said)
    assert main(["inspect", str(tmp_path), str(tmp_path)]) == 2
    assert "Name only it" in capsys.readouterr().err


def test_python_inspects_frames_arrays_and_sparse_rows() -> None:
    days = pd.to_datetime(["2024-01-01", None, "2024-02-02"])
    frame = pd.DataFrame({"a": [1.5, 2, None], "when": days}, index=["u", "v", "w"])
    found = cdspp.inspect(frame, ["cat", None, "dog"])
    table = found.to_frame().set_index("name")
    assert table["kind"].tolist() == ["number", "date"]
    assert table.loc["when", ["low", "high"]].tolist() == ["2024-01-01", "2024-02-02"]
    assert table["missing"].tolist() == [{"empty": 1}, {"empty": 1}]
    assert found.to_dict()["labels"] == {"cat": 1, "dog": 1}
    assert [text.partition(" ")[2][:12] for text in found.refused] == [
        *("'when' holds", "number missi"),
    ]
    assert "--" not in repr(found).replace("---", "")
    X = np.array([[0.0, 2.0], [0.0, 0.0], [-3.0, np.nan]])
    dense, sparse = (
        cdspp.inspect(X, [1, -1, 2]),
        cdspp.inspect(csr_array(X), [1, -1, 2]),
    )
    columns = ["name", "kind", "low", "high", "missing"]
    pd.testing.assert_frame_equal(dense.to_frame()[columns], sparse.to_frame()[columns])
    assert repr(sparse).startswith("X: 3 rows, 2 labelled in 2 classes, 2 features\n")
    assert sparse.to_dict()["labels"] == {"1": 1, "2": 1}
    with pytest.raises(cdspp.analysis.inspection.DataError, match="y has 2 entries"):
        cdspp.inspect(X, [1, 2])
