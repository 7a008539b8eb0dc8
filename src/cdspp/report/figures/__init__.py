"""Figures: one module draws each kind."""
