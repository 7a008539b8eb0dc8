"""The name by which plug-ins of release 0.2 import the registry, for one release."""

from cdspp.report.registry import FIGURE, TABLE, Item, Part

__all__ = ["FIGURE", "TABLE", "Item", "Part"]
