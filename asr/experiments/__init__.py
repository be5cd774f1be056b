"""Comparison of systems: shared steps of the recipes, and tables of results."""
