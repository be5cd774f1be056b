"""Posterior variance of the outputs of a machine."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from discriminants.kernels import Kernel
from discriminants.linear_systems.ridge_sums import RidgePath
from discriminants.lssvm.evidence.spectrum import KernelSpectrum

_NEGLIGIBLE = 1e-13  # eigenvalues relative to the penalty below which the data do not determine a direction
_ROWS = 1024


class PosteriorVariance(BaseEstimator):
    """Var w'(phi(x) - phi_r) for reference points phi_r that are mixtures of the samples.

    It is s^2 (|phi(x) - phi_r|^2 - sum_i p_i^2 / (l_i + r)) with the components p of phi(x) - phi_r along the
    eigenvectors of the centered kernel (Suykens et al. 2002, 4.24 and 4.69, with some misprinted signs and factors). A
    prediction uses the kernel values of the output and O(n n_directions) products.

    directions_ (n, n_directions) is SV of the eigenvalues_ that are not negligible; the columns of references_ (n,
    n_references) are mixture weights of the samples, offsets_ (n_directions, n_references) their components, and
    squares_ (n_references,) is |phi_r|^2.
    """

    directions_: np.ndarray
    eigenvalues_: np.ndarray
    references_: np.ndarray
    offsets_: np.ndarray
    squares_: np.ndarray

    def fit(self, spectrum: KernelSpectrum, references: np.ndarray, least_penalty: float) -> Self:
        """Store what the variances need, for penalties of at least `least_penalty`."""
        kept = spectrum.eigenvalues > _NEGLIGIBLE * least_penalty
        kept[-1] = True
        directions = spectrum.root[:, None] * spectrum.vectors[:, kept]
        along = spectrum.vectors.T @ (references / spectrum.root[:, None])
        self.directions_, self.eigenvalues_ = directions, spectrum.eigenvalues[kept]
        self.references_ = references
        components = self.eigenvalues_[:, None] * along[kept]
        self.offsets_ = (directions.T @ spectrum.column_means)[:, None] + components
        centred = spectrum.eigenvalues @ along**2
        self.squares_ = centred + (2 * references.T - spectrum.share) @ spectrum.column_means
        return self

    def fit_features(self, path: RidgePath, whitening: np.ndarray) -> Self:
        """Store the same for features k(x, centers) whitening, with their mean as the reference point.

        The part of phi(x) outside the span of the centers keeps its prior variance.
        """
        roots = np.sqrt(path.values)
        self.directions_, self.eigenvalues_ = whitening @ path.vectors * roots, path.values
        self.references_ = (whitening @ path.mean)[:, None]
        self.offsets_ = (roots * (path.mean @ path.vectors))[:, None]
        self.squares_ = np.array([path.mean @ path.mean])
        return self

    def variances(
        self,
        kernel: Kernel,
        centers: np.ndarray,
        X: np.ndarray,
        wanted: Sequence[tuple[int, float, float]],
    ) -> np.ndarray:
        """Compute variances (n_samples, n_wanted), float64, for triples of a reference, prior variance s^2 and penalty
        r.

        `centers` are the training samples in their order.
        """
        columns = kernel.columns(centers.astype(np.float64, copy=False), np.float64)
        found = np.empty((X.shape[0], len(wanted)))
        for start in range(0, X.shape[0], _ROWS):
            rows = X[start : start + _ROWS].astype(np.float64, copy=False)
            K = columns.block(rows)
            components = K @ self.directions_
            distances = kernel.diagonal(rows)[:, None] - 2 * (K @ self.references_) + self.squares_
            for place, (reference, prior_variance, penalty) in enumerate(wanted):
                squares = (components - self.offsets_[:, reference]) ** 2
                spread = distances[:, reference] - squares @ (1.0 / (self.eigenvalues_ + penalty))
                found[start : start + _ROWS, place] = prior_variance * np.maximum(spread, 0.0)
        return found
