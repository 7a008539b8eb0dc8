"""Where the keys of a study come from: config.yaml, a preset, files of its own."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.errors import ConfigError

__all__ = ["Layers", "layered", "merge_files"]

Config = Mapping[str, Any]


class Layers(NamedTuple):
    """A configuration, the keys that are config.yaml's, and sentences for the user."""

    config: Config
    inherited: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def layered(
    own: Config,
    *,
    base: str | Path | None,
    presets: str | Path,
    beside: str | Path | None = None,
) -> Layers:
    """Put the keys of a study over those of its preset and of config.yaml.

    Parameters
    ----------
    own : mapping
        Keys of the user, from study files and the command line.
    base : path or None
        The file on which every study rests; none where there is no such file.
    presets : path
        Folder of the presets, ``<name>.yaml``.
    beside : path, optional
        The first study file, below `own`, if it is there and not `base`; below the
        preset, too, where `own` names that.
    """
    below = merge_files([base]) if base is not None and Path(base).is_file() else {}
    first, notes = Path(beside or ""), []
    if base and first.is_file() and first.resolve() != Path(base).resolve():
        notes = [f"The study inherits from {first} in this folder."]
        if "preset" in own:
            below = _merged(below, merge_files([first]))
        else:
            own = _merged(merge_files([first]), own)
    name = own.get("preset", below.get("preset"))
    known = {file.stem: file for file in Path(presets).glob("*.yaml")}
    preset = merge_files([known[name]]) if name in known else {}  # the schema names it
    config = _merged(_merged(below, preset), own)
    given = [key for key in ("methods", "add") if isinstance(config.get(key), list)]
    for key in given:  # some may be given by their name alone
        config[key] = [{"id": x} if isinstance(x, str) else x for x in config[key]]
    if len(given) == 2:  # as above
        config["methods"] = _with_added(config["methods"], config.pop("add"))
    if replaced := [key for key in preset if key in own]:
        notes.append(f"The study replaces {', '.join(replaced)} of the preset {name}.")
    if not own and not preset:  # config.yaml is the study
        return Layers(config, notes=tuple(notes))
    # Equal sections count as inherited, for many a study file is a copy that was cut.
    inherited = (key for key in below if own.get(key, below[key]) == below[key])
    return Layers(config, frozenset(inherited) - {*preset}, tuple(notes))


def _with_added(methods: list[Any], added: list[Any]) -> list[Any]:
    """Return methods with others after them; one of a known name takes its place."""
    known = {*map(_name, methods)} - {""}
    others = {name: entry for entry in added if (name := _name(entry)) in known}
    found = [others.get(_name(entry), entry) for entry in methods]
    return found + [entry for entry in added if _name(entry) not in known]


def _name(entry: Any) -> str:
    name = entry.get("id") if isinstance(entry, Mapping) else ""
    return name if isinstance(name, str) else ""


def merge_files(files: Sequence[str | Path]) -> dict[str, Any]:
    """Return the keys of YAML files as Snakemake merges them: later ones hold.

    ConfigError names a file that is no YAML, or holds no mapping of keys.
    """
    from cdspp.core.yaml_files import read_yaml

    found: dict[str, Any] = {}
    for file in files:
        if not os.path.isfile(file):
            raise ConfigError(f"{file}: no such study file. cdspp init writes one.")
        keys = read_yaml(file)
        if not isinstance(keys, Mapping):
            raise ConfigError(f"{file}: expected keys and values, as in config.yaml.")
        found = _merged(found, keys)
    return found


def _merged(below: Config, above: Config) -> dict[str, Any]:
    """Return the keys of both: mappings are merged, all else is replaced."""
    found = copy.deepcopy(dict(below))
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = _merged(found[key], value) if both else copy.deepcopy(value)
    return found
