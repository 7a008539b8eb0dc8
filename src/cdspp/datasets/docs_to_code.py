"""Functions of the installed SciPy: docstrings in one domain, code in the other."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import ClassVar, NamedTuple

import scipy

from cdspp.datasets.base import Dataset, Sample, opaque_id

SHORTEST_DOCSTRING = 200
FEWEST_STATEMENTS = 3
PERIOD = 4  # every 4th function of a class is in both domains
Function = ast.FunctionDef | ast.AsyncFunctionDef
Named = Function | ast.ClassDef


class DocsToCode(Dataset):
    """Docstrings (``docs``) and bodies (``code``) of SciPy functions, by subpackage.

    A function or method is included if its docstring, without indentation, has at least
    200 characters and is followed by at least three statements; private and nested
    functions are included, tests are not. In the order of qualified names, every fourth
    of each class gives both, as an unlabelled pair; the others alternately give their
    docstring or their body without it.
    """

    identifier = "docs-to-code"
    kind = "texts"
    domains = ("docs", "code")
    classes: tuple[str, ...] = (
        *("interpolate", "linalg", "optimize", "signal"),
        *("sparse", "spatial", "special", "stats"),
    )
    packages = ("scipy",)
    library: ClassVar[ModuleType] = scipy

    def generate(self, folder: Path) -> Mapping[str, Sequence[Sample]]:
        """Write ``<domain>/<class>/<qualified name>.txt`` or ``.py``."""
        samples: dict[str, list[Sample]] = {name: [] for name in self.domains}
        for label in self.classes:
            entries = list[_Function]()
            package = Path(str(self.library.__file__)).with_name(label)
            for path in package.rglob("*.py"):
                parts = path.relative_to(package).parts
                if "tests" not in parts:
                    names = self.library.__name__, label, *parts
                    module = ".".join(names).removesuffix(".py")
                    source = path.read_text(encoding="utf-8")
                    entries += _in_node(ast.parse(source), module, source.splitlines())
            entries.sort()
            paired = entries[PERIOD - 1 :: PERIOD]
            unpaired = [f for number, f in enumerate(entries, 1) if number % PERIOD]
            for side, domain in enumerate(self.domains):
                samples[domain] += [
                    *(_sample(folder, domain, label, f) for f in unpaired[side::2]),
                    *(_sample(folder, domain, "", f) for f in paired),
                ]
        return samples


def _sample(folder: Path, domain: str, label: str, function: _Function) -> Sample:
    """Write the docstring or the code of a function; without a label, for a pair."""
    suffix = {"docs": ".txt", "code": ".py"}[domain]
    path = Path(domain, label or "paired", function.name + suffix)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(getattr(function, domain) + "\n", encoding="utf-8")
    return Sample(opaque_id(function.name), path.as_posix(), label, paired=not label)


class _Function(NamedTuple):
    name: str
    docs: str
    code: str


def _in_node(node: ast.AST, prefix: str, lines: Sequence[str]) -> Iterator[_Function]:
    for child in ast.iter_child_nodes(node):
        name = f"{prefix}.{child.name}" if isinstance(child, Named) else prefix
        if isinstance(child, Function) and _is_long_enough(child):
            yield _Function(name, ast.get_docstring(child) or "", _body(child, lines))
        if not isinstance(child, ast.expr):  # expressions define nothing
            yield from _in_node(child, name, lines)


def _is_long_enough(function: Function) -> bool:
    enough = len(function.body) - 1 >= FEWEST_STATEMENTS
    return enough and len(ast.get_docstring(function) or "") >= SHORTEST_DOCSTRING


def _body(function: Function, lines: Sequence[str]) -> str:
    """Return the lines after the docstring, without those of nested functions."""
    docstring, *statements = function.body
    nested: set[int] = set()
    for node in (n for statement in statements for n in ast.walk(statement)):
        if isinstance(node, Function) and _is_long_enough(node):
            nested.update(_lines_of(node))
        elif isinstance(node, Named) and ast.get_docstring(node) is not None:
            nested.update(_lines_of(node.body[0]))
    numbers = range(_lines_of(docstring).stop, _lines_of(function).stop)
    code = [lines[number - 1] for number in numbers if number not in nested]
    return inspect.cleandoc("\n" + "\n".join(code))


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
