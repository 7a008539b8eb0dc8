"""The bet of version 0.3.0, run from the code of its commit.

Run as a module with that code first on PYTHONPATH, this file reads draws, and writes
what `compare` bets on and how it labels the rows without a label. It therefore uses
only what version 0.3.0 has.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

__all__ = ["COMMIT", "Bet", "earlier_bets", "export_code"]

COMMIT = "3b8d1611"
ROOT = Path(__file__).parents[1]


class Bet(NamedTuple):
    """The method that the bet deploys, codes of unlabelled rows, processor seconds."""

    method: str
    codes: Any
    seconds: float


def export_code(folder: Path) -> Path:
    """Write the sources of the commit into a folder, and return their place.

    RuntimeError: the commit is not in the repository.
    """
    command = ["git", "archive", "--format=tar", COMMIT, "src"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if process.returncode:
        fault = process.stderr.decode().strip()
        raise RuntimeError(f"Commit {COMMIT} cannot be read: {fault}. Fetch it.")
    with tarfile.open(fileobj=BytesIO(process.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def earlier_bets(draws: Sequence[Any], code: Path, seeds: Sequence[int]) -> list[Bet]:
    """Return the bets on draws of `benchmarks.decision_families`.

    RuntimeError: the process of the earlier version failed.
    """
    if not draws:
        return []
    with TemporaryDirectory() as folder:
        question, answer = Path(folder, "draws.npz"), Path(folder, "bets.npz")
        arrays: dict[str, Any] = {
            "seeds": np.asarray(seeds),
            "code": np.asarray(str(code)),
        }
        for k, draw in enumerate(draws):
            arrays |= {f"{k}.{key}": value for key, value in _as_arrays(draw).items()}
        np.savez(question, **arrays)
        process = subprocess.run(
            [sys.executable, "-m", __name__, question, answer],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(code)},
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            reason = (process.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"The bet of {COMMIT} failed: {reason}")
        with np.load(answer) as stored:
            return [
                Bet(
                    str(stored[f"{k}.method"]),
                    stored[f"{k}.codes"],
                    float(stored[f"{k}.seconds"]),
                )
                for k in range(len(draws))
            ]


def _as_arrays(draw: Any) -> dict[str, Any]:
    source = draw.source
    arrays = {"X": draw.X, "y": draw.y, "X_source": source.X, "y_source": source.y}
    if source.shared_columns is not None:
        arrays["shared"] = source.shared_columns
    if source.paired_rows is not None:
        arrays["left"], arrays["right"] = source.paired_rows
    return arrays


def _read_source(stored: Mapping[str, Any], k: int) -> Any:
    from cdspp import SourceDomain

    bridge: dict[str, Any] = {}
    if f"{k}.shared" in stored:
        bridge["shared_columns"] = [tuple(map(int, p)) for p in stored[f"{k}.shared"]]
    if f"{k}.left" in stored:
        bridge["paired_rows"] = stored[f"{k}.left"], stored[f"{k}.right"]
    return SourceDomain(stored[f"{k}.X_source"], stored[f"{k}.y_source"], **bridge)


def _bet(X: Any, y: Any, source: Any, seed: int) -> Bet:
    """Follow `compare` as a user would."""
    from cdspp import compare
    from cdspp.core.errors import MethodFailed
    from cdspp.methods import make_seeded, method_class
    from cdspp.methods.problem import scale_domains

    start = time.process_time()
    found: Any = compare(X, y, source=source, seed=seed)  # of that version
    method = found.best_bet
    seconds = time.process_time() - start
    scaling, scaled = scale_domains("standardise", X, source)
    scaled = scaled.with_bridges(method_class(method).bridges)
    try:
        model = make_seeded(method, 0).fit(scaling.apply(X), y, source=scaled)
        codes = model.transduction_[y == -1]
    except MethodFailed:
        codes = np.full(np.sum(y == -1), -1)
    return Bet(method, codes, seconds)


def _answer(question: str, answer: str) -> None:
    import cdspp

    warnings.simplefilter("ignore")
    bets: dict[str, Any] = {}
    with np.load(question) as stored:
        if not Path(cdspp.__file__).is_relative_to(str(stored["code"])):
            raise SystemExit(f"expected the code of {COMMIT}, got {cdspp.__file__}")
        for k, seed in enumerate(stored["seeds"]):
            X, y = stored[f"{k}.X"], stored[f"{k}.y"]
            bet = _bet(X, y, _read_source(stored, k), int(seed))
            bets |= {f"{k}.{key}": value for key, value in bet._asdict().items()}
    np.savez(answer, **bets)


if __name__ == "__main__":
    _answer(*sys.argv[1:])
