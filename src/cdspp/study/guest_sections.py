"""The former name of `ReportPlugin`, which plug-ins of release 0.2 import."""

from cdspp.study.plugins import ReportPlugin as GuestSection

__all__ = ["GuestSection"]
