"""The smallest ball that contains samples, in the space of a kernel."""

import numpy as np

_MAX_STEPS = 100  # for each sample


def squared_radius(K: np.ndarray, tol: float = 1e-6) -> float:
    """Return the squared radius of the smallest ball for the kernel matrix K (n_samples, n_samples).

    The dual problem is to maximize sum_i l_i K_ii - l'Kl over l >= 0 with the sum 1 (Suykens et al. 2002, 2.39). Each
    step moves weight between two samples, the most distant one and the one that gains most. The result is within `tol`
    of the radius, relative to it, unless there are more than 100 steps for each sample.
    """
    n_samples = K.shape[0]
    own = K.diagonal().copy()
    weights = np.full(n_samples, 1.0 / n_samples)
    products = K @ weights
    for _ in range(_MAX_STEPS * n_samples):
        slopes = own - 2.0 * products  # squared distances to the center, up to a constant
        far = int(np.argmax(slopes))
        lower = slopes[far] - slopes
        radius = float(weights @ (own - products))
        if weights @ lower <= tol * max(radius, 0.0):
            break
        curvature = np.maximum(own[far] + own - 2.0 * K[far], np.finfo(float).tiny)
        gains = np.where(weights > 0, lower**2 / curvature, -1.0)
        near = int(np.argmax(gains))
        step = min(weights[near], 0.5 * lower[near] / curvature[near])
        weights[far] += step
        weights[near] -= step
        products += step * (K[far] - K[near])
    return max(float(weights @ (own - products)), 0.0)
