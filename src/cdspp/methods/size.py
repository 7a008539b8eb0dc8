"""How large a problem is, on which the cost of a fit depends."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Size"]


@dataclass(frozen=True)
class Size:
    """The size of a problem: classes, rows and features of both domains."""

    name: str
    n_classes: int
    n_source: int
    d_source: int
    n_labelled: int
    n_unlabelled: int
    d_target: int

    @property
    def n_target(self) -> int:
        """Target rows, labelled and unlabelled."""
        return self.n_labelled + self.n_unlabelled

    def __str__(self) -> str:
        """Describe the size in one line."""
        return (
            f"{self.name}: {self.n_classes} classes, source {self.n_source} x "
            f"{self.d_source}, target {self.n_labelled} labelled + "
            f"{self.n_unlabelled} unlabelled x {self.d_target}"
        )
