"""The name by which plug-ins of release 0.2 know `ReportPlugin`, for one release."""

from cdspp.study.plugins import ReportPlugin as GuestSection

__all__ = ["GuestSection"]
