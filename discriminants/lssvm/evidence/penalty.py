"""The penalty and the variances of most evidence: level 2 of the inference."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from discriminants.lssvm.evidence.spectrum import KernelSpectrum

_LOWEST, _HIGHEST = 1e-12, 1e3  # penalties, of the sum of the kernel's diagonal
_STEPS = 76  # five a decade
_FLAT = 1e-9  # nats a sample: differences that rounding makes
_CONSTANT = 1e-14  # deviation of targets relative to their size, below which they are all the same


class Inference(NamedTuple):
    """What is most probable for every output, arrays of shape (n_outputs,)."""

    regularization: np.ndarray  # r, the ratio of the two variances: the inverse of the source's gamma
    prior_variance: np.ndarray  # of the weights in the space of the kernel: 1 / mu
    noise_variance: np.ndarray  # 1 / zeta, of a sample of weight one
    effective_parameters: np.ndarray  # 1 + sum_i l_i / (l_i + r): as many as the data determine, the bias among them
    log_likelihood: np.ndarray  # log p(y | r, variances, kernel), natural

    def log_evidence(self, n_samples: float) -> np.ndarray:
        """log p(y | kernel) with both variances integrated over (Suykens et al. 2002, 4.53), shape (n_outputs,).

        Their logarithms have the variances 2 / (d - 1) and 2 / (N - d); a constant that no kernel changes is left out.
        Where a variance is hardly determined the formula has a pole, and 2 takes its place.
        """
        d = self.effective_parameters
        return self.log_likelihood - 0.5 * np.log(np.maximum(d - 1.0, 1.0) * np.maximum(n_samples - d, 1.0))


def most_probable(spectrum: KernelSpectrum, targets: np.ndarray, *, noise_known: bool = False) -> Inference:
    """The variances of weights and noise under which the targets (n, n_outputs) are most probable, for each by itself.

    The scale s^2 of both has a closed form; what is left is a function of their ratio r alone (Suykens et al. 2002,
    4.39), which may have several minima: searched on a grid, then between its points. A sample of weight two is as two
    equal samples; with `noise_known` the weights are inverse variances of noise, and neither scaled nor counted.
    """
    size = (spectrum.share @ targets**2) * spectrum.total
    columns = spectrum.rotated(targets) ** 2
    found = [_of_output(spectrum, q, m, noise_known) for q, m in zip(columns.T, size, strict=True)]
    return Inference(*np.array(found).T)


def _of_output(
    spectrum: KernelSpectrum, squares: np.ndarray, size: float, noise_known: bool
) -> tuple[float, float, float, float, float]:
    eigenvalues, n = spectrum.eigenvalues, squares.shape[0]
    repeated = 0.0 if noise_known else spectrum.total - (n + 1)  # samples beyond the first of each place
    floor = max(_CONSTANT**2 * size, float(np.finfo(np.float64).tiny))
    squares = squares + max(0.0, floor - float(squares.sum())) / n

    def prior_variance(r: float) -> float:
        return 1.0 / r if noise_known else float((squares / (eigenvalues + r)).sum()) / (n + repeated)

    def cost(log_r: float) -> float:
        """Minus twice the logarithm of the likelihood, up to a constant."""
        r = float(np.exp(log_r))
        s2 = prior_variance(r)
        total = float((np.log(eigenvalues + r) + squares / ((eigenvalues + r) * s2)).sum())
        return total + (n + repeated) * float(np.log(s2)) + repeated * float(np.log(r))

    grid = np.log(spectrum.size) + np.linspace(np.log(_LOWEST), np.log(_HIGHEST), _STEPS)
    costs = np.array([cost(log_r) for log_r in grid])
    best = int(np.flatnonzero(costs <= costs.min() + _FLAT * n)[-1])  # the smoothest of equals
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, _STEPS - 1)]
    refined = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    log_r = float(refined.x) if refined.fun < costs[best] - _FLAT else float(grid[best])
    r = float(np.exp(log_r))
    s2 = prior_variance(r)
    effective = 1.0 + float((eigenvalues / (eigenvalues + r)).sum())
    units = 2.0 * float(np.log(spectrum.root).sum()) if noise_known else 0.0
    constant = (n + repeated) * float(np.log(2 * np.pi)) + float(np.log(spectrum.total)) - units
    likelihood = -0.5 * (cost(log_r) + constant)
    return r, s2, r * s2, effective, likelihood


def kernel_gradient(spectrum: KernelSpectrum, rotated: np.ndarray, found: Inference) -> np.ndarray:
    """Derivative of the summed log likelihood with respect to every entry of K, shape (n, n), in O(n^3) time.

    The variances are at their best for this kernel, so that their own derivatives have no part in it. `rotated` are the
    targets (n - 1, n_outputs) along the eigenvectors.
    """
    inverses = 1.0 / (spectrum.eigenvalues[:, None] + found.regularization)
    scaled = spectrum.vectors * np.sqrt(inverses.sum(axis=1))
    beta = spectrum.vectors @ (rotated * inverses) / np.sqrt(found.prior_variance)
    gradient = beta @ beta.T
    gradient -= scaled @ scaled.T
    gradient *= 0.5 * spectrum.root
    gradient *= spectrum.root[:, None]
    return gradient
