"""The former name of the registry, which plug-ins of release 0.2 import."""

from cdspp.report.registry import FIGURE, TABLE, Item, Part

__all__ = ["FIGURE", "TABLE", "Item", "Part"]
