"""Outdated files: the files of a study that a run would remake, with reasons.

Snakemake compares options, code and inputs with its own records, in ``.snakemake``.
Without a record, as in a copy without hidden files, it takes every file as up to date.
"""

import hashlib
import json
import os
import sys
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.code_digests import code_digest
from cdspp.core.errors import DataError
from cdspp.core.files import (
    OTHER_CODE,
    Expected,
    read_error,
    read_json,
    read_record,
    recipe,
    record_mismatch,
    record_path,
    with_schema,
    without_schema,
    write_json,
)
from cdspp.core.names import MAIN, FitKey, PathLike, trials_of_block
from cdspp.core.provenance import file_digest
from cdspp.core.run_lock import FOLDER
from cdspp.core.wording import counted
from cdspp.datasets import dataset_recipe
from cdspp.datasets.base import digests_path
from cdspp.features import extractor_class, own_digests
from cdspp.methods import identity, method_class
from cdspp.study.files import (
    FIT,
    REPORT,
    SAMPLE_SCORES,
    SCORES,
    files_after_fits,
    files_before_fits,
)
from cdspp.study.fit_jobs import cell_cost, expected_fits
from cdspp.study.model import Config, Study

REPORT_PAGE, DIGESTS = "report/index.html", "digests.json"  # of a study
# Files next to an output that no rule declares.
BESIDE = ("contents.json", "digests.json")
MISSING, FOLLOWS = "not computed yet", "one of its inputs is remade"
NAMED = 3  # number of changed files in a note
EMPTY = hashlib.sha256().hexdigest()


def file_recipe(study: Study, file: str) -> str:
    """Return the recipe of a file: digests of its options, seed, own files and code.

    `file` is as the rules name it. Fits have recipes of their own (`expected_fits`).
    """
    choices: list[Any] = []
    code = ""
    match Path(file).parts:
        case "data", name, _:
            data, memory = study.datasets[name], digests_path("data", name)
            content = dataset_recipe(name, data.own, data.entry, memory)
            choices = [content]
            code = code_digest("cdspp.stages.data", content["module"])
        case _, "labels", _, _:
            code = code_digest("cdspp.stages.data")
        case _, "codebooks", _, name:
            choices, code = _view_recipe(study, name.partition(".")[0])
        case _, "features", dataset, name:
            domain, view, _ = name.split(".")
            entry = study.views[view]
            file_digests = own_digests(entry.extractor, entry.domain_options(domain))
            spec = study.datasets[dataset].spec(entry, domain)
            choices, code = _view_recipe(study, view, domain)
            choices += [entry.scale, file_digests, spec]
        case _, _, "splits" | "test-shares" as kind, benchmark, *names, _:
            code = code_digest("cdspp.stages.splits")
            if names[1:] == ["pairs"]:
                choices = [study.seed]
            elif kind == "splits":
                dataset = study.benchmarks[benchmark].dataset
                choices = [dataset, study.draw(benchmark, *names)]
        case _, _, "subspace", benchmark, _:
            method = study.shown_method()
            choices = [method, study.overlap(benchmark, MAIN), study.numeric_threads]
            choices += [study.method_options(method, MAIN)]
            module = method_class(method).__module__
            code = code_digest("cdspp.stages.subspace", module) + identity(method)
        case _, _, "scores", name:
            choices = [expected_fits(study, name.partition(".")[0])]
            code = code_digest("cdspp.stages.score")
    return recipe(choices, code)


def _view_recipe(study: Study, name: str, domain: str = "") -> tuple[list[Any], str]:
    view = study.views[name]
    options = view.domain_options(domain or view.options["codebook_domain"])
    module = extractor_class(view.extractor).__module__
    code = code_digest("cdspp.stages.features", module)
    return [view.extractor, options, study.numeric_threads], code


def stale(
    study: Study, recipe_of: Callable[[str], str] | None = None, *, quick: bool = False
) -> dict[str, str]:
    """Return the existing files that a run would remake, and why.

    Causes come first, then the files that follow from them (`FOLLOWS`). If `quick`,
    fits already scored in their present form are not read again: Snakemake knows them,
    except for external predictions, which may change without a new time.
    """
    made_of = recipe_of or partial(file_recipe, study)
    comparison = _Comparison(study, lambda file: Expected(made_of(file)))
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
    """Compares files with the requirements of a study; `found` maps faults to reasons.

    `expected` returns the recipe that a file, other than a fit, should have.
    """

    def __init__(self, study: Study, expected: Callable[[str], Expected]) -> None:
        self.found: dict[str, str] = {}
        self._study, self._expected = study, expected
        self._known: dict[str, str] = {}

    def check(
        self, files: Iterable[str], expected: Callable[[str], Expected] | None = None
    ) -> None:
        """Compare the existing files, causes before effects."""
        for file in filter(os.path.isfile, files):
            target = (expected or self._expected)(file)
            reason = record_mismatch(file, target, self._known)
            if self.found and not reason:
                inputs = target.inputs.values() or read_record(file).inputs
                reason = "" if self.found.keys().isdisjoint(inputs) else FOLLOWS
            if reason:
                self.found[file], self._known[file] = reason, ""

    def check_benchmark(self, benchmark: str, *, quick: bool) -> None:
        """Compare the fits of a benchmark, and scores that do not follow from them."""
        study, n_found = self._study, len(self.found)
        place = {"study": study.name, "benchmark": benchmark}
        scores, last_scores = SCORES.format(**place), 0
        skips = quick and not self.found and os.path.isfile(scores)
        if skips and not record_mismatch(scores, self._expected(scores), self._known):
            last_scores = os.stat(scores).st_mtime_ns
        fits = []
        for key in study.fits(benchmark):
            file = _fit_file(study, key)
            if study.methods[key.method].predictions or _last_write(file) > last_scores:
                fits.append(file)
        self.check(fits, expected_fits(study, benchmark).of)
        if len(self.found) == n_found:
            self.check([scores, SAMPLE_SCORES.format(**place)])


def _fit_file(study: Study, key: FitKey) -> str:
    return f"{FIT.format(study=study.name, **key._asdict())}.parquet"


def _last_write(file: str) -> int:
    """Return the last write of a fit or its record, in ns; 0 if one is missing."""
    try:
        return max(os.stat(p).st_mtime_ns for p in (file, record_path(file)))
    except FileNotFoundError:
        return 0


class RunForecast(NamedTuple):
    """The trials of a study's fits: those that are kept, and those to run, by reason.

    `code_hours` are core-hours of those that run only because code changed.
    """

    stay: int
    run: Counter[str]
    code_hours: float

    def __str__(self) -> str:
        """Return a sentence on the trials that are kept, and those to run and why."""
        stay = counted(self.stay, "trial")
        if not self.run:
            return f"Fits: all {stay} exist and are kept."
        reasons = ", ".join(f"{n}: {reason}" for reason, n in self.run.most_common())
        return f"Fits: {stay} kept, {self.run.total()} to run ({reasons})."


def run_forecast(study: Study, stale_files: Mapping[str, str]) -> RunForecast:
    """Return the largest number of trials that a run would fit, by reason.

    A fit that follows from other files is kept after all if these come out equal.
    """
    stay, run, seconds = 0, Counter[str](), 0.0
    for key in chain.from_iterable(map(study.fits, study.benchmarks)):
        file, trials = _fit_file(study, key), {*trials_of_block(key.block)}
        reason = stale_files.get(file, "")
        n_left = len(trials) if reason else 0
        if not reason and not _last_write(file):
            reason, blocks = MISSING, Path(file).parent.glob("[0-9]*-*[0-9].parquet")
            # Trials in blocks of another size are kept.
            kept = (trials_of_block(b.stem) for b in blocks if _last_write(str(b)))
            n_left = len(trials.difference(*kept))
        stay, run[reason] = stay + len(trials) - n_left, run[reason] + n_left
        if reason == OTHER_CODE:
            seconds += n_left * cell_cost(study, key).seconds
    return RunForecast(stay, +run, seconds / 3600)


def notes(
    stale_files: Mapping[str, str], unrecorded: Sequence[str], fits: RunForecast
) -> Iterator[str]:
    """Yield sentences on the files that a run would remake, and why."""
    if unrecorded:
        files = f"{counted(len(unrecorded), 'existing file')}, such as {unrecorded[0]}"
        what = "A run remakes them, and keeps fits with equal inputs"
        yield f"Snakemake has no record of {files}. {what}."
    if causes := {k: v for k, v in stale_files.items() if v != FOLLOWS}:
        files = f"{counted(len(causes), 'file')} outdated"
        first, reason = next(iter(causes.items()))
        yield f"{files}, such as {first}: {reason}. A run remakes them."
    yield str(fits)


def remake_question(fits: RunForecast) -> str:
    """Return the cost of fits for which only code changed; empty if there are none."""
    if not (n_trials := fits.run[OTHER_CODE]):
        return ""
    return (
        f"{counted(n_trials, 'trial')} would be fitted again only because code "
        f"changed, in about {fits.code_hours:.2f} core-hours. Nothing was run. To fit "
        "them again, run cdspp run --remake; to keep them, use the version of the code "
        "that made them."
    )


def unrecorded_files(study: Study) -> list[str]:
    """Return the files of a study, and of its data, that Snakemake has no record of."""
    kinds = ("features", "labels", "codebooks")
    shared = (f"results/{kind}/{name}" for name in study.datasets for kind in kinds)
    folders = (f"results/{study.name}", *shared)
    files = [path for folder in folders for path in Path(folder).rglob("[!.]*.*")]
    for name in study.datasets:
        files += Path("data", name).glob("*.json")
    outputs = (str(path) for path in files if path.name not in BESIDE)
    return [path for path in outputs if not _is_recorded(path)]


def _is_recorded(file: str) -> bool:
    place = Path(FOLDER, "metadata")
    if sys.platform == "win32" or not place.is_dir():  # studies do not run there
        return False
    longest = os.pathconf(place, "PC_NAME_MAX") - 1
    name = urlsafe_b64encode(file.encode()).decode()
    parts = [name[i : i + longest] for i in range(0, len(name), longest)]
    return place.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1]).exists()


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


def changed_files(root: Path, own: str = "") -> Iterator[tuple[Path, str]]:
    """Yield files that were changed since the report or are gone, and why.

    These are the page itself and the files whose names in ``results`` begin with `own`.
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
        elif (current := file_digest(path) if path.stat().st_size else EMPTY) != digest:
            # No run remakes files outside, such as predictions of another program.
            remedy = "Run" if name.startswith("..") else "Delete it and run"
            content = f"other content (sha256 {digest[:12]}, now {current[:12]})"
            cause = "it was changed by hand or by an interrupted run"
            why = f"the report used {content}: {cause}. {remedy} the study again"
            yield path, why
