"""The interface of every feature extractor: checked options and their record."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cdspp.core.discovery import did_you_mean
from cdspp.core.errors import ConfigError

__all__ = ["Extractor", "FileExtractor", "ViewExtractor", "WordExtractor"]


@dataclass(frozen=True)
class Extractor(ABC):
    """Base class of all extractors: frozen options that turn inputs into features."""

    identifier: ClassVar[str]  #: Name in configuration and paths.
    #: Its input: "images", "texts", "files" of both kinds, or another "view".
    kind: ClassVar[str]
    #: Modules that do the computation; loaded on use, with recorded versions.
    modules: ClassVar[tuple[str, ...]] = ("numpy",)
    keeps_width: ClassVar[bool] = False  #: Whether it keeps the number of features.
    #: Whether its features have names with the same meaning in other domains.
    names_columns: ClassVar[bool] = False

    @property
    def needs_torch(self) -> bool:
        """Return whether the extractor uses a network."""
        return "torch" in self.modules

    @property
    def megabytes(self) -> float:
        """Memory in addition to the rows, such as for the weights of a network."""
        return 0.0

    def load(self) -> None:
        """Import the modules that do the computation."""
        for name in self.modules:
            import_module(name)

    @property
    def own_files(self) -> tuple[Path, ...]:
        """Files of the user that it reads in addition to its input."""
        return ()

    def check_own_files(  # noqa: B027
        self, domains: Iterable[Sequence[Path]] = ()
    ) -> None:
        """Raise DataError, before a study runs, if these files are of no use.

        `domains` are the input files of each domain, as far as they exist by then.
        """

    def recorded_options(self) -> dict[str, Any]:
        """Return the options that affect the result."""
        return asdict(self)

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages that do the computation."""
        self.load()
        packages = sorted({name.partition(".")[0] for name in self.modules})
        return {name: str(sys.modules[name].__version__) for name in packages}

    def refuse(self, option: str, expected: str, end: str = ".") -> ConfigError:
        """Return the error for an invalid value of `option`."""
        message = f"extractor {self.identifier}: {option} must be {expected}"
        return ConfigError(f"{message}, got {getattr(self, option)!r}{end}")

    def check_choice(self, option: str, choices: Iterable[str]) -> None:
        """Raise ConfigError unless the value of `option` is one of `choices`."""
        value, names = getattr(self, option), tuple(choices)
        if value not in names:
            hint = did_you_mean(value, names)
            raise self.refuse(option, f"one of {', '.join(names)}", hint)

    def check_integer(self, option: str, bound: int, *, optional: bool = False) -> None:
        """Raise ConfigError unless the value is an integer of at least `bound`."""
        value = getattr(self, option)
        if value is None and optional:
            return
        if type(value) is not int or value < bound:
            end = " or null" if optional else ""
            raise self.refuse(option, f"an integer of {bound} or more{end}")

    def check_switch(self, option: str) -> None:
        """Raise ConfigError unless the value of `option` is true or false."""
        if not isinstance(getattr(self, option), bool):
            raise self.refuse(option, "true or false")

    def check_share(self, option: str) -> None:
        """Raise ConfigError unless the value is a number in (0, 1]."""
        value = getattr(self, option)
        if type(value) not in (int, float) or not 0 < value <= 1:
            raise self.refuse(option, "a number above 0, at most 1")

    @classmethod
    def pretrained(cls, options: Mapping[str, Any]) -> str | None:
        """Return the network whose published weights are needed, if any."""
        return None

    def width(self) -> int | None:
        """Return the number of features, None if the data determine it."""
        return None

    def seconds(self, n_rows: int, width: int) -> float:
        """Return the approximate processor seconds for a domain of `n_rows`.

        `width` is the larger of the numbers of features read and made.
        """
        return 2e-3 * n_rows


class FileExtractor(Extractor):
    """An extractor that reads the files of one domain."""

    @abstractmethod
    def extract(self, files: Sequence[Path]) -> Any:
        """Return the features of `files`, one row per file, dense or CSR."""

    def extract_named(self, files: Sequence[Path]) -> tuple[Any, Any]:
        """Return the features of `files`, and the names of the columns, if any."""
        return self.extract(files), None


class WordExtractor(Extractor):
    """An extractor that needs a codebook learned beforehand from one domain."""

    codebook_domain: str | None

    @abstractmethod
    def fit_codebook(self, files: Sequence[Path]) -> np.ndarray:
        """Learn the words, one per row."""

    @abstractmethod
    def extract(self, files: Sequence[Path], codebook: np.ndarray) -> Any:
        """Return the features of `files`, one row per file."""


class ViewExtractor(Extractor):
    """An extractor that turns one view of a domain into another."""

    @abstractmethod
    def reduce(self, X: Any) -> tuple[np.ndarray, Mapping[str, Any]]:
        """Return the new features and a record of them."""
