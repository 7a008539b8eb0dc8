"""Code without what only a person reads, so that an edit of it outdates no result."""

import ast
from collections import Counter
from collections.abc import Collection, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)

LOG_LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
ERRORS = ("Error", "Failed", "Warning", "_error")  # ends of names of errors
# Calls that change nothing, so that a value which they make for a message may go.
PURE = {
    *("abs", "all", "any", "dict", "filter", "float", "format", "getattr", "int"),
    *("isinstance", "len", "list", "map", "max", "min", "next", "range", "repr"),
    *("round", "set", "sorted", "str", "sum", "tuple", "type", "zip"),
}
PURE_METHODS = {"format", "join", "keys", "lower", "partition", "strip", "tolist"}


def without_docstrings(tree: Node) -> Node:
    """Return a tree without its docstrings."""
    for node in ast.walk(tree):
        match body := getattr(node, "body", None):
            case [ast.Expr(ast.Constant(str())), *_]:
                del body[0]
    return tree


def without_texts(tree: ast.Module, helpers: Collection[str]) -> ast.Module:
    """Return a tree without docstrings, annotations, messages and forecasts of cost.

    Messages are arguments of raised errors, of `warnings.warn`, of logs, and of what is
    imported from `helpers`, modules for texts and files. Assignments, and private
    functions and constants of the module, that serve only these go, too.
    """
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if _helps(node, alias, helpers)
    }
    tree = _Messages(imported, helpers).visit(without_docstrings(tree))
    pure = PURE | imported
    nodes = [*ast.walk(tree)]
    while True:
        n_before, tree = len(nodes), _Unused(nodes, pure).visit(tree)
        nodes = [*ast.walk(tree)]
        if len(nodes) == n_before:
            return tree


def _helps(node: ast.ImportFrom, name: ast.alias, helpers: Collection[str]) -> bool:
    return not {node.module, f"{node.module}.{name.name}"}.isdisjoint(helpers)


class _Messages(ast.NodeTransformer):
    """Leaves out messages, annotations, forecasts and imports of helpers."""

    def __init__(self, imported: Collection[str], helpers: Collection[str]) -> None:
        self._imported, self._all = imported, helpers

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        node.names = [name for name in node.names if not _helps(node, name, self._all)]
        return node if node.names else None

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return [kept for each in node.orelse if (kept := self.visit(each))]
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return ast.Raise(exc=error, cause=None)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return self.generic_visit(ast.Assert(test=node.test, msg=None))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        match node.value:
            case ast.Call(ast.Attribute(ast.Name("warnings"), "warn")):
                return None
            case ast.Call(ast.Attribute(ast.Name("log" | "logger"), name)):
                return None if name in LOG_LEVELS else node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self._imported and name.endswith(ERRORS):
            return ast.Call(func=node.func, args=[], keywords=[])
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        decorators = [ast.unparse(each) for each in node.decorator_list]
        if node.name == "cost" and "classmethod" in decorators:
            return None
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(arg=node.arg)


class _Unused(ast.NodeTransformer):
    """Leaves out assignments and private definitions that nothing reads any more."""

    def __init__(self, nodes: Iterable[ast.AST], pure: Collection[str]) -> None:
        names = (node for node in nodes if isinstance(node, ast.Name))
        self._loads = Counter(n.id for n in names if isinstance(n.ctx, ast.Load))
        self._pure, self._depth = pure, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        if self._depth == 0 and node.name.startswith("_") and not self._read(node.name):
            return None
        self._depth += 1
        visited = self.generic_visit(node)
        self._depth -= 1
        return visited

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._depth += 1
        node.body = [each for each in map(self._in_class, node.body) if each]
        self._depth -= 1
        return node

    def _in_class(self, node: ast.stmt) -> ast.stmt | None:
        is_function = isinstance(node, ast.FunctionDef)
        return self.visit(node) if is_function else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        match node:
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
                pairs = [*zip(names, values, strict=False)]
                kept = [pair for pair in pairs if not self._is_unused(*pair)]
                if len(names) == len(values) and kept != pairs:
                    sides = [ast.Tuple([*side]) for side in zip(*kept, strict=True)]
                    return ast.Assign([sides[0]], sides[1]) if kept else None
            case ast.Assign([name], value) if self._is_unused(name, value):
                return None
        return node

    def _is_unused(self, target: ast.expr, value: ast.expr) -> bool:
        if not isinstance(target, ast.Name) or self._read(target.id):
            return False
        is_local = self._depth > 0 or target.id.startswith("_")
        return is_local and self._is_pure(value)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        self.generic_visit(node)
        is_empty = not node.body and not node.orelse
        return None if is_empty and self._is_pure(node.test) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        # What is imported for others to import counts with its own module.
        node.names = [n for n in node.names if self._read(n.asname or n.name)]
        return node if node.names else None

    def _read(self, name: str) -> bool:
        return bool(self._loads[name])

    def _is_pure(self, value: ast.expr) -> bool:
        return all(map(self._changes_nothing, ast.walk(value)))

    def _changes_nothing(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(ast.Name(name)):
                return name in self._pure
            case ast.Call(ast.Attribute(_, name)):
                return name in PURE_METHODS
        return not isinstance(node, ast.Call | ast.NamedExpr | ast.Yield | ast.Await)
