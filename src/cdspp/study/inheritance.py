"""Sections that a study has from config.yaml, cut to the study's own names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from cdspp.core.names import BASELINE, REFERENCE
from cdspp.methods import available, method_class
from cdspp.study.known_names import KnownNames

__all__ = ["Scissors", "cut_inherited"]

ROLES = {REFERENCE, BASELINE}
LEFT_OUT = "left out what this study has no methods, benchmarks or tasks for"
Config = Mapping[str, Any]
Cut = Callable[[Config, "Scissors", Collection[str]], dict[str, Any]]


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
    for role in ROLES & set(inherited):
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
                own = {k: v for k, v in view.items() if k in self.benchmarks}
                cut["source_view"] = own
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
            if (cut := self.cut_scope(section, entry)) is None:
                continue
            if methods := self.present(section, cut, entry["methods"]):
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
