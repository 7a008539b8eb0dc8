"""Optimal transport of the source to the target: KPG-RL, COOT and srFGW."""
