"""What makes each file of a study, and files that a run makes again for that alone.

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
from cdspp.core.names import MAIN
from cdspp.core.origins import origin_fault
from cdspp.core.provenance import code_digest
from cdspp.core.run_marks import FOLDER
from cdspp.core.wording import counted
from cdspp.datasets import dataset_recipe
from cdspp.datasets.base import digests_path
from cdspp.features import extractor_class, own_digests
from cdspp.methods import method_module
from cdspp.stages.fit_files import ExpectedFits, content_digest, read_record
from cdspp.study.files import FIT, SCORES, files_after_fits, files_before_fits
from cdspp.study.fit_jobs import expected_fits
from cdspp.study.model import Study

WITH_ORIGIN = ("scores", "scores by row", "subspaces")  # of the files after fits
# Written beside an output, and no output of a rule: Snakemake never records them.
BESIDE = ("contents.json", "digests.json", "index.sha256")


def file_recipe(study: Study, file: str) -> str:
    """Return a digest of the options, seed, code and own files that make a file.

    It is named as the rules name it. Fits have recipes of their own (`expected_fits`).
    """
    parts: list[Any] = []
    match Path(file).parts:
        case "data", name, _:
            known, memory = study.datasets[name], digests_path("data", name)
            made = dataset_recipe(name, known.own, known.entry, memory)
            parts = [made, code_digest("cdspp.stages.data", made["module"])]
        case _, "labels", _, _:
            parts = [code_digest("cdspp.stages.data")]
        case _, "codebooks", _, name:
            parts = _of_view(study, name.partition(".")[0])
        case _, "features", dataset, name:
            domain, view, _ = name.split(".")
            entry = study.views[view]
            own = own_digests(entry.extractor, entry.domain_options(domain))
            parts = [entry.scale, own, study.datasets[dataset].storage(entry, domain)]
            parts += _of_view(study, view, domain)
        case _, _, "splits" | "test-shares" as kind, benchmark, *names, _:
            parts = [code_digest("cdspp.stages.splits")]
            if names[1:] == ["pairs"]:
                parts += [study.seed]
            elif kind == "splits":
                dataset = study.benchmarks[benchmark].dataset
                parts += [dataset, study.draw(benchmark, *names)]
        case _, _, "subspace", benchmark, _:
            method = study.shown_method()
            parts = [method, study.overlap(benchmark, MAIN), study.numeric_threads]
            parts += [study.method_options(method, MAIN)]
            parts += [code_digest("cdspp.stages.subspace", method_module(method))]
        case _, _, "scores", name:
            fits = expected_fits(study, name.partition(".")[0])
            parts = [fits, code_digest("cdspp.stages.score")]
    return content_digest(parts)


def _of_view(study: Study, name: str, domain: str = "") -> list[Any]:
    """Return what decides the features of a domain, or the codebook of a view."""
    view = study.views[name]
    options = view.domain_options(domain or view.options["codebook_domain"])
    module = extractor_class(view.extractor).__module__
    code = code_digest("cdspp.stages.features", module)
    return [view.extractor, options, study.numeric_threads, code]


def unrecorded_files(study: Study) -> list[str]:
    """Return the files of a study, and of its data, that Snakemake has no record of."""
    kinds = ("features", "labels", "codebooks")
    shared = (f"results/{kind}/{name}" for name in study.datasets for kind in kinds)
    folders = (f"results/{study.name}", *shared)
    files = [path for folder in folders for path in Path(folder).rglob("[!.]*.*")]
    for name in study.datasets:
        files += Path("data", name).glob("*.json")
    outputs = (str(path) for path in files if path.name not in BESIDE)
    return [path for path in outputs if _record_of(path) is None]


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
    path = _record_of(file)
    return None if path is None else path.read_text(errors="replace")


def _record_of(file: str) -> Path | None:
    """Return Snakemake's record of a file, if there is one: its name is the path."""
    place = Path(FOLDER, "metadata")
    if not place.is_dir():
        return None
    longest = os.pathconf(place, "PC_NAME_MAX") - 1
    name = urlsafe_b64encode(file.encode()).decode()
    parts = [name[i : i + longest] for i in range(0, len(name), longest)]
    path = place.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
    return path if path.exists() else None


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
