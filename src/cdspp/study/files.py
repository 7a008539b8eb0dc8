"""Paths of the files of a study, by stage, and of the workflow."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING

from cdspp.core.names import MAIN, FitKey, PathLike, role_domains

if TYPE_CHECKING:
    from cdspp.study.model import Study

# Data, features and labels are shared by all studies: `data` and `view` are names of
# `Study.data_names` and `Study.view_names`.
FETCHED = "data/{data}/{resource}.fetched.json"
INDEX = "data/{data}/index.json"
LABELS = "results/labels/{data}/{domain}.parquet"
CODEBOOK = "results/codebooks/{data}/{view}.npz"
FEATURES = "results/features/{data}/{domain}.{view}.npz"
PAIR_SPLIT = "results/{study}/splits/{benchmark}/main/pairs/{block}.parquet"
SPLIT = "results/{study}/splits/{benchmark}/{setting}/{role}/{domain}/{block}.parquet"
FIT = "results/{study}/fits/{benchmark}/{setting}/{task}/{method}/{block}"
FIT_LOG = "logs/{study}/fits/{benchmark}/{setting}/{task}/{method}/{block}.log"
SHARES = "results/{study}/test-shares/{benchmark}/{setting}/{domain}/{block}.parquet"
SUBSPACE = "results/{study}/subspace/{benchmark}/{task}.npz"
SCORES = "results/{study}/scores/{benchmark}.parquet"
SAMPLE_SCORES = "results/{study}/scores/{benchmark}.npz"
PREDICTIONS = "results/{study}/predictions/{benchmark}/{task}/{method}.csv"
REPORT = "results/{study}/report/index.html"
SHOWN = "results/{study}/{kind}/{name}.{form}"
# Possible inputs of a table or figure, by name. Records, labels, features and splits
# are those of the main run; the last four are those of the showcase task.
INPUTS = {
    "scores": SCORES,
    "rows": SAMPLE_SCORES,
    "comparisons": "results/{study}/tables/source-help_{benchmark}.csv",
    "pairwise": "results/{study}/tables/pairwise_{benchmark}.csv",
    "records": f"{FIT}.json",
    "labels": LABELS,
    "features": FEATURES,
    "splits": SPLIT,
    "fits": f"{FIT}.parquet",
    "subspace": SUBSPACE,
    "source_labels": LABELS,
    "target_labels": LABELS,
}
TABLE_FORMS, FIGURE_FORMS = ("csv", "md", "tex"), ("svg", "pdf")


def workflow_folder() -> Path:
    """Return the folder of Snakefile, config.yaml, workflow and resources.

    That is the top of the repository, or its copy in an installed wheel.
    """
    package = Path(__file__).parents[1]
    top = package.parents[1]
    if package.parent.name == "src" and (top / "Snakefile").is_file():
        return top
    return package / "_study"


def study_file_path(path: PathLike) -> Path:
    """Return a study file in the working folder, or else the shipped one."""
    shipped = workflow_folder() / path
    return shipped if shipped.is_file() and not Path(path).exists() else Path(path)


def portable_study_path(path: PathLike) -> str:
    """Return a name by which `study_file_path` finds a study file anywhere."""
    absolute = Path(path).resolve()
    studies = workflow_folder().resolve() / "resources"
    if absolute.is_relative_to(studies):
        return absolute.relative_to(studies.parent).as_posix()
    return os.path.relpath(path)


def study_command(files: Sequence[PathLike], *options: str) -> str:
    """Return the command that runs a study, with options of Snakemake.

    >>> study_command(["mine.yaml"], "--dry-run")
    'cdspp run mine.yaml --cores 8 -- --dry-run'
    """
    rest = ["--", *options] if options else []
    return shlex.join(["cdspp", "run", *map(str, files), "--cores", "8", *rest])


def input_patterns(study: Study, key: FitKey) -> dict[str, str]:
    """Return the inputs of fits, by the names of `cdspp.stages.trials.TaskFiles`.

    ``{source}``, ``{target}`` and ``{block}`` remain.
    """
    from cdspp.methods.bridge import PAIRS

    benchmark, setting, _, method, _ = key
    dataset = study.benchmarks[benchmark].dataset
    files: dict[str, str] = {}
    for role, view in study.views_of(benchmark, setting, method).items():
        domain, of_splits = f"{{{role}}}", study.split_setting(setting, role)
        names = {"study": study.name, "benchmark": benchmark, "setting": of_splits}
        names |= {"role": role, "domain": domain, "block": "{block}"}
        features = feature_file(study, dataset, domain, view)
        files |= {f"{role}_features": features, f"{role}_split": SPLIT.format(**names)}
    if PAIRS in study.bridge(benchmark, setting, method):
        files["pairs"] = PAIR_SPLIT.format(**names)
    if external := study.methods[method].predictions:
        files["predictions"] = external
    if study.prior_file(setting, method) is not None:
        files["prior"] = SHARES.format(**names)
    return files


def files_of_fit(study: Study, key: FitKey) -> dict[str, str]:
    """Return the inputs of one fit, by the same names."""
    from cdspp.stages.formats import input_files

    return input_files(input_patterns(study, key), key)


def files_before_fits(study: Study) -> dict[str, list[str]]:
    """Return the files on which the fits of a study are based, by stage, in order."""
    names = study.feature_names()
    labels = (label_file(study, name, domain) for name, domain, _ in names)
    splits: dict[str, None] = {}
    for key in (key for name in study.benchmarks for key in study.fits(name)):
        files = files_of_fit(study, key)
        inputs = (n for n in files if "_split" in n or n in ("pairs", "prior"))
        splits |= dict.fromkeys(files[name] for name in inputs)
    stages: dict[str, Iterable[str]] = {
        "data": (INDEX.format(data=name) for name in study.data_names.values()),
        "labels": labels,
        "features": chain.from_iterable(_feature_files(study, *n) for n in names),
        "splits": splits,
    }
    return {stage: list(dict.fromkeys(files)) for stage, files in stages.items()}


def label_file(study: Study, dataset: str, domain: str) -> str:
    """Return the file of the labels of a domain."""
    return LABELS.format(data=study.data_names[dataset], domain=domain)


def codebook_file(study: Study, dataset: str, view: str) -> str:
    """Return the file of the words of a view."""
    data, view = study.data_names[dataset], study.view_names[view]
    return CODEBOOK.format(data=data, view=view)


def feature_file(study: Study, dataset: str, domain: str, view: str) -> str:
    """Return the file of a view of a domain."""
    data, view = study.data_names[dataset], study.view_names[view]
    return FEATURES.format(data=data, domain=domain, view=view)


def _feature_files(study: Study, dataset: str, domain: str, name: str) -> Iterator[str]:
    """Yield the features of a view, preceded by the view or words they are based on."""
    from cdspp.features import extractor_class
    from cdspp.features.base import WordExtractor

    view = study.views[name]
    if view.view is not None:
        yield from _feature_files(study, dataset, domain, view.view)
    elif issubclass(extractor_class(view.extractor), WordExtractor):
        yield codebook_file(study, dataset, name)
    yield feature_file(study, dataset, domain, name)


def fit_files(
    study: Study, benchmark: str, settings: Collection[str] | None = None
) -> list[str]:
    """Return fits of a benchmark without suffix; existing ones of a partial study."""
    names = study.settings if settings is None else settings
    keys = (key for key in study.fits(benchmark) if key.setting in names)
    files = (FIT.format(study=study.name, **key._asdict()) for key in keys)
    return [f for f in files if not study.partial or Path(f"{f}.parquet").exists()]


def item_inputs(
    study: Study, names: Sequence[str], benchmarks: Sequence[str]
) -> dict[str, list[str]]:
    """Return the input files of tables and figures of some benchmarks, by `INPUTS`."""
    inputs = {name: [_input(study, name, b) for b in benchmarks] for name in names}
    return {name: list(dict.fromkeys(chain(*files))) for name, files in inputs.items()}


def _input(study: Study, name: str, benchmark: str) -> list[str]:
    entry = study.benchmarks[benchmark]
    fields = {"study": study.name, "benchmark": benchmark}
    fields["data"] = study.data_names[entry.dataset]
    fields |= {"task": entry.showcase, "setting": MAIN}
    pairs = [(role, d) for role, names in study.roles(benchmark).items() for d in names]
    values: Iterable[dict[str, str]] = [{}]
    match name:
        case "records":
            return [f"{file}.json" for file in fit_files(study, benchmark, [MAIN])]
        case "fits":
            method = study.shown_method()
            values = ({"method": method, "block": b} for b in study.showcase_blocks())
        case "splits":
            spread = product(pairs, study.blocks(study.trials))
            values = ({"role": r, "domain": d, "block": b} for (r, d), b in spread)
        case "features":
            views = sorted({(domain, entry.views[role]) for role, domain in pairs})
            names = study.view_names
            values = ({"domain": domain, "view": names[view]} for domain, view in views)
        case "labels":
            values = ({"domain": d} for d in sorted({domain for _, domain in pairs}))
        case "source_labels" | "target_labels":
            domains = role_domains([entry.showcase])[name.removesuffix("_labels")]
            values = ({"domain": domain} for domain in domains)
    return [INPUTS[name].format(**fields, **more) for more in values]


def prediction_files(study: Study, benchmark: str) -> list[str]:
    """Return the files of predictions for unlabelled rows."""
    keys = study.unlabelled_fits(benchmark)
    files = (PREDICTIONS.format(study=study.name, **key._asdict()) for key in keys)
    return list(dict.fromkeys(files))


def files_after_fits(
    study: Study,
    tables: Sequence[str] = (),
    figures: Sequence[str] = (),
    timings: Sequence[str] = (),
) -> dict[str, list[str]]:
    """Return the files made from the fits of a study, by stage."""
    fields, names = {"study": study.name}, study.benchmarks
    items = {  # by the kinds of `cdspp.report.registry.KINDS`
        "tables": product(tables, TABLE_FORMS),
        "figures": product(figures, FIGURE_FORMS),
        "timings": product(timings, TABLE_FORMS),
    }
    places = [fields | {"benchmark": name} for name in names]
    return {
        "scores": [SCORES.format(**place) for place in places],
        "scores per sample": [SAMPLE_SCORES.format(**place) for place in places],
        "subspaces": [
            SUBSPACE.format(**fields, benchmark=b, task=entry.showcase)
            for b, entry in names.items()
            if study.shown_method() in study.setting_methods(b, MAIN)
        ],
        "predictions": [file for b in names for file in prediction_files(study, b)],
        **{
            kind: [SHOWN.format(**fields, kind=kind, name=n, form=f) for n, f in forms]
            for kind, forms in items.items()
        },
        "report": [REPORT.format(**fields)],
    }
