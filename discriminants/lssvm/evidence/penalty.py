"""Penalty and variances with the largest evidence: level 2 of the inference."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from discriminants.linear_systems.ridge_sums import RidgePath
from discriminants.lssvm.evidence.spectrum import KernelSpectrum

_LOWEST, _HIGHEST = 1e-12, 1e3  # penalties, relative to the trace of the kernel matrix
_STEPS = 76  # five a decade
_FLAT = 1e-9  # nats per sample: differences due to rounding
_CONSTANT = 1e-14  # deviation of targets relative to their size, below which they are all the same


class Inference(NamedTuple):
    """The most probable values for every output, arrays of shape (n_outputs,)."""

    regularization: np.ndarray  # r, the ratio of the two variances: the inverse of the source's gamma
    prior_variance: np.ndarray  # of the weights in the space of the kernel: 1 / mu
    noise_variance: np.ndarray  # 1 / zeta, of a sample of weight one
    effective_parameters: np.ndarray  # 1 + sum_i l_i / (l_i + r), including the bias
    log_likelihood: np.ndarray  # log p(y | r, variances, kernel), natural

    def log_evidence(self, n_samples: float) -> np.ndarray:
        """Compute log p(y | kernel) with both variances integrated out (Suykens et al. 2002, 4.53), shape (n_outputs,).

        The log variances have variances 2 / (d - 1) and 2 / (N - d). A constant that is the same for all kernels is
        omitted. If the data hardly determine a variance, the formula has a pole and 2 is used instead.
        """
        d = self.effective_parameters
        return self.log_likelihood - 0.5 * np.log(np.maximum(d - 1.0, 1.0) * np.maximum(n_samples - d, 1.0))


def most_probable(spectrum: KernelSpectrum, targets: np.ndarray, *, noise_known: bool = False) -> Inference:
    """Find the variances of weights and noise that maximize the probability of the targets (n, n_outputs), per output.

    The common scale s^2 has a closed form. The remaining function of the ratio r (Suykens et al. 2002, 4.39) may have
    several minima: it is searched on a grid, then between the grid points. A sample of weight two counts as two equal
    samples. With `noise_known` the weights are inverse noise variances, neither scaled nor counted.
    """
    size = (spectrum.share @ targets**2) * spectrum.total
    columns = spectrum.rotated(targets) ** 2
    found = [_of_output(spectrum, q, m, noise_known) for q, m in zip(columns.T, size, strict=True)]
    return Inference(*np.array(found).T)


class _FeatureSpectrum(NamedTuple):
    """The attributes of `KernelSpectrum` that the search for the variances reads, without a kernel matrix."""

    eigenvalues: np.ndarray
    total: float
    size: float
    root: np.ndarray


def most_probable_of_features(path: RidgePath) -> Inference:
    """Find the variances as `most_probable` for a linear model in features (Suykens et al. 2002, 6.11).

    The centered kernel matrix of r features has at most r eigenvalues above zero, those of their scatter. The targets'
    energy outside these directions is noise, which one eigenvalue of zero stands for.
    """
    spanned = path.values > 0
    values = path.values[spanned]
    inside = path.rotated[spanned] ** 2 / values[:, None]
    squares = np.vstack([inside, np.maximum(path.energies - inside.sum(axis=0), 0.0)])
    size = max(float(values.sum()), float(np.finfo(np.float64).tiny))
    spectrum = _FeatureSpectrum(np.append(values, 0.0), float(path.n_samples), size, np.ones(0))
    sizes = path.energies + path.n_samples * path.target_mean**2
    return Inference(*np.array([_of_output(spectrum, *each, False) for each in zip(squares.T, sizes, strict=True)]).T)


def _of_output(
    spectrum: KernelSpectrum | _FeatureSpectrum, squares: np.ndarray, size: float, noise_known: bool
) -> tuple[float, float, float, float, float]:
    eigenvalues, n = spectrum.eigenvalues, squares.shape[0]
    repeated = 0.0 if noise_known else spectrum.total - (n + 1)  # repeated samples
    floor = max(_CONSTANT**2 * size, float(np.finfo(np.float64).tiny))
    squares = squares + max(0.0, floor - float(squares.sum())) / n

    def prior_variance(r: float) -> float:
        return 1.0 / r if noise_known else float((squares / (eigenvalues + r)).sum()) / (n + repeated)

    def cost(log_r: float) -> float:
        """Compute -2 log likelihood, up to a constant."""
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
    """Compute the derivative of the summed log likelihood by every entry of K, shape (n, n), in O(n^3) time.

    The variances are optimal for this kernel, so their derivatives vanish. `rotated` are the targets (n - 1, n_outputs)
    along the eigenvectors.
    """
    inverses = 1.0 / (spectrum.eigenvalues[:, None] + found.regularization)
    scaled = spectrum.vectors * np.sqrt(inverses.sum(axis=1))
    beta = spectrum.vectors @ (rotated * inverses) / np.sqrt(found.prior_variance)
    gradient = beta @ beta.T
    gradient -= scaled @ scaled.T
    gradient *= 0.5 * spectrum.root
    gradient *= spectrum.root[:, None]
    return gradient
