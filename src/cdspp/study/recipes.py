"""The recipe of each file of a study: all that makes it, beside its inputs."""

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

__all__ = ["file_recipe"]


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
