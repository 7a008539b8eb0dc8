"""The version of the library, as in pyproject.toml."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
