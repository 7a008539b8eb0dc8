"""What ships: pins, the conda environment, the shape of the tree."""

from __future__ import annotations

import ast
import importlib
import runpy
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

import cdspp
from cdspp.core.errors import EXTRAS

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def python_files() -> Iterator[Path]:
    for folder in ("src", "workflow", "benchmarks", "tests", "envs", "docs"):
        yield from (ROOT / folder).rglob("*.py")


def test_the_conda_environment_is_generated_from_the_pins() -> None:
    generate = runpy.run_path(str(ROOT / "envs" / "generate.py"))
    requirements = (ROOT / "envs" / "requirements.txt").read_text()
    environment = (ROOT / "envs" / "environment.yaml").read_text()
    assert environment == generate["environment"](requirements)


def test_nothing_is_claimed_that_does_not_work_yet() -> None:
    catalogue = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    # Reading the Snakefile imports the library, which no environment of a job brings.
    assert not any(catalogue["usage"]["software-stack-deployment"].values())
    tests = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
    systems = tests["jobs"]["versions"]["strategy"]["matrix"]["os"]
    assert not [name for name in systems if name.startswith("windows")]  # no fcntl
    assert "Operating System :: POSIX" in PYPROJECT["project"]["classifiers"]


def test_every_package_is_pinned_and_every_dependency_is_among_them() -> None:
    lines = (ROOT / "envs" / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all("==" in pin for pin in pins)
    pinned = {pin.split("==")[0].lower() for pin in pins}
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    named = {
        requirement.split(">=")[0].lower()
        for group in (project["dependencies"], *extras)
        for requirement in group
        if not requirement.startswith("cdspp[")
    }
    assert named <= pinned


def test_a_missing_package_is_had_by_the_smallest_extra_that_lists_it() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    named = {"PIL": "pillow", "cv2": "opencv-python-headless", "yaml": "pyyaml"}
    named["ot"] = "pot"
    for package, extra in EXTRAS.items():
        listed = {requirement.split(">=")[0].lower() for requirement in extras[extra]}
        assert named.get(package, package) in listed
    assert "cdspp[" not in str(extras["report"] + extras["networks"])
    assert extras["workflow"][0] == "cdspp[report]"
    heavy = {"torch", "torchvision", "opencv-python-headless"}
    light = {r.split(">=")[0] for name in ("report", "workflow") for r in extras[name]}
    assert not heavy & light


def test_every_import_is_of_a_package_that_a_dependency_or_an_extra_brings() -> None:
    brought = {"cdspp", "numpy", "scipy", "sklearn", "pandas", "threadpoolctl"}
    brought |= {"joblib", *EXTRAS, *sys.stdlib_module_names}
    for path in (ROOT / "src" / "cdspp").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += (
                [a.name for a in node.names] if isinstance(node, ast.Import) else []
            )
            assert {name.partition(".")[0] for name in names} <= brought, path


def test_version_and_citation_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    [place] = PYPROJECT["tool"]["setuptools"]["dynamic"]["version"].values()
    module, _, name = place.rpartition(".")
    assert getattr(importlib.import_module(module), name) == cdspp.__version__
    assert f"version: {cdspp.__version__}" in citation


def test_the_library_does_not_import_snakemake() -> None:
    for path in (ROOT / "src" / "cdspp").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "snakemake" not in ast.unparse(node), path


def test_files_and_functions_are_small() -> None:
    for path in python_files():
        text = path.read_text()
        assert text.count("\n") <= 500, path
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                documentation = ast.get_docstring(node, clean=False) or ""
                length = node.end_lineno - node.lineno + 1 - documentation.count("\n")
                assert length <= 40, f"{path}: {node.name} has {length} lines"


def test_the_rooms_are_ten_and_the_layers_name_them_all() -> None:
    package = ROOT / "src" / "cdspp"
    rooms = {path.name for path in package.iterdir() if path.is_dir()} - {"__pycache__"}
    upper, *_ = PYPROJECT["tool"]["importlinter"]["contracts"]
    layers = {name for line in upper["layers"] for name in line.split(" | ")}
    assert rooms == layers
    assert len(rooms) == 10
    for room in rooms - {"methods", "datasets", "features"}:
        tree = ast.parse((package / room / "__init__.py").read_text())
        assert len(tree.body) == 1, f"{room}/__init__.py holds more than a docstring"


def test_rule_files_and_scripts_are_small() -> None:
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        assert path.read_text().count("\n") <= 300, path
    for path in (ROOT / "workflow" / "scripts").glob("*.py"):
        assert path.read_text().count("\n") <= 22, path
