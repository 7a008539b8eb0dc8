"""Trials that other blocks of a fit hold: a block takes them over, and fits the rest.

Blocks share out work among jobs, and are no part of a result: with more trials in a
study, or blocks of another size, only the trials are fitted that are new.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.names import trials_of_block
from cdspp.core.provenance import numeric
from cdspp.stages.artifacts import FIT_COLUMNS
from cdspp.stages.fit_files import FitFile, read_fit, read_record

__all__ = ["DoneTrials", "trial_digest"]

# Files of a block; `trial_digest` tells what a trial reads of them.
OF_BLOCKS = frozenset({"source_split", "target_split", "pairs", "prior"})
SAME = ("made_of", "dataset", "overlap", "benchmark", "setting", "task", "method")


def trial_digest(parts: Iterable[Iterable[Any]]) -> str:
    """Return a digest of the ids, labels and shares that a trial reads, in order."""
    text = json.dumps([[str(value) for value in part] for part in parts])
    return hashlib.sha256(text.encode()).hexdigest()


class DoneTrials:
    """The trials in the blocks of a fit that are there, made of the same.

    `record` is that of the block which is made now, `content` what it will say of
    recipe and files, and `versions` are those of the packages at work.
    """

    def __init__(
        self,
        record: str | os.PathLike[str],
        content: Mapping[str, Any],
        versions: Mapping[str, Any],
    ) -> None:
        self._own, self._content = Path(record), content
        self._versions = numeric(versions)
        self._places: dict[tuple[int, str], Path] = {}
        self._fits: dict[Path, FitFile | None] = {}
        for path in sorted(self._own.parent.glob("*-*.json")):
            for trial in self._trials(path):
                if not trial["crashed"]:
                    self._places[trial["trial"], trial.get("read", "")] = path

    def get(self, trial: int, read: str) -> tuple[Any, dict[str, list[Any]]] | None:
        """Return outcome and rows of a trial of the `trial_digest` `read`, if any."""
        if (path := self._places.get((trial, read))) is None:
            return None
        if path not in self._fits:
            try:
                self._fits[path] = read_fit(path.with_suffix(".parquet"))
            except (DataError, OSError):  # damaged, or removed by another job
                self._fits[path] = None
        if (fit := self._fits[path]) is None:
            return None
        [outcome] = [each for each in fit.record["trials"] if each["trial"] == trial]
        here = fit.columns["trial"] == trial
        return outcome, {name: fit.columns[name][here].tolist() for name in FIT_COLUMNS}

    def remove_covered(self) -> None:
        """Remove blocks that share trials with this one, once all theirs are elsewhere.

        Blocks of one size share none, so that no other job of the run needs these.
        """
        paths = self._own.parent.glob("*-*.json")
        blocks = {path: {*trials_of_block(path.stem)} for path in paths}
        ours = blocks.pop(self._own, {*trials_of_block(self._own.stem)})
        apart = (found for found in blocks.values() if not found & ours)
        covered = ours.union(*apart)
        for path, found in blocks.items():
            if found & ours and found <= covered:
                path.unlink(missing_ok=True)
                path.with_suffix(".parquet").unlink(missing_ok=True)

    def _trials(self, path: Path) -> list[dict[str, Any]]:
        """Return what a record says of its trials, if it is made of the same."""
        try:
            record = read_record(path)
            same = all(record[name] == self._content[name] for name in SAME)
            ours, theirs = (_of_all(r["inputs"]) for r in (self._content, record))
            same = same and ours == theirs
            same = same and numeric(record["versions"]) == self._versions
            trials: list[dict[str, Any]] = record["trials"]
            return trials if same else []
        except (DataError, OSError, KeyError, TypeError):
            return []


def _of_all(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of the files that all blocks read."""
    return {name: v for name, v in inputs.items() if name not in OF_BLOCKS}
