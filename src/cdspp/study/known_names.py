"""What a configuration names: held against its schema, cut to itself, with faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.discovery import did_you_mean
from cdspp.core.names import BASELINE, REFERENCE, role_domains
from cdspp.methods import available, method_class
from cdspp.study.model import Config, StudyDataset
from cdspp.study.settings import task_names

Faults = Iterator[str]
Cut = Callable[[Config, "Scissors", Collection[str]], dict[str, Any]]
LEFT_OUT = "left out what this study has no methods, benchmarks or tasks for"
SHOWN = 100  # letters of a value in a message, from either side


class Sound(NamedTuple):
    """The part of a configuration that keeps to the schema, to be checked further.

    Of `broken` entries, as ``views[0]``, the name alone is there, if that; from `cut`
    ones a key was taken; in `unnamed` sections no name is surely unknown.
    """

    config: Config
    broken: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()
    unnamed: frozenset[str] = frozenset()


def check_schema(config: Config, schema: str | Path) -> tuple[list[str], Sound]:
    """Return a sentence for each way of breaking the schema, and the sound part."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    from cdspp.core.yaml_files import read_yaml

    rules: Mapping[str, Any] = read_yaml(schema)
    # JSON knows one kind of number, and 2.0 trials are two: a slip all the same.
    kinds = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    )
    validator = extend(Draft202012Validator, type_checker=kinds)(rules)
    errors = sorted(
        validator.iter_errors(config), key=lambda e: list(map(str, e.absolute_path))
    )
    # Of keys that lack in one place, each is an error that names them all.
    faults = list(dict.fromkeys(said for error in errors for said in _sentences(error)))
    return faults, _sound_part(config, rules, errors) if faults else Sound(config)


def _sound_part(config: Config, rules: Config, errors: Iterable[Any]) -> Sound:
    at_fault = {error.absolute_path[0] for error in errors if error.absolute_path}
    wrong, broken = _wrong_keys(errors), set[str]()
    kept: dict[str, Any] = {}
    unnamed = {key for key in rules["required"] if key not in config}
    for section, value in config.items():
        known = rules["properties"].get(section)
        if known is not None and "items" in known and isinstance(value, list):
            # Without its scope an entry would seem to run everywhere, and be blamed.
            vital = {"", "benchmarks", "tasks", *known["items"]["required"]}
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


def _sentences(error: Any) -> Faults:
    path = error.absolute_path
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    where = f"{text.lstrip('.')}: " if text else ""
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


class KnownNames:
    """The sections of a configuration by name; `inherited` ones are config.yaml's."""

    def __init__(
        self,
        sound: Sound,
        datasets: Mapping[str, StudyDataset],
        inherited: Collection[str],
    ) -> None:
        self.config = sound.config
        self.sound = sound
        self.datasets = datasets
        self.inherited = inherited
        self.views, self.methods, self.benchmarks = (
            {entry["id"]: entry for entry in self.config.get(section, []) if entry}
            for section in ("views", "methods", "benchmarks")
        )
        self.states = self.config.get("source_states", {}).get("states", [])
        self.trials = self.config.get("trials", float("inf"))

    def entries(self, section: str) -> Iterator[tuple[str, Config]]:
        """Yield the sound entries of a section, each with its place: ``views[0]``."""
        for i, entry in enumerate(self.config.get(section, [])):
            if (place := f"{section}[{i}]") not in self.sound.broken:
                yield place, entry

    def names(self, section: str) -> list[str]:
        """Return the names in a section, those of broken entries too."""
        return [entry["id"] for entry in self.config.get(section, []) if entry]

    def missing(self, where: str, section: str, *names: str) -> Faults:
        """Yield the names that a section lacks."""
        known = self.states if section == "source_states" else self.names(section)
        shipped = self.datasets if section == "datasets" else ()
        if section not in self.sound.unnamed:
            yield from unknown_of(where, names, [*shipped, *known])

    def root(self, view: str) -> str | None:
        """Return the view made of files on which a view rests, None in a circle."""
        seen: set[str] = set()
        while view in self.views and "view" in self.views[view]:
            if view in seen:
                return None
            seen.add(view)
            view = self.views[view]["view"]
        return view

    def ran(self, entry: Config) -> Collection[str]:
        """Return the names of the benchmarks that an entry runs on."""
        found: Collection[str] = entry.get("benchmarks", self.benchmarks)
        return found

    def domains(self, benchmark: str) -> Mapping[str, Mapping[str, int]] | None:
        """Return the class sizes of a benchmark by domain, None where unknown."""
        name = self.benchmarks.get(benchmark, {}).get("dataset", "")
        return self.datasets[name].class_sizes if name in self.datasets else None

    def tasks(self, benchmarks: Iterable[str]) -> dict[str, None] | None:
        """Return the tasks of some benchmarks, None where not all are known."""
        tasks: dict[str, None] = {}
        for name in benchmarks:
            domains = self.domains(name)
            if domains is None or "tasks" not in self.benchmarks[name]:
                return None
            tasks |= dict.fromkeys(task_names(self.benchmarks[name], domains))
        return tasks

    def size_faults(self, where: str, benchmark: Config, asked: Config) -> Faults:
        """Yield the classes that are too small for the labels that an entry wants."""
        domains = self.datasets[benchmark["dataset"]].class_sizes
        roles = role_domains(task_names(benchmark, domains))
        counts = {**benchmark["labels"], **asked}
        labelled, more = counts["target"], counts.get("unlabelled", 1)
        left = "no test sample" if more == 1 else f"fewer than {more} others"
        for domain in roles["target"]:
            sizes = domains.get(domain, {}).items()
            small = [f"{c} ({size})" for c, size in sizes if size < labelled + more]
            if small:
                yield (
                    f"{where}.target: {labelled} labelled samples per class leave "
                    f"{left} in domain {domain}, class {', '.join(small)}."
                )
        wanted = asked.get("source", 0)
        sources = (
            (size, label, domain)
            for domain in roles["source"]
            for label, size in domains.get(domain, {}).items()
        )
        largest, label, domain = max(sources, default=(wanted, "", ""))
        if largest < wanted:
            yield (
                f"{where}.source: {wanted} labelled samples per class are more than "
                f"any class of the source domains has: the largest, {label} in "
                f"{domain}, has {largest}. Ask for {largest} or fewer; a smaller class "
                "gives all it has."
            )


def unknown(where: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which one may be meant."""
    return f"{where}: unknown name {name!r}{did_you_mean(name, known)}"


def unknown_of(where: str, names: Iterable[str], known: Iterable[str]) -> Faults:
    """Yield the names that are not among the known ones."""
    known = list(known)
    yield from (unknown(where, name, known) for name in names if name not in known)


def cut_inherited(
    known: KnownNames, cuts: Iterable[Cut], inherited: Collection[str]
) -> tuple[Config, tuple[str, ...]]:
    """Cut the sections `inherited` from config.yaml to the names that a study has.

    Names of methods that do not exist at all stay, for the checks to name them. Guest
    sections cut their own keys by `cuts`. Return the configuration, and a sentence for
    each section that lost something.
    """
    scissors, config = Scissors(known), known.config
    changed: dict[str, Any] = {}
    if "methods" in inherited:
        changed["methods"] = scissors.cut_methods()
    for section in ("settings", "curves"):
        if section in inherited:
            changed[section] = scissors.cut_runs(section)
    for cut in cuts:
        changed |= cut(config, scissors, inherited)
    for role in {REFERENCE, BASELINE} & {*inherited}:
        if config.get(role) not in scissors.methods:
            changed[role] = None
    return {**config, **changed}, tuple(scissors.notes())


class Scissors:
    """The names of a study, and those that were cut so far."""

    def __init__(self, known: KnownNames) -> None:
        self.known = known
        self.config, self.benchmarks = known.config, known.benchmarks
        self.methods: Mapping[str, Config] = known.methods
        # By section, the names that each entry lost, and the entries that are gone.
        self.lost: dict[str, dict[str, list[str]]] = defaultdict(dict)
        self.left_out: dict[str, list[str]] = defaultdict(list)

    def cut_methods(self) -> list[dict[str, Any]]:
        """Return the methods with the benchmarks, tasks and states that there are."""
        kept = []
        for entry in self.config["methods"]:
            cut = self.cut_scope("methods", entry)
            if cut is None or not self._has_bridge(cut["id"], cut):
                continue
            if "states" in cut:
                cut["states"] = [s for s in cut["states"] if s in self.known.states]
            if isinstance(view := cut.get("source_view"), Mapping):
                cut["source_view"] = {b: view[b] for b in view if b in self.benchmarks}
            kept.append(cut)
        self.methods = {entry["id"]: entry for entry in kept}
        return kept

    def _has_bridge(self, method: str, entry: Config) -> bool:
        """Whether a benchmark gives a method the bridge that it uses, if it does."""
        if method not in available():
            return True
        used = {*entry.get("bridges", method_class(method).bridges)}
        given = (self.benchmarks[n].get("bridge", {}) for n in self.known.ran(entry))
        return not used or any(used & {*bridge} for bridge in given)

    def cut_runs(self, section: str) -> list[dict[str, Any]]:
        """Return settings or curves with the methods and tasks that there are."""
        kept = []
        for entry in self.config.get(section, []):
            cut = self.cut_scope(section, entry)
            if cut and (methods := self.present(section, cut, entry["methods"])):
                kept.append({**cut, "methods": methods})
        return kept

    def notes(self) -> list[str]:
        """Return a sentence for each section of which something was left out."""
        sentences = []
        for section in dict.fromkeys([*self.left_out, *self.lost]):
            whole, lost = self.left_out[section], self.lost[section]
            parts = [", ".join(whole)] if whole else []
            names = (name for name in lost if name not in whole)
            parts += [f"of {name}: {', '.join(lost[name])}" for name in names]
            sentences.append(f"{section}: {LEFT_OUT}: {'; '.join(parts)}.")
        return sentences

    def cut_scope(self, section: str, entry: Config) -> dict[str, Any] | None:
        """Return an entry with the benchmarks, tasks and trials that there are."""
        cut = dict(entry)
        if "trials" in cut:
            cut["trials"] = min(cut["trials"], self.config.get("trials", cut["trials"]))
        if "benchmarks" in cut:
            cut["benchmarks"] = self._kept(section, cut, "benchmarks", self.benchmarks)
        tasks = self.known.tasks(self.known.ran(cut))
        if tasks is not None and not isinstance(cut.get("tasks", 1), int):
            cut["tasks"] = self._kept(section, cut, "tasks", tasks)
        if [] in (cut.get("benchmarks"), cut.get("tasks")):
            self.left_out[section].append(cut["id"])
            return None
        return cut

    def _kept(
        self, section: str, entry: Config, key: str, known: Collection[str]
    ) -> list[str]:
        """Return the known ones of the names that an entry has; note the others."""
        if lost := [name for name in entry[key] if name not in known]:
            self.lost[section].setdefault(entry["id"], []).extend(lost)
        return [name for name in entry[key] if name in known]

    def present(self, section: str, entry: Config, methods: Sequence[str]) -> list[str]:
        """Return those of an entry's methods that run on one of its benchmarks."""
        chosen, every = self.known.ran(entry), self.known.methods
        methods = [n for n in methods if self._has_bridge(n, every.get(n, {}))]
        runs = [n for n in methods if n not in available() or self._runs(n, chosen)]
        kept = self._kept(section, {**entry, "methods": methods}, "methods", runs)
        if methods and not kept:
            self.left_out[section].append(entry["id"])
        return kept

    def _runs(self, method: str, benchmarks: Collection[str]) -> bool:
        own = self.methods.get(method, {"benchmarks": ()}).get("benchmarks", benchmarks)
        return any(
            name in own and method not in self.benchmarks[name].get("leave_out", ())
            for name in benchmarks
        )
