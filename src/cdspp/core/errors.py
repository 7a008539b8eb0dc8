"""The package's own exceptions and warnings; each names the thing and the remedy."""

__all__ = [
    "BridgeWarning",
    "ChecksumError",
    "CollapseWarning",
    "ConfigError",
    "CostWarning",
    "DataError",
    "DiskFullError",
    "LabelWarning",
    "MethodFailed",
    "NotWritableError",
    "StaleJobError",
    "UnitWarning",
]


class ConfigError(ValueError):
    """A study's configuration is wrong; the message lists every fault found."""


class DataError(ValueError):
    """A file or table of data is missing, unreadable or malformed."""


class ChecksumError(DataError):
    """A file's content is not the published one."""


class DiskFullError(Exception):
    """The disk is full; no other source of the data would help."""


class NotWritableError(Exception):
    """The process cannot write a file in its place; the data are not at fault."""


class StaleJobError(Exception):
    """A job gives no result: its run has ended, or its code has changed."""


# Each says on one line what is wrong, where, and what to do.
USER_ERRORS = (ConfigError, DataError, DiskFullError, NotWritableError, StaleJobError)


class MethodFailed(RuntimeError):
    """A method cannot run on this input; recorded, not treated as a bug."""


class BridgeWarning(UserWarning):
    """Parts of a bridge are left out, or can hardly be what they are taken for."""


class UnitWarning(BridgeWarning):
    """Shared columns differ so much in spread that they can hardly have one unit."""


class LabelWarning(UserWarning):
    """Labels are usable but unexpected, such as a class in only one domain."""


class CostWarning(UserWarning):
    """The cost model expects a long fit, or one that needs more memory than is free."""


class CollapseWarning(UserWarning):
    """A degenerate fit: one class for nearly all rows, or rows nearly parallel."""
