"""Measurements of speed, memory and error rates: see `python -m benchmarks --help`."""
