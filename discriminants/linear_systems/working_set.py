"""Selection of the coordinates that a descent moves next."""

import numpy as np

# Extremes of the gradient over all samples form clusters of redundant near neighbors. The extremes within
# a random part of the samples are spread out, so a descent needs only a fraction of the blocks.
_SHARE = 0.2


def working_set(gradient: np.ndarray, size: int, random: np.random.Generator) -> np.ndarray:
    """Select samples with the largest and smallest gradient of each output, equally many of both, ascending.

    Candidates are a random fifth of the samples. Moving one coefficient up and another down keeps their sum, so both
    ends of the gradient are needed (Mika 2002, section 3.5.3, takes the two extremes of all samples). `size` is at
    least two per output; fewer samples are returned if extremes coincide.
    """
    n_samples, n_outputs = gradient.shape
    each = max(1, size // (2 * n_outputs))
    pool = min(n_samples, max(2 * each, int(_SHARE * n_samples)))
    rows = np.arange(n_samples) if pool == n_samples else random.choice(n_samples, pool, replace=False)
    if 2 * each >= pool:
        return np.sort(rows)
    order = np.argpartition(gradient[rows], (each - 1, pool - each), axis=0)
    return np.unique(rows[np.concatenate([order[:each], order[pool - each :]])])
