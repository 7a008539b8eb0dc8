"""The version of the library: the one place that pyproject.toml reads."""

VERSION = "0.2.0"
