"""What the fits of a study are made of, by its configuration."""

from __future__ import annotations

from typing import Any

from cdspp.core.provenance import code_digest
from cdspp.methods import method_module
from cdspp.stages.expected import Expected, fit_recipe
from cdspp.study.files import input_patterns
from cdspp.study.model import Study

__all__ = ["expected_fits", "fit_member"]


def fit_member(
    study: Study, benchmark: str, method: str, setting: str
) -> dict[str, Any]:
    """Return what sets a fit apart: the fields of `cdspp.stages.fit.Fit` but files."""
    return {
        "method": method,
        "code": code_digest("cdspp.stages.fit", method_module(method)),
        "options": study.method_options(method, setting),
        "source": study.settings[setting].source,
        "overlap": study.overlap(benchmark, setting),
        "grid": study.grid(method, setting),
        "bridge": study.bridge(benchmark, setting, method),
    }


def expected_fits(study: Study, benchmark: str) -> Expected:
    """Return what the fits of a benchmark have to be made of."""
    recipes: dict[str, tuple[str, int]] = {}
    inputs: list[dict[str, str]] = []
    for setting in study.settings:
        for method in study.setting_methods(benchmark, setting):
            read = input_patterns(study, benchmark, setting, method)
            if read not in inputs:
                inputs.append(read)
            member = fit_member(study, benchmark, method, setting)
            made_of = fit_recipe(study.seed, study.numeric_threads, member)
            recipes[f"{setting}/{method}"] = made_of, inputs.index(read)
    return Expected(recipes, inputs)
