"""Source states of a bridge: left out, and told, where nothing can be exchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.study_files import load_own

from cdspp.study.plan import plan_of

COLUMNS, PAIRS = "shuffled-columns", "shuffled-pairs"


def own_study(folder: Path, n_shared: int, bridge: dict[str, Any]) -> dict[str, Any]:
    """Return a study of two tables with shared columns and two paired rows."""
    for name in ("lab", "field"):
        table = pd.DataFrame(
            {f"{name}{k}": range(14) for k in range(4 - n_shared)}
            | {f"shared-{'ab'[k]}": range(14) for k in range(n_shared)}
        )
        ids = [*(f"{name}-{k}" for k in range(12)), "p0", "p1"]
        labels = [*"ab" * 6, "", ""]
        table.assign(id=ids, label=labels).to_csv(folder / f"{name}.csv", index=False)
    tables = {name: str(folder / f"{name}.csv") for name in ("lab", "field")}
    own = {"dataset": "own", "source_view": "cells", "target_view": "cells"}
    tasks = {"tasks": ["lab_field"], "labels": {"source": 6, "target": 2}}
    columns = {"columns": {"id": "id"}, "paired": True}
    names = ["svm-t", "target-only", "cdspp", "cdspp-bridge"]
    return {
        "study": "own",
        "preset": "quick",
        "datasets": [{"id": "own", "tables": tables, **columns}],
        "views": [{"id": "cells", "extractor": "table"}],
        "benchmarks": [{"id": "own", **own, **tasks, "bridge": bridge}],
        "methods": [{"id": name} for name in names],
    }


@pytest.mark.parametrize(
    ("n_shared", "bridge", "states"),
    [
        (2, {"shared_columns": "same-names"}, {COLUMNS}),
        (2, {"shared_columns": [["shared-a", "shared-b"]]}, set()),
        (1, {"paired_rows": 1}, set()),
        (1, {"paired_rows": 2, "shared_columns": "same-names"}, {PAIRS}),
    ],
)
def test_a_single_column_or_pair_is_not_exchanged_and_that_is_told(
    tmp_path: Path, n_shared: int, bridge: dict[str, Any], states: set[str]
) -> None:
    study = load_own(own_study(tmp_path, n_shared, bridge))
    settings = study.settings.values()
    ran = {setting.identifier for setting in settings if setting.tasks}
    assert ran & {COLUMNS, PAIRS} == states
    rows = [row for row in plan_of(study, "own").rows if row.method == "cdspp-bridge"]
    assert {row.source for row in rows} & {COLUMNS, PAIRS} == states
    told = [note for note in study.notes if note.startswith("own: the control ")]
    kinds = {"shared_columns": COLUMNS, "paired_rows": PAIRS}
    alone = {kinds[part] for part in bridge} - states
    assert {note.split()[3] for note in told} == alone
