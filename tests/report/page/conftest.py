"""The page of a synthetic study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest
from support.report_data import make_plan
from support.written_study import WrittenStudy, write_page

from cdspp.study.plan import BenchmarkPlan

KINDS = ("tables", "timings")
HELPS = {"digits": {"source_helps": 0.06}}


def two_benchmarks() -> list[BenchmarkPlan]:
    """Return plans of one benchmark that the source helps, and of one it does not."""
    docs = {"benchmark": "docs-to-code", "title": "Docs to code"}
    return [make_plan(), make_plan(tasks=["docs_code"], **docs)]


def page_in(
    folder: Path, study: WrittenStudy, figures: Sequence[Path] = (), **options: Any
) -> Path:
    """Write the page of a study whose tables are in a folder, with these figures."""
    output = folder / "report" / "index.html"
    write_page(
        study.plans,
        output,
        tables=sorted(p for kind in KINDS for p in folder.glob(f"{kind}/*.csv")),
        figures=figures,
        records=study.records,
        **options,
    )
    return output


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> WrittenStudy:
    """Return the study of two benchmarks with its tables, to be read alone."""
    folder = tmp_path_factory.mktemp("study") / "results" / "embedded"
    written = WrittenStudy(folder, two_benchmarks(), HELPS)
    for kind in ("table", "timing"):
        written.make(kind)
    return written


@pytest.fixture
def copied(tmp_path: Path, study: WrittenStudy) -> Path:
    """Return the folder of a copy of the study, whose page is not written yet."""
    folder = tmp_path / "results" / "embedded"
    ignored = ignore_patterns("figures", "report")
    return Path(copytree(study.folder, folder, ignore=ignored))


@pytest.fixture
def make_page(tmp_path: Path, study: WrittenStudy) -> Callable[..., Path]:
    """Return a function that writes a study and its page.

    Without plans the study is a copy of the one that all tests share. `figures` names
    those that a study of plans has; other options are those of `write_page`.
    """

    def make(
        plans: Sequence[BenchmarkPlan] | None = None,
        *,
        figures: Sequence[str] = (),
        failed: str = "",
        **options: Any,
    ) -> Path:
        folder = tmp_path / "results" / "embedded"
        if plans is None and not failed:
            ignored = ignore_patterns("figures", "report")
            copytree(study.folder, folder, ignore=ignored, dirs_exist_ok=True)
            return page_in(folder, study, **options)
        other = WrittenStudy(folder, plans or two_benchmarks(), HELPS, failed)
        if plans is None:  # failed fits change no score
            copytree(study.folder / "tables", folder / "tables")
        else:
            other.make("table")
        other.make("timing")
        drawn = [folder / "figures" / f"{name}.svg" for name in figures]
        for path in drawn:
            other.make_one("figure", path.stem, [path])
        return page_in(folder, other, sorted((folder / "figures").glob("*")), **options)

    return make


@pytest.fixture(scope="session")
def page(study: WrittenStudy) -> Path:
    """Return the page of a study with all its figures, to be read alone."""
    figures = study.make("figure", (".svg",))
    return page_in(study.folder, study, sorted(figures.glob("*")))
