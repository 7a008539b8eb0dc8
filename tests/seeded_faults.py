"""Seed faults into a copy of the code, one at a time, and see that tests fail.

    python tests/seeded_faults.py            all faults of tests/seeded_faults.yaml
    python tests/seeded_faults.py NAME...    those whose name begins so

The exit code is 1 where a fault is missed, or where its tests fail without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests/seeded_faults.yaml"
PASSED, FAILED = 0, 1  # exit codes of pytest; any other one is no result


@dataclass(frozen=True)
class SeededFault:
    """One line of code that is replaced by a wrong one."""

    name: str
    file: str
    text: str
    fault: str
    tests: str
    slow: bool = False

    def source(self, root: Path) -> Path:
        """Return the module with the fault in a copy of the repository."""
        return root / "src/cdspp" / self.file

    @property
    def test_paths(self) -> list[str]:
        """The tests that have to catch the fault."""
        return [f"tests/{name}" for name in self.tests.split()]


def read_faults() -> list[SeededFault]:
    """Return all faults, in their order."""
    return [SeededFault(**entry) for entry in yaml.safe_load(LIST.read_text())]


@contextmanager
def _repository_copy() -> Iterator[Path]:
    """Copy what git lists, compiled so that Python compares sources by content."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True)
    with tempfile.TemporaryDirectory(prefix="seeded-faults-") as folder:
        root = Path(folder, "copy")
        for name in found.stdout.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, root / name)
        # By time and size alone a fault of equal length could go unseen.
        compiled = ["-q", "--invalidation-mode", "checked-hash", "src"]
        compile_all = [sys.executable, "-m", "compileall", *compiled]
        subprocess.run(compile_all, cwd=root, check=True)
        yield root


def _run_tests(
    root: Path, faults: Sequence[SeededFault]
) -> subprocess.CompletedProcess[str]:
    paths = sorted({path for fault in faults for path in fault.test_paths})
    # Options later on the command line win over those of pyproject.toml.
    marked = "slow or not slow" if any(fault.slow for fault in faults) else "not slow"
    options = ["-x", "-p", "no:cacheprovider", "-m", f"({marked}) and not cluster"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *paths],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
    )


def _try_fault(root: Path, fault: SeededFault) -> str:
    path = fault.source(root)
    code = path.read_text(encoding="utf-8")
    if code.count(fault.text) != 1:
        return f"its text occurs {code.count(fault.text)} times in {fault.file}"
    path.write_text(code.replace(fault.text, fault.fault), encoding="utf-8")
    tested = _run_tests(root, [fault])
    path.write_text(code, encoding="utf-8")
    if tested.returncode == FAILED:
        return "caught"
    if tested.returncode == PASSED:
        return "MISSED"
    return f"pytest exits with {tested.returncode}: {tested.stdout[-300:]}"


def main(names: Sequence[str]) -> int:
    """Try faults and print what became of each."""
    chosen = [f for f in read_faults() if f.name.startswith(tuple(names) or "")]
    with _repository_copy() as root:
        for slow in (False, True):
            alike = [fault for fault in chosen if fault.slow == slow]
            unchanged = _run_tests(root, alike) if alike else None
            if unchanged is not None and unchanged.returncode != PASSED:
                print("These fail without a fault:", unchanged.stdout, unchanged.stderr)
                return 1
        n_caught = 0
        for fault in chosen:
            start = time.perf_counter()
            result = _try_fault(root, fault)
            n_caught += result == "caught"
            seconds = time.perf_counter() - start
            print(f"{fault.name:45}{seconds:6.1f} s  {result}", flush=True)
    print(f"{n_caught} of {len(chosen)} seeded faults are caught")
    return 0 if n_caught == len(chosen) > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
