"""Configurations of studies: their checks, settings, plans and costs."""
