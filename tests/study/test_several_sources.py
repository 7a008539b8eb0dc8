"""Tasks with several sources in a study: settings, sizes, rows, files."""

from __future__ import annotations

from typing import Any

import pytest
from support.study_files import load

from cdspp.core.names import FitKey
from cdspp.study.files import files_before_fits, files_of_fit
from cdspp.study.fit_jobs import problem_size
from cdspp.study.model import Study
from cdspp.study.plan import plan_of

TASK = "print+sketch_photo"
TASKS = ["print_photo", "sketch_photo", "tilted_photo", TASK]


@pytest.fixture
def study(embedded: dict[str, Any]) -> Study:
    """Return a study of digits, one task of which has two sources."""
    own = {"name": "noise", "domain": "print"}
    (digits,) = (b for b in embedded["benchmarks"] if b["id"] == "digits")
    digits |= {"tasks": TASKS, "showcase": "print_photo"}
    names = ("svm-t", "cdls-sup", "cdspp", "paired-map-plus", "target-only")
    embedded |= {
        "benchmarks": [digits],
        "methods": [{"id": name} for name in names],
        "settings": [{"id": "noise-print", "methods": ["cdspp"], "source": own}],
        **{"curves": [], "deviations": [], "choices": []},
    }
    return load(embedded)


def size(study: Study, setting: str, task: str = TASK) -> tuple[int, int]:
    found = problem_size(study, FitKey("digits", setting, task, "cdspp", "1-10"))
    return found.n_source, found.d_source


def test_each_of_several_sources_is_left_out_where_states_are_on(
    study: Study, embedded: dict[str, Any]
) -> None:
    made = {n: s for n, s in study.settings.items() if s.leaves_out}
    assert [*made] == ["without-print", "without-sketch"]
    for domain in ("print", "sketch"):
        setting = made[f"without-{domain}"]
        assert setting.source == {"name": "none", "domain": domain}
        assert setting.tasks == {"digits": (TASK,)}
        assert setting.methods == ("cdls-sup", "cdspp", "paired-map-plus")
        assert study.fit_tasks("digits", f"without-{domain}", "paired-map-plus") == ()
    without_states = load(embedded | {"source_states": {"states": []}})
    assert not any(s.leaves_out for s in without_states.settings.values())


def test_no_bridge_leads_from_several_sources(study: Study) -> None:
    assert study.fit_tasks("digits", "main", "paired-map-plus") == tuple(TASKS[:3])
    assert study.fit_tasks("digits", "main", "cdspp") == tuple(TASKS)


def test_a_problem_has_the_rows_of_all_sources_that_are_left(study: Study) -> None:
    assert size(study, "main") == (400, 200)
    assert size(study, "without-print") == (200, 200)
    assert size(study, "none") == (30, 50)
    assert size(study, "none-matched") == (400, 50)
    assert size(study, "main", "print_photo") == (200, 200)


def test_rows_say_which_method_votes_and_leave_left_out_sources_to_their_table(
    study: Study,
) -> None:
    plan = plan_of(study, "digits")
    assert {row.method for row in plan.rows if row.vote} == {"cdls-sup"}
    hidden = [row.key for row in plan.rows if row.kind == "left-out"]
    assert "cdspp, without-print" in hidden
    assert not {row.key for row in plan.shown_rows} & {*hidden}
    assert plan.showcase == "print_photo"


def test_the_showcase_is_the_first_task_with_one_source(
    study: Study, embedded: dict[str, Any]
) -> None:
    del embedded["benchmarks"][0]["showcase"]
    embedded["benchmarks"][0]["tasks"] = TASKS[::-1]
    assert load(embedded).benchmarks["digits"].showcase == "tilted_photo"


def test_a_fit_reads_features_and_split_of_every_source(study: Study) -> None:
    files = files_of_fit(study, FitKey("digits", "main", TASK, "cdspp", "1-10"))
    domains = {"source_features": "print", "source_features_2": "sketch"}
    for name, domain in domains.items():
        view = study.view_names["sift-words"]
        assert files[name] == f"results/features/digits/{domain}.{view}.npz"
        split = files[name.replace("features", "split")]
        assert split.endswith(f"splits/digits/main/source/{domain}/1-10.parquet")
        assert split in files_before_fits(study)["splits"]
    assert "source_features_3" not in files
    single = files_of_fit(study, FitKey("digits", "main", TASKS[0], "cdspp", "1-10"))
    assert single == {n: f for n, f in files.items() if not n.endswith("_2")}
