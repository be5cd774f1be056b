"""The weights of a kernel logistic model on a given dictionary, by mini-batches."""

from collections.abc import Callable

import numpy as np

from discriminants.kernels import KernelColumns
from discriminants.logistic.loss import Loss
from discriminants.logistic.preconditioned_descent import PreconditionedDescent
from discriminants.logistic.whitening import Whitening

_CACHED_KERNEL = 1 << 24  # entries up to which the kernel matrix is kept, not formed again in every pass


def fit_logistic_weights(
    X: np.ndarray,
    codes: np.ndarray,
    sample_weight: np.ndarray,
    columns: KernelColumns,
    whitening: Whitening,
    weights: np.ndarray,
    bias: np.ndarray,
    *,
    loss: Loss,
    alpha: float,
    learning_rate: float,
    n_passes: int,
    n_batches: int,
    random: np.random.RandomState,
    after_pass: Callable[[int, float], None],
) -> None:
    """Descend on mean loss + alpha / 2 tr(W'K_mm W), W = T V, changing V and the bias in place.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    codes : ndarray of int of shape (n_samples,)
        Class numbers.
    sample_weight : ndarray of shape (n_samples,)
    columns : KernelColumns
        The kernel on the m centres, in the float type of X.
    whitening : Whitening
        T (m, r), the mean of the kernel columns and the diagonal of T'K_mm T.
    weights, bias : ndarray of shape (r, S) and (S,), in the float type of X
        V and the bias on the whitened, centred features T'(k(x) - mean).
    n_passes, n_batches : int
        Passes over the samples, and batches (of equal size, drawn anew) in each.
    after_pass : callable
        Called with the number of the pass, from 1, and its mean loss while the weights moved.
    """
    n_samples, dtype = X.shape[0], X.dtype
    batch = -(-n_samples // n_batches)
    T = np.ascontiguousarray(whitening.transform, dtype=dtype)
    T_transposed = np.ascontiguousarray(T.T)
    offset = (whitening.mean @ whitening.transform).astype(dtype)
    penalty = (alpha * whitening.penalty).astype(dtype)[:, None]
    descent = PreconditionedDescent(weights, bias, learning_rate, n_passes * n_batches)
    cached = columns.block(X) if n_samples * columns.n_centers <= _CACHED_KERNEL else None
    K_buffer = np.empty((batch, columns.n_centers), dtype=dtype)
    output_buffer = np.empty((batch, weights.shape[1]), dtype=dtype)
    W, gradient = np.empty((T.shape[0], weights.shape[1]), dtype=dtype), np.empty_like(weights)
    relative_weight = sample_weight * (n_samples / sample_weight.sum())
    for number in range(1, n_passes + 1):
        order = random.permutation(n_samples) if n_batches > 1 else np.arange(n_samples)
        total = 0.0
        for rows in np.array_split(order, n_batches):
            n = rows.shape[0]
            if cached is None:
                K = columns.block(X[rows], K_buffer[:n])
            elif n_batches == 1:
                K = cached
            else:
                K = cached[rows]
            np.matmul(T, weights, out=W)
            outputs = np.matmul(K, W, out=output_buffer[:n])
            outputs += bias - offset @ weights
            total += loss(outputs, codes[rows], relative_weight[rows])
            outputs /= n  # `loss` left its derivative there
            bias_gradient = outputs.sum(axis=0)
            np.matmul(T_transposed, K.T @ outputs, out=gradient)
            gradient -= np.outer(offset, bias_gradient)
            gradient += penalty * weights
            descent.step(gradient, bias_gradient)
        after_pass(number, total / n_samples)
