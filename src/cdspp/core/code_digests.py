"""Digests of code: which result a module computes, whatever it says meanwhile.

The digest of a module covers all code that it imports, without comments and docstrings.
Without `texts` it also leaves out what only a person reads: the messages of errors,
warnings and logs, and whatever serves only these. See `cdspp.core.code_texts`.
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from importlib.util import find_spec, resolve_name
from pathlib import Path

from cdspp.core.code_cache import Covered, Known, known_modules, module_key
from cdspp.core.code_texts import without_docstrings, without_texts
from cdspp.core.names import PathLike
from cdspp.core.provenance import (
    INSTALLED,
    PACKAGE,
    file_digest,
    installed_version,
)

# Modules that compute no number of a result: messages, files, locks, memory, forecasts.
HELPERS = (
    *("discovery", "errors", "files", "jobs", "memory", "outputs", "provenance"),
    *("records", "run_lock", "screen", "wording"),
)
NO_NUMBERS = frozenset(
    (*(f"{PACKAGE}.core.{name}" for name in HELPERS), f"{PACKAGE}.methods.cost")
)


@cache
def code_digest(*modules: str, texts: bool = False) -> str:
    """Return a digest of the code of `modules` and of all code that they import.

    Two digests are equal if the results are: their numbers, or with `texts`, as for
    tables and pages, their words, too.

    Raises
    ------
    ModuleNotFoundError
        The package has no such module.
    """
    with known_modules() as known:
        code_by_module = imported(modules, texts, known)
    content = "".join(f"{name}\n{code}\n" for name, code in code_by_module)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def imported(
    modules: Iterable[str], texts: bool = False, known: Known | None = None
) -> list[tuple[str, str]]:
    """Return modules and their imports, by name, with what their digest covers.

    What is `known` of modules is not read again; it receives what is new.
    """
    known, source_file = {} if known is None else known, cache(_source_file)
    code_by_module: dict[str, tuple[frozenset[str], str]] = {}
    pending = {*modules}
    while pending:
        name = pending.pop()
        if not texts and name in NO_NUMBERS:
            code_by_module[name] = frozenset(), ""
        elif file := source_file(name):
            parent = name if file.stem == "__init__" else name.rpartition(".")[0]
            source = _source(file, file.stat().st_mtime_ns)
            key = module_key(source, parent, texts=texts)
            if key not in known:
                known[key] = _parse(source, parent, texts)
            imports, code = known[key]
            code_by_module[name] = frozenset(filter(source_file, imports)), code
        elif _is_own(name):
            raise ModuleNotFoundError(f"{PACKAGE} has no module {name!r}")
        else:  # an installed module, whose version stands for its code
            code_by_module[name] = frozenset(), _distribution_versions(name)
        pending |= code_by_module[name][0] - code_by_module.keys()
    return [(name, code) for name, (_, code) in sorted(code_by_module.items()) if code]


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
    names = {each.metadata["Name"] for each in _distributions(package)} or {package}
    return " ".join(f"{name}=={installed_version(name)}" for name in sorted(names))


def _distributions(package: str) -> Iterator[metadata.Distribution]:
    """Yield what installs a package, as `metadata.packages_distributions` finds it.

    That parses the lists of all files that are installed.
    """
    file = re.compile(rf"^{re.escape(package)}(/.*)?\.py,", flags=re.MULTILINE)
    for each in metadata.distributions():
        if declared := (each.read_text("top_level.txt") or "").split():
            if package in declared:
                yield each
        elif file.search(each.read_text("RECORD") or ""):
            yield each


@cache
def _source(file: Path, modified_ns: int) -> bytes:
    """Return the content of a file, read once for each version."""
    return file.read_bytes()


@cache
def _parse(source: bytes, parent: str, texts: bool) -> Covered:
    """Return what code imports, and a digest of what digests cover of it.

    Its relative imports start at the `parent` package.
    """
    tree, imports = ast.parse(source), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            stem = f"{base}." if node.module else base
            imports |= {base, *(f"{stem}{alias.name}" for alias in node.names)}
    # A file that runs as part of a package and on its own may try both kinds of import.
    names = (name for name in imports if parent or not name.startswith("."))
    found = {resolve_name(name, parent) for name in names}
    if _is_own(parent):
        found = {name for name in found if _is_own(name)}
    kept = without_docstrings(tree) if texts else without_texts(tree, NO_NUMBERS)
    return (*sorted(found),), hashlib.sha256(ast.dump(kept).encode()).hexdigest()
