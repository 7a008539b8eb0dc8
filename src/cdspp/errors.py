"""The package's own exceptions; every message names the thing and the remedy."""

from __future__ import annotations

__all__ = ["ConfigError", "DataError", "MethodFailed"]


class ConfigError(ValueError):
    """A study's configuration is wrong; the message lists every fault found."""


class DataError(ValueError):
    """A file or table of data is missing, unreadable or not what it should be."""


class MethodFailed(RuntimeError):
    """A method cannot run on this input; recorded, not treated as a bug."""
