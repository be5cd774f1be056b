"""Kernel widths with the largest evidence: level 3 of the inference."""

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import kernel_matrix
from discriminants.lssvm.evidence.penalty import Inference, kernel_gradient, most_probable
from discriminants.lssvm.evidence.spectrum import KernelSpectrum

_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the given widths: candidate starting points
_RANGE = 100.0  # largest change of a width
_OPTIONS = {"maxiter": 100, "ftol": 1e-7, "gtol": 1e-3}


class WidthEvidence:
    """log p(y | widths) of the samples, with optimal penalty and variances for each kernel.

    X (n, n_features) is float64; `noise_known` is as in `most_probable`. `n_samples` counts a sample of weight two
    twice.
    """

    def __init__(
        self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None, *, noise_known: bool = False
    ) -> None:
        self._X, self._targets, self._weight, self._noise_known = X, targets, weight, noise_known
        self.n_samples = float(X.shape[0] if weight is None or noise_known else weight.sum())

    def log_likelihood(self, kernel: Kernel) -> float:
        """Compute the log likelihood summed over the outputs."""
        spectrum = KernelSpectrum(kernel_matrix(kernel, self._X, self._X), self._weight)
        return float(self._inference(spectrum).log_likelihood.sum())

    def log_evidence(self, kernel: Kernel) -> float:
        """Compute the evidence with the variances integrated out, summed over the outputs."""
        spectrum = KernelSpectrum(kernel_matrix(kernel, self._X, self._X), self._weight)
        return float(self._inference(spectrum).log_evidence(self.n_samples).sum())

    def gradient(self, kernel: Kernel) -> tuple[float, np.ndarray]:
        """Compute the summed log likelihood and its derivatives by the log widths (Suykens et al. 2002, 4.77)."""
        K = kernel_matrix(kernel, self._X, self._X)
        spectrum = KernelSpectrum(K.copy(), self._weight)
        found = self._inference(spectrum)
        by_entry = kernel_gradient(spectrum, spectrum.rotated(self._targets), found)
        return float(found.log_likelihood.sum()), kernel.width_gradient(self._X, K, by_entry)

    def _inference(self, spectrum: KernelSpectrum) -> Inference:
        return most_probable(spectrum, self._targets, noise_known=self._noise_known)

    def tuned(self, kernel: Kernel, around: np.ndarray | None = None) -> Kernel:
        """Return the kernel with the widths of largest evidence, found by quasi-Newton steps from the given widths.

        Widths stay within a factor of 100 of `around`: if the targets are linear in an input, its width would grow
        without bound. `around` defaults to the given widths. The search then starts from the best of several multiples
        of them, because there may be several maxima.
        """
        widths = np.atleast_1d(np.asarray(kernel.get_params()["sigma"], dtype=np.float64))
        relevant = np.isfinite(widths)
        start = np.log(widths[relevant])
        if around is None:
            values = [self.log_likelihood(_with_widths(kernel, multiple * widths)) for multiple in _MULTIPLES]
            start = start + np.log(_MULTIPLES[int(np.argmax(values))])

        def at(logarithms: np.ndarray) -> Kernel:
            found = widths.copy()
            found[relevant] = np.exp(logarithms)
            return _with_widths(kernel, found)

        def cost(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
            value, slopes = self.gradient(at(logarithms))
            return -value, -slopes[relevant]

        reach = np.log(_RANGE)
        centres = np.log((widths if around is None else around)[relevant])
        bounds = [(centre - reach, centre + reach) for centre in centres]
        start = np.clip(start, *np.transpose(bounds))
        found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options=_OPTIONS)
        return at(found.x)


def _with_widths(kernel: Kernel, widths: np.ndarray) -> Kernel:
    one = np.ndim(kernel.get_params()["sigma"]) == 0
    return clone(kernel).set_params(sigma=float(widths[0]) if one else widths)
