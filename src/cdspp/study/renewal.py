"""Files that a run makes again though Snakemake would not.

Snakemake compares options, code and inputs with records of its own, in ``.snakemake``.
Without one, as in a copy without hidden files, it takes any file for what it should be.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from cdspp.core.errors import DataError
from cdspp.core.origins import origin_fault
from cdspp.core.run_marks import FOLDER
from cdspp.core.wording import counted
from cdspp.stages.fit_files import ExpectedFits, read_record
from cdspp.study.files import FIT, SCORES, files_after_fits, files_before_fits
from cdspp.study.fit_jobs import expected_fits
from cdspp.study.model import Study

__all__ = [
    "force",
    "foreign_files",
    "job_record",
    "outdated_fits",
    "renewal_notes",
    "unrecorded_files",
]


WITH_ORIGIN = ("scores", "scores by row", "subspaces")  # of the files after fits
# Written beside an output, and no output of a rule: Snakemake never records them.
BESIDE = ("contents.json", "digests.json", "index.sha256")


def unrecorded_files(study: Study) -> list[str]:
    """Return the files of a study, and of its data, that Snakemake has no record of."""
    kinds = ("features", "labels", "codebooks")
    shared = (f"results/{kind}/{name}" for name in study.datasets for kind in kinds)
    folders = (f"results/{study.name}", *shared)
    files = [path for folder in folders for path in Path(folder).rglob("[!.]*.*")]
    for name in study.datasets:
        files += Path("data", name).glob("*.json")
    outputs = (str(path) for path in files if path.name not in BESIDE)
    return [path for path in outputs if not _recorded(path)]


def foreign_files(
    study: Study, recipe: Callable[[str], str | None]
) -> Iterator[tuple[str, str]]:
    """Yield files before and after fits that are not what they should be, and why.

    `recipe` returns a text that has to hold the recipe of a file, by its path; None
    where the file is not to be looked at.
    """
    known: dict[str, str] = {}
    after = files_after_fits(study)
    stages = *files_before_fits(study).values(), *(after[name] for name in WITH_ORIGIN)
    for file in chain.from_iterable(stages):
        text = recipe(file) if Path(file).is_file() else None
        if text is not None and (reason := origin_fault(file, known, text)):
            yield file, reason


def job_record(file: str) -> str | None:
    """Return Snakemake's record of the job that made a file; None without one."""
    return _record_of(file).read_text(errors="replace") if _recorded(file) else None


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


def outdated_fits(study: Study, *, scored: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the fits that are there and not as the study has them: record, difference.

    Of `scored` ones Snakemake knows, but for changes that keep the time of a file: only
    predictions made elsewhere may have such.
    """
    for benchmark in study.benchmarks:
        scores = Path(SCORES.format(study=study.name, benchmark=benchmark))
        known = ExpectedFits(expected_fits(study, benchmark))
        since = scores.stat().st_mtime_ns if scores.is_file() else 0
        for key in study.fits(benchmark):
            path = Path(f"{FIT.format(study=study.name, **key._asdict())}.json")
            every = scored or study.methods[key.method].predictions
            if not path.is_file() or not (every or path.stat().st_mtime_ns > since):
                continue
            try:
                text = known.wrong(key, read_record(path))
            except DataError:
                text = "the record is damaged or was changed: delete it"
            if text:
                yield str(path), text


def renewal_notes(unrecorded: Sequence[str], stale: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence on each, where there are any."""
    if unrecorded:
        files = f"{counted(len(unrecorded), 'existing file')}, such as {unrecorded[0]}"
        yield (
            f"Snakemake has no record of {files}: it makes them again, and reuses fits "
            "of equal inputs."
        )
    if stale:
        files = f"{counted(len(stale), 'file')} not as the study made them"
        first, reason = next(iter(stale.items()))
        yield f"{files}, such as {first}: {reason}. The run remakes them."


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
