"""Splits as counts need them: all blocks of a domain in a role, as one frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.stages.artifacts import SPLIT_COLUMNS, read_frame

Splits = Mapping[tuple[str, str], pd.DataFrame]


def read_splits(paths: Iterable[PathLike]) -> Splits:
    """Read ``.../<role>/<domain>/<block>.parquet`` by role and domain, in one frame."""
    blocks: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in map(Path, paths):
        role, domain = path.parent.parts[-2:]
        blocks.setdefault((role, domain), []).append(read_frame(path, SPLIT_COLUMNS))
    return {key: pd.concat(found, ignore_index=True) for key, found in blocks.items()}


def split_of(splits: Splits, role: str, domain: str) -> pd.DataFrame:
    """Return the splits of a domain in a role; DataError where there are none."""
    if (role, domain) not in splits:
        known = ", ".join(name for kind, name in splits if kind == role) or "none"
        raise DataError(
            f"expected splits of {domain} as {role}, got those of {known}. Give the "
            "files of all domains that the tasks use."
        )
    return splits[role, domain]
