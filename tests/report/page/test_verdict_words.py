"""Every place that shows a verdict reads its word from one scale."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.report_data import make_plan

from cdspp.analysis.comparison import Added, Comparison
from cdspp.analysis.source_help import read_comparisons
from cdspp.analysis.transfer import Transfer
from cdspp.analysis.vote import Estimate, SourceGain
from cdspp.report.page.headline import headline, read_headline

# Files of a study with verdicts, by how a verdict is written in them.
TABLES = ("source-help", "source-help_digits", "claims", "claims-overview")
# Also parts of other sentences.
HELPS = "no effect", "the source helps", "the source hurts"
FIGURES = ("kinds-of-transfer", "source-help", "source-states")


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Rename every verdict, and return the old words."""
    words = [each.word for each in Transfer]
    words += [each.sentence for each in Transfer]
    for place, each in enumerate(Transfer):
        monkeypatch.setattr(each, "word", f"renamed {place}")
        monkeypatch.setattr(each, "sentence", f"sentence {place} on")
    return words


def shown_by_study(page: Path) -> dict[str, str]:
    """Return the texts of a written study by the place where they are shown."""
    folder = page.parents[1]
    texts = {
        f"{name}.{form}": (folder / "tables" / f"{name}.{form}").read_text("utf-8")
        for name in TABLES
        for form in ("csv", "md", "tex")
    }
    texts |= {n: (folder / f"figures/{n}.svg").read_text("utf-8") for n in FIGURES}
    found = read_headline(folder).to_dict()
    verdicts = read_comparisons(folder / "tables/source-help_digits.csv")["verdict"]
    return texts | {
        "page": re.sub(r'class="[\w-]+"', "", page.read_text("utf-8")),
        "headline": headline(folder),
        "JSON": json.dumps([found["kinds"], found["statement"]]),
        "comparisons": " ".join(verdicts),
    }


def comparison(gain: SourceGain) -> Comparison:
    estimate, rows = Estimate(0.8, 0.7, 0.9), pd.DataFrame()
    columns = {"method": ["a"], "display_name": ["A"], "information": [""]}
    columns |= {"weight": [1.0], "accuracy": [0.8], "gain": [0.0], "degenerate": [0.0]}
    counts: Any = {"n_labelled": 9, "n_unlabelled": 9, "fewest": 3, "repeats": 8}
    return Comparison(
        accuracy=estimate,
        balanced_accuracy=estimate,
        source_gain=gain,
        rows_to_label=rows,
        untested=(),
        added=Added(0, 0, 0),
        candidates=pd.DataFrame(columns),
        **counts,
    )


def test_a_study_shows_the_words_of_the_scale_everywhere(
    make_page: Callable[..., Path], old: list[str]
) -> None:
    docs = make_plan(benchmark="docs-to-code", title="Docs", tasks=["docs_code"])
    shown = shown_by_study(make_page([make_plan(), docs], figures=FIGURES))
    for place, text in shown.items():
        assert "renamed" in text, place
        for word in old:
            assert word in HELPS or word not in text, f"{place}: {word}"


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((0.02, 0.2), Transfer.POSITIVE),
        ((-0.2, -0.02), Transfer.NEGATIVE),
        ((-0.005, 0.005), Transfer.NO_EFFECT),
        ((-0.2, 0.2), Transfer.INCONCLUSIVE),
    ],
)
def test_a_comparison_shows_the_words_of_the_scale(
    ends: tuple[float, float], verdict: Transfer, old: list[str]
) -> None:
    found = comparison(SourceGain(sum(ends) / 2, *ends, 0.3, 0.3))
    assert found.to_dict()["source_gain"]["verdict"] == verdict.word
    assert verdict.sentence.lower() in " ".join(found.lines).lower()
    gone = [word for word in old if word not in HELPS]
    assert not any(word in " ".join(found.lines) for word in gone)
