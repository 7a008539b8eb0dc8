"""What sdist and wheel have: every file, all that a page needs, and the study."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns, unpack_archive

import pandas as pd
import pytest

from benchmarks.planted import Planted

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
# What the optional parts bring, but for what a page is written with.
OTHERS = (
    *("PIL", "cv2", "jsonschema", "matplotlib", "pyarrow", "requests"),
    *("snakemake", "torch", "torchvision", "yaml"),
)

PAPER = "Paper, https://doi.org/10.1016/j.patcog.2021.108362"
PLUGIN = "snakemake_logger_plugin_cdspp"
STUDY = {"Snakefile", "config.yaml", "envs", "profiles", "resources", "workflow"}
# What git does not know either.
MADE = (".git", ".venv", ".snakemake", ".*_cache", "__pycache__", "_build", "generated")
OWN_METHOD = """\
import numpy as np


class Mean:
    def fit(self, X, y, *, source):
        y = np.asarray(y)
        self.classes_ = np.unique(y[y != -1])
        self.means_ = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X):
        squares = ((np.asarray(X)[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[np.argmin(squares, axis=1)]
"""
# They fit, compare two files, store a model, and read a study back.
OF_OLD_PACKAGES = (
    *("methods/test_cdspp.py", "methods/test_model_file.py", "cli/test_compare.py"),
    *("datasets/test_table_encoder.py", "report/test_results.py"),
)
FEW = """\
trials: 2
paper: false
methods: [{id: svm-t}, {id: my-mean, class: "mine:Mean"}]
source_states: {states: []}
"""


def run(command: list[str], folder: Path, **variables: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def source(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository, since a build leaves its folders there."""
    folder = tmp_path_factory.mktemp("source")
    of_runs = ignore_patterns("data", "logs", "results", "build", "dist", "report.zip")
    made = ignore_patterns(*MADE)

    def left_out(place: str, names: list[str]) -> set[str]:
        top = of_runs(place, names) if Path(place) == repository else set()
        return made(place, names) | top

    copytree(repository, folder, ignore=left_out, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what the source distribution of the repository holds."""
    folder = tmp_path_factory.mktemp("sdist")
    bytecode = source / "src" / "cdspp" / "__pycache__"
    bytecode.mkdir()
    (bytecode / "stale.cpython-311.pyc").touch()
    build = (
        f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    )
    run([sys.executable, "-c", build], source)
    (archive,) = folder.glob("*.tar.gz")
    unpack_archive(archive, folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="session")
def installed(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the wheel puts among the installed packages."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    run([*PIP, "wheel", *options, "--wheel-dir", str(folder), str(sdist)], folder)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    wheel.unlink()
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, but for what a build makes."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not any(part.endswith(".egg-info") for part in file.parts)
    }


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Return a folder with two small tables, source.csv and target.csv."""
    problem = Planted(n_classes=2, n_labelled=4).draw(0)
    source = problem.source
    rows = {"target": (problem.X, problem.y), "source": (source.X, source.y)}
    for name, (X, y) in rows.items():
        labels = [f"c{code}" if code >= 0 else "" for code in y]
        table = pd.DataFrame(X).assign(label=labels)
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_the_sdist_has_every_file_of_the_repository_and_no_other(
    source: Path, sdist: Path
) -> None:
    found = contents(sdist)
    del found["PKG-INFO"], found["setup.cfg"]
    stale = "src/cdspp/__pycache__/stale.cpython-311.pyc"
    assert found | {stale: b""} == contents(source)


def test_the_wheel_has_every_file_of_package_and_study_and_no_other(
    installed: Path, sdist: Path
) -> None:
    expected = contents(sdist / "src" / "cdspp")
    for name, text in contents(sdist).items():
        if name.partition("/")[0] in STUDY:
            expected[f"_study/{name}"] = text
    assert contents(installed / "cdspp") == expected
    assert contents(installed / PLUGIN) == contents(sdist / "src" / PLUGIN)
    [facts] = installed.glob("*.dist-info")
    assert {path.name for path in installed.iterdir()} == {"cdspp", PLUGIN, facts.name}


def addresses(facts: Path) -> list[str]:
    """Return the addresses of the project that a package states."""
    text = facts.read_text(encoding="utf-8")
    return re.findall(r"^Project-URL: (.+)$", text, re.M)


def test_links_and_addresses_are_those_that_a_release_is_given(
    source: Path, installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [without] = installed.glob("*.dist-info/METADATA")
    assert "## I have two tables" in without.read_text(encoding="utf-8")
    assert "](docs/" not in without.read_text(encoding="utf-8")
    assert addresses(without) == [PAPER]
    monkeypatch.setenv("CDSPP_PROJECT_URLS", "Source=https://example.org/cdspp")
    monkeypatch.setenv("CDSPP_FILES_URL", "https://example.org/files/")
    facts = f"build_meta.prepare_metadata_for_build_wheel({str(tmp_path)!r})"
    run([sys.executable, "-c", f"from setuptools import build_meta; {facts}"], source)
    [path] = tmp_path.glob("*.dist-info/METADATA")
    assert addresses(path) == [PAPER, "Source, https://example.org/cdspp"]
    text = path.read_text(encoding="utf-8")
    assert "](https://example.org/files/docs/kinds-of-transfer.png)" in text
    assert "](docs/" not in text


def is_editable(repository: Path) -> bool:
    """Say whether the Python that runs the tests uses the files of the repository."""
    try:
        origin = metadata.distribution("cdspp").read_text("direct_url.json") or ""
    except metadata.PackageNotFoundError:
        return False
    return '"editable": true' in origin and f'"{repository.as_uri()}"' in origin


def test_snakemake_finds_the_logger_in_an_installed_package_and_in_an_editable_one(
    installed: Path, repository: Path, tmp_path: Path
) -> None:
    find = (
        "import sys; from snakemake_interface_logger_plugins.registry import "
        "LoggerPluginRegistry as Registry; Registry().get_plugin('cdspp');"
        f"print(sys.modules['{PLUGIN}'].__file__, end='')"
    )
    command = [sys.executable, "-Pc", find]
    for place in (installed, repository / "src"):
        if place is not installed and not is_editable(repository):
            pytest.skip("this repository is not installed as editable here")
        path = str(place) if place is installed else ""
        expected = str(place / PLUGIN / "__init__.py")
        assert run(command, tmp_path, PYTHONPATH=path) == expected


def test_an_installed_package_writes_a_page_with_jinja2_alone(
    installed: Path, tables: Path
) -> None:
    absent = tables / "absent"
    absent.mkdir()
    for name in OTHERS:
        text = f"raise ModuleNotFoundError({name!r}, name={name!r})"
        (absent / f"{name}.py").write_text(text)
    # Without .pth files (-S), a project installed as editable is out of sight.
    python = [sys.executable, "-S"]
    packages = [absent, installed, *map(sysconfig.get_path, ("purelib", "platlib"))]
    path = os.pathsep.join(map(str, packages))
    place = "import cdspp; print(cdspp.__file__, end='')"
    expected = str(installed / "cdspp" / "__init__.py")
    assert run([*python, "-c", place], tables, PYTHONPATH=path) == expected
    files = ["--source", "source.csv", "--target", "target.csv", "--page", "page.html"]
    command = ["-m", "cdspp", "compare", *files, "--method", "cdspp", "--repeats", "5"]
    said = run([*python, *command], tables, PYTHONPATH=path)
    assert said.endswith("Page: page.html\n")
    assert "</html>" in (tables / "page.html").read_text()


@pytest.mark.slow
def test_a_study_runs_from_the_wheel_in_any_folder_and_the_package_may_move(
    installed: Path, tables: Path
) -> None:
    (tables / "mine.py").write_text(OWN_METHOD)

    def cdspp(*words: str, package: Path = installed) -> str:
        command = [sys.executable, "-P", "-m", "cdspp", *words]
        return run(command, tables, PYTHONPATH=str(package))

    def looks(*commands: list[str]) -> str:
        calls = ";".join(f"main({words})" for words in commands)
        command = [sys.executable, "-Pc", f"from cdspp.__main__ import main;{calls}"]
        return run(command, tables, PYTHONPATH=str(installed))

    files = ["--table", "lab=source.csv", "--table", "field=target.csv"]
    said = cdspp("init", "toy", *files)
    assert said.endswith("Next: cdspp run toy.yaml --cores 8\n")
    study = tables / "toy.yaml"
    text = re.sub(r"\nreference: cdspp\b.*", "", study.read_text())
    study.write_text(text + FEW)
    said = cdspp("run", "toy.yaml", "--cores", "2")
    assert "Mean  " in said
    assert "Report: results/toy/report/index.html\n" in said
    [log] = tables.glob("logs/run-*.log")
    assert f" Whole log: {log.relative_to(tables)}\n" in said
    assert str(installed / "cdspp/_study/workflow/profiles") in log.read_text()
    page = (tables / "results/toy/report/index.html").read_text()
    assert "cdspp run toy.yaml --cores 8" in page
    assert str(installed) not in page
    others = [["plan", "toy.yaml"], ["status", "toy.yaml"], ["verify", "results/toy"]]
    said = looks(["fetch"], *others)
    assert "my-mean   " in said
    assert "To create the missing" not in said
    assert "office-caltech-10   " in said
    assert "all as computed" in said
    said = looks(["constraints"], ["cite", "results/toy"])
    assert re.search(r"^snakemake==\d[\d.]*$", said, re.M)
    assert "% my-mean: no publication known to this program" in said
    assert "@article{chang2011libsvm," in said
    copytree(tables / "results", tables / "elsewhere/results")
    assert "all as computed" in looks(["verify", "elsewhere/results/toy"])
    moved = tables / "moved"  # and dated anew, as pip does
    copytree(installed, moved, copy_function=copyfile)
    assert "Nothing to be done. " in cdspp("run", "toy.yaml", package=moved)


@pytest.mark.slow
def test_the_oldest_packages_that_may_be_there_install_together_and_work(
    installed: Path, repository: Path, tmp_path: Path
) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    version = ".".join(map(str, sys.version_info[:2]))
    if project["requires-python"] != f">={version}":
        pytest.skip("the oldest packages have files for the oldest Python alone")
    lines = [*project["dependencies"], *project["optional-dependencies"]["report"]]
    oldest = [line.replace(">=", "==") for line in lines]
    venv.create(tmp_path / "venv", with_pip=True, symlinks=True)
    python = str(tmp_path / "venv/bin/python")
    pip = [python, *PIP[1:], "install", "--quiet", "--only-binary", ":all:"]
    done = subprocess.run([*pip, *oldest, "pytest"], capture_output=True, text=True)
    if "(from versions: none)" in done.stderr:
        pytest.skip("pip reaches no package index")
    assert done.returncode == 0, done.stderr
    run([python, *PIP[1:], "check"], tmp_path, PYTHONPATH=str(installed))
    tests = [str(repository / "tests" / name) for name in OF_OLD_PACKAGES]
    options = ["-p", "no:cacheprovider", "-c", str(repository / "pyproject.toml")]
    run([python, "-m", "pytest", *options, *tests], tmp_path, PYTHONPATH=str(installed))
