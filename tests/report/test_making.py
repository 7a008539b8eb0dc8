"""Items of one job: each is made again only if what it is made of has changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.report_data import make_plan

from cdspp.core.files import write_json
from cdspp.core.provenance import file_digest
from cdspp.report.making import ItemFiles, make_items, names_to_make
from cdspp.report.registry import FIGURE, TABLE

PLAN = make_plan()
CALLS: list[str] = []


def write_items(plans: Any, outputs: Any, **given: Any) -> None:
    """Write the title of the benchmark into each output."""
    for output in outputs:
        CALLS.append(output.name)
        output.parent.mkdir(exist_ok=True)
        output.write_text(f"{output.name} of {plans[0].title}, {len(plans[0].rows)}")


def group(name: str, **changes: Any) -> dict[str, Any]:
    values = {"kind": TABLE, "names": [name], "inputs": ["scores"], "of_data": False}
    values |= {"function": f"{__name__}:write_items", "resources": {}, "code": "code"}
    return {**values, "style": "", "look": "look", **changes}


OF_DATA = {"inputs": [], "of_data": True}
GROUPS = [group("accuracy"), group("contents", **OF_DATA)]


class Job:
    """A job of two groups, run in a folder."""

    def __init__(self, folder: Path) -> None:
        self.scores, self.record = folder / "scores", folder / "items.json"
        self.scores.write_text("scores")
        self.outputs = [
            folder / f"tables/{name}.{form}"
            for name in ("accuracy", "contents")
            for form in ("csv", "md")
        ]

    def made(self, groups: Any = GROUPS, plan: Any = PLAN) -> list[str]:
        """Run the job; return the names of the files that it made."""
        CALLS.clear()
        digests = {str(self.scores): file_digest(self.scores)}
        inputs = {"scores": [self.scores]}
        files = ItemFiles(inputs, digests, self.outputs, self.record)
        make_items(groups, [plan], files, self.record.parent)
        return [*CALLS]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a job that has run once."""
    job = Job(tmp_path)
    assert job.made() == [path.name for path in job.outputs]
    return job


ACCURACY, CONTENTS = ["accuracy.csv", "accuracy.md"], ["contents.csv", "contents.md"]
RENAMED = replace(PLAN, rows=PLAN.rows[:1])


def test_nothing_is_made_again_without_a_change(job: Job) -> None:
    kept = [path.stat() for path in job.outputs]
    assert job.made() == []
    assert [path.stat() for path in job.outputs] == kept


@pytest.mark.parametrize(
    ("changes", "made"),
    [
        ({"groups": [group("accuracy", code="other"), GROUPS[1]]}, ACCURACY),
        ({"groups": [group("accuracy", look="other"), GROUPS[1]]}, ACCURACY),
        ({"groups": [group("accuracy", resources={"p": "1"}), GROUPS[1]]}, ACCURACY),
        ({"plan": RENAMED}, ACCURACY),
        ({"plan": replace(PLAN, title="Other")}, ACCURACY + CONTENTS),
    ],
)
def test_only_what_depends_on_a_change_is_made_again(
    job: Job, changes: dict[str, Any], made: list[str]
) -> None:
    groups, plan = changes.get("groups", GROUPS), changes.get("plan", PLAN)
    names = dict.fromkeys(name.partition(".")[0] for name in made)
    assert names_to_make(job.record, groups, [plan]) == ", ".join(names)
    assert job.made(**changes) == made
    assert job.made(**changes) == []


def test_other_inputs_make_what_reads_them(job: Job) -> None:
    job.scores.write_text("other scores")
    assert names_to_make(job.record, GROUPS, [PLAN]) == "those with other inputs"
    assert job.made() == ACCURACY


@pytest.mark.parametrize(
    "edit", [Path.unlink, lambda path: path.write_text("another number")]
)
def test_a_lost_or_edited_file_is_made_again_alone(
    job: Job, edit: Callable[[Path], object]
) -> None:
    kept = job.outputs[1].read_bytes()
    edit(job.outputs[1])
    assert job.made() == ["accuracy.md"]
    assert job.outputs[1].read_bytes() == kept


@pytest.mark.parametrize("content", [[], {"schema": 0, "version": "", "groups": {}}])
def test_without_a_readable_record_all_is_made(job: Job, content: Any) -> None:
    write_json(job.record, content)
    assert job.made() == ACCURACY + CONTENTS


def test_a_job_of_tables_imports_nothing_that_draws() -> None:
    modules = "cdspp.report.making, cdspp.report.tables.source_help"
    program = f"import sys, {modules}; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_a_figure_has_its_style_while_it_is_drawn(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cdspp.report.figures.style import width

    drawn, widths = job.record.parent / "figures/drawn.svg", []

    def draw(outputs: Any, **given: Any) -> None:
        widths.append(width())
        write_items(outputs=outputs, **given)

    monkeypatch.setattr(sys.modules[__name__], "draw_items", draw, raising=False)
    job.outputs = [drawn]
    styled = {"kind": FIGURE, "style": "one-column"}
    job.made([group("drawn", function=f"{__name__}:draw_items", **styled)])
    assert widths[0] < width()
