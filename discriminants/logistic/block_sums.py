"""Sums over one block of samples, with the size of the weights and not of the samples.

A block is processed in stripes whose kernel values fit into the cache. Products, and the sums within a block, have the
float type of the kernel values.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas

from discriminants.kernels import Kernel
from discriminants.logistic.loss import (
    Factored,
    binary,
    log_posteriors,
    log_sigmoid,
    log_softmax_in_place,
    loss_function,
)
from discriminants.logistic.samples import Block
from discriminants.parallel.stored_array import StoredArray

STRIPE_ROWS = 1024


@dataclass(frozen=True)
class Features:
    """Map from rows of a source to features."""

    # k(x, centers) with centers (m, n_features); None if the source contains these values
    kernel: Kernel | None = None
    centers: np.ndarray | None = None

    def stripes(self, block: Block, source: np.ndarray | StoredArray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows within the block, features (n, m)); each item overwrites the previous one."""
        if self.kernel is None or self.centers is None:
            yield from block.stripes(source, STRIPE_ROWS)
            return
        columns = self.kernel.columns(self.centers, source.dtype)
        n = min(STRIPE_ROWS, block.codes.shape[0])
        out, work = np.empty((n, columns.n_centers), dtype=columns.dtype), columns.work_space(n)
        for rows, X in block.stripes(source, STRIPE_ROWS):
            k = X.shape[0]
            yield rows, columns.block(X, out[:k], None if work is None else work[:k])


@dataclass(frozen=True)
class Weights:
    """f(x) = W'k(x) + bias."""

    W: np.ndarray  # (m, S)
    bias: np.ndarray  # (S,)

    def __getstate__(self) -> tuple[Any, ...]:
        # New weights are sent for every step: bytes travel with the object, but an array would be put into a file.
        return self.W.tobytes(), self.W.shape, self.W.dtype.str, self.bias

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        content, shape, dtype, bias = state
        self.__init__(np.frombuffer(content, dtype=dtype).reshape(shape), bias)  # type: ignore[misc]

    def outputs(self, K: np.ndarray) -> np.ndarray:
        """Return outputs of shape (n, S)."""
        outputs = K @ self.W
        outputs += self.bias
        return outputs


def loss_gradient(
    block: Block,
    source: np.ndarray | StoredArray,
    features: Features,
    weights: Weights,
    loss: str | Factored,
    curved: bool,
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the summed loss, its derivatives K'R (m, S) and 1'R (S,), and (`curved`) the sum of weight * p (1 - p)."""
    total, gradient, bias_gradient = 0.0, np.zeros_like(weights.W), np.zeros(weights.bias.shape[0])
    curvature = np.zeros(weights.bias.shape[0]) if curved else None
    function = loss_function(loss)
    for rows, K in features.stripes(block, source):
        residual = weights.outputs(K)
        total += function(residual, block.codes[rows], block.weight[rows])
        gradient += K.T @ residual
        bias_gradient += residual.sum(axis=0, dtype=np.float64)
        if curvature is not None:
            curvature += _curvature(residual, block.weight[rows]).sum(axis=0, dtype=np.float64)
    return total, gradient, bias_gradient, curvature


def curvature_product(
    block: Block, source: np.ndarray | StoredArray, features: Features, weights: Weights, direction: Weights, loss: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Hessian of the summed loss times a direction: K'Q (m, S) and 1'Q (S,), Q the residuals' change."""
    product, bias_product = np.zeros_like(weights.W), np.zeros(weights.bias.shape[0])
    for rows, K in features.stripes(block, source):
        outputs, change = weights.outputs(K), direction.outputs(K)
        if loss == "multinomial":
            log_softmax_in_place(outputs)
            probability = np.exp(outputs, out=outputs)
            change -= np.einsum("ns,ns->n", probability, change)[:, None]
        else:
            probability = np.exp(log_sigmoid(outputs))
            change *= np.exp(log_sigmoid(-outputs))
        change *= probability
        change *= block.weight[rows, None].astype(change.dtype)
        product += K.T @ change
        bias_product += change.sum(axis=0, dtype=np.float64)
    return product, bias_product


def weighted_gram(
    block: Block, source: np.ndarray | StoredArray, features: Features, weights: Weights, transform: np.ndarray
) -> np.ndarray:
    """Return phi' diag(weight p (1 - p)) phi (r + 1, r + 1), upper triangle, phi = [k, 1] @ transform, one output."""
    total = np.zeros((transform.shape[1], transform.shape[1]), order="F")
    for rows, K in features.stripes(block, source):
        residual = weights.outputs(K)
        binary(residual, block.codes[rows], block.weight[rows])
        phi = K @ transform[:-1]
        phi += transform[-1]
        phi *= np.sqrt(_curvature(residual, block.weight[rows]))
        blas.dsyrk(1.0, phi.T, beta=1.0, c=total, overwrite_c=1)
    return total


def cross_entropy(
    block: Block, source: np.ndarray | StoredArray, features: Features, weights: Weights, loss: str | Factored
) -> float:
    """Return the sum over the samples of minus the log posterior of their classes."""
    total = 0.0
    for rows, K in features.stripes(block, source):
        own = log_posteriors(weights.outputs(K), loss)[np.arange(K.shape[0]), block.codes[rows]]
        total -= float(own.sum(dtype=np.float64))
    return total


def _curvature(residual: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return weight * p (1 - p), (n, S): |residual| / weight is either p or 1 - p."""
    error = np.abs(residual)
    return error * (1.0 - error / weight[:, None].astype(error.dtype))
