"""Reader of the user's YAML files: one-line errors, and no repeated keys."""

import re
from pathlib import Path
from typing import Any

import yaml

from cdspp.core.errors import ConfigError
from cdspp.core.names import PathLike

# A few lines with anchors can make gigabytes; the catalogue has under 3000 values.
MAX_VALUES = 1_000_000

_Pairs = dict[tuple[str, str], tuple[Any, Any]]  # of nodes, by tag and text of the key


def read_yaml(path: PathLike, *, own: bool = False) -> Any:
    """Return the content of a YAML file; ConfigError names file and line of a fault.

    LibYAML reads the library's `own` files: it is faster, but crashes on deep nesting.
    """
    reader = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if own else yaml.SafeLoader
    try:
        loader = reader(Path(path).read_text(encoding="utf-8"))
        node = loader.get_single_node()
        if _n_values(node, {}) > MAX_VALUES:
            raise ConfigError(f"{path}: anchors expand to over {MAX_VALUES} values.")
        _merge(node, set())
        return None if node is None else loader.construct_document(node)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file in UTF-8 ({error}).") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}" if mark else ""
        problem = ", ".join(filter(None, [error.context, error.problem]))
        message = f"{path}{place}: {problem}."
        if isinstance(error, yaml.scanner.ScannerError | yaml.parser.ParserError):
            message += " Indent with blanks, and quote text that contains colons."
        raise ConfigError(message) from error
    except yaml.YAMLError as error:
        problem = str(error).partition("\n")[0].rstrip(".")
        raise ConfigError(f"{path}: not a YAML file ({problem}).") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply for a study file.") from error


def _merge(node: yaml.Node | None, done: set[int]) -> None:
    """Replace the keys << in a node; a key of its own wins, then the first mapping.

    Versions of PyYAML differ in mappings that are merged into one that is merged.
    """
    if not isinstance(node, yaml.CollectionNode) or id(node) in done:
        return
    done.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _merge(child, done)
        return
    own, merged = _Pairs(), _Pairs()
    for key, value in node.value:
        _merge(key, done)
        _merge(value, done)
        if key.tag != "tag:yaml.org,2002:merge":
            own[key.tag, str(key.value)] = key, value
            continue
        for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            if not isinstance(part, yaml.MappingNode):
                fault = f"<<: expected a mapping or a list of them, got a {part.id}"
                raise yaml.MarkedYAMLError(problem=fault, problem_mark=part.start_mark)
            for pair in part.value:
                merged.setdefault((pair[0].tag, str(pair[0].value)), pair)
    node.value = [*(merged | own).values()]


def _n_values(node: yaml.Node | None, counts: dict[int, int]) -> int:
    """Count the values of a node; an anchor counts each time it is used."""
    if not isinstance(node, yaml.Node):
        return 1
    if node.tag.endswith(":int") and re.match("[+-]?0[0-7_]|.*:", str(node.value)):
        fault = f"YAML reads {node.value} as a number of base 8 or 60"
        problem = f"{fault}; write it in base 10, or in quotes"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    if not isinstance(node, yaml.CollectionNode):
        return 1
    if id(node) not in counts:
        counts[id(node)] = MAX_VALUES  # until counted: an anchor may contain itself
        children = node.value
        if isinstance(node, yaml.MappingNode):
            lines: dict[tuple[str, str], int] = {}
            for key, _ in node.value:
                identity, mark = (key.tag, str(key.value)), key.start_mark
                if identity in lines:
                    fault = f"the key {key.value!r} occurs twice"
                    fault += f", first in line {lines[identity]}; keep one"
                    raise yaml.MarkedYAMLError(problem=fault, problem_mark=mark)
                lines[identity] = mark.line + 1
            children = [child for pair in node.value for child in pair]
        counts[id(node)] = 1 + sum(_n_values(child, counts) for child in children)
    return counts[id(node)]
