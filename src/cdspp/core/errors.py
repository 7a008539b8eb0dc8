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
]


class ConfigError(ValueError):
    """A study's configuration is wrong; the message lists every fault found."""


class DataError(ValueError):
    """A file or table of data is missing, unreadable or not what it should be."""


class ChecksumError(DataError):
    """A file's content is not the published one."""


class DiskFullError(Exception):
    """The disk is full. No fault of the data: nothing else is worth trying."""


class NotWritableError(Exception):
    """A file cannot be written where it should be. No fault of the data, either."""


class StaleJobError(Exception):
    """The run of a job has ended, or its code has changed: there is no result."""


# Each says on one line what is wrong, where, and what to do.
USER_ERRORS = (ConfigError, DataError, DiskFullError, NotWritableError, StaleJobError)


class MethodFailed(RuntimeError):
    """A method cannot run on this input; recorded, not treated as a bug."""


class BridgeWarning(UserWarning):
    """Columns are shared that can hardly be of one unit."""


class LabelWarning(UserWarning):
    """Labels are usable, but not what one would expect: a class without a partner."""


class CostWarning(UserWarning):
    """A fit is expected to take long, or more memory than there is."""


class CollapseWarning(UserWarning):
    """A fit is of no use: one class for nearly all rows, or rows nearly parallel."""
