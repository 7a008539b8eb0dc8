"""Records of the fits of a finished study, and the publications to cite.

`cdspp status` reads records, and needs no tables: pandas is imported where it is used.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cdspp.core.devices import PROCESSOR
from cdspp.core.errors import DataError
from cdspp.core.names import FitKey, PathLike, fit_key
from cdspp.core.provenance import USAGE, file_digest, numeric_versions
from cdspp.core.records import ACCEPTED, Record
from cdspp.core.version import VERSION
from cdspp.core.wording import counted
from cdspp.methods.descriptions import cites_of
from cdspp.stages.formats import read_fit_record
from cdspp.study.model import Config
from cdspp.study.plan import Plans
from cdspp.study.stale import read_digests

if TYPE_CHECKING:
    import pandas as pd

RESULT_COLUMNS = (*FitKey._fields, "trial", "status", "reason", *USAGE, "selected")
_TRIAL = ["benchmark", "setting", "task", "method", "trial"]
# Software that every study uses but no record lists.
UNLISTED = ("cdspp", "snakemake")
MOST_NAMED = 4  # packages or rows that a note names
_ENTRY = re.compile(r"^@\w+\{([\w-]+),\n.*?^\}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class FitRecords:
    """A study's fits: `results` by trial, and `jobs` with key, device and versions.

    Seconds and memory are NaN if not measured; `selected` are options of the fit.
    """

    results: pd.DataFrame
    jobs: Sequence[Mapping[str, Any]]

    @property
    def failed(self) -> pd.DataFrame:
        """The records of trials that failed."""
        return self.results[self.results["status"] != "ok"]

    def common(self, name: str) -> Any:
        """Return the value of `name` in all jobs; a list if they differ."""
        values: list[Any] = []
        for job in self.jobs:
            if (value := job.get(name)) is not None and value not in values:
                values.append(value)
        return values[0] if len(values) == 1 else values or None


def read_fit_records(paths: Iterable[PathLike], plans: Plans = ()) -> FitRecords:
    """Read fit records, with the trials of `plans`, or without plans all.

    DataError: a record is damaged, outdated or of another fit.
    """
    import pandas as pd

    fit_trials = {plan.benchmark: plan.fit_trials for plan in plans}
    jobs: list[Mapping[str, Any]] = []
    results: list[Mapping[str, Any]] = []
    for path in paths:
        record, key = read_fit_record(path), fit_key(path)
        if plans:
            n_trials = fit_trials[key.benchmark][f"{key.setting}/{key.method}"]
            record = record.first_trials(n_trials)
        results += [{**key._asdict(), **trial} for trial in record.trials]
        jobs.append(job_data(record))
    frame = pd.DataFrame(results, columns=list(RESULT_COLUMNS))
    return FitRecords(frame.astype(dict.fromkeys(USAGE, "float64")), jobs)


def job_data(record: Record) -> Mapping[str, Any]:
    """Return the job data in the record of a fit, with the key of the fit."""
    return {**fit_key(record.file)._asdict(), **record.extra}


def record_files(folder: PathLike) -> list[Path]:
    """Return the records of ``results/<study>``, without unfinished ones."""
    return sorted(Path(folder).glob("fits/**/[!.]*.json"))


def mixed_versions(records: Iterable[Mapping[str, Any]]) -> str:
    """Return a message if several versions of a numeric package made fits, or ''."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        for name, version in numeric_versions(record.get("versions", {})).items():
            counts[name][version] += 1
    remedy = "repeats those of other versions, and the files they are based on"
    return _mixed_text("Fits were made by different versions", counts, "fit", remedy)


def mixed_devices(records: Iterable[Mapping[str, Any]]) -> str:
    """Name rows with trials from a processor and from a GPU, and a remedy."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        row = "/".join(str(record.get(name)) for name in FitKey._fields[:-1])
        rows[row][record.get("device", "")] += len(record.get("trials", ()))
    mixed = {row: counts for row, counts in sorted(rows.items()) if PROCESSOR in counts}
    fault = "Trials of one row ran on different devices, a processor and a GPU"
    remedy = "repeats those on a device other than the one that gpus requests"
    return _mixed_text(fault, mixed, "trial", remedy)


def _mixed_text(
    fault: str, counts_by_name: Mapping[str, Counter[str]], noun: str, remedy: str
) -> str:
    parts = []
    for name, counts in counts_by_name.items():
        uses = (f"{key} ({counted(n, noun)})" for key, n in sorted(counts.items()))
        if len(counts) > 1:
            parts.append(f"{name} {', '.join(uses)}")
    parts[MOST_NAMED:] = ["..."] if len(parts) > MOST_NAMED else []
    again = f"Running the study with -- --forceall {remedy}."
    return f"{fault}: {'; '.join(parts)}. {again}" if parts else ""


def mixed_fits_text(records: Iterable[Mapping[str, Any]]) -> str:
    """Return a note on fits of different versions or devices; empty if none differ."""
    jobs = [*records]
    return " ".join(filter(None, [mixed_versions(jobs), mixed_devices(jobs)]))


def mixed_fits_note(paths: Iterable[PathLike]) -> str:
    """Return `mixed_fits_text` of the records that exist and are intact."""
    return mixed_fits_text(intact_jobs(paths))


def intact_jobs(paths: Iterable[PathLike]) -> list[Mapping[str, Any]]:
    """Return `job_data` of the records that exist and are intact."""
    jobs = []
    for path in paths:
        with suppress(DataError):
            jobs.append(job_data(read_fit_record(path)))
    return jobs


def accepted_text(records: Iterable[Mapping[str, Any]]) -> str:
    """Say how many fits were accepted, and on which samples; empty if none were.

    See `cdspp.study.accept`.
    """
    n_trials, origins, samples = 0, Counter[str](), dict[str, int]()
    for record in records:
        for trial in record.get("trials", ()):
            n_trials += 1
            if entry := trial.get(ACCEPTED):
                origins[_origin_text(entry, record["versions"])] += 1
                samples[entry["sample"]] = entry["refits"]
    if not origins:
        return ""
    number = f"{sum(origins.values())} of {counted(n_trials, 'fit')}"
    by = ", ".join(f"{text} ({counted(n, 'fit')})" for text, n in origins.items())
    by = by if len(origins) > 1 else next(iter(origins))
    what = f"were made by other code or packages ({by}) and accepted"
    sample = f"a sample of {counted(sum(samples.values()), 'refitted trial')}"
    files = ", ".join(sorted(samples))
    return f"{number} {what}: {sample} was equal in every bit ({files})."


def _origin_text(entry: Mapping[str, Any], here: Mapping[str, str]) -> str:
    """Name the versions that made a trial: of this library, and those that changed."""
    versions = entry["versions"]
    others = numeric_versions(versions).items() - numeric_versions(here).items()
    own = [("cdspp", versions["cdspp"])] if "cdspp" in versions else []
    return " with ".join(f"{name} {number}" for name, number in [*own, *sorted(others)])


def sample_faults(records: Iterable[Mapping[str, Any]], root: Path) -> list[str]:
    """Return faults of the files of samples on which fits were accepted."""
    stated = {
        (entry["sample"], entry["sha256"])
        for record in records
        for trial in record.get("trials", ())
        if (entry := trial.get(ACCEPTED))
    }
    faults = []
    for name, digest in sorted(stated):
        file = root / "accepted" / Path(name).name
        found = file_digest(file) if file.is_file() else ""
        if found != digest:
            state = "differs from the one that they name" if found else "is missing"
            what = f"{file}: the sample on which fits were accepted {state}"
            remedy = "delete these fits and run the study again"
            faults.append(f"{what}. Restore it from a copy, or {remedy}.")
    return faults


def failure_text(results: pd.DataFrame) -> str:
    """Count the failed fits of each method; empty if none failed."""
    fits = results.drop_duplicates(_TRIAL)
    failed = fits[fits["status"] != "ok"].groupby("method", sort=False).size()
    if failed.empty:
        return ""
    methods = ", ".join(f"{method} {number}" for method, number in failed.items())
    return f"{failed.sum()} of {counted(len(fits), 'fit')} failed ({methods})."


def failures_of_scores(paths: Iterable[PathLike]) -> str:
    """Return `failure_text` of the existing score files of a study."""
    return failure_text(_read_existing(paths))


def scored_jobs(
    paths: Iterable[PathLike], scores: Iterable[PathLike]
) -> list[Mapping[str, Any]]:
    """Return `intact_jobs` with the trials of the study, which score files have."""
    frame = _read_existing(scores)
    scored = {*frame[_TRIAL].itertuples(index=False, name=None)}
    jobs: list[Mapping[str, Any]] = []
    for job in intact_jobs(paths):
        key = tuple(job[name] for name in _TRIAL[:-1])
        trials = [t for t in job["trials"] if (*key, t["trial"]) in scored]
        if trials:
            jobs.append({**job, "trials": trials})
    return jobs


def _read_existing(paths: Iterable[PathLike]) -> pd.DataFrame:
    import pandas as pd

    from cdspp.analysis.summary import read_scores

    scores = [pd.DataFrame(columns=[*_TRIAL, "status"])]
    for path in filter(Path.is_file, map(Path, paths)):
        with suppress(DataError):  # damaged, as `cdspp verify` reports
            scores.append(read_scores(path).assign(benchmark=path.stem))
    return pd.concat(scores[1:] or scores)


class Entry(NamedTuple):
    """A publication; `title` is normalised, `text` the BibTeX."""

    key: str
    title: str
    package: str
    text: str


def read_bibliography(path: PathLike) -> list[Entry]:
    """Read a BibTeX file with one field per line."""
    entries = []
    for match in _ENTRY.finditer(Path(path).read_text(encoding="utf-8")):
        fields = defaultdict(str, _FIELD.findall(match[0]))
        title = _normalised(fields["title"])
        entries.append(Entry(match[1], title, fields["package"], match[0]))
    return entries


def references_of(
    folder: PathLike, records: FitRecords, entries: list[Entry], catalogue: Config
) -> str:
    """Return the BibTeX of the methods, data sets and packages of a finished study."""
    root = Path(folder)
    configuration = read_digests(root).configuration
    methods = records.results["method"].unique()
    datasets = dict.fromkeys(job["dataset"] for job in records.jobs)
    citations = {each["id"]: each.get("cites", "") for each in configuration["methods"]}
    packages = {*UNLISTED, *(name for job in records.jobs for name in job["versions"])}
    keys_by_name = {name: {*cites_of(name)} for name in methods}
    for name in datasets:
        text = json.dumps(catalogue.get(name, ""), ensure_ascii=False)
        keys_by_name[name] = cited_keys(text, entries)
    cited, comments = set[str](), []
    for name, keys in keys_by_name.items():
        if keys:
            cited |= keys
        else:
            reference = citations.get(name) or "no publication known to this program"
            comments.append(f"% {name}: {reference}")
    head = f"% Publications behind the study {root.resolve().name}, by cdspp {VERSION}."
    publications = [e.text for e in entries if e.package in packages or e.key in cited]
    return "\n\n".join(["\n".join([head, *comments]), *publications])


def cited_keys(text: str, entries: Iterable[Entry]) -> set[str]:
    """Return the keys of the publications that a text names by their titles."""
    rest, keys = f" {_normalised(text)} ", set()
    for entry in sorted(entries, key=lambda entry: -len(entry.title)):
        if (title := f" {entry.title} ") in rest:
            rest = rest.replace(title, " | ")  # it may contain a shorter title
            keys.add(entry.key)
    return keys


def _normalised(text: str) -> str:
    """Return a text without capitals, braces and punctuation, to search titles in."""
    return " ".join(re.findall(r"\w+", text.replace("{", "").replace("}", "").lower()))
