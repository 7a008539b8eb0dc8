"""What SECURITY.md says of foreign files, tried on files that would run code."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.written_study import VerifiedStudy, write_page

from cdspp.__main__ import main
from cdspp.core.errors import DataError
from cdspp.core.files import read_parts, write_parts
from cdspp.features.cnn import Cnn
from cdspp.methods.model_file import load_model

pytestmark = pytest.mark.slow  # commands start afresh
ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
OWN = """\
from pathlib import Path

import numpy as np

Path("ran").write_text("imported")


class Mine:
    def fit(self, X, y, *, source):
        Path("ran").write_text("fitted")
        self.only_ = y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.only_)
"""
STUDY: dict[str, Any] = {
    "study": "shop",
    "preset": ["embedded", "quick"],
    "paper": False,
    "methods": [{"id": "svm-t"}, {"id": "mine", "class": "mine:Mine"}],
}
READING = {
    "plan": [],
    "status": [],
    "summary": [],
    "verify": [],
    "export-splits": ["--to", "splits"],
    "run": ["--", "--dry-run"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a study file and a module of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # of another test
    Path("mine.py").write_text(OWN)
    Path("study.json").write_text(json.dumps(STUDY))
    return tmp_path


def command(*words: str) -> tuple[int, str]:
    """Call the installed command afresh; return its exit code and what it prints."""
    place = Path(sys.executable).with_name("cdspp")
    done = subprocess.run([place, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_every_test_that_it_names_is_there() -> None:
    cited = re.findall(r"^\[\^\w+\]: `(.+)::(\w+)`$", TEXT, re.M)
    assert len(cited) == len(re.findall(r"^\[\^\w+\]:", TEXT, re.M)) > 8
    for file, name in cited:
        assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("reader", READING)
def test_reading_a_study_file_imports_and_fits_its_classes(
    reader: str, folder: Path
) -> None:
    assert f"`{reader}`" in TEXT or f"`cdspp {reader}`" in TEXT
    command(reader, "study.json", *READING[reader])
    assert (folder / "ran").read_text() == "fitted"


def test_a_study_file_alone_can_run_a_command(folder: Path) -> None:
    shell = {"class": "subprocess:Popen", "options": {"args": "echo > ran"}}
    shell["options"] |= {"shell": True}
    options = {"estimator": shell}
    place = "sklearn.semi_supervised:SelfTrainingClassifier"
    method = {"id": "mine", "class": place, "options": options}
    study = {**STUDY, "methods": [{"id": "svm-t"}, method]}
    Path("study.json").write_text(json.dumps(study))
    command("plan", "study.json")
    assert (folder / "ran").exists()


def test_a_finished_study_is_checked_without_its_modules(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = VerifiedStudy(folder / "results")
    page = study.root / "report/index.html"
    files = [study.scores, *sorted(study.results.glob("[fl]*/goods/*.*"))]
    records = sorted(study.root.glob("fits/goods/**/1-2.json"))
    config = {"datasets": [], "methods": STUDY["methods"]}
    write_page([study.plan], page, records=records, files=files, config=config)
    assert main(["verify", "results/shop"]) == 0, capsys.readouterr()
    for reader in ("summary", "cite"):
        code, said = command(reader, "results/shop")
        assert code == 0, said
    assert not (folder / "ran").exists()
    assert "mine" not in sys.modules


def test_a_model_of_a_class_from_outside_imports_nothing(folder: Path) -> None:
    np.savetxt("rows.csv", np.eye(4), delimiter=",", header="a,b,c,d", comments="")
    tree = {"format": "cdspp model", "schema": 1, "version": "1"}
    parts = {"identifier": "mine", "class": "mine:Mine", "options": {}, "fitted": {}}
    content = {"dict": {"model": {"method": parts}, "extras": {"dict": {}}}}
    write_parts("model.npz", {**tree, "content": content}, {})
    assert read_parts("model.npz", "")[0]["format"] == "cdspp model"
    with pytest.raises(DataError, match="the external class mine:Mine"):
        load_model("model.npz")
    words = ["--model", "model.npz", "--target", "rows.csv", "--output", "out.csv"]
    code, said = command("predict", *words)
    assert code == 2
    assert "external class" in said
    assert not (folder / "ran").exists()


class Trap:
    """A thing whose unpickling writes a file."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("ran"),))


@pytest.mark.parametrize("name", ["rows.npz", "rows.csv", "rows.mat", "rows.parquet"])
def test_a_table_that_is_a_pickle_is_refused(name: str, folder: Path) -> None:
    traps = np.array([Trap()], dtype=object)
    if name == "rows.npz":
        np.savez(name, X=traps, y=traps, allow_pickle=True)
    else:
        Path(name).write_bytes(pickle.dumps(traps))
    both = ["--source", name, "--target", name]
    assert main(["compare", *both]) == 2
    assert not (folder / "ran").exists()


def test_weights_that_would_run_code_are_refused(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"features.0.weight": Trap()}, "weights.pth")
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save("photo.png")
    with pytest.raises(DataError, match="pickled objects, .* are not loaded"):
        Cnn(weights="weights.pth").extract([Path("photo.png")])
    assert not (folder / "ran").exists()


def test_no_module_of_the_folder_stands_in_for_a_library(folder: Path) -> None:
    for name in ("numpy", "pandas", "yaml", "snakemake", "cdspp", "ast"):
        Path(f"{name}.py").write_text("open('ran', 'w').write('imported')")
    without = {**STUDY, "methods": [{"id": "svm-t"}]}
    Path("study.json").write_text(json.dumps(without))
    for reader in ("plan", "run"):
        code, said = command(reader, "study.json", *READING[reader])
        assert code == 0, said
    assert not (folder / "ran").exists()


def test_the_line_that_looks_finds_every_import(folder: Path) -> None:
    [program] = re.findall(r"python -c '(.+)' \|", TEXT)
    [pattern] = re.findall(r"grep -nE '(.+)'", TEXT)
    Path("theirs").mkdir()

    def looks(text: str) -> bool:
        (folder / "theirs/shop.yaml").write_text(text)
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return any(re.search(pattern, line) for line in done.stdout.splitlines())

    places = [
        {"methods": [{"class": "mine:Mine"}]},
        {"methods": [{"options": {"estimator": {"class": "a.b:C"}}}]},
        {"methods": [{"preprocessing": ["mine:Scaler"]}]},
        {"views": [{"extractor": "mine:Own"}]},
        {"datasets": [{"class": "mine:Rows"}]},
    ]
    for place in places:
        assert looks(json.dumps(place)), place
    assert looks('methods: [{class: "mine\\x3aMine"}]')
    assert looks('methods:\n- class: "mi\\\n    ne:Mine"')
    assert not looks("study: shop\ndatasets: [{tables: {web: web.csv}}]")
