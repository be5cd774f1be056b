"""Comparison of systems: shared steps of the recipes, ablations, and tables of results."""
