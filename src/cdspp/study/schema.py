"""A configuration held against its schema: what breaks it, and what is sound still."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.discovery import did_you_mean

__all__ = ["Sound", "check_schema", "sound_part"]

Config = Mapping[str, Any]
# Without these an entry would seem to run everywhere, and be blamed for it.
SCOPE = frozenset({"benchmarks", "tasks"})
SHOWN = 100  # letters of a value in a message, from either side


class Sound(NamedTuple):
    """What of a configuration keeps to the schema, so that it can be checked further.

    Attributes
    ----------
    config : mapping
        The configuration without unknown keys and broken values.
    broken : frozenset of (str, int)
        Entries, by section and place, of which the name alone is there, if that.
    cut : frozenset of (str, int)
        Entries from which a key was taken.
    unnamed : frozenset of str
        Sections in which names may be missing, so that no name is surely unknown.
    """

    config: Config
    broken: frozenset[tuple[str, int]] = frozenset()
    cut: frozenset[tuple[str, int]] = frozenset()
    unnamed: frozenset[str] = frozenset()


def check_schema(config: Config, schema: str | Path) -> Iterator[str]:
    """Yield one sentence for each way in which `config` breaks the schema."""
    errors = _validator(_read(schema)).iter_errors(config)
    for error in sorted(errors, key=lambda error: list(map(str, error.absolute_path))):
        yield from _sentences(error)


def sound_part(config: Config, schema: str | Path) -> Sound:
    """Return what of a configuration can be checked although it breaks the schema."""
    rules = _read(schema)
    kept: dict[str, Any] = {}
    broken: set[tuple[str, int]] = set()
    unnamed = {key for key in rules["required"] if key not in config}
    for key, value in config.items():
        known = rules["properties"].get(key)
        if known is not None and "items" in known and isinstance(value, list):
            entries = [
                _sound_entry(entry, _part(known["items"], rules)) for entry in value
            ]
            broken |= {(key, i) for i, entry in enumerate(entries) if entry is None}
            kept[key] = [
                _name_alone(given, rules) if entry is None else entry
                for given, entry in zip(value, entries, strict=True)
            ]
            if not all(kept[key]) or (not value and key in rules["required"]):
                unnamed.add(key)
        elif known is not None and _validator(_part(known, rules)).is_valid(value):
            kept[key] = value
        else:
            unnamed.add(key)
    cut = {
        (key, i)
        for key, entries in kept.items()
        if isinstance(entries, list)
        for i, entry in enumerate(entries)
        if entry != config[key][i]
    }
    return Sound(kept, frozenset(broken), frozenset(cut), frozenset(unnamed))


def _part(known: Mapping[str, Any], rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of the rules that stands alone: with the definitions it names."""
    return {**known, "$defs": rules["$defs"]}


def _sound_entry(entry: Any, rules: Mapping[str, Any]) -> Config | None:
    """Return an entry without what is wrong in it, None where it cannot do without."""
    spoiled: set[str] = set()
    for error in _validator(rules).iter_errors(entry):
        if error.path:
            spoiled.add(error.path[0])
        elif error.validator == "additionalProperties":
            spoiled |= set(entry) - set(rules["properties"])
        else:
            return None
    if spoiled & {*rules["required"], *SCOPE}:
        return None
    return {key: value for key, value in entry.items() if key not in spoiled}


def _name_alone(entry: Any, rules: Mapping[str, Any]) -> Config:
    name = entry.get("id") if isinstance(entry, Mapping) else None
    valid = _validator(rules["$defs"]["id"]).is_valid(name)
    return {"id": name} if valid else {}


def _read(schema: str | Path) -> dict[str, Any]:
    from cdspp.core.yaml_files import read_yaml

    rules: dict[str, Any] = read_yaml(schema)
    return rules


def _validator(rules: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # JSON knows one kind of number, and 2.0 trials are two: a slip all the same.
    kinds = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    )
    return extend(Draft202012Validator, type_checker=kinds)(rules)


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
