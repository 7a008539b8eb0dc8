"""What a fit has to be made of, by the configuration: a recipe, and files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.names import FitKey
from cdspp.core.provenance import file_digest

__all__ = ["Expected", "ExpectedFits", "fit_recipe", "input_files"]


class Expected(NamedTuple):
    """The fits of a benchmark, as a configuration has them.

    Attributes
    ----------
    recipes : mapping of str to (str, int)
        By ``<setting>/<method>``, the recipe, and the place in `inputs` of its files.
    inputs : sequence of mapping
        Paths by the names of `cdspp.stages.trials.TaskFiles`, in which ``{source}``,
        ``{target}`` and ``{block}`` stand for those of a fit.
    """

    recipes: Mapping[str, tuple[str, int]]
    inputs: Sequence[Mapping[str, str]]


def fit_recipe(seed: int, numeric_threads: int, member: Mapping[str, Any]) -> str:
    """Return a digest of what decides predictions, beside task, block and files.

    Parameters
    ----------
    seed, numeric_threads : int
        Of the study.
    member : mapping
        The fields of `cdspp.stages.fit.Fit` but for its files.
    """
    text = json.dumps([seed, numeric_threads, dict(member)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ExpectedFits:
    """Compares records of fits with a configuration and the files that lie there.

    Parameters
    ----------
    expected : Expected
        The fits.
    """

    def __init__(self, expected: Expected) -> None:
        self._expected = Expected(*expected)
        self._digests: dict[str, str] = {}

    def has(self, key: FitKey) -> bool:
        """Whether a configuration has the method of a fit in its setting."""
        return f"{key.setting}/{key.method}" in self._expected.recipes

    def wrong_recipe(self, key: FitKey, record: Mapping[str, Any]) -> str:
        """Say how the recipe of a fit differs; nothing where it is as expected."""
        recipe, _ = self._expected.recipes.get(f"{key.setting}/{key.method}", ("", 0))
        if record.get("made_of") == recipe:
            return ""
        return "other options, another seed or other code than the study has made it"

    def wrong(self, key: FitKey, record: Mapping[str, Any]) -> str:
        """Say how recipe or files of a fit differ; nothing where both are as expected.

        A file that is gone is not compared: a run makes it again.
        """
        if told := self.wrong_recipe(key, record):
            return told
        _, place = self._expected.recipes[f"{key.setting}/{key.method}"]
        for name, path in input_files(self._expected.inputs[place], key).items():
            digest = self._digest(path)
            if digest and record["inputs"].get(name) != digest:
                return f"it is made of another {name} than {path} is now"
        return ""

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            there = Path(path).is_file()
            self._digests[path] = file_digest(path) if there else ""
        return self._digests[path]


def input_files(patterns: Mapping[str, str], key: FitKey) -> dict[str, str]:
    """Return the files that a fit reads, by the patterns of its method and setting."""
    source, target = key.task.split("_")
    files = {}
    for name, pattern in patterns.items():
        path = pattern.replace("{source}", source).replace("{target}", target)
        files[name] = path.replace("{block}", key.block)
    return files
