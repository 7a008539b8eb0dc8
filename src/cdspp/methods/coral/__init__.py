"""Correlation alignment after reduction to equal width."""
