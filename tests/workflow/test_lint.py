"""Snakemake's own linter, but for one opinion that this project does not share."""

from __future__ import annotations

import re
from pathlib import Path

from support.warm_start import run_warm

# Functions stand above the rule that they serve, where a reader looks for them.
ANOTHER_OPINION = "Mixed rules and functions in same snakefile.:"


def test_the_linter_finds_nothing_else(repository: Path) -> None:
    _, said = run_warm(["snakemake", "--lint"], repository)
    complaints = re.findall(r"^ {4}\* (.+)$", said, re.M)
    assert set(complaints) == {ANOTHER_OPINION}, said
