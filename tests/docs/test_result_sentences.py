"""Every sentence on a result says what its table says, and none is without one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from result_sentences.numbers import PRINTED_RATES, Numbers
from result_sentences.pages import (
    ROOT,
    may_state_a_result,
    one_line,
    result_pages,
    sentences,
)
from result_sentences.rates import PRINTED_CELLS, RESULTS
from result_sentences.sentences import Result
from result_sentences.votes import VOTES

from benchmarks.geometry import geometry_table

LIST = Path(__file__).with_name("no_results.txt")
HINT = (
    "enter it with its numbers in tests/result_sentences; if it states no "
    f"result, in {LIST.relative_to(ROOT)}"
)


@cache
def numbers() -> Numbers:
    return Numbers()


@cache
def printed() -> tuple[str, str]:
    """Return what commands print and a page shows: cells of the paper, and gains."""
    cells = (ROOT / PRINTED_CELLS).read_text()
    return cells, geometry_table(numbers().geometry)


@cache
def of_page(name: str) -> tuple[str, ...]:
    return tuple(sentences(ROOT / name))


def listed() -> dict[str, list[str]]:
    """Return the sentences that state no result, by page."""
    found: dict[str, list[str]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            page = found.setdefault(line.removeprefix("## "), [])
        elif line and not line.startswith("#"):
            page.append(line)
    return found


def check(result: Result) -> None:
    filled = one_line(result.filled(numbers()))
    assert filled in of_page(result.page), (
        f"{result.page} does not say: {filled!r}, which are the numbers of "
        f"{result.rests_on}"
    )
    assert result.holds(numbers()), f"{result.rests_on} contradicts: {filled!r}"


@pytest.mark.parametrize("result", [*RESULTS, *VOTES], ids=lambda r: r.text[:50])
def test_a_sentence_says_what_its_table_says(result: Result) -> None:
    check(result)


def known(result: Result, sentence: str) -> bool:
    return one_line(result.filled(numbers())) == sentence


@pytest.mark.parametrize(
    "page", result_pages(), ids=lambda path: str(path.relative_to(ROOT))
)
def test_no_sentence_states_a_result_without_a_table(page: Path) -> None:
    name = str(page.relative_to(ROOT))
    ours = [result for result in [*RESULTS, *VOTES] if result.page == name]
    unknown = [
        sentence
        for sentence in of_page(name)
        if may_state_a_result(sentence)
        and sentence not in listed().get(name, ())
        and sentence not in map(one_line, "".join(printed()).splitlines())
        and not any(known(result, sentence) for result in ours)
    ]
    assert not unknown, f"{name}: {HINT}: {unknown}"


def test_a_page_shows_what_a_command_prints() -> None:
    """It links the error rates, and quotes the gains."""
    page, (_, gains) = (ROOT / "docs/error-rates.md").read_text(), printed()
    assert f"({PRINTED_RATES.removeprefix('docs/')})" in page
    assert f"```text\n{gains}```" in page


def test_what_is_listed_as_no_result_is_on_its_page() -> None:
    gone = [
        f"{page}: {sentence}"
        for page, found in listed().items()
        for sentence in found
        if sentence not in of_page(page)
    ]
    assert not gone


@pytest.mark.parametrize(
    "sentence",
    [
        "CDSPP does no better than the target by itself.",
        "DAMA+ reaches 63.1 % here.",
        "Every method gains.",
        "The fewer labels, the more a shared geometry gives.",
        "Every method runs again on the same target samples.",
        "The embedded study runs the paper's methods at full length.",
        "The source costs it four points.",
        "KPG-RL hurts.",
        "| CDSPP | 59.0 |",
    ],
)
def test_the_next_result_is_found(sentence: str) -> None:
    assert may_state_a_result(sentence)


def test_the_renderings_that_were_set_by_hand_are_disclosed() -> None:
    said = (
        "Accuracies on these images are no evidence for a method: we tuned the "
        "renderings by hand, and saw results of CDSPP while we did."
    )
    for name in ("README.md", "docs/source-help.md", "resources/datasets.yaml"):
        assert said in one_line((ROOT / name).read_text()), name
