"""Whitening of a dictionary, from the second moment of its kernel columns over the samples."""

from dataclasses import fields

import numpy as np

from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.kernels import Kernel
from discriminants.logistic.memory import GRAM_ROWS
from discriminants.logistic.training import FitContext
from discriminants.logistic.whitening import Whitening, whiten, whiten_by_factors

_MOMENT_SAMPLES = 20  # samples per center to estimate the second moment
_MANY_CENTERS = 2500  # above this number, whitening uses Cholesky factors
_STAGE = "whitening"


def whitening_of(
    kernel: Kernel, centers: np.ndarray, points: np.ndarray, training: FitContext, damping: float
) -> Whitening:
    """Return whitened coordinates for the weights of the centers.

    `points` (m, n_features) are the centers' samples; for a precomputed kernel, their rows of its matrix.
    """
    m, n_samples = centers.shape[0], training.X.shape[0]
    rows = np.arange(n_samples)
    if _MOMENT_SAMPLES * m < n_samples:
        rows = np.sort(training.random.permutation(rows)[: _MOMENT_SAMPLES * m])
    stage = training.checkpoint.get(
        _STAGE,
        {"transform": (m, "r"), "inverse": ("r", m), "penalty": ("r",), "variance": ("r",), "mean": (m,)},
        apart=True,
    )
    if stage is not None:
        names = [field.name for field in fields(Whitening) if field.name in stage]
        whitening = Whitening(**{name: stage[name] for name in names})
        if whitening.coupling is None or whitening.coupling.shape == 2 * whitening.penalty.shape:
            return whitening
    moments = accumulate_gram(
        kernel,
        training.source,
        np.empty((rows.shape[0], 0)),
        centers,
        rows=rows,
        sample_weight=training.weight[rows],
        block=GRAM_ROWS,
        workers=training.workers,
    )
    covariance = moments.gram
    covariance /= moments.n_samples
    wide = points.astype(np.float64)
    center_kernel = kernel(wide, wide)
    if not kernel.centers_are_points:  # maybe not symmetric; W'K_mm W is that of the symmetric part
        center_kernel = 0.5 * (center_kernel + center_kernel.T)
    by_factors = m > _MANY_CENTERS and kernel.centers_are_points
    whitening = (whiten_by_factors if by_factors else whiten)(center_kernel, covariance, moments.means, damping)
    arrays = {name: array for name, array in vars(whitening).items() if array is not None}
    training.checkpoint.put(_STAGE, arrays, finished=True, apart=True)
    return whitening
