import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RELEASED = Path(__file__).with_name("interface-0.2.0.txt")
# Names that ended in 0.3.0, as CHANGELOG.md says, beside rows that stay in a file.
ENDED = {
    *("python KPGRLGW(epsilon)", "python KPGRLGW(max_iter)"),
    *("method kpg-rl-gw: epsilon", "method kpg-rl-gw: max_iter"),
    *("file figure: selection", "file table: selection"),
}


@pytest.fixture
def current(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs/extensions"), *sys.path])
    from interface import lines

    return lines(ROOT)


def test_every_name_of_the_last_release_still_exists(current: list[str]) -> None:
    released = RELEASED.read_text(encoding="utf-8").splitlines()
    assert len(released) > 1000
    ended = {line for line in released if line not in set(current)}
    of_files = {line for line in ended if re.search("ParquetRows|reads_files", line)}
    assert ended - of_files == ENDED
    assert len(of_files) == 35


def test_a_removed_name_would_be_missed(current: list[str]) -> None:
    kinds = {line.split(" ", 1)[0] for line in current}
    assert kinds == {
        *("python", "method", "command", "key", "file", "column", "json", "exit")
    }
    for line in ("python CDSPP(alpha)", "command fit --model", "key views.scale"):
        assert line in current
