"""The version of the library: the one place that pyproject.toml reads."""

__all__ = ["VERSION"]

VERSION = "0.2.0"
