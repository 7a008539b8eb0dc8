"""What ships: pins, the conda environment, the shape of the tree."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.downloads import Server

import cdspp
from cdspp.__main__ import main
from cdspp.core.errors import EXTRAS

ROOT = Path(__file__).parents[1]
generate = runpy.run_path(str(ROOT / "envs" / "generate.py"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def python_files() -> Iterator[Path]:
    for folder in ("src", "workflow", "benchmarks", "tests", "envs", "docs"):
        yield from (ROOT / folder).rglob("*.py")


def test_the_conda_environment_is_generated_from_metadata_pins_and_the_map() -> None:
    texts = {path.name: path.read_text() for path in (ROOT / "envs").iterdir()}
    written = generate["environment"](
        PYPROJECT["project"], texts["requirements.txt"], texts["conda.yaml"]
    )
    assert written == texts["environment.yaml"]
    mapped = yaml.safe_load(texts["conda.yaml"])
    assert [*mapped] == generate["runtime"](PYPROJECT["project"])


def test_pins_have_digests_and_those_of_a_study_stand_in_one_list() -> None:
    runtime, development = (path.read_text() for path in generate["LISTS"])
    lines = [*runtime.splitlines(), *development.splitlines()]
    pinned = [line for line in lines if not line.startswith("#")]
    digests = re.compile(r"[\w.-]+==\S+(?: --hash=sha256:[0-9a-f]{64})+")
    assert [line for line in pinned if not digests.fullmatch(line)] == []
    assert not generate["pins"](runtime).keys() & generate["pins"](development).keys()
    # What the installed packages of a study require is in its list.
    waiting = [*generate["runtime"](PYPROJECT["project"])]
    installed = {name: metadata.version(name).partition("+")[0] for name in waiting}
    if not installed.items() <= generate["pins"](runtime).items():
        pytest.skip("other versions than the pinned ones are installed")
    for name in waiting:
        for line in metadata.requires(name) or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                found = canonicalize_name(wanted.name)
                waiting += [found] if found not in waiting else []
    assert {*waiting} <= generate["pins"](runtime).keys()


def test_a_list_gets_the_digests_that_an_index_has_for_its_releases(
    server: Server, tmp_path: Path
) -> None:
    names = {
        "some_thing-1.0-py3-none-any.whl": "a",
        "some_thing-1.0.tar.gz": "b",
        "some_thing-1.0-cp39-cp39-win32.whl": "c",  # no Python of the project
        "some_thing-1.0.1-py3-none-any.whl": "d",
    }
    files = [{"filename": n, "hashes": {"sha256": d}} for n, d in names.items()]
    server.offer("simple/some-thing/", json.dumps({"files": files}).encode())
    wheel = tmp_path / "some_thing-1.0+cpu-py3-none-any.whl"
    wheel.write_bytes(b"")
    index, old = f"{server.address}/simple", "# list\nSome.Thing==1.0 --hash=old\n"
    text = generate["with_hashes"](old, index, [wheel])
    digests = sorted(["a", "b", hashlib.sha256(b"").hexdigest()])
    hashes = " ".join(f"--hash=sha256:{d}" for d in digests)
    assert text == f"# list\nSome.Thing==1.0 {hashes}\n"


def test_the_constraints_that_a_user_gets_are_the_pins_without_digests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["constraints"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if not re.fullmatch(r"[\w.-]+==\S+", line)] == []
    runtime = generate["pins"](generate["LISTS"][0].read_text())
    assert generate["pins"]("\n".join(printed)) == runtime


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
    brought |= {"openpyxl"}  # for XLSX files; pandas asks for it
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
                modules = [alias.name for alias in node.names]
                if isinstance(node, ast.ImportFrom):
                    modules = [node.module or ""]
                assert not any(name.startswith("snakemake") for name in modules), path


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
