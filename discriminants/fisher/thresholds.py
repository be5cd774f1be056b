"""Thresholds on the output of a discriminant between two classes."""

from collections.abc import Callable

import numpy as np

_AT_MARGIN = 1e-9  # maximum distance of a sample that counts as on the margin
_TIE = 1e-12  # difference of two sums of weights that is rounding
_COST = 1.0  # of the soft margin, for outputs of variance one within the classes


def least_errors(
    outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least number of errors of any threshold, and that threshold, for each output, both (n_outputs,).

    If several thresholds have equally few errors, the middle of the widest gap between two outputs is returned (Mika
    2002, section 5.3.1: least empirical risk, then largest margin). Time is O(N log N) per output. `positive` marks the
    samples whose outputs should lie above; both classes must be present. `weight` is the number of samples that each
    sample counts as; without it the errors are integers.
    """
    order = np.argsort(outputs, axis=0, kind="stable")
    ascending = np.take_along_axis(outputs, order, axis=0).astype(np.float64)
    columns = np.arange(outputs.shape[1])
    counts = np.ones(positive.shape[0], dtype=np.intp) if weight is None else weight
    n_samples = counts.sum()
    # Beyond either end all samples are assigned to one class; that threshold is a mean gap away.
    away = (ascending[-1] - ascending[0]) / n_samples + np.finfo(np.float64).eps * np.abs(ascending).max(axis=0)
    edges = np.vstack([ascending[0] - away, ascending, ascending[-1] + away])
    gaps = np.diff(edges, axis=0)
    gaps[[0, -1]] = 0.0
    steps = np.where(positive[order], counts[order], -counts[order])
    errors = counts[~positive].sum() + np.vstack([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])
    errors[1:-1][gaps[1:-1] <= 0] = n_samples + 1  # no threshold separates equal outputs
    least = errors.min(axis=0)
    cut = np.argmax(np.where(errors <= least + _TIE * n_samples, gaps, -1.0), axis=0)
    inner = 0.5 * (edges[cut, columns] + edges[cut + 1, columns])
    outer = np.where(cut == 0, edges[0], edges[-1])
    return least, np.where((cut == 0) | (cut == positive.shape[0]), outer, inner)


def least_error_threshold(outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the threshold of `least_errors` for one output of shape (n_samples,)."""
    return float(least_errors(outputs[:, None], positive, weight)[1][0])


def soft_margin_threshold(
    outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None, *, cost: float = _COST
) -> float:
    """Return the zero of the support vector machine on one output, w q + b with w >= 0 (Mika 2002, 5.2.1, 5.3.2).

    The machine minimizes w^2 / 2 + C sum_i max(0, 1 - y_i (w q_i + b)) in one dimension. For a given w the best bias
    has equal numbers of violators in both classes: the lowest of the class above and the highest of the class below.
    The sum is then sum_k max(0, 2 - w d_k), d_k the k-th lowest of one class less the k-th highest of the other. This
    hinge depends only on w, and its minimum is found among sorted differences in O(N log N).

    If a range of biases is equally good, its middle is returned. With weights the differences d are those of fractions
    of samples. `cost` is C, for outputs scaled to variance one within the classes. If the outputs of the class above
    are not larger (w = 0), the threshold of least errors is returned.
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
    """Return w and b; `upper` is ascending, `lower` descending, each with its sample weights."""
    # Samples are paired from the inside out; weights that are fractions of a sample are split.
    upper_ends = np.cumsum(np.ones(upper.shape[0]) if upper_counts is None else upper_counts)
    lower_ends = np.cumsum(np.ones(lower.shape[0]) if lower_counts is None else lower_counts)
    paired = min(upper_ends[-1], lower_ends[-1])
    ends = np.unique(np.concatenate([upper_ends[upper_ends < paired], lower_ends[lower_ends < paired], [paired]]))
    u, v = np.searchsorted(upper_ends, ends), np.searchsorted(lower_ends, ends)
    # weight of each pair, and the remainder of one class
    u = np.append(u, np.searchsorted(upper_ends, paired * (1 + 1e-12), side="right"))
    v = np.append(v, np.searchsorted(lower_ends, paired * (1 + 1e-12), side="right"))
    n = ends.shape[0]
    parts = np.diff(ends, prepend=0.0)
    d = upper[u[:n]] - lower[v[:n]]  # ascending
    if not (d > 0).any() and parts @ d <= 0:
        return 0.0, 0.0
    # With k differences inside the margin the slope in w is w - C sum_{i <= k} d_i. A piece of ascending w begins
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


def bayes_threshold(outputs: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the output at which both classes are equally probable, by normal densities with a common variance.

    It is (m+ + m-) / 2 - s^2 / (m+ - m-) log(P+ / P-) with the class means m, the variance s^2 within the classes and
    the class frequencies P of the samples (Suykens et al. 2002, 4.28 and 4.30, with the variance of the outputs). If
    the mean of the class above is not larger, the threshold of least errors is returned.
    """
    counts = np.ones(outputs.shape[0]) if weight is None else weight
    outputs = outputs.astype(np.float64)
    sizes = np.array([counts[part].sum() for part in (positive, ~positive)])
    means = np.array([counts[part] @ outputs[part] for part in (positive, ~positive)]) / sizes
    between = float(means[0] - means[1])
    if not between > 0:
        return least_error_threshold(outputs, positive, weight)
    variance = float(counts @ (outputs - np.where(positive, *means)) ** 2 / sizes.sum())
    return float(means.mean() - variance / between * np.log(sizes[0] / sizes[1]))


def fisher_targets_threshold(_: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the mean target: zero of regression onto N / N+ and -N / N- instead of +-1 (Suykens et al. 2002, 3.23)."""
    return 2.0 * float(np.average(positive, weights=weight)) - 1.0


THRESHOLDS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]] = {
    "soft_margin": soft_margin_threshold,
    "least_error": least_error_threshold,
    "bayes": bayes_threshold,
    "fisher_targets": fisher_targets_threshold,
}
