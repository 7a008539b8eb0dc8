"""Outdated files: the files of a study that a run would remake, with reasons.

Snakemake compares options, code and inputs with its own records, in ``.snakemake``.
Without a record, as in a copy without hidden files, it takes every file as up to date.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cdspp.core.errors import DataError
from cdspp.core.files import read_error, read_json, write_json
from cdspp.core.names import FitKey, PathLike
from cdspp.core.provenance import file_digest
from cdspp.core.records import (
    ACCEPTED,
    Specification,
    changes,
    read_record,
    record_mismatch,
    record_path,
    with_schema,
    without_schema,
)
from cdspp.core.snakemake_internals import has_record
from cdspp.core.wording import counted
from cdspp.study.files import (
    FIT,
    REPORT,
    SAMPLE_SCORES,
    SCORES,
    files_after_fits,
    files_before_fits,
)
from cdspp.study.model import Config, Study
from cdspp.study.specifications import Specifications

REPORT_PAGE, DIGESTS = "report/index.html", "digests.json"  # of a study
# Files next to an output that no rule declares.
BESIDE = ("contents.json", "digests.json")
FOLLOWS = "one of its inputs is remade"
NAMED = 3  # number of changed files in a note
EMPTY = hashlib.sha256().hexdigest()


def stale(
    study: Study, specifications: Specifications | None = None, *, quick: bool = False
) -> dict[str, str]:
    """Return the existing files that a run would remake, and why.

    Causes come first, then the files that follow from them (`FOLLOWS`). If `quick`,
    fits already scored in their present form are not read again: Snakemake knows them,
    except for external predictions, which may change without a new time.
    """
    comparison = _Comparison(study, specifications or Specifications(study))
    for files in files_before_fits(study).values():
        comparison.check(files)
    for benchmark in study.benchmarks:
        comparison.check_benchmark(benchmark, quick=quick)
    comparison.check(files_after_fits(study)["subspaces"])
    found = comparison.found
    report = REPORT.format(study=study.name)
    with suppress(DataError):  # no report yet, or `changed_files` reports it
        old = read_digests(Path(report).parents[1]).configuration
        new = json.loads(json.dumps(study.run_description().config, default=str))
        keys = {*new, *old}
        if other := sorted(key for key in keys if new.get(key) != old.get(key)):
            found[report] = f"it belongs to a study with other {', '.join(other)}"
    return found


class _Comparison:
    """Compares files with the specifications of a study; `found` has the reasons."""

    def __init__(self, study: Study, specifications: Specifications) -> None:
        self.found: dict[str, str] = {}
        self._study, self._specifications = study, specifications
        self._known: dict[str, str] = {}

    def check(
        self, files: Iterable[str], of: Callable[[str], Specification] | None = None
    ) -> None:
        """Compare the existing files, causes before effects."""
        specification_of = of or self._specifications.of
        for file in filter(os.path.isfile, files):
            target = specification_of(file)
            reason = record_mismatch(file, target, self._known, moved=self._moved)
            if self.found and not reason:
                inputs = target.inputs.values()
                reason = "" if self.found.keys().isdisjoint(inputs) else FOLLOWS
            if reason:
                self.found[file], self._known[file] = reason, ""

    def _moved(self, old: str, new: str) -> str:
        """Return what differs between two files of which one takes another's place."""
        reason = ""
        with suppress(DataError):  # the old file is gone, or damaged
            expected = self._specifications.of(new)
            reason = changes(read_record(old), expected, self._known, self._moved)
        return reason or f"it was made from {old}, not from {new}"

    def check_benchmark(self, benchmark: str, *, quick: bool) -> None:
        """Compare the fits of a benchmark, and scores that do not follow from them."""
        study, n_found = self._study, len(self.found)
        place = {"study": study.name, "benchmark": benchmark}
        scores, last_scores = SCORES.format(**place), 0
        skips = quick and not self.found and os.path.isfile(scores)
        specification_of = self._specifications.of
        if skips and not record_mismatch(scores, specification_of(scores), self._known):
            last_scores = os.stat(scores).st_mtime_ns
        fits = []
        for key in study.fits(benchmark):
            file = fit_file(study, key)
            if study.methods[key.method].predictions or last_write(file) > last_scores:
                fits.append(file)
        if fits:
            self.check(fits, self._specifications.expected_fits(benchmark).of)
        if len(self.found) == n_found:
            self.check([scores, SAMPLE_SCORES.format(**place)])


def fit_file(study: Study, key: FitKey) -> str:
    """Return the file of a fit's predictions."""
    return f"{FIT.format(study=study.name, **key._asdict())}.parquet"


def last_write(file: str) -> int:
    """Return the last write of a fit or its record, in ns; 0 if one is missing."""
    try:
        return max(os.stat(p).st_mtime_ns for p in (file, record_path(file)))
    except FileNotFoundError:
        return 0


def unrecorded_files(study: Study) -> list[str]:
    """Return the files of a study, and of its data, that Snakemake has no record of."""
    kinds = ("features", "labels", "codebooks")
    data = study.data_names.values()
    shared = (f"results/{kind}/{name}" for name in data for kind in kinds)
    folders = (f"results/{study.name}", *shared)
    found = (path for folder in folders for path in Path(folder).rglob("[!.]*.*"))
    files = [path for path in found if path.parent.name != ACCEPTED]
    for name in data:
        files += Path("data", name).glob("*.json")
    outputs = (str(path) for path in files if path.name not in BESIDE)
    return [path for path in outputs if not has_record(path)]


class ReportDigests(NamedTuple):
    """The file next to a report: configuration, digests of the page and its files."""

    page: str
    configuration: Config
    files: Mapping[str, str]


def write_digests(page: Path, configuration: Config, files: Mapping[str, str]) -> None:
    """Write the inputs of a finished page next to it, for `read_digests`."""
    config = json.loads(json.dumps(configuration, default=str))
    content = {"page": file_digest(page), "configuration": config, "files": files}
    write_json(page.with_name(DIGESTS), with_schema(content))


def digests_of_files(files: Iterable[PathLike], results: PathLike) -> dict[str, str]:
    """Return the sha256 digests of files, named by their path in ``results``."""
    return {
        Path(os.path.relpath(file, results)).as_posix(): file_digest(file)
        for file in dict.fromkeys(files)
    }


def read_digests(root: PathLike) -> ReportDigests:
    """Return configuration and digests of the report of ``results/<study>``.

    DataError: there is no report, or its file of digests is missing or damaged.
    SchemaError as in `read_record`.
    """
    page = Path(root, REPORT_PAGE)
    file = page.with_name(DIGESTS)
    if not page.is_file():
        fault = f"{page}: expected the report of a finished study, but there is none"
        remedy = "Finish the study first, and name a folder such as results/embedded"
        raise DataError(f"{fault}. {remedy}.")
    try:
        digests = ReportDigests(**without_schema(file, read_json(file)))
        texts = [digests.page, *digests.files, *digests.files.values()]
        is_text = all(isinstance(text, str) for text in texts)
        if is_text and isinstance(digests.configuration, dict):
            return digests
        raise TypeError("values of another type")
    except (AttributeError, KeyError, TypeError) as error:
        what = "the digests of a report"
        raise read_error(file, what, f"it has another form: {error}") from error


def edited_outputs(root: Path) -> set[str]:
    """Return tables and figures that are not those of the report, and the page."""
    files = [path for path, _ in changed_files(root, f"{root.name}/")]
    kinds = ("tables", "figures", "timings")
    outputs = {str(path) for path in files if path.parent.name in kinds}
    return {*outputs, str(root / REPORT_PAGE)} if files else outputs


def changed_note(root: Path) -> str:
    """Return a note on changed files of ``results/<study>``, not on missing ones."""
    prefix = f"{root.name}/"
    files = [str(path) for path, _ in changed_files(root, prefix) if path.is_file()]
    if not files:
        return ""
    rest = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    changed = f"{counted(len(files), 'file')} changed since the report"
    how = "by hand or by an interrupted run"
    run = "A run remakes tables, figures and page, and all files that you delete"
    remedy = f"{run}; cdspp verify {root} compares all."
    return f"{changed}, {how}: {', '.join(files[:NAMED])}{rest}. {remedy}"


def freshness_note(root: Path) -> str:
    """Return a note on results that differ from their report; empty if they are fresh.

    Missing files are no difference: a part of the results may have been sent.
    """
    root = root.resolve() if root.name in ("", "..") else root  # such as ``.``
    changes = (path for path, _ in changed_files(root, quick=True))
    files = [str(path) for path in changes if path.is_file() or path.name == DIGESTS]
    if not files:
        return ""
    changed = f"{counted(len(files), 'file')} changed since the report, {files[0]}"
    more = " first" if len(files) > 1 else ""
    remedy = f"cdspp verify {root} names all, cdspp run with its study file renews them"
    return (
        f"{root} has changed since its report was written: {changed}{more}. {remedy}."
    )


def outdated_note(study: Study, file: PathLike, inputs: Collection[str] = ()) -> str:
    """Return a note on results that differ from a study file; empty if they are fresh.

    With `inputs`, only these files count.
    """
    found = stale(study, quick=True)
    if inputs:
        found = {path: reason for path, reason in found.items() if path in inputs}
    if not found:
        return ""
    report = REPORT.format(study=study.name)  # its reason names what was edited
    path = report if report in found else next(iter(found))
    outdated = f"a run would remake {counted(len(found), 'file')}"
    cause = f"{path}: {found[path]}"
    remedy = f"cdspp status {file} lists all, cdspp run {file} renews them"
    return (
        f"results of {study.name} differ from {file}: {outdated} ({cause}). {remedy}."
    )


def _is_as_old(path: Path, page: Path, *, own: bool) -> bool:
    """Return whether a file was written before the digests next to a report.

    Copies of shared files have later times of change, and are too large to read again.
    """
    file, digests = path.stat(), page.with_name(DIGESTS).stat()
    change = file.st_ctime_ns <= digests.st_ctime_ns <= time.time_ns()
    return file.st_mtime_ns <= digests.st_mtime_ns and (change or not own)


def changed_files(
    root: Path, own: str = "", *, quick: bool = False
) -> Iterator[tuple[Path, str]]:
    """Yield files that were changed since the report or are gone, and why.

    These are the page itself and the files whose names in ``results`` begin with `own`.
    If `quick`, files that are as old as the digests of the report are not read.
    """
    page = root / REPORT_PAGE
    if not page.is_file():
        return
    try:
        report_digests = read_digests(root)
    except DataError as error:
        yield page.with_name(DIGESTS), str(error).partition(": ")[2].rstrip(".")
        return
    if file_digest(page) != report_digests.page:
        reason = "it differs from the page that was written: edited, or truncated"
        yield page, f"{reason}. Delete it and run the study again"
    for name, digest in report_digests.files.items():
        path = Path(os.path.normpath(root.parent / name))
        if not name.startswith(own):
            continue
        if not path.is_file():
            yield path, "this input of the report is missing. Run the study again"
        # A stranger's report may name a system file, which has size 0 but no end.
        elif quick and _is_as_old(path, page, own=name.startswith(f"{root.name}/")):
            continue
        elif (current := file_digest(path) if path.stat().st_size else EMPTY) != digest:
            # No run remakes files outside, such as predictions of another program.
            remedy = "Run" if name.startswith("..") else "Delete it and run"
            content = f"other content (sha256 {digest[:12]}, now {current[:12]})"
            cause = "it was changed by hand or by an interrupted run"
            why = f"the report used {content}: {cause}. {remedy} the study again"
            yield path, why
