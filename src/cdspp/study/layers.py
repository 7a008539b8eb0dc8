"""Where the keys of a study come from: its files, presets that they name, defaults."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError
from cdspp.core.names import BASELINE, REFERENCE

__all__ = ["MergedConfig", "merge_presets", "merge_files"]

Config = Mapping[str, Any]
RUNS = ("settings", "curves", "deviations", "choices")  # they name methods
EMBEDDED = "embedded"  # the study of config.yaml, as a preset


class MergedConfig(NamedTuple):
    """A configuration, and sentences for the user."""

    config: Config
    notes: tuple[str, ...] = ()


def merge_presets(own: Config, folder: str | Path) -> MergedConfig:
    """Put the keys of a study over those of the presets that it names, and defaults.

    Parameters
    ----------
    own : mapping
        Keys of the user, from study files and the command line.
    folder : path
        That of the workflow, with ``config.yaml`` and ``resources/presets``.

    Raises
    ------
    ConfigError
        There is no preset of a name.
    """
    shipped = sorted(Path(folder, "resources/presets").glob("*.yaml"))
    files = {file.stem: file for file in shipped}
    defaults = merge_files([files.pop("default")])
    files[EMBEDDED] = Path(folder, "config.yaml")
    named = own.get("preset", [])
    named = named if isinstance(named, list) else [named]
    for name in named:
        if name not in list(files):
            near = did_you_mean(name, files)
            raise ConfigError(
                f"preset: unknown name {name!r}{near} There are {', '.join(files)}."
            )
    preset = merge_files([files[name] for name in named])
    preset.pop("study", None)
    merged = _merged(_merged(defaults, preset), own)
    config = {key: merged[key] for key in (*own, *merged)}  # the file's keys first
    for key in ("methods", "add"):  # some may be given only by name
        if isinstance(entries := config.get(key), list):
            config[key] = [{"id": x} if isinstance(x, str) else x for x in entries]
    methods = config.get("methods")
    if isinstance(methods, list) and isinstance(config.get("add"), list):
        config["methods"] = methods = _with_added(methods, config.pop("add"))
    known = set(map(_name, methods)) if isinstance(methods, list) else set()
    for role in (REFERENCE, BASELINE):  # by default one of the methods that there are
        if role not in own and config[role] not in known:
            del config[role]
    return MergedConfig(config, _notes(own, preset, ", ".join(named)))


def _notes(own: Config, preset: Config, name: str) -> tuple[str, ...]:
    replaced = [key for key in preset if key in own]
    left = [key for key in RUNS if preset.get(key) and key not in own]
    if not replaced:
        return ()
    note = f"The study replaces {', '.join(replaced)} of the preset {name}"
    return (f"{note}, and keeps {', '.join(left)}." if left else f"{note}.",)


def _with_added(methods: list[Any], added: list[Any]) -> list[Any]:
    """Return methods with others after them; one of a known name takes its place."""
    known = {*map(_name, methods)} - {""}
    others = {name: entry for entry in added if (name := _name(entry)) in known}
    found = [others.get(_name(entry), entry) for entry in methods]
    return found + [entry for entry in added if _name(entry) not in known]


def _name(entry: Any) -> str:
    name = entry.get("id") if isinstance(entry, Mapping) else ""
    return name if isinstance(name, str) else ""


def merge_files(
    files: Sequence[str | Path], more: Config | None = None
) -> dict[str, Any]:
    """Return the keys of YAML files, and more, merged as Snakemake does: the last wins.

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
    return _merged(found, more or {})


def _merged(below: Config, above: Config) -> dict[str, Any]:
    """Return the keys of both: mappings are merged, all else is replaced."""
    found = copy.deepcopy(dict(below))
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = _merged(found[key], value) if both else copy.deepcopy(value)
    return found
