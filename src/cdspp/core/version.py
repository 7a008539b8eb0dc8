"""The version of the library, which pyproject.toml reads from here."""

VERSION = "0.3.0"
