"""Mean logistic loss and ridge of weights on kernel features, summed over blocks of samples by workers."""

from collections.abc import Iterable

import numpy as np

from discriminants.logistic.block_sums import Features, Weights, curvature_product, loss_gradient, weighted_gram
from discriminants.logistic.loss import Factored
from discriminants.logistic.samples import Block, Samples
from discriminants.logistic.whitening import Whitening
from discriminants.parallel.workers import Workers


class LogisticObjective:
    """Mean loss + alpha / 2 tr(W'K_mm W) over theta = [V; b], W = T V, f(x) = V'T'(k(x) - mean) + b.

    Sums over blocks are computed in float64 and in order, so they do not depend on the workers. `exact` applies T in
    float64 even if the products over the samples are float32.
    """

    def __init__(
        self,
        samples: Samples,
        features: Features,
        workers: Workers,
        whitening: Whitening,
        *,
        loss: str | Factored,
        alpha: float,
        exact: bool = True,
    ) -> None:
        self.samples, self.whitening, self.loss, self.alpha = samples, whitening, loss, alpha
        self._workers = workers
        self._source, self._features = workers.share(samples.source), workers.share(features)
        self._dtype = samples.source.dtype
        self._transform = np.ascontiguousarray(whitening.transform, dtype=np.float64 if exact else self._dtype)
        self._offset = whitening.mean @ whitening.transform

    def weights(self, theta: np.ndarray) -> Weights:
        """Convert theta (r + 1, S) to weights of the kernel features, in the float type of the products."""
        W = self._transform @ theta[:-1].astype(self._transform.dtype, copy=False)
        return Weights(W.astype(self._dtype, copy=False), (theta[-1] - self._offset @ theta[:-1]).astype(self._dtype))

    def over(
        self, blocks: Iterable[Block], theta: np.ndarray, *, curved: bool = False
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the summed loss over some blocks, its gradient (r + 1, S), and if `curved` the sum of weight * p (1 -
        p).
        """
        n_outputs = theta.shape[1]
        total = 0.0
        gradient, bias_gradient = np.zeros((self._transform.shape[0], n_outputs)), np.zeros(n_outputs)
        curvature = np.zeros(n_outputs)
        weights = self._workers.share(self.weights(theta))
        parts = self._workers.map(loss_gradient, blocks, self._source, self._features, weights, self.loss, curved)
        for loss, part, bias_part, curvature_part in parts:
            total += loss
            gradient += part
            bias_gradient += bias_part
            if curvature_part is not None:
                curvature += curvature_part
        return total, self._whitened(gradient, bias_gradient), curvature

    def at(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the objective, its gradient (r + 1, S) and the mean of weight * p (1 - p) of each output, (S,)."""
        total, gradient, curvature = self.over(self.samples.blocks(), theta, curved=True)
        n = self.samples.n
        ridge = self.alpha * self.whitening.ridge(theta[:-1])
        gradient /= n
        gradient[:-1] += ridge
        return total / n + 0.5 * float((ridge * theta[:-1]).sum()), gradient, curvature / n

    def hessian_product(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the Hessian at theta times a direction (r + 1, S)."""
        n_outputs = theta.shape[1]
        product, bias_product = np.zeros((self._transform.shape[0], n_outputs)), np.zeros(n_outputs)
        at, along = self._workers.share(self.weights(theta)), self._workers.share(self.weights(direction))
        blocks = self.samples.blocks()
        for part, bias_part in self._workers.map(
            curvature_product, blocks, self._source, self._features, at, along, self.loss
        ):
            product += part
            bias_product += bias_part
        result = self._whitened(product, bias_product) / self.samples.n
        result[:-1] += self.alpha * self.whitening.ridge(direction[:-1])
        return result

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """Return the Hessian (r + 1, r + 1) at theta, for one output."""
        m, r = self._transform.shape
        transform = np.zeros((m + 1, r + 1), dtype=self._dtype)
        transform[:m, :r], transform[m, :r], transform[m, r] = self._transform, -self._offset, 1.0
        total = np.zeros((r + 1, r + 1))
        shared = self._workers.share(transform)
        at = self._workers.share(self.weights(theta))
        blocks = self.samples.blocks()
        for part in self._workers.map(weighted_gram, blocks, self._source, self._features, at, shared):
            total += part
        total /= self.samples.n
        coupling = self.whitening.coupling
        total[:r, :r] += self.alpha * (np.diag(self.whitening.penalty) if coupling is None else coupling)
        return np.triu(total) + np.triu(total, 1).T

    def _whitened(self, gradient: np.ndarray, bias_gradient: np.ndarray) -> np.ndarray:
        """Convert the derivative with respect to weights of the kernel features to that with respect to theta."""
        inner = self._transform.T @ gradient.astype(self._transform.dtype, copy=False)
        return np.vstack([inner - np.outer(self._offset, bias_gradient), bias_gradient])
