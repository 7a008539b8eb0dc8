"""Files that studies share: who uses them, what `cdspp clean` removes, their index."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from support.toy_study import CONFIG, write_texts

from cdspp.__main__ import main
from cdspp.cli.study import read_study, task_blocks
from cdspp.core.errors import ConfigError
from cdspp.core.provenance import file_digest
from cdspp.core.records import Specification, record_path, write_record
from cdspp.core.run_lock import lock_run, own_run
from cdspp.report.results import Results
from cdspp.study.files import feature_file
from cdspp.study.shared_files import write_features_index
from cdspp.study.stale import digests_of_files, write_digests

DATA, OTHER_DATA = "goods-11111111", "goods-22222222"
PIXELS = f"results/features/{DATA}/web.pixels-aaaaaaaa.npz"
PCA = f"results/features/{DATA}/web.pca-bbbbbbbb.npz"
LABELS = f"results/labels/{DATA}/web.parquet"
CODEBOOK = f"results/codebooks/{DATA}/pixels-aaaaaaaa.npz"
# Of study b; its features and labels have the content of those of study a.
SMALL_PCA = f"results/features/{DATA}/web.pca-cccccccc.npz"
OTHER_LABELS = f"results/labels/{OTHER_DATA}/web.parquet"
OF_A = (f"data/{DATA}/index.json", f"data/{DATA}/web/rows.npz", PIXELS, PCA)
OF_A += (LABELS, CODEBOOK)
DOWNLOADS = ("data/office/amazon.fetched.json", "data/office/index.json")


def write(
    path: str, content: str, inputs: Mapping[str, str] | None = None, **extra: Any
) -> str:
    """Write a file and its record; `inputs` are paths by name."""
    options = extra.pop("options", {})
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content)
    digests = {file: file_digest(file) for file in (inputs or {}).values()}
    write_record(path, Specification(inputs or {}, options), digests, extra)
    return path


def write_data(data: str) -> str:
    index = write(f"data/{data}/index.json", data, options={"own": {"folder": "x"}})
    Path(f"data/{data}/web").mkdir()
    Path(f"data/{data}/web/rows.npz").write_text("rows")
    return index


def write_study(name: str, data: str, features: str, labels: str) -> None:
    """Write a split, a fit, and a report that names features and labels."""
    main_run = f"results/{name}/splits/goods/main"
    split = write(f"{main_run}/source/web/1-2.parquet", name, {"labels": labels})
    inputs = {"source_features": features, "source_split": split}
    fit = f"results/{name}/fits/goods/main/web_web/cdspp/1-2.parquet"
    write(fit, name, inputs, dataset=data)
    page, table = (
        Path("results", name, f) for f in ("report/index.html", "tables/t.csv")
    )
    for path in (page, table):
        path.parent.mkdir()
        path.write_text(name)
    files = digests_of_files([features, labels, split, table], "results")
    write_digests(page, {"study": name}, files)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder: two finished variants of a study, and downloads."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    for data, labels in ((DATA, LABELS), (OTHER_DATA, OTHER_LABELS)):
        write(labels, "labels", {"index": write_data(data)})
    write(CODEBOOK, "words", {"index": OF_A[0]})
    view = {"extractor": "pixels", "options": {}, "scale": "none"}
    write(PIXELS, "wide", {"index": OF_A[0], "codebook": CODEBOOK}, options=view)
    for path, energy in ((PCA, 0.9), (SMALL_PCA, 0.8)):
        view = {"extractor": "pca", "options": {"energy": energy}, "scale": "none"}
        write(path, "narrow", {"view": PIXELS}, options=view)
    write_study("a", DATA, PCA, LABELS)
    write_study("b", DATA, SMALL_PCA, OTHER_LABELS)
    write(DOWNLOADS[1], "{}", options={"own": None})
    Path(DOWNLOADS[0]).write_text("{}")
    return place


def answer(capsys: Any, *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(words) == code
    out, err = capsys.readouterr()
    return str(err if code else out)


def listed(text: str) -> set[str]:
    words = (line.partition(" ")[0] for line in text.splitlines())
    return {word for word in words if "/" in word}


def test_only_files_of_a_deleted_variant_are_removed(folder: Path, capsys: Any) -> None:
    assert "all in use" in answer(capsys, "clean")
    shutil.rmtree("results/b")
    Path(OTHER_LABELS).unlink()  # by a command that was killed; its record is left
    text = answer(capsys, "clean")
    assert listed(text) == {SMALL_PCA, OTHER_LABELS, f"data/{OTHER_DATA}"}
    assert text.endswith("To remove them: cdspp clean --yes\n")
    assert Path(SMALL_PCA).exists()
    answer(capsys, "clean", "--yes")
    gone = (SMALL_PCA, record_path(SMALL_PCA), f"data/{OTHER_DATA}")
    assert not any(map(os.path.exists, (*gone, Path(OTHER_LABELS).parent)))
    assert all(map(os.path.exists, (*OF_A, *DOWNLOADS)))
    assert "all in use" in answer(capsys, "clean")
    with open("results/features/index.csv") as stream:
        assert [row["file"] for row in csv.DictReader(stream)] == [PCA, PIXELS]


def test_nothing_remains_of_the_last_study(folder: Path, capsys: Any) -> None:
    write_features_index()
    shutil.rmtree("results/a")
    shutil.rmtree("results/b")
    answer(capsys, "clean", "--yes")
    assert not [*Path("results").iterdir()]
    assert all(map(os.path.exists, DOWNLOADS))


def test_files_of_a_study_without_a_report_are_found_by_its_records(
    folder: Path, capsys: Any
) -> None:
    shutil.rmtree("results/b")
    shutil.rmtree("results/a/report")
    other = {OTHER_LABELS, f"data/{OTHER_DATA}"}
    text = answer(capsys, "clean")
    assert "perhaps unfinished: results/a. Name" in text
    assert listed(text) == {SMALL_PCA, *other}


@pytest.mark.parametrize("fault", ["damaged", "schema", "report", "disk"])
def test_nothing_is_removed_if_a_record_cannot_be_read(
    folder: Path, capsys: Any, fault: str
) -> None:
    record = Path("results/b/fits/goods/main/web_web/cdspp/1-2.json")
    if fault == "damaged":
        record.write_text("{")
    elif fault == "schema":
        content = json.loads(record.read_text())
        record.write_text(json.dumps({**content, "schema": 7, "version": "9.9"}))
    elif fault == "report":
        record = Path("results/b/report/digests.json")
        record.unlink()
    else:
        record = Path("results/b")
        shutil.rmtree(record)
        record.symlink_to("/nowhere/b")
    text = answer(capsys, "clean", "--yes", code=2)
    assert str(record.with_suffix("")) in text
    assert Path(SMALL_PCA).exists()


def test_links_are_read_but_nothing_behind_them_is_removed(
    folder: Path, capsys: Any, tmp_path: Path
) -> None:
    shutil.rmtree("results/b")
    for name in ("results/a", "results/labels"):
        shutil.move(name, tmp_path / Path(name).name)
        Path(name).symlink_to(tmp_path / Path(name).name)
    assert listed(answer(capsys, "clean", "--yes")) == {SMALL_PCA}
    assert all(map(os.path.exists, (*OF_A, OTHER_LABELS, f"data/{OTHER_DATA}")))


def test_a_run_and_the_command_exclude_each_other(folder: Path, capsys: Any) -> None:
    with own_run("cdspp clean"), pytest.raises(ConfigError, match="cdspp clean"):
        lock_run()
    own = lock_run()
    assert "a run is active in this folder" in answer(capsys, "clean", code=2)
    assert own.stream
    own.stream.close()
    assert "all in use" in answer(capsys, "clean")
    assert lock_run().note == ""


def test_a_study_file_keeps_what_its_fits_will_read(folder: Path, capsys: Any) -> None:
    paths = []
    write_texts(folder / "texts", per_class=6)
    for name, energy in (("c", 0.9), ("d", 0.8)):
        views = [
            CONFIG["views"][0],
            {**CONFIG["views"][1], "options": {"energy": energy}},
        ]
        config = yaml.safe_dump({**CONFIG, "study": name, "views": views})
        Path(f"{name}.yaml").write_text(config)
        study = read_study([f"{name}.yaml"])
        paths.append(feature_file(study, "words", "left", "tfidf-pca"))
        write(paths[-1], name)
        exported = {f for _, each in task_blocks(study, "words") for f in each.values()}
        # Each variant reads, and exports, its own features.
        assert [path in exported for path in paths] == [False] * (len(paths) - 1) + [
            True
        ]
    assert listed(answer(capsys, "clean")) == {*paths}
    assert listed(answer(capsys, "clean", "c.yaml")) == {paths[1]}
    assert "all in use" in answer(capsys, "clean", "c.yaml", "d.yaml")


def test_features_are_found_by_data_set_domain_and_view(folder: Path) -> None:
    assert write_features_index(folder / "results")
    with open("results/features/index.csv") as stream:
        rows = {row["file"]: row for row in csv.DictReader(stream)}
    assert rows[SMALL_PCA] == {
        **{"file": SMALL_PCA, "labels": LABELS, "dataset": "goods", "domain": "web"},
        **{"view": "pca", "extractor": "pca", "options": '{"energy": 0.8}'},
        **{"scale": "none", "based_on": PIXELS, "studies": "b"},
    }
    assert [rows[path]["studies"] for path in (PIXELS, PCA)] == ["", "a"]
    empty = pd.DataFrame()
    results = Results(empty, empty, empty, Path("results/a"))
    expected = {"dataset": "goods", "domain": "web", "view": "pca", "features": PCA}
    assert results.features().to_dict("records") == [{**expected, "labels": LABELS}]
