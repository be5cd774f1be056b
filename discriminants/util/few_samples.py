"""When a fit's own errors say little of errors on other samples, so that samples are held out to decide."""

MIN_SAMPLES_A_CENTER = 10
"""With fewer, parameters left to "auto" are chosen on samples held out; it costs little, for the samples are few."""


def are_few(n_samples: int, n_centers: int) -> bool:
    """Whether the samples are few for so many centres."""
    return n_samples < MIN_SAMPLES_A_CENTER * n_centers
