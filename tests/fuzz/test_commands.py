"""Commands with odd options: an answer, or one line and the exit code 2."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fuzz.damage import INTERNAL, attacks

from cdspp.cli.main import main

pytestmark = pytest.mark.usefixtures("few_candidates")

WORDS = ("", "-1", "1e999", "nan", "\xe9", "=", "--", "-" * 3000, "x" * 3000)
WORDS += ("[" * 200, "none", "label", "source.csv", ".", "/", "\udcff", "*")
VALUES: dict[str, tuple[str, ...]] = {
    "--method": ("cdspp", "svm-t", "cdspp-sup", "dama"),
    "--option": ("alpha=1", "C=0.1", "alpha", "max_iter=2", "alpha=[1]", "alpha=1e400"),
    "--label": ("label", "f1", "lable"),
    "--id": ("id", "label", "f2"),
    "--drop": ("f1", "f9", "label"),
    "--keep-label": ("NA", "a"),
    "--shared": ("same-names", "none", "f1=f2", "f1=f1,f1=f2", "f1="),
    "--scale": ("unit", "pca", "none", "uint"),
    "--model": ("m.npz", "source.csv", "no/m.npz"),
    "--output": ("out.csv", "target.csv", "no/out.csv"),
    "--source": ("source.csv", "target.csv"),
    "--impute": (),
    "--force": (),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two tables."""
    place, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    for name, width in (("source", 4), ("target", 3)):
        table = pd.DataFrame(rng.normal(size=(24, width)))
        table.columns = [f"f{k}" for k in range(width)]
        last = "d" if name == "source" else "NA"
        table.insert(0, "label", ["a", "b", "c", last] * 6)
        table.insert(0, "id", range(24))
        table.to_csv(place / f"{name}.csv", index=False)
    return place


def words_of(rng: random.Random) -> list[str]:
    """Return a call of fit or predict with some options, some of them odd."""
    command = rng.choice(("fit", "fit", "predict"))
    words = [command, "--target", "target.csv", "--output", "out.csv"]
    words += ["--source", "source.csv"] * (command == "fit")
    words += ["--model", "m.npz"] * (command == "predict")
    for name in rng.sample(sorted(VALUES), rng.randint(1, 4)):
        words.append(name)
        if VALUES[name]:
            words.append(rng.choice(VALUES[name] if rng.random() < 0.6 else WORDS))
    return words


@attacks(80, 4000)
def test_an_odd_call_is_answered_or_refused_in_a_line_a_fault(
    seeds: range, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(folder)
    kept = {path.name: path.read_bytes() for path in folder.glob("[st]*.csv")}
    for seed in seeds:
        words = words_of(random.Random(seed))
        (folder / "out.csv").unlink(missing_ok=True)
        try:
            code = main(words)
        except SystemExit as stopped:  # of argparse, which says how the command is used
            code = stopped.code
        except Exception as error:
            raise AssertionError(f"{seed}: {words}: {error!r}") from error
        said = capsys.readouterr().err
        assert code in (0, 2), f"{seed}: {words}"
        if code == 2:
            assert "error: " in said, f"{seed}: {words}: {said}"
            assert not INTERNAL.search(said), f"{seed}: {words}: {said}"
        for name, content in kept.items():
            # No input of predict, a source is a file like any that --force replaces.
            if (words[0], name) != ("predict", "source.csv") or "--force" not in words:
                assert (folder / name).read_bytes() == content, f"{seed}: {words}"
            (folder / name).write_bytes(content)
