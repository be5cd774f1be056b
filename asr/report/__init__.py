"""Offline report of a run: an HTML page with results, errors and training curves."""
