"""Heterogeneous domain adaptation with CDSPP and the methods it is compared with."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cdspp.core.version import VERSION as __version__

if TYPE_CHECKING:
    from cdspp.analysis.compare import compare
    from cdspp.core.file_rows import ParquetRows
    from cdspp.core.labels import keep_labels
    from cdspp.datasets.table_encoder import TableEncoder
    from cdspp.datasets.tables import read_table
    from cdspp.methods import available, make
    from cdspp.methods.base import SourceDomain
    from cdspp.methods.model_file import load_model, save_model
    from cdspp.methods.selection import LabelledKFold, labelled_accuracy
    from cdspp.methods.source_vote import SourceVote
    from cdspp.report.results import load_results

__all__ = [
    "LabelledKFold",
    "ParquetRows",
    "SourceDomain",
    "SourceVote",
    "TableEncoder",
    "__version__",
    "available",
    "compare",
    "keep_labels",
    "labelled_accuracy",
    "load_model",
    "load_results",
    "make",
    "read_table",
    "save_model",
]
_PLACES = {
    "LabelledKFold": "cdspp.methods.selection",
    "ParquetRows": "cdspp.core.file_rows",
    "SourceDomain": "cdspp.methods.base",
    "SourceVote": "cdspp.methods.source_vote",
    "TableEncoder": "cdspp.datasets.table_encoder",
    "compare": "cdspp.analysis.compare",
    "keep_labels": "cdspp.core.labels",
    "labelled_accuracy": "cdspp.methods.selection",
    "load_model": "cdspp.methods.model_file",
    "load_results": "cdspp.report.results",
    "read_table": "cdspp.datasets.tables",
    "save_model": "cdspp.methods.model_file",
}


def __getattr__(name: str) -> Any:
    """Import names on first use: most jobs of a study need no estimator."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    methods = import_module("cdspp.methods")
    if name in {"available", "make"}:
        return getattr(methods, name)
    identifier = methods.estimators().get(name)
    if identifier is not None:
        return methods.method_class(identifier)
    raise AttributeError(f"module 'cdspp' has no attribute {name!r}")


def __dir__() -> list[str]:
    methods = import_module("cdspp.methods")
    return sorted([*__all__, *methods.estimators()])
