"""Snakemake's own linter, but for one opinion that this project does not share."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# Functions stand above the rule that they serve, where a reader looks for them.
ANOTHER_OPINION = "Mixed rules and functions in same snakefile.:"


def test_the_linter_finds_nothing_else(repository: Path) -> None:
    command = [sys.executable, "-m", "snakemake", "--lint"]
    found = subprocess.run(
        command, cwd=repository, capture_output=True, text=True, check=False
    )
    complaints = re.findall(r"^ {4}\* (.+)$", found.stdout + found.stderr, re.M)
    assert set(complaints) == {ANOTHER_OPINION}, found.stderr
