"""`make lint` finds unclear phrases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository of few files without a finding."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    for name in ("README.md", "config.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "src/cdspp").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "finding"),
    [
        ("src/cdspp/a.py", "printed = 1\n", "src/cdspp/a.py:1: printed"),
        ("docs/a.md", "Fine.\nThe user is told so.\n", "docs/a.md:2: 'is told'"),
        ("src/cdspp/p.j2", "<p>It says nothing</p>", "src/cdspp/p.j2:1"),
    ],
)
def test_an_unclear_phrase_is_found_with_its_place(
    tree: Path, name: str, content: str, finding: str
) -> None:
    from check_words import findings

    assert findings(tree) == []
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(content)
    assert [line[: len(finding)] for line in findings(tree)] == [finding]


def test_the_papers_own_numbers_are_printed(tree: Path) -> None:
    from check_words import findings

    (tree / "src/cdspp/paper").mkdir()
    (tree / "src/cdspp/paper/a.py").write_text("printed = 1\n")
    assert findings(tree) == []
