"""The version of the library, which pyproject.toml reads from here."""

VERSION = "0.2.0"
