"""Which coordinates a descent moves next."""

import numpy as np

# Extremes of the gradient over all samples come in clusters of near neighbours, which say the same thing. Those within
# a random part of the samples are spread out, and a descent takes a fraction of the blocks.
_SHARE = 0.2


def working_set(gradient: np.ndarray, size: int, random: np.random.Generator) -> np.ndarray:
    """Samples with the largest and the smallest gradient of each output, as many of both, within a random fifth;
    ascending.

    Moving a coefficient up and another down keeps their sum, so both ends of the gradient are needed (Mika 2002,
    section 3.5.3, takes the two extremes of all samples). `size` is at least two for every output; there are fewer
    samples where extremes coincide.
    """
    n_samples, n_outputs = gradient.shape
    each = max(1, size // (2 * n_outputs))
    pool = min(n_samples, max(2 * each, int(_SHARE * n_samples)))
    rows = np.arange(n_samples) if pool == n_samples else random.choice(n_samples, pool, replace=False)
    if 2 * each >= pool:
        return np.sort(rows)
    order = np.argpartition(gradient[rows], (each - 1, pool - each), axis=0)
    return np.unique(rows[np.concatenate([order[:each], order[pool - each :]])])
