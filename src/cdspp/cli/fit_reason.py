"""Why a model was fitted: kept with it, shown by `predict`, compared by a later fit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cdspp.core.errors import DataError
from cdspp.core.names import PathLike
from cdspp.core.wording import counted


class LastFit(NamedTuple):
    """The reason of a model that a fit replaces, and its predictions by identifier."""

    reason: Mapping[str, Any]
    predictions: Mapping[str, str]


def last_fit(model: PathLike | None, output: PathLike) -> LastFit | None:
    """Return the fit that the same command made before, if there was one."""
    from cdspp.methods.model_file import read_model

    if not model or not Path(model).is_file() or not Path(output).is_file():
        return None
    import pandas as pd

    try:
        reason = _read(read_model(model)[1].get("reason"))
        [*reason_words(model, json.dumps(reason))]  # DataError where one is damaged
        table = pd.read_csv(output, dtype=str, keep_default_na=False)
        pairs = zip(table["id"], table["predicted"], strict=True)
    except (DataError, KeyError, OSError, ValueError):  # other files of these names
        return None
    return LastFit(reason, dict(pairs)) if reason else None


def _read(text: Any) -> dict[str, Any]:
    """Return a reason as it was kept; none of models of 0.2.0."""
    found = json.loads(text) if isinstance(text, str) and text else {}
    return found if isinstance(found, dict) else {}


def reason_words(path: PathLike, text: Any) -> Iterator[str]:
    """Yield a line on the reason that a model keeps, if it keeps one."""
    try:
        if reason := _read(text):
            rows = counted(int(reason["labelled"]), "labelled row")
            fitted = f"{reason['method']}, fitted on {reason['date']} to {rows}"
            yield f"model: {fitted}; {_choice(reason)}"
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: a damaged model ({error}). Fit again.") from error


def _choice(reason: Mapping[str, Any]) -> str:
    if "probability" not in reason:
        return f"chosen {reason['choice']}"
    if reason["evidence"] == "settled":
        return "the best bet (settled by a test)"
    share = f"{100 * float(reason['probability']):.0f} %"
    return (
        f"the best bet ({reason['candidate']} is better than target-only with a "
        f"probability of {share}; evidence: {reason['evidence']})"
    )


def changes(
    before: LastFit | None, reason: Mapping[str, Any], predictions: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a line on what changed since the last fit: labels, method, predictions."""
    if before is None:
        return
    old = before.reason
    both = [name for name in predictions if name in before.predictions]
    moved = sum(str(predictions[name]) != before.predictions[name] for name in both)
    new = reason["method"]
    method = f"still {new}" if old["method"] == new else f"{old['method']} to {new}"
    yield (
        f"Since {old['date']}: {old['labelled']} to {reason['labelled']} labelled "
        f"rows; {method}; {moved} of {counted(len(both), 'prediction')} changed."
    )
    if _choice(old) != _choice(reason):
        yield f"Then: {_choice(old)}. Now: {_choice(reason)}."
