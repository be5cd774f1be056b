"""Test for few samples, for which training errors predict little and samples are held out to choose parameters."""

MIN_SAMPLES_A_CENTER = 10
"""Samples per center below which parameters set to "auto" are chosen on held-out samples, at little cost."""


def are_few(n_samples: int, n_centers: int) -> bool:
    """Return whether there are few samples for the number of centers."""
    return n_samples < MIN_SAMPLES_A_CENTER * n_centers
