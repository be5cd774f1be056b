"""Moments of the coordinates of each class, from which densities of linear outputs are computed."""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from discriminants.posteriors.output_models import GaussianOutputModel

_MIN_SHARE = 1e-12  # of the mean square; a smaller variance is rounding in the difference of two moments
_MIN_SQUARE = 1e-200  # mean square if all outputs are zero


class ClassMoments(BaseEstimator):
    """Moments of coordinates by class: counts_ (n_classes,), sums_ (n_classes, m) and squares_ (n_classes, m, m),
    float64.
    """

    def start(self, n_classes: int) -> Self:
        """Reset to no samples."""
        self.counts_ = np.zeros(n_classes)
        self.sums_ = np.zeros((n_classes, 0))
        self.squares_ = np.zeros((n_classes, 0, 0))
        return self

    def copied(self) -> Self:
        """Return a copy with its own arrays, so that `add` does not change the original."""
        copy = type(self)()
        copy.counts_, copy.sums_, copy.squares_ = self.counts_.copy(), self.sums_.copy(), self.squares_.copy()
        return copy

    def decay(self, factor: float) -> None:
        """Multiply the weights of all samples so far by `factor`."""
        self.counts_, self.sums_, self.squares_ = factor * self.counts_, factor * self.sums_, factor * self.squares_

    def add(self, phi: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add samples with coordinates (n_samples, m), class numbers and weights (n_samples,), in place."""
        more = phi.shape[1] - self.sums_.shape[1]
        if more:
            self.sums_ = np.pad(self.sums_, ((0, 0), (0, more)))
            self.squares_ = np.pad(self.squares_, ((0, 0), (0, more), (0, more)))
        for code in np.unique(codes):
            rows = codes == code
            part = phi[rows]
            v = np.ones(part.shape[0]) if weight is None else weight[rows]
            self.counts_[code] += v.sum()
            self.sums_[code] += v @ part
            self.squares_[code] += part.T @ (part if weight is None else v[:, None] * part)

    def output_model(self, weights: np.ndarray) -> GaussianOutputModel:
        """Return the Gaussian model of the outputs phi'w, equal to a fit to the outputs of all samples (4.7)."""
        n_outputs = weights.shape[1]
        own = np.array([1]) if n_outputs == 1 else np.arange(n_outputs)
        sum_own = np.einsum("sm,ms->s", self.sums_[own], weights)
        square_own = np.array([w @ (self.squares_[code] @ w) for code, w in zip(own, weights.T, strict=True)])
        sum_all = self.sums_.sum(axis=0) @ weights
        square_all = np.einsum("ms,ms->s", weights, self.squares_.sum(axis=0) @ weights)
        n_samples = self.counts_.sum()
        number = np.stack([self.counts_[own], n_samples - self.counts_[own]])
        seen = np.where(number > 0, number, 1)
        means = np.stack([sum_own, sum_all - sum_own]) / seen
        variances = np.stack([square_own, square_all - square_own]) / seen - means**2
        floor = _MIN_SHARE * np.maximum(square_all / n_samples, _MIN_SQUARE)
        model = GaussianOutputModel()
        model.n_classes_ = self.counts_.shape[0]
        model.means_ = means
        model.variances_ = np.where(number > 0, np.maximum(variances, floor), 1.0)
        with np.errstate(divide="ignore"):  # a class without samples
            model.log_priors_ = np.log(number / n_samples)
        return model
