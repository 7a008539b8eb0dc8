"""Optimal transport of the source to the target: one file per method."""
