"""The origin of a result: digests of code, versions, hardware, time and memory."""

import ast
import hashlib
import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import metadata
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from cdspp.core.names import PathLike

PACKAGE = "cdspp"
INSTALLED = {"site-packages", "dist-packages"}
NUMERIC = ("numpy", "scipy", "scikit-learn", "torch")
REPORTED = (*NUMERIC, "pyarrow", "cdspp")
# Wall-clock and processor seconds of a block, and its process's peak memory so far.
USAGE = ("seconds", "cpu_seconds", "peak_memory_mb")


def peak_memory_mb() -> float:
    """Return the largest resident memory of this process so far, in MB.

    NaN if the system does not report it.
    """
    try:
        import resource
    except ImportError:
        return math.nan
    peak: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Measure the block; the yielded mapping has the numbers of `USAGE` at its end."""
    usage: dict[str, float] = {}
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield usage
    finally:
        times = time.perf_counter() - wall, time.process_time() - cpu
        for name, value in zip(USAGE, (*times, peak_memory_mb()), strict=True):
            usage[name] = round(value, 4)


@contextmanager
def limit_threads(n_threads: int) -> Iterator[None]:
    """Limit the threads of loaded libraries, whose number affects the last bits."""
    from threadpoolctl import threadpool_limits

    with ExitStack() as stack:
        if torch := sys.modules.get("torch"):
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(n_threads)
        if cv2 := sys.modules.get("cv2"):
            stack.callback(cv2.setNumThreads, cv2.getNumThreads())
            cv2.setNumThreads(n_threads)
        stack.enter_context(threadpool_limits(limits=n_threads))
        yield


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute numbers."""
    installed = {name: version for name in REPORTED if (version := _version(name))}
    return {"python": platform.python_version(), **installed}


def library_version() -> str:
    """Return the version of this library, without an import of its module.

    Digests of code follow imports, and must not depend on the version.
    """
    version: str = sys.modules[PACKAGE].__version__
    return version


def numeric_versions(installed: Mapping[str, str]) -> dict[str, str]:
    """Return the versions that affect predictions."""
    return {name: installed[name] for name in NUMERIC if name in installed}


@cache
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


@cache
def hardware() -> dict[str, Any]:
    """Return the operating system and processor of this machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
    }


@cache
def code_digest(*modules: str) -> str:
    """Return a digest of all code that `modules` import, without comments."""
    content = "".join(f"{name}\n{code}\n" for name, code in _imported(modules))
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _imported(modules: Iterable[str]) -> list[tuple[str, str]]:
    """Return modules and their imports, by name, with their code."""
    code_by_module: dict[str, tuple[frozenset[str], str]] = {}
    pending = {*modules}
    while pending:
        name = pending.pop()
        if file := _source_file(name):
            parent = name if file.stem == "__init__" else name.rpartition(".")[0]
            code_by_module[name] = _parse(file, file.stat().st_mtime_ns, parent)
        elif _is_own(name):
            raise ModuleNotFoundError(f"{PACKAGE} has no module {name!r}")
        else:  # an installed module, whose version stands for its code
            code_by_module[name] = frozenset(), _distribution_versions(name)
        pending |= code_by_module[name][0] - code_by_module.keys()
    return [(name, code) for name, (_, code) in sorted(code_by_module.items())]


def file_digest(path: PathLike) -> str:
    """Return the sha256 digest of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def ids_digest(ids: Iterable[str]) -> str:
    """Return a digest of ids, independent of order; a repeated id counts repeatedly."""
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()


def data_digest(folder: PathLike) -> str:
    """Return a digest of the files in a folder, given by its path in the package."""
    root = Path(__file__).parents[1].joinpath(folder)
    files = sorted(file for file in root.rglob("*") if file.is_file())
    content = [(file.relative_to(root).as_posix(), file_digest(file)) for file in files]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _is_own(name: str) -> bool:
    return name.partition(".")[0] == PACKAGE


def _source_file(name: str) -> Path | None:
    """Return the file of a module of this package, or of code that is not installed.

    A package that was installed as editable may change and keep its version.
    """
    src = Path(__file__).parents[2]
    folders = [src] if _is_own(name) else [Path.cwd(), *_origin(name.partition(".")[0])]
    paths = (folder.joinpath(*name.split(".")) for folder in folders)
    files = (f for p in paths for f in (p.with_suffix(".py"), p / "__init__.py"))
    return next((file for file in files if file.is_file()), None)


@cache
def _origin(package: str) -> list[Path]:
    """Return the folders of a package that is neither installed nor Python's own."""
    spec = None if package in sys.stdlib_module_names else find_spec(package)
    places = (spec.submodule_search_locations or [spec.origin or ""]) if spec else []
    return [Path(p).parent for p in places if not INSTALLED & {*Path(p).parts}]


@cache
def _distribution_versions(name: str) -> str:
    package = name.partition(".")[0]
    names = metadata.packages_distributions().get(package, [package])
    return " ".join(f"{name}=={_version(name)}" for name in sorted(set(names)))


@cache
def _parse(file: Path, modified_ns: int, parent: str) -> tuple[frozenset[str], str]:
    """Parse each version of a file once, because most digests share most files.

    Its relative imports start at the `parent` package.
    """
    tree, imports = ast.parse(file.read_text(encoding="utf-8")), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            stem = f"{base}." if node.module else base
            imports |= {base, *(f"{stem}{alias.name}" for alias in node.names)}
        match body := getattr(node, "body", None):
            case [ast.Expr(ast.Constant(str())), *_]:
                del body[0]  # the docstring
    # A file that runs as part of a package and on its own may try both kinds of import.
    names = (name for name in imports if parent or not name.startswith("."))
    imported = {resolve_name(name, parent) for name in names}
    if _is_own(parent):
        imported = {name for name in imported if _is_own(name)}
    return frozenset(filter(_source_file, imported)), ast.dump(tree)
