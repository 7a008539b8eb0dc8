"""Fits of other code or package versions, accepted on a sample that is fitted again.

The sample has the quickest trial of each method in each setting of a benchmark. If all
its trials are equal in every bit, records of the affected fits get the present code and
versions, and each of their trials keeps its origin and the name of the sample.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core import devices, provenance
from cdspp.core.errors import ConfigError, DataError
from cdspp.core.files import content_digest, write_json
from cdspp.core.names import FitKey, fit_key
from cdspp.core.records import (
    ACCEPTED,
    OTHER_CODE,
    Record,
    Specification,
    record_mismatch,
    with_schema,
    write_record,
)
from cdspp.core.run_lock import own_run
from cdspp.core.wording import counted, duration
from cdspp.stages.fit import (
    FOLDS,
    Fit,
    JobInputs,
    grid_options,
    loaded_methods,
    sound_trials,
)
from cdspp.stages.formats import read_fit_record
from cdspp.stages.refit import compare_refit
from cdspp.study.files import files_before_fits
from cdspp.study.model import Study
from cdspp.study.specifications import Specifications
from cdspp.study.stale import fit_file, stale

NAMED = 5  # differences in a message
NOTHING = (
    "there is nothing to accept: no existing fit is outdated only by other code, and "
    "none was made by other versions of numpy, scipy, scikit-learn or torch. Run the "
    "study without --accept."
)

log = logging.getLogger(__name__)


class AffectedFit(NamedTuple):
    """An existing fit that differs from its specification by code or versions only."""

    file: str
    record: Record
    specification: Specification

    @property
    def key(self) -> FitKey:
        """The key of the fit."""
        return fit_key(self.file)

    @property
    def trials(self) -> list[Mapping[str, Any]]:
        """Its trials without those that a run makes again after unexpected errors."""
        return sound_trials(self.record)

    def origin(self, trial: Mapping[str, Any]) -> dict[str, Any]:
        """Return code and versions that made a trial."""
        accepted = trial.get(ACCEPTED)
        code, versions = self.record.code, self.record.extra["versions"]
        source = accepted or {"code": code, "versions": versions}
        return {"code": source["code"], "versions": source["versions"]}

    @property
    def missing(self) -> str:
        """The first input that is missing; empty if there is none."""
        inputs = self.specification.inputs.values()
        return next((file for file in inputs if not os.path.isfile(file)), "")


class SampledTrial(NamedTuple):
    """A trial of the sample, and about how many seconds it takes."""

    fit: AffectedFit
    trial: int
    seconds: float

    def __str__(self) -> str:
        """Name benchmark, setting, method, task and trial."""
        key = self.fit.key
        cell = f"{key.benchmark}/{key.setting}/{key.method}"
        return f"{cell} on {key.task}, trial {self.trial}"


def affected_fits(study: Study) -> list[AffectedFit]:
    """Return the existing fits, in batches of any size, that may be accepted."""
    specifications = Specifications(study)
    here = provenance.numeric_versions(provenance.versions())
    digests: dict[str, str] = {}
    found = []
    keys = chain.from_iterable(map(study.fits, study.benchmarks))
    for folder in dict.fromkeys(Path(fit_file(study, key)).parent for key in keys):
        for path in sorted(folder.glob("[0-9]*-*[0-9].parquet")):
            file = path.as_posix()
            with suppress(DataError):  # without a sound record a run remakes it
                record = read_fit_record(path)
                expected = specifications.expected_fits(fit_key(path).benchmark)
                target = expected.of(path)._replace(trials=())
                reason = record_mismatch(path, target, digests, record=record)
                versions = provenance.numeric_versions(record.extra["versions"])
                fit = AffectedFit(file, record, target)
                differs = reason == OTHER_CODE or (not reason and versions != here)
                found += [fit] if differs and fit.trials else []
    return found


def sample_of(fits: Iterable[AffectedFit]) -> list[SampledTrial]:
    """Return the quickest trial of each method, setting, benchmark and origin.

    Failed trials count only where no other is. DataError: inputs are missing.
    """
    quickest: dict[str, tuple[bool, float, SampledTrial]] = {}
    lacking: dict[str, str] = {}
    for fit in fits:
        grid = fit.specification.options["grid"]
        n_fits = 1 + (FOLDS * len(grid_options(grid)) if grid else 0)
        for trial in fit.trials:
            cell = _cell(fit, trial)
            if missing := fit.missing:
                lacking.setdefault(cell, missing)
                continue
            seconds = n_fits * (trial["seconds"] or 0.0)
            sampled = SampledTrial(fit, trial["trial"], seconds)
            rank = trial["status"] != "ok", seconds, sampled
            if cell not in quickest or rank[:2] < quickest[cell][:2]:
                quickest[cell] = rank
    for cell, file in lacking.items():
        if cell not in quickest:
            what = "fits of a sample need this file, which is missing"
            remedy = f"Make it with cdspp run STUDY_FILE -- {file}"
            raise DataError(f"{file}: {what}. {remedy}, and accept again.")
    sample = (sampled for *_, sampled in quickest.values())
    return sorted(sample, key=lambda sampled: sampled.seconds)


def _cell(fit: AffectedFit, trial: Mapping[str, Any]) -> str:
    """Return what determines the code that a trial runs through, and its origin."""
    key, origin = fit.key, fit.origin(trial)
    versions = provenance.numeric_versions(origin["versions"])
    on_processor = fit.record.extra["device"] == devices.PROCESSOR
    inputs = sorted(fit.record.inputs)  # several sources have more
    parts = [key.benchmark, key.setting, key.method, origin["code"], versions]
    return json.dumps([*parts, on_processor, inputs])


def inputs_to_remake(study: Study) -> list[str]:
    """Return the outdated files before the fits, which a run remakes ahead of them."""
    before = {*chain(*files_before_fits(study).values())}
    return [file for file in stale(study) if file in before]


def accept(study: Study, before: Collection[str] = ()) -> str:
    """Accept the affected fits of a study if a sample is equal; return a sentence.

    `before` are those that were affected before their inputs were remade. ConfigError:
    nothing is affected, or another run is active. DataError: an input or a trial of the
    sample differs, or a file is missing; then nothing is written.
    """
    with own_run("cdspp run --accept"):
        fits = affected_fits(study)
        if lost := sorted({*before} - {fit.file for fit in fits}):
            raise DataError(_lost_text(study, lost))
        if not fits:
            raise ConfigError(NOTHING)
        sample = sample_of(fits)
        total = duration(sum(sampled.seconds for sampled in sample))
        n_fits, n_trials = sum(len(fit.trials) for fit in fits), len(sample)
        log.info(
            "Refitting %s of %s, the quickest of each method, setting and benchmark, "
            "in about %s.",
            *(n_trials, counted(n_fits, "fit"), total),
        )
        refits = [*_refits(study, sample)]
        if differences := [text for _, text in refits if text]:
            raise DataError(_refusal(fits, differences, n_trials))
        file = _write_sample(study, [entry for entry, _ in refits])
        for fit in fits:
            _write_accepted(fit, file, n_trials)
    whole = f"Accepted {counted(n_fits, 'fit')} without making them again"
    trials = counted(n_trials, "refitted trial")
    return f"{whole}: a sample of {trials} is equal in every bit ({file})."


def _lost_text(study: Study, files: Sequence[str]) -> str:
    """Return the message on fits whose inputs were remade with another content."""
    target = Specifications(study).expected_fits(fit_key(files[0]).benchmark)
    reason = record_mismatch(files[0], target.of(files[0]))
    fault = (
        f"{counted(len(files), 'file')} of fits cannot be accepted, first {files[0]}"
    )
    remedy = "To make them again, run the study without --accept; to keep them, use "
    remedy += "the version of the code that made them"
    return f"{fault}: {reason}. No fit is accepted. {remedy}."


def _refits(
    study: Study, sample: Sequence[SampledTrial]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield for each trial its entry in the file of the sample, and its difference."""
    made_of = [fit.specification._replace(inputs={}) for fit, *_ in sample]
    fits = [
        Fit.specified(sampled.fit.file, each)
        for sampled, each in zip(sample, made_of, strict=True)
    ]
    root = logging.getLogger("cdspp")
    level = root.level
    root.setLevel(logging.ERROR)  # other lines are for the log of a job
    try:
        with warnings.catch_warnings(), loaded_methods(fits):
            warnings.simplefilter("ignore")  # the page has those of the fits
            for sampled, fit in zip(sample, fits, strict=True):
                key, inputs = sampled.fit.key, sampled.fit.specification.inputs
                job_inputs = JobInputs(inputs, key.benchmark, key.task, study.gpus)
                digest, text = compare_refit(job_inputs, fit, sampled.trial)
                entry = {"fit": sampled.fit.file, "trial": sampled.trial}
                entry |= {"digest": digest, "inputs": sampled.fit.record.inputs}
                yield entry, text and f"{sampled}: {text}"
    finally:
        root.setLevel(level)


def _refusal(
    fits: Sequence[AffectedFit], differences: Sequence[str], n_trials: int
) -> str:
    lines = [f"\n  - {text}" for text in differences[:NAMED]]
    if (more := len(differences) - NAMED) > 0:
        lines.append(f"\n  - and {more} more")
    origins = (fit.record.extra["versions"] for fit in fits)
    names = ("cdspp", *provenance.NUMERIC)
    made_by = {f"{n} {v[n]}": None for v in origins for n in names if n in v}
    head = f"{len(differences)} of {counted(n_trials, 'refitted trial')} differ"
    if len(differences) == 1:
        head = f"1 of {counted(n_trials, 'refitted trial')} differs"
    remedy = "To make the fits again, run cdspp run --remake; to keep them, use the "
    remedy += f"code and versions that made them ({', '.join(made_by)})"
    return f"{head}, so no fit is accepted. {remedy}.{''.join(lines)}"


def _write_sample(study: Study, entries: Sequence[Mapping[str, Any]]) -> str:
    """Write the file of the sample, named after its content; return its path."""
    content: dict[str, Any] = {"study": study.name, "sample": entries}
    content |= {"versions": provenance.versions(), "platform": provenance.hardware()}
    content = with_schema(content)
    name = content_digest(content)[:12]
    file = f"results/{study.name}/{ACCEPTED}/{name}.json"
    write_json(file, content)
    return file


def _write_accepted(fit: AffectedFit, file: str, n_trials: int) -> None:
    """Give a record the present code and versions; its trials keep their origin."""
    record, code, versions = fit.record, fit.specification.code, provenance.versions()
    sample = {"sample": file, "sha256": provenance.file_digest(file)}
    here = code, provenance.numeric_versions(versions)
    trials = []
    for trial in record.trials:
        origin = fit.origin(trial)
        of_trial = provenance.numeric_versions(origin["versions"])
        is_own = here == (origin["code"], of_trial)
        kept = {name: value for name, value in trial.items() if name != ACCEPTED}
        accepted = {ACCEPTED: {**origin, **sample, "refits": n_trials}}
        trials.append(kept if trial["crashed"] or is_own else {**kept, **accepted})
    made_of = Specification(record.places, record.options, record.own_files, code)
    digests = {place: record.inputs[name] for name, place in record.places.items()}
    extra = {**record.extra, "trials": trials, "versions": versions}
    write_record(fit.file, made_of, digests, extra)
