"""The files of the commands hold of rows what `docs/guide/two-tables.md` says."""

from __future__ import annotations

import io
import re
import shlex
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cdspp import SourceDomain, make, save_model
from cdspp.__main__ import main
from cdspp.core.files import read_parts
from cdspp.core.wording import listed
from cdspp.methods import available, method_class, option_defaults
from cdspp.methods.descriptions import read_descriptions

PAGE = Path(__file__).parents[2] / "docs/guide/two-tables.md"
FILES = {
    "predictions": ["predictions.csv", "more.csv"],
    "model": ["model.npz"],
    "rows to label": ["rows.csv"],
    "page, JSON and table of `compare`": ["page.html", "answer.json", "gains.csv"],
    "terminal": ["terminal.txt"],
}
BOTH = "--source source.csv --target target.csv --categories one-hot --drop comment"
LINES = (
    f"compare {BOTH} --rows-to-label rows.csv --page page.html --json answer.json "
    "--csv gains.csv",
    f"fit {BOTH} --method cdspp-bridge --output predictions.csv --model model.npz",
    "predict --model model.npz --target new.csv --output more.csv",
)
# Of the column that both tables have, an inner number and the greatest, by table.
NUMBERS = {"source": (103.0625, 191.0625), "target": (107.0625, 197.0625)}


def table(name: str, n_rows: int, n_labelled: int) -> pd.DataFrame:
    """Return rows whose cells are recognised wherever they are written."""
    rng = np.random.default_rng(n_rows)
    kind = np.arange(n_rows) % 3
    both = rng.normal(100 + 10 * kind, 4)
    both[-2:] = NUMBERS[name]
    cells: dict[str, Any] = {"id": [f"{name}-id-{k}" for k in range(n_rows)]}
    cells |= {"both": both, f"only {name}": rng.normal(kind, 0.5)}
    cells |= {"site": [f"{name}-Town-{k % 2}" for k in range(n_rows)]}
    cells |= {"comment": [f"{name}-Note-{k}" for k in range(n_rows)]}
    labels = [f"label-{k}" if n < n_labelled else "" for n, k in enumerate(kind)]
    return pd.DataFrame(cells | {"label": labels})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the commands have written their files."""
    folder, shown = tmp_path_factory.mktemp("written"), io.StringIO()
    table("source", 30, 30).to_csv(folder / "source.csv", index=False)
    target = table("target", 60, 12)
    target.to_csv(folder / "target.csv", index=False)
    target.drop(columns="label").to_csv(folder / "new.csv", index=False)
    with chdir(folder), redirect_stdout(shown), redirect_stderr(shown):
        assert [main(shlex.split(line)) for line in LINES] == [0, 0, 0]
    (folder / "terminal.txt").write_text(shown.getvalue())
    return folder


def content(path: Path) -> tuple[str, set[float]]:
    """Return the text and the numbers of a file."""
    if path.suffix != ".npz":
        text = path.read_text()
        return text, {float(found) for found in re.findall(r"\d+\.\d+", text)}
    tree, arrays = read_parts(path, "a model")
    text, numbers = str(tree), set[float]()
    for array in arrays.values():
        if array.dtype.kind == "f":
            numbers |= set(array.ravel().tolist())
        else:
            text += str(array.tolist())
    return text, numbers


def kinds(path: Path) -> dict[str, bool]:
    """Return which cells of both tables are in a file, by the headings of the page."""
    text, numbers = content(path)
    return {
        "ids": bool(re.search("(source|target)-id-", text)),
        "labels": "label-" in text,
        "text": bool(re.search("-(Town|Note)-", text)),
        "numbers": bool(numbers & {n for pair in NUMBERS.values() for n in pair}),
    }


def lines_of_page() -> dict[str, dict[str, str]]:
    """Return the table of the page: by file and kind of cell, the words."""
    text = PAGE.read_text()
    block = text[text.index("| file | ids |") :].partition("\n\n")[0]
    heading, _, *lines = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in block.splitlines()
    )
    names = [re.sub(r" \(.*\)", "", line[0]) for line in lines]
    cells = (dict(zip(heading[1:], line[1:], strict=True)) for line in lines)
    return dict(zip(names, cells, strict=True))


@pytest.mark.parametrize("name", FILES)
def test_a_file_holds_the_cells_that_the_page_names(name: str, written: Path) -> None:
    said = lines_of_page()[name]
    found = [kinds(written / file) for file in FILES[name]]
    for kind, words in said.items():
        assert any(each[kind] for each in found) == (words != "no"), kind


def test_the_page_names_every_file() -> None:
    assert list(lines_of_page()) == list(FILES)


def test_a_model_keeps_extremes_and_encoded_text_of_the_target_only(
    written: Path,
) -> None:
    text, numbers = content(written / "model.npz")
    inner, greatest = NUMBERS["target"]
    assert greatest in numbers
    assert not numbers & {inner, *NUMBERS["source"]}
    assert "target-Town-0" in text
    assert "Note-" not in text
    assert "source-Town" not in text
    labels = re.findall(r"label-\d", text)
    assert len(labels) >= 60  # of each target row, given or predicted


def test_an_error_quotes_cells(written: Path, capsys: Any) -> None:
    files = [str(written / f"{name}.csv") for name in ("source", "target")]
    assert main(["compare", "--source", files[0], "--target", files[1]]) == 2
    assert "'target-Note-0', 'target-Note-1'" in capsys.readouterr().err


def rows_in_model(name: str, folder: Path) -> bool:
    """Whether the model of a method has an array of a row, or more, of the fit.

    Such an array has as many rows as a part of the data, and more than one column.
    """
    sizes = {"source": 61, "labelled": 12, "unlabelled": 47, "pairs": 19}
    rng = np.random.default_rng(0)

    def rows(n_rows: int, width: int) -> np.ndarray:
        return (
            rng.normal(size=(n_rows, width))
            + 3 * np.eye(3, width)[np.arange(n_rows) % 3]
        )

    n_target = sizes["labelled"] + sizes["unlabelled"]
    y = np.where(np.arange(n_target) < sizes["labelled"], np.arange(n_target) % 3, -1)
    source = SourceDomain(
        rows(sizes["source"], 17),
        np.arange(sizes["source"]) % 3,
        shared_columns=[(0, 0), (3, 5)],
        paired_rows=(rows(sizes["pairs"], 17), rows(sizes["pairs"], 13)),
    )
    options = {"random_state": 0} if "random_state" in option_defaults(name) else {}
    if method_class(name).needs_torch:
        pytest.importorskip("torch")
        options["max_iter"] = 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name, **options).fit(rows(n_target, 13), y, source=source)
    save_model(folder / "model.npz", model)
    _, arrays = read_parts(folder / "model.npz", "a model")
    joint = sizes["source"] + sizes["labelled"]
    many = {*sizes.values(), n_target, joint, joint + sizes["unlabelled"]}
    return any(a.ndim > 1 and many & {*a.shape} for a in arrays.values())


@pytest.mark.parametrize(
    "name", [name for name in available() if not method_class(name).transductive]
)
def test_the_methods_that_keep_rows_are_declared(name: str, tmp_path: Path) -> None:
    named = read_descriptions()[name].keeps_rows
    assert rows_in_model(name, tmp_path) == named, f"keeps_rows of {name}"


def test_the_page_names_the_methods_that_keep_rows() -> None:
    keep = [
        each.display_name for each in read_descriptions().values() if each.keeps_rows
    ]
    text = " ".join(PAGE.read_text().split())
    assert f"Models of {listed(keep)} keep rows" in text
