"""Several candidate Gaussian widths for every center."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from discriminants.kernels.gaussian import GaussianColumns, GaussianKernel
from discriminants.kernels.kernel import Kernel, positive
from discriminants.kernels.width import resolve_sigma

_SCALES = (0.5, 1.0, 2.0)


class MultiscaleGaussianKernel(Kernel):
    """A Gaussian kernel (Andelic 2007, 2.59) with several widths per point, among which selection chooses.

    This is the "multiple kernels" outlook of the source (chapter 6). Each point is a candidate once for each width, and
    each center keeps the width with which it was chosen. One point may be chosen with several widths.

    Parameters
    ----------
    sigmas : sequence of float, or "scale"
        Widths, in the units of the inputs, all different; "scale" is 0.5, 1 and 2 times the root of the summed feature
        variances.

    Raises
    ------
    ValueError
        If a width is not positive and finite, or occurs twice.

    See Also
    --------
    GaussianKernel : one width, or one width per center.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import MultiscaleGaussianKernel
    >>> MultiscaleGaussianKernel([1.0, 2.0])(np.zeros((1, 2)), np.ones((2, 2))).round(3)
    array([[0.368, 0.779, 0.368, 0.779]])
    """

    def __init__(self, sigmas: Sequence[float] | np.ndarray | str = "scale") -> None:
        self.sigmas = sigmas
        if not isinstance(sigmas, str):
            _widths(sigmas)

    def resolved(self, X: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Return a copy with `sigmas` as an array."""
        if isinstance(self.sigmas, str):
            return type(self)(np.array(_SCALES) * resolve_sigma(self.sigmas, X, sample_weight))
        return type(self)(_widths(self.sigmas))

    def over(self, points: np.ndarray) -> tuple[GaussianKernel, np.ndarray]:
        """Return a Gaussian kernel with one width per candidate, and the number of each candidate's point.

        Every point is a candidate at every width; the widths of a point are adjacent.
        """
        if isinstance(self.sigmas, str):
            raise ValueError(f"sigmas = {self.sigmas!r} are not numbers. Expected a kernel after resolved(X)")
        widths = _widths(self.sigmas)
        n_points = points.shape[0]
        return GaussianKernel(np.tile(widths, n_points)), np.repeat(np.arange(n_points), widths.shape[0])

    def columns(self, centers: np.ndarray, dtype: np.dtype | type = np.float64) -> GaussianColumns:
        """Prepare for fixed centers, with one column per center and width, in the order of `over`."""
        kernel, numbers = self.over(centers)
        return kernel.columns(centers[numbers], dtype)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return ones, at every width."""
        return np.ones(X.shape[0])


def _widths(sigmas: Sequence[float] | np.ndarray) -> np.ndarray:
    widths = np.atleast_1d(positive("sigmas", sigmas))
    if np.unique(widths).shape[0] < widths.shape[0]:
        raise ValueError(f"sigmas must all be different, got {sigmas!r}")
    return widths
