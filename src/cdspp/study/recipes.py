"""What makes each file of a study, beside its inputs: options, seed and code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cdspp.core.names import MAIN
from cdspp.core.provenance import code_digest
from cdspp.datasets import dataset_recipe
from cdspp.datasets.base import digests_path
from cdspp.features import extractor_class, own_digests
from cdspp.methods import method_module
from cdspp.stages.fit_files import content_digest
from cdspp.study.fit_jobs import expected_fits
from cdspp.study.model import Study

__all__ = ["codebook_domain", "file_recipe"]


def file_recipe(study: Study, file: str) -> str:
    """Return a digest of all that a study has make a file, named as rules name it.

    The files of fits have recipes of their own (`cdspp.study.fit_jobs`).
    """
    match Path(file).parts:
        case "data", dataset, _:
            parts = _of_data(study, dataset)
        case _, "labels", _, _:
            parts = [code_digest("cdspp.stages.data")]
        case _, "codebooks", _, name:
            view, _, _ = name.partition(".")
            parts = _of_view(study, view, codebook_domain(study, view))
        case _, "features", dataset, name:
            domain, view, _ = name.split(".")
            parts = [
                *_of_view(study, view, domain),
                *_more(study, dataset, domain, view),
            ]
        case _, _, "splits", _, _, "pairs", _:
            parts = [study.seed, code_digest("cdspp.stages.splits")]
        case _, _, "splits", benchmark, setting, role, domain, _:
            drawn = study.draw(benchmark, setting, role, domain)
            dataset = study.benchmarks[benchmark].dataset
            parts = [dataset, drawn, code_digest("cdspp.stages.splits")]
        case _, _, "test-shares", *_:
            parts = [code_digest("cdspp.stages.splits")]
        case _, _, "subspace", benchmark, _:
            parts = _of_subspace(study, benchmark)
        case _, _, "scores", name:
            fits = expected_fits(study, name.partition(".")[0])
            parts = [fits, code_digest("cdspp.stages.score")]
    return content_digest(parts)


def codebook_domain(study: Study, view: str) -> str:
    """Return the domain from which a view learns its words."""
    return str(study.views[view].options["codebook_domain"])


def _of_data(study: Study, dataset: str) -> list[Any]:
    known = study.datasets[dataset]
    memory = digests_path("data", dataset)
    found = dataset_recipe(dataset, known.own, known.entry, memory)
    return [found, code_digest("cdspp.stages.data", found["module"])]


def _of_view(study: Study, name: str, domain: str) -> list[Any]:
    view = study.views[name]
    code = code_digest(
        "cdspp.stages.features", extractor_class(view.extractor).__module__
    )
    return [view.extractor, view.domain_options(domain), study.numeric_threads, code]


def _more(study: Study, dataset: str, domain: str, name: str) -> list[Any]:
    """Return what decides features, and no codebook."""
    view = study.views[name]
    own = own_digests(view.extractor, view.domain_options(domain))
    return [view.scale, own, study.datasets[dataset].storage(view, domain)]


def _of_subspace(study: Study, benchmark: str) -> list[Any]:
    method = study.shown_method()
    code = code_digest("cdspp.stages.subspace", method_module(method))
    how = [study.overlap(benchmark, MAIN), study.method_options(method, MAIN)]
    return [method, *how, study.numeric_threads, code]
