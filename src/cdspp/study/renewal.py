"""Files that a run makes again though Snakemake would not.

Snakemake compares options, code and inputs with records of its own, in ``.snakemake``.
Without one, as in a copy without hidden files, it takes any file for what it should be.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.names import fit_key
from cdspp.core.origins import origin_fault
from cdspp.core.run_marks import FOLDER
from cdspp.core.whole_files import read_json
from cdspp.core.wording import counted
from cdspp.stages.fit_files import ExpectedFits, read_record
from cdspp.study.files import FIT, SCORES
from cdspp.study.fit_jobs import expected_fits
from cdspp.study.model import Study

__all__ = [
    "differing_fits",
    "force",
    "foreign_files",
    "outdated_fits",
    "renewal_notes",
    "standing_notes",
    "unrecorded_files",
]


# Written beside an output, and no output of a rule: Snakemake never records them.
BESIDE = ("contents.json", "digests.json", "index.sha256")


def unrecorded_files(study: Study) -> list[str]:
    """Return the files of a study, and of its data, that Snakemake has no record of."""
    folders = (f"results/{study.name}", *_shared(study))
    files = [path for folder in folders for path in Path(folder).rglob("[!.]*.*")]
    for name in study.datasets:
        files += Path("data", name).glob("*.json")
    outputs = (str(path) for path in files if path.name not in BESIDE)
    return [path for path in outputs if not _recorded(path)]


def _shared(study: Study) -> list[str]:
    """Return the folders of files that serve all studies of the same data."""
    kinds = ("features", "labels", "codebooks")
    return [f"results/{kind}/{name}" for name in study.datasets for kind in kinds]


def foreign_files(
    study: Study, unrecorded: Sequence[str] | None
) -> Iterator[tuple[str, str]]:
    """Yield files before and after fits that no job of the study made: file, reason.

    Files `unrecorded` by Snakemake are not looked at; its records of the others tell
    what another configuration made. None stands for no records at all.
    """
    passed = {*unrecorded} if unrecorded is not None else set()
    known: dict[str, str] = {}
    kinds = ("splits", "test-shares", "subspace", "scores")
    for folder in (*_shared(study), *(f"results/{study.name}/{k}" for k in kinds)):
        for path in sorted(Path(folder).rglob("[!.]*.*")):
            file, job = str(path), ""
            if path.suffix == ".json" or file in passed:
                continue
            if unrecorded is not None:
                job = _record_of(file).read_text(errors="replace")
            if reason := origin_fault(path, known, job):
                yield file, reason


def _recorded(file: str) -> bool:
    """Whether Snakemake has a record of a file."""
    return Path(FOLDER, "metadata").is_dir() and _record_of(file).exists()


def _record_of(file: str) -> Path:
    """Return where Snakemake's record of a file lies, named by the file's path."""
    place = Path(FOLDER, "metadata")
    longest = os.pathconf(place, "PC_NAME_MAX") - 1
    name = urlsafe_b64encode(file.encode()).decode()
    parts = [name[i : i + longest] for i in range(0, len(name), longest)]
    return place.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def outdated_fits(study: Study) -> Iterator[tuple[str, str]]:
    """Yield fits without scores that are not as configured: record, and difference."""
    for benchmark in study.benchmarks:
        scores = Path(SCORES.format(study=study.name, benchmark=benchmark))
        known = ExpectedFits(expected_fits(study, benchmark))
        scored = scores.stat().st_mtime_ns if scores.is_file() else 0
        place = Path("results", study.name, "fits", benchmark)
        for record in sorted(place.glob("*/*/*/[!.]*.json")):
            if record.stat().st_mtime_ns <= scored:
                continue
            try:
                text = known.wrong_recipe(fit_key(record), read_json(record))
            except (DataError, AttributeError):
                text = "it is damaged"
            if text:
                yield str(record), text


def differing_fits(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the planned fits that are there and not as configured, likewise."""
    for benchmark in study.benchmarks:
        known = ExpectedFits(expected_fits(study, benchmark))
        for key in study.fits(benchmark):
            path = Path(f"{FIT.format(study=study.name, **key._asdict())}.json")
            if not path.is_file():
                continue
            try:
                text = known.wrong(key, read_record(path))
            except DataError:
                text = "the record is damaged or was changed: delete it"
            if text:
                yield str(path), text


def renewal_notes(
    unrecorded: Sequence[str], foreign: Mapping[str, str], outdated: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence on each, where there are any."""
    if unrecorded:
        files = f"{counted(len(unrecorded), 'existing file')}, such as {unrecorded[0]}"
        yield (
            f"Snakemake has no record of {files}: it makes them again, and reuses fits "
            "of equal inputs."
        )
    if foreign:
        files = f"{counted(len(foreign), 'file')} not as the study made them"
        first, reason = next(iter(foreign.items()))
        yield f"{files}, such as {first}: {reason}. The run remakes them."
    if outdated:
        fits = f"{counted(len(outdated), 'fit')} changed after they were scored"
        first, reason = next(iter(outdated.items()))
        yield f"{fits}, or never were, such as {first}: {reason}. The run repeats them."


def standing_notes(study: Study) -> Iterator[str]:
    """Yield what a run would say of the files that are there before it has begun."""
    unrecorded = unrecorded_files(study)
    return renewal_notes(unrecorded, dict(foreign_files(study, unrecorded)), {})


def force(workflow: Any, files: Iterable[str]) -> None:
    """Have Snakemake make files again where a run reaches them."""
    forced = frozenset(files)  # the option --forcerun would take them for targets, too

    class Forcing(type(workflow)):  # type: ignore[misc]
        @property
        def _dag(self) -> Any:
            return self.__dict__["_dag"]

        @_dag.setter
        def _dag(self, graph: Any) -> None:
            graph.forcefiles |= forced
            self.__dict__["_dag"] = graph

    if forced:
        workflow.__class__ = Forcing
