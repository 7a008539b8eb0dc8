"""A configuration held against its schema: what breaks it, and what is sound still."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.discovery import did_you_mean

__all__ = ["Sound", "check_schema"]

Config = Mapping[str, Any]
# Without these an entry would seem to run everywhere, and be blamed for it.
SCOPE = frozenset({"benchmarks", "tasks"})
SHOWN = 100  # letters of a value in a message, from either side


class Sound(NamedTuple):
    """The part of a configuration that keeps to the schema, to be checked further.

    Entries go by their places, as in ``views[0]``: of `broken` ones the name alone is
    there, if that; from `cut` ones a key was taken. In sections that are `unnamed`
    names may be missing, so that no name is surely unknown.
    """

    config: Config
    broken: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()
    unnamed: frozenset[str] = frozenset()


def check_schema(config: Config, schema: str | Path) -> tuple[list[str], Sound]:
    """Return a sentence for each way of breaking the schema, and what is sound."""
    from cdspp.core.yaml_files import read_yaml

    rules: Mapping[str, Any] = read_yaml(schema)
    errors = sorted(
        _validator(rules).iter_errors(config),
        key=lambda error: list(map(str, error.absolute_path)),
    )
    faults = [sentence for error in errors for sentence in _sentences(error)]
    return faults, _sound_part(config, rules, errors) if faults else Sound(config)


def _validator(rules: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # JSON knows one kind of number, and 2.0 trials are two: a slip all the same.
    kinds = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    )
    return extend(Draft202012Validator, type_checker=kinds)(rules)


def _sound_part(config: Config, rules: Config, errors: Iterable[Any]) -> Sound:
    at_fault = {error.absolute_path[0] for error in errors if error.absolute_path}
    wrong, broken = _wrong_keys(errors), set[str]()
    kept: dict[str, Any] = {}
    unnamed = {key for key in rules["required"] if key not in config}
    for section, value in config.items():
        known = rules["properties"].get(section)
        if known is not None and "items" in known and isinstance(value, list):
            vital = {"", *SCOPE, *known["items"]["required"]}
            kept[section] = []
            for i, entry in enumerate(value):
                bad = wrong.get(place := f"{section}[{i}]", set())
                if bad & vital:
                    broken.add(place)
                    has_id = isinstance(entry, Mapping) and "id" in entry
                    entry = {"id": entry["id"]} if has_id else {}
                kept[section].append({k: v for k, v in entry.items() if k not in bad})
            if not all(kept[section]) or (not value and section in rules["required"]):
                unnamed.add(section)
        elif known is not None and section not in at_fault:
            kept[section] = value
        else:
            unnamed.add(section)
    return Sound(kept, frozenset(broken), frozenset(wrong), frozenset(unnamed))


def _wrong_keys(errors: Iterable[Any]) -> dict[str, set[str]]:
    """Return the wrong keys of entries, by their places; "" where one is itself."""
    found: dict[str, set[str]] = {}
    for error in errors:
        section, place, key = (*error.absolute_path, None, None, None)[:3]
        keys = {"" if key is None else key}
        if key is None and error.validator == "additionalProperties":
            keys = {*error.instance} - {*error.schema["properties"]}
        if isinstance(place, int):
            found.setdefault(f"{section}[{place}]", set()).update(keys)
    return found


def _sentences(error: Any) -> Iterator[str]:
    where = _place(error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        for key in error.instance:
            if key not in known:
                yield f"{where}unknown key {key!r}{did_you_mean(key, known)}"
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        yield f"{where}missing {', '.join(missing)}."
    elif error.validator == "oneOf":
        whole = "all" if "const" in error.validator_value[0] else "a number"
        expected = f"expected {whole} or a list of <source>_<target>"
        yield f"{where}{expected}, got {error.instance!r}."
    else:
        said = error.message
        if len(said) > 2 * SHOWN:  # it starts with the value, and ends with the rule
            said = f"{said[:SHOWN]} ... {said[-SHOWN:]}"
        yield f"{where}{said}."


def _place(path: Iterable[str | int]) -> str:
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return f"{text.lstrip('.')}: " if text else ""
