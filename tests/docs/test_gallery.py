"""Every script of the gallery runs without a network, and prints what its page says."""

from __future__ import annotations

import importlib
import re
import runpy
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn import config_context

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs/gallery").glob("*.py"))
# What runs a study is run on one that has run: tests/docs/test_own_method.py.
QUICK = [path for path in SCRIPTS if '"run"' not in path.read_text()]
# Eighteen comparisons; and the import of skada.
SLOW = dict.fromkeys(["20_embedding_change", "25_skada_scores"], [pytest.mark.slow])


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs/extensions"))
    return importlib.import_module("gallery_pages")


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the current one, where no network is."""

    def refuse(*_: object) -> None:
        raise OSError("an example of the gallery asks for a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", ["example"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "script",
    [pytest.param(path, marks=SLOW.get(path.stem, [])) for path in QUICK],
    ids=[path.stem for path in QUICK],
)
def test_a_script_prints_the_numbers_of_its_page_and_draws_its_picture(
    script: Path, gallery: Any, offline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with config_context():  # skada sets options of scikit-learn
        runpy.run_path(str(script))
    said = capsys.readouterr().out
    [example] = [e for e in gallery.examples(ROOT) if e.file == script.name]
    missing = set(re.findall(r"\d+\.\d+", example.text)) - {
        *re.findall(r"[\d.]+", said)
    }
    assert said.strip()
    assert not missing
    assert (offline / f"{example.name}.png").stat().st_size > 5000


def test_the_gallery_has_a_card_and_a_page_for_every_script(gallery: Any) -> None:
    pages = dict(gallery.pages(ROOT))
    names = [re.sub(r"^\d+_", "", path.stem) for path in SCRIPTS]
    assert sorted(pages) == sorted(f"gallery/{name}.rst" for name in ["index", *names])
    cards = re.findall(r":doc:`([^<]+) <(\w+)>`", pages["gallery/index.rst"])
    assert [name for _, name in cards] == names
    for title, name in cards:
        page = pages[f"gallery/{name}.rst"]
        assert page.startswith(f"{title}\n===")
        assert ".. figure::" in page
    for path in SCRIPTS:
        assert len(path.read_text().splitlines()) <= 70, path.name


def test_a_script_without_its_words_is_refused(gallery: Any, tmp_path: Path) -> None:
    folder = tmp_path / gallery.FOLDER
    folder.mkdir(parents=True)
    (folder / "1_bare.py").write_text('"""A title."""\n\nprint()\n')
    with pytest.raises(ValueError, match=r"1_bare\.py: .*docstring.*title"):
        gallery.examples(tmp_path)
