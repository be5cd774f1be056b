"""Where the output of a discriminant parts two classes."""

from collections.abc import Callable

import numpy as np

_AT_MARGIN = 1e-9  # a sample so near counts as one on the margin
_COST = 1.0  # of the soft margin, for outputs of variance one within the classes


def least_errors(outputs: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each of several outputs the least number of errors that a threshold can have, and the threshold.

    Among thresholds of equally few errors it is the middle of the widest gap between two outputs (Mika 2002, section
    5.3.1: least empirical risk, then largest margin). Time is O(N log N) an output.

    Parameters
    ----------
    outputs : ndarray of shape (n_samples, n_outputs)
    positive : ndarray of bool of shape (n_samples,)
        Whose outputs are to lie above; both kinds are there.

    Returns
    -------
    errors : ndarray of int of shape (n_outputs,)
    thresholds : ndarray of shape (n_outputs,), float64
    """
    order = np.argsort(outputs, axis=0, kind="stable")
    ascending = np.take_along_axis(outputs, order, axis=0).astype(np.float64)
    n_samples, columns = positive.shape[0], np.arange(outputs.shape[1])
    # Beyond either end all samples are called one class; such a threshold keeps a mean gap away.
    away = (ascending[-1] - ascending[0]) / n_samples + np.finfo(np.float64).eps * np.abs(ascending).max(axis=0)
    edges = np.vstack([ascending[0] - away, ascending, ascending[-1] + away])
    gaps = np.diff(edges, axis=0)
    gaps[[0, -1]] = 0.0
    steps = np.where(positive[order], 1, -1)
    errors = (~positive).sum() + np.vstack([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])
    errors[1:-1][gaps[1:-1] <= 0] = n_samples + 1  # equal outputs cannot be parted
    least = errors.min(axis=0)
    cut = np.argmax(np.where(errors == least, gaps, -1.0), axis=0)
    inner = 0.5 * (edges[cut, columns] + edges[cut + 1, columns])
    outer = np.where(cut == 0, edges[0], edges[-1])
    return least, np.where((cut == 0) | (cut == n_samples), outer, inner)


def least_error_threshold(outputs: np.ndarray, positive: np.ndarray) -> float:
    """`least_errors` of one output of shape (n_samples,): the threshold."""
    return float(least_errors(outputs[:, None], positive)[1][0])


def soft_margin_threshold(outputs: np.ndarray, positive: np.ndarray, cost: float = _COST) -> float:
    """The zero of the support vector machine on one output, w q + b with w >= 0 (Mika 2002, sections 5.2.1, 5.3.2).

    The machine minimizes w^2 / 2 + C sum_i max(0, 1 - y_i (w q_i + b)) in one dimension. For a given w the best bias
    leaves as many violators in one class as in the other, the lowest of the class above and the highest of the class
    below, so that the sum is sum_k max(0, 2 - w d_k), d_k the k-th lowest of the one less the k-th highest of the
    other: a hinge in w alone, whose minimum is found among sorted differences in O(N log N). Where a range of biases
    is equally good its middle is taken.

    Parameters
    ----------
    outputs : ndarray of shape (n_samples,)
    positive : ndarray of bool of shape (n_samples,)
        Whose outputs are to lie above; both kinds are there.
    cost : float
        C, for outputs scaled to variance one within the classes.

    Returns
    -------
    float
        Where the outputs do not rise from the class below to the one above at all (w = 0), the threshold of least
        errors.
    """
    outputs = np.asarray(outputs, dtype=np.float64)
    upper, lower = np.sort(outputs[positive]), np.sort(outputs[~positive])[::-1]
    variance = (upper.var() * upper.shape[0] + lower.var() * lower.shape[0]) / outputs.shape[0]
    spread = float(np.sqrt(variance))
    if not spread > 1e-12 * max(abs(upper).max(), abs(lower).max()):
        return 0.5 * float(upper.mean() + lower.mean())
    center = outputs.mean()
    w, b = _one_dimensional_machine((upper - center) / spread, (lower - center) / spread, cost)
    return least_error_threshold(outputs, positive) if w <= 0 else float(center - spread * b / w)


def _one_dimensional_machine(upper: np.ndarray, lower: np.ndarray, cost: float) -> tuple[float, float]:
    """w and b; `upper` ascending, `lower` descending."""
    n = min(upper.shape[0], lower.shape[0])
    d = upper[:n] - lower[:n]  # ascending
    if not (d > 0).any() and d.sum() <= 0:
        return 0.0, 0.0
    # With k differences inside the margin the slope in w is w - C sum_{i <= k} d_i; a piece of ascending w begins
    # where the k + 1st leaves and ends where the k-th does, at 2 / d_k. The minimum lies in the first piece whose
    # slope is not negative at its end: at its zero there, or at the beginning of the piece.
    zeros = cost * np.concatenate([[0.0], np.cumsum(d)])[::-1]  # k = n, n - 1, ..., 0
    leaving = np.divide(2.0, d, out=np.full(n, np.inf), where=d > 0)[::-1]
    begins, ends = np.concatenate([[0.0], leaving]), np.concatenate([leaving, [np.inf]])
    piece = int(np.argmax(zeros < ends))
    w = float(max(zeros[piece], begins[piece]))
    if w <= 0:
        return 0.0, 0.0
    above, below = w * upper, w * lower
    k = int((w * d < 2 - _AT_MARGIN).sum())  # violators in each class
    if k < n and w * d[k] <= 2 + _AT_MARGIN:
        return w, float(1 - above[k])
    most, least = [], []
    if k > 0:  # both sides of the margin: the last violators are inside, the first of the others outside
        most.append(1 - above[k - 1])
        least.append(-1 - below[k - 1])
    if k < upper.shape[0]:
        least.append(1 - above[k])
    if k < lower.shape[0]:
        most.append(-1 - below[k])
    return w, float(0.5 * (min(most) + max(least)))


THRESHOLDS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "soft_margin": soft_margin_threshold,
    "least_error": least_error_threshold,
}
