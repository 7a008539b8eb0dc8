"""The columns to DSLR of the paper's table, to the printed digit, as shipped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.study_files import ROOT, load, read_study

from cdspp import SourceDomain
from cdspp.analysis.summary import mean_sd
from cdspp.datasets.catalogue import load_catalogue, published_spec
from cdspp.datasets.published import draw_published
from cdspp.features.precomputed import read_matrix
from cdspp.features.views import SharesZscore
from cdspp.methods import make, method_class
from cdspp.paper.printed import EXACT, printed_verdict, read_printed

ENTRY = load_catalogue(ROOT / "resources/datasets.yaml")["office-caltech-10"]
STUDY = load(read_study("printed"))
TASKS = STUDY.benchmarks["office-caltech"].tasks
QUICK = (
    "svm-t",
    "cdls-sup",
    "dama-sup",
    "cdspp-sup",
    "dama",
    "cdls",
    "tit",
    "dama-plus",
    "cdspp",
)


@cache
def rows(mirror: Path, view: str, domain: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of a domain as the study has them."""
    base = STUDY.views[view].view or view
    spec = published_spec(ENTRY, base, domain)
    path = mirror / "office-caltech-10" / base / Path(spec["file"]).name
    X, labels = read_matrix(path, spec, ENTRY["classes"])
    return (X if base == view else SharesZscore().reduce(X)[0]), np.array(labels)


def accuracy(mirror: Path, method: str, task: str, trial: int) -> float:
    """Fit a method as the study has it on a published trial."""
    source, target = task.split("_")
    view = STUDY.views_of("office-caltech", "main", method)["source"]
    (X_source, y_source), (X, truth) = (
        rows(mirror, view, source),
        rows(mirror, "decaf6", target),
    )
    order: dict[str, Any] = {"class_order": ENTRY["classes"]}
    of_source, _ = draw_published(y_source, 20, trial, **order)
    labelled, tested = draw_published(truth, 3, trial, **order)
    y = truth.astype(object)
    y[tested] = -1
    model = make(method, **STUDY.method_options(method, "main"))
    model.fit(X, y, source=SourceDomain(X_source[of_source], y_source[of_source]))
    return float(np.mean(model.transduction_[tested] == truth[tested]))


def assert_exact(mirror: Path, method: str, task: str) -> None:
    cells = read_printed(ROOT / "resources/paper").cells
    named = (cells["method"] == method_class(method).display_name) & (
        cells["benchmark"] == "office-caltech"
    )
    [cell] = cells[named & (cells["task"] == task)].itertuples()
    values = [accuracy(mirror, method, task, trial) for trial in range(1, 11)]
    ours = (*mean_sd(values), len(values))
    assert printed_verdict(cell.printed_mean, cell.printed_sd, *ours) == EXACT, ours


def test_cdspp_from_amazon_to_dslr_is_as_printed(mirror_folder: Path) -> None:
    assert_exact(mirror_folder, "cdspp", "amazon_dslr")


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", QUICK)
def test_every_quick_method_is_as_printed(
    method: str, task: str, mirror_folder: Path
) -> None:
    assert_exact(mirror_folder, method, task)
