"""The alignment of a kernel with targets."""

import numpy as np


def kernel_alignment(K: np.ndarray, targets: np.ndarray) -> float:
    """Return the cosine between the centered matrices K and TT' of N samples, 0 if one of them is zero.

    K is (n_samples, n_samples) and T are `targets` (n_samples, n_targets). The criterion of Cristianini et al. (On
    kernel-target alignment, NIPS 14, 2002) with centering (Cortes, Mohri and Rostamizadeh, JMLR 13, 2012).
    """
    centered = K - K.mean(axis=0)
    centered -= centered.mean(axis=1)[:, None]
    T = targets - targets.mean(axis=0)
    norms = float(np.linalg.norm(centered) * np.linalg.norm(T.T @ T))
    return float(np.vdot(T, centered @ T)) / norms if norms > 0 else 0.0
