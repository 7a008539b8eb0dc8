"""Figures: each module draws one kind."""
