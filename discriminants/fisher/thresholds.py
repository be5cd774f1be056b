"""Where the output of a discriminant parts two classes."""

from collections.abc import Callable

import numpy as np

_AT_MARGIN = 1e-9  # a sample so near counts as one on the margin
_TIE = 1e-12  # difference of two sums of weights that rounding makes
_COST = 1.0  # of the soft margin, for outputs of variance one within the classes


def least_errors(
    outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """For each output the least number of errors that a threshold can have, and the threshold, both (n_outputs,).

    Among thresholds of equally few errors it is the middle of the widest gap between two outputs (Mika 2002, section
    5.3.1: least empirical risk, then largest margin). Time is O(N log N) an output. `positive` marks the samples whose
    outputs are to lie above; both kinds are there. `weight` says as how many samples each counts; without it errors are
    of int.
    """
    order = np.argsort(outputs, axis=0, kind="stable")
    ascending = np.take_along_axis(outputs, order, axis=0).astype(np.float64)
    columns = np.arange(outputs.shape[1])
    counts = np.ones(positive.shape[0], dtype=np.intp) if weight is None else weight
    n_samples = counts.sum()
    # Beyond either end all samples are called one class; such a threshold keeps a mean gap away.
    away = (ascending[-1] - ascending[0]) / n_samples + np.finfo(np.float64).eps * np.abs(ascending).max(axis=0)
    edges = np.vstack([ascending[0] - away, ascending, ascending[-1] + away])
    gaps = np.diff(edges, axis=0)
    gaps[[0, -1]] = 0.0
    steps = np.where(positive[order], counts[order], -counts[order])
    errors = counts[~positive].sum() + np.vstack([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])
    errors[1:-1][gaps[1:-1] <= 0] = n_samples + 1  # equal outputs cannot be parted
    least = errors.min(axis=0)
    cut = np.argmax(np.where(errors <= least + _TIE * n_samples, gaps, -1.0), axis=0)
    inner = 0.5 * (edges[cut, columns] + edges[cut + 1, columns])
    outer = np.where(cut == 0, edges[0], edges[-1])
    return least, np.where((cut == 0) | (cut == positive.shape[0]), outer, inner)


def least_error_threshold(outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> float:
    """`least_errors` of one output of shape (n_samples,): the threshold."""
    return float(least_errors(outputs[:, None], positive, weight)[1][0])


def soft_margin_threshold(
    outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None, *, cost: float = _COST
) -> float:
    """The zero of the support vector machine on one output, w q + b with w >= 0 (Mika 2002, sections 5.2.1, 5.3.2).

    The machine minimizes w^2 / 2 + C sum_i max(0, 1 - y_i (w q_i + b)) in one dimension. For a given w the best bias
    leaves as many violators in one class as in the other, the lowest of the class above and the highest of the class
    below, so that the sum is sum_k max(0, 2 - w d_k), d_k the k-th lowest of the one less the k-th highest of the
    other: a hinge in w alone, whose minimum is found among sorted differences in O(N log N). Where a range of biases is
    equally good its middle is taken. With weights the differences d are those of shares of samples. `cost` is C, for
    outputs scaled to variance one within the classes. Where the outputs do not rise from the class below to the one
    above (w = 0), it is the threshold of least errors.
    """
    outputs = np.asarray(outputs, dtype=np.float64)
    counts = np.ones(outputs.shape[0]) if weight is None else weight
    order = np.argsort(outputs, kind="stable")
    above, below = order[positive[order]], order[~positive[order]][::-1]
    upper, lower = outputs[above], outputs[below]
    means = [np.average(outputs[rows], weights=counts[rows]) for rows in (above, below)]
    squares = sum(counts[rows] @ (outputs[rows] - mean) ** 2 for rows, mean in zip((above, below), means, strict=True))
    spread = float(np.sqrt(squares / counts.sum()))
    if not spread > 1e-12 * max(abs(upper).max(), abs(lower).max()):
        return 0.5 * float(sum(means))
    center = np.average(outputs, weights=counts)
    w, b = _one_dimensional_machine(
        (upper - center) / spread, (lower - center) / spread, cost, counts[above], counts[below]
    )
    return least_error_threshold(outputs, positive, weight) if w <= 0 else float(center - spread * b / w)


def _one_dimensional_machine(
    upper: np.ndarray,
    lower: np.ndarray,
    cost: float,
    upper_counts: np.ndarray | None = None,
    lower_counts: np.ndarray | None = None,
) -> tuple[float, float]:
    """w and b; `upper` ascending, `lower` descending, each with as how many samples it counts."""
    # Samples are paired from the inside out; where they count for parts of a sample, parts are.
    upper_ends = np.cumsum(np.ones(upper.shape[0]) if upper_counts is None else upper_counts)
    lower_ends = np.cumsum(np.ones(lower.shape[0]) if lower_counts is None else lower_counts)
    paired = min(upper_ends[-1], lower_ends[-1])
    ends = np.unique(np.concatenate([upper_ends[upper_ends < paired], lower_ends[lower_ends < paired], [paired]]))
    u, v = np.searchsorted(upper_ends, ends), np.searchsorted(lower_ends, ends)
    # of each pair, and of what is left over of one class
    u = np.append(u, np.searchsorted(upper_ends, paired * (1 + 1e-12), side="right"))
    v = np.append(v, np.searchsorted(lower_ends, paired * (1 + 1e-12), side="right"))
    n = ends.shape[0]
    parts = np.diff(ends, prepend=0.0)
    d = upper[u[:n]] - lower[v[:n]]  # ascending
    if not (d > 0).any() and parts @ d <= 0:
        return 0.0, 0.0
    # With k differences inside the margin the slope in w is w - C sum_{i <= k} d_i; a piece of ascending w begins
    # where the k + 1st leaves and ends where the k-th does, at 2 / d_k. The minimum lies in the first piece whose
    # slope is not negative at its end: at its zero there, or at the beginning of the piece.
    zeros = cost * np.concatenate([[0.0], np.cumsum(parts * d)])[::-1]  # k = n, n - 1, ..., 0
    leaving = np.divide(2.0, d, out=np.full(n, np.inf), where=d > 0)[::-1]
    begins, ends = np.concatenate([[0.0], leaving]), np.concatenate([leaving, [np.inf]])
    piece = int(np.argmax(zeros < ends))
    w = float(max(zeros[piece], begins[piece]))
    if w <= 0:
        return 0.0, 0.0
    above, below = w * upper, w * lower
    k = int((w * d < 2 - _AT_MARGIN).sum())  # pairs of violators
    if k < n and w * d[k] <= 2 + _AT_MARGIN:
        return w, float(1 - above[u[k]])
    most, least = [], []
    if k > 0:  # both sides of the margin: the last violators are inside, the first of the others outside
        most.append(1 - above[u[k - 1]])
        least.append(-1 - below[v[k - 1]])
    if u[k] < upper.shape[0]:
        least.append(1 - above[u[k]])
    if v[k] < lower.shape[0]:
        most.append(-1 - below[v[k]])
    return w, float(0.5 * (min(most) + max(least)))


THRESHOLDS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]] = {
    "soft_margin": soft_margin_threshold,
    "least_error": least_error_threshold,
}
