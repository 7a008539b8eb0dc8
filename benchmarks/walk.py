"""The amount of code to read: its size, and the functions that each command enters.

A walk lists the functions of `cdspp` that a command enters, in the order of their first
calls; comprehensions and lambdas belong to the function around them. A return is a step
of the walk into a package that it has left before; returns leave out `core`, whose
tools every package uses.
"""

from __future__ import annotations

import ast
import csv
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import cdspp

__all__ = ["bench_walk", "code_size", "run_walk", "walk_table"]

Walk = list[list[str]]  # module and qualified name of each function

TABLES = ["--source", "source.csv", "--target", "target.csv"]
FIT = ["fit", *TABLES, "--output", "predictions.csv", "--force"]
FIT_CDSPP = [*FIT, "--method", "cdspp"]
NEW = ["--target", "target.csv", "--output", "more.csv"]
# The arguments of `cdspp` in each walk.
COMMANDS = {
    "fit --method": FIT_CDSPP,
    "fit": FIT,
    "compare": ["compare", *TABLES],
    "predict": ["predict", "--model", "model.npz", *NEW],
}
FIT_BLOCK = "fit_block"
CHILD_CODE = (
    "from benchmarks.walk import walk; import sys; walk(sys.argv[1], sys.argv[2])"
)
OTHER_FOLDERS = ("workflow", "docs/extensions", "benchmarks", "tests")
CODE = (".py", ".smk", ".rst", ".yaml", ".j2", ".css", ".js", "")


def code_size(root: Path) -> dict[str, int]:
    """Return numbers of lines, modules, functions and defined words of a checkout."""
    paths = sorted((root / "src").rglob("*.py"))
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    nodes: list[Any] = [node for tree in trees for node in ast.walk(tree)]
    functions = [
        n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = [_n_lines(node) for node in functions]
    called = Counter(
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in nodes
        if isinstance(node, ast.Call)
    )
    called_once = [f for f in functions if called[f.name] == 1]
    words = (root / "docs/vocabulary.md").read_text(encoding="utf-8").split("\n## ")[0]
    return {
        "lines of src, Python": _lines_in(root / "src", (".py",)),
        "of which docstrings": sum(map(_docstring_lines, nodes)),
        "lines of src, templates": _lines_in(root / "src", (".j2", ".css", ".js")),
        **{f"lines of {name}": _lines_in(root / name, CODE) for name in OTHER_FOLDERS},
        "modules": len(paths),
        "functions": len(functions),
        "lines of a function, median": round(median(lengths)),
        "lines of a function, maximum": max(lengths),
        "functions called from one place": len(called_once),
        "of which private, of 2 or 3 lines": sum(
            f.name.startswith("_") and _n_lines(f) - _docstring_lines(f) in (3, 4)
            for f in called_once
        ),
        "words of the vocabulary": words.count("\n| ") - 1,
    }


def _n_lines(node: Any) -> int:
    return int(node.end_lineno - node.lineno + 1)


def _docstring_lines(node: Any) -> int:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    if not isinstance(node, documented) or ast.get_docstring(node) is None:
        return 0
    return _n_lines(node.body[0])


def _lines_in(folder: Path, endings: Sequence[str]) -> int:
    found = [p for p in folder.rglob("*") if p.is_file() and p.suffix in endings]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in found)


def bench_walk(root: Path) -> dict[str, Any]:
    """Return `code_size` of a checkout, and the walks of commands by their names."""
    walks: dict[str, Walk] = {}
    for name in (*COMMANDS, FIT_BLOCK):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "walk.json")
            run_walk(name, output)
            walks[name] = json.loads(output.read_text(encoding="utf-8"))
    return {"size": code_size(root), "walks": walks}


def walk_table(results: dict[str, Any]) -> str:
    """Return the sizes, and functions, modules and returns of each walk, as text."""
    lines = [f"{number:>7}  {what}" for what, number in results["size"].items()]
    lines += ["", "functions  modules  returns  walk"]
    for name, walk in results["walks"].items():
        packages = (module.split(".")[1] for module, _ in walk)
        steps = [package for package, _ in groupby(packages) if package != "core"]
        steps = [package for package, _ in groupby(steps)]
        n_returns = len(steps) - len({*steps})
        n_modules = len({module for module, _ in walk})
        lines.append(f"{len(walk):>9}  {n_modules:>7}  {n_returns:>7}  {name}")
    return "\n".join(lines)


def run_walk(name: str, output: Path) -> None:
    """Write a walk as JSON, computed in a separate process."""
    command = [sys.executable, "-c", CHILD_CODE, name, str(output)]
    subprocess.run(command, check=True, capture_output=True)


def walk(name: str, output: str) -> None:
    """Write the walk of a command as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        run = _prepare(name, Path(folder))
        codes: dict[Any, None] = {}  # a set in order

        def enter(frame: Any, event: str, argument: Any) -> None:
            if event == "call":
                codes.setdefault(frame.f_code)

        sys.setprofile(enter)
        try:
            run()
        finally:
            sys.setprofile(None)
    source = str(Path(cdspp.__file__).parent)
    functions = [
        [f"cdspp.{Path(code.co_filename).relative_to(source).with_suffix('')}", code]
        for code in codes
        if code.co_filename.startswith(source)
        and code.co_flags & 1  # with fast locals: no module, no body of a class
        and not code.co_name.startswith("<")
    ]
    names = [[module.replace("/", "."), code.co_qualname] for module, code in functions]
    Path(output).write_text(json.dumps(names), encoding="utf-8")


def _prepare(name: str, folder: Path) -> Callable[[], object]:
    if name == FIT_BLOCK:
        return _fit_block(folder)
    rng = random.Random(0)
    for domain, n_labelled in (("source", 60), ("target", 12)):
        with (folder / f"{domain}.csv").open("w", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(["id", "label", *(f"{domain} {k}" for k in "abcd")])
            for k in range(60):
                label = "xyz"[k % 3] if k < n_labelled else ""
                rows.writerow([k, label, *(rng.gauss(k % 3, 0.5) for _ in "abcd")])
    words = [
        str(folder / w) if "." in w else w
        for w in [*COMMANDS[name], *FIT_CDSPP, "--model", "model.npz"]
    ]
    arguments, first = words[: len(COMMANDS[name])], words[len(COMMANDS[name]) :]

    def run() -> None:
        from cdspp.cli.main import main

        if main(arguments):
            raise RuntimeError(f"the command {name} failed")

    if name == "predict":  # another process fits the model
        command = [sys.executable, "-m", "cdspp", *first]
        subprocess.run(command, check=True, capture_output=True)
    return run


def _fit_block(folder: Path) -> Callable[[], object]:
    """Write the inputs of a block of the fit stage; return the call that runs it."""
    from cdspp.stages.formats import (
        LABEL_COLUMNS,
        Features,
        write_features,
        write_rows,
    )
    from cdspp.stages.splits import write_split

    import_module("cdspp.stages.fit")  # imports are no part of the walk
    classes, rng = ["x", "y", "z"], np.random.default_rng(0)
    labels = np.repeat(classes, 12)
    files: dict[str, Any] = {}
    for role in ("source", "target"):
        ids = [f"{role}{k:02d}" for k in range(len(labels))]
        files[f"{role}_features"] = folder / f"{role}.npz"
        files[f"{role}_split"] = folder / f"{role}-split.parquet"
        X = rng.random((len(ids), 5)) + 2 * np.eye(3, 5)[np.repeat([0, 1, 2], 12)]
        write_features(files[f"{role}_features"], Features(X, np.array(ids), {}))
        rows = {"id": ids, "label": labels.tolist(), "position": range(len(ids))}
        write_rows(folder / "labels.parquet", LABEL_COLUMNS, rows)
        write_split(
            labels=folder / "labels.parquet",
            output=files[f"{role}_split"],
            dataset="toy",
            domain=role,
            role=role,
            classes=classes,
            protocol="seeded",
            per_class=3,
            unlabelled=None,
            block="1-2",
            seed=0,
        )
    return partial(_run_block, folder, files)


def _run_block(folder: Path, files: dict[str, Any]) -> None:
    from cdspp.stages.fit import Fit, JobInputs, fit_block

    output = folder / "toy/main/source_target/cdspp/1-2.parquet"
    fit = Fit(
        method="cdspp",
        code="1",
        predictions=output,
        options={},
        source={"name": "real"},
        overlap="exclude",
    )
    block = JobInputs(files, "toy", "source_target", seed=0, numeric_threads=1)
    fit_block(block, [fit])
