"""What an installed wheel has: every file of the package, and all that a page needs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pandas as pd
import pytest

from benchmarks.planted import Planted

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
# What the optional parts bring, but for what a page is written with.
OTHERS = (
    *("PIL", "cv2", "jsonschema", "matplotlib", "pooch", "pyarrow"),
    *("snakemake", "torch", "torchvision", "yaml"),
)


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
    """Return a copy of what a wheel is built of; the build leaves its folders there."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        copy(repository / name, folder)
    left_out = ignore_patterns("__pycache__", "*.egg-info", ".*")
    copytree(repository / "src", folder / "src", ignore=left_out)
    return folder


@pytest.fixture(scope="session")
def package_files(source: Path) -> set[str]:
    files = (path for path in (source / "src").rglob("*") if path.is_file())
    return {path.relative_to(source / "src").as_posix() for path in files}


@pytest.fixture(scope="session")
def installed(
    source: Path, package_files: set[str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a folder with what the wheel puts among the installed packages."""
    bytecode = source / "src" / "cdspp" / "__pycache__"
    bytecode.mkdir()
    (bytecode / "stale.cpython-311.pyc").touch()
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    run([*PIP, "wheel", *options, "--wheel-dir", str(folder), str(source)], folder)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    wheel.unlink()
    return folder


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


def test_the_wheel_has_every_file_of_the_package_and_no_other(
    installed: Path, package_files: set[str]
) -> None:
    files = (path for path in (installed / "cdspp").rglob("*") if path.is_file())
    assert {path.relative_to(installed).as_posix() for path in files} == package_files


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
