"""Calibration of posteriors: log loss, Brier score and reliability curves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.utils.multiclass import unique_labels

_ROWS_SUM_TO_ONE = 1e-3  # also allows for float32 posteriors of hundreds of classes


def log_loss(y: Any, proba: np.ndarray, *, labels: Any = None, sample_weight: np.ndarray | None = None) -> float:
    """Mean of -log P(y | x), natural logarithm: `sklearn.metrics.log_loss` with rows scaled to sum to one.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True classes.
    proba : array-like of shape (n_samples, n_classes)
        Posteriors as returned by `predict_proba`, with the columns in the order of the sorted labels.
    labels : array-like of shape (n_classes,), optional
        The classes, such as `classifier.classes_`; required if `y` does not contain all of them.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples, finite and not negative; all equal by default.

    Returns
    -------
    float
        The mean, in nats.

    Raises
    ------
    ValueError
        If shapes or labels do not fit together, or a row is not a distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import log_loss
    >>> y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
    >>> round(log_loss(y, proba), 3)
    0.364
    """
    codes, proba, weight = _checked(y, proba, labels, sample_weight)
    return float(metrics.log_loss(codes, proba, labels=np.arange(proba.shape[1]), sample_weight=weight))


def brier_score(y: Any, proba: np.ndarray, *, labels: Any = None, sample_weight: np.ndarray | None = None) -> float:
    """Mean over the samples of sum_c (P(c | x) - [y = c])^2, between 0 and 2 (Brier 1950).

    For two classes it is twice the one-column Brier score.

    Parameters
    ----------
    y, proba, labels, sample_weight
        As in `log_loss`.

    Returns
    -------
    float
        The mean; 0 is perfect.

    Raises
    ------
    ValueError
        As `log_loss`.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import brier_score
    >>> y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
    >>> round(brier_score(y, proba), 3)
    0.193
    """
    codes, proba, weight = _checked(y, proba, labels, sample_weight)
    own = proba[np.arange(codes.shape[0]), codes]
    squared = np.einsum("ij,ij->i", proba, proba) - 2.0 * own + 1.0
    return float(np.average(squared, weights=weight))


@dataclass(frozen=True)
class ReliabilityCurve:
    """Posterior and observed frequency in each bin; empty bins are omitted.

    Attributes
    ----------
    confidence : ndarray of shape (n_bins,)
        Mean posterior in each bin, ascending.
    accuracy : ndarray of shape (n_bins,)
        Fraction of the bin's samples that belong to the evaluated class.
    counts : ndarray of shape (n_bins,)
        Number of samples in each bin, or the sum of their weights.
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    counts: np.ndarray

    @property
    def expected_error(self) -> float:
        """Mean of |accuracy - confidence| over the samples."""
        return float(np.average(np.abs(self.accuracy - self.confidence), weights=self.counts))


def reliability_curve(
    y: Any,
    proba: np.ndarray,
    *,
    label: Any = None,
    labels: Any = None,
    n_bins: int = 10,
    strategy: str = "uniform",
    sample_weight: np.ndarray | None = None,
) -> ReliabilityCurve:
    """Return confidence against accuracy (DeGroot and Fienberg 1983).

    Extends `sklearn.calibration.calibration_curve` to any number of classes, with counts and weights.

    Parameters
    ----------
    y, proba, labels, sample_weight
        As in `log_loss`.
    label : optional
        The class whose posterior is evaluated; by default, the predicted class of each sample.
    n_bins : int
        Number of bins.
    strategy : {"uniform", "quantile"}
        Bins of equal width between 0 and 1, or bins of equal numbers of samples.

    Returns
    -------
    ReliabilityCurve
        Arrays `confidence`, `accuracy` and `counts`, one value per bin with samples.

    Raises
    ------
    ValueError
        If shapes or labels do not fit together, a row is not a distribution, or `n_bins` or `strategy` is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import reliability_curve
    >>> y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
    >>> reliability_curve(y, proba, label=1, n_bins=2).confidence.round(2)
    array([0.2 , 0.65])
    """
    codes, proba, weight = _checked(y, proba, labels, sample_weight)
    if label is None:
        winner = proba.argmax(axis=1)
        confidence, came_true = proba[np.arange(codes.shape[0]), winner], winner == codes
    else:
        classes = _classes(y, labels)
        if label not in classes:
            raise ValueError(f"label must be one of the classes {classes}, got {label!r}")
        code = int(np.flatnonzero(classes == label)[0])
        confidence, came_true = proba[:, code], codes == code
    if not n_bins >= 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins}")
    shares = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    if strategy == "uniform":
        edges = shares
    elif strategy == "quantile":
        edges = np.quantile(confidence, shares)
    else:
        raise ValueError(f'strategy must be "uniform" or "quantile", got {strategy!r}')
    bins = np.searchsorted(edges, confidence)
    counts = np.bincount(bins, weight, n_bins)
    filled = counts > 0.0
    confidence_sums, true_sums = (np.bincount(bins, weight * v, n_bins) for v in (confidence, came_true))
    return ReliabilityCurve(
        confidence_sums[filled] / counts[filled], true_sums[filled] / counts[filled], counts[filled]
    )


def expected_calibration_error(
    y: Any,
    proba: np.ndarray,
    *,
    label: Any = None,
    labels: Any = None,
    n_bins: int = 10,
    strategy: str = "uniform",
    sample_weight: np.ndarray | None = None,
) -> float:
    """Mean of |accuracy - confidence| over the bins of `reliability_curve`, weighted by their samples.

    Source: Naeini, Cooper and Hauskrecht 2015.

    Parameters
    ----------
    y, proba, label, labels, n_bins, strategy, sample_weight
        As in `reliability_curve`.

    Returns
    -------
    float
        The mean, from 0 to 1.

    Raises
    ------
    ValueError
        As `reliability_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import expected_calibration_error
    >>> y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
    >>> round(expected_calibration_error(y, proba, label=1, n_bins=2), 3)
    0.3
    """
    return reliability_curve(
        y, proba, label=label, labels=labels, n_bins=n_bins, strategy=strategy, sample_weight=sample_weight
    ).expected_error


def plot_reliability(curve: ReliabilityCurve, *, ax: Any = None, name: str | None = None) -> Any:
    """Plot a reliability curve with the diagonal; the area of a point is proportional to its bin's samples.

    Parameters
    ----------
    curve : ReliabilityCurve
        Result of `reliability_curve`.
    ax : matplotlib axes, optional
        Axes to draw on; those of a new figure of pyplot by default.
    name : str, optional
        Label in the legend; the mean of |accuracy - confidence| is appended.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import plot_reliability, reliability_curve
    >>> y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
    >>> plot_reliability(reliability_curve(y, proba), name="example").get_xlabel()
    'posterior'
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots()
    if not ax.lines:
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linestyle="--", label="perfect")
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel="posterior", ylabel="fraction of correct predictions")
    legend = f"{name + ': ' if name else ''}error {curve.expected_error:.3f}"
    (line,) = ax.plot(curve.confidence, curve.accuracy, label=legend)
    sizes = 10.0 + 150.0 * curve.counts / curve.counts.sum()
    ax.scatter(curve.confidence, curve.accuracy, s=sizes, color=line.get_color(), zorder=line.get_zorder())
    ax.legend()
    return ax


def _classes(y: Any, labels: Any) -> np.ndarray:
    return np.asarray(unique_labels(y if labels is None else labels))


def _checked(y: Any, proba: Any, labels: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return class numbers, posteriors in float64 that sum to one exactly, and weights."""
    y, proba = np.asarray(y), np.asarray(proba, dtype=np.float64)
    if y.ndim != 1 or proba.ndim != 2 or y.shape[0] != proba.shape[0] or not y.shape[0]:
        raise ValueError(
            f"y has shape {y.shape} and proba has shape {proba.shape}. Expected one label and one row per sample"
        )
    classes = _classes(y, labels)
    if classes.shape[0] != proba.shape[1]:
        raise ValueError(
            f"proba has {proba.shape[1]} columns for the {classes.shape[0]} classes {classes}. "
            "Use labels if y does not contain every class"
        )
    if not (np.isfinite(proba).all() and (proba >= 0.0).all()):
        raise ValueError(
            "proba has negative values or values that are not finite. Expected posteriors, not their logarithms"
        )
    total = proba.sum(axis=1, keepdims=True)
    worst = int(np.abs(total - 1.0).argmax())
    if abs(total[worst, 0] - 1.0) > _ROWS_SUM_TO_ONE:
        raise ValueError(
            f"the posteriors of sample {worst} sum to {total[worst, 0]:.6g}. Expected rows of proba that sum to one"
        )
    codes = np.searchsorted(classes, y).clip(max=classes.shape[0] - 1)
    unknown = classes[codes] != y
    if unknown.any():
        raise ValueError(f"y has unknown labels {np.unique(y[unknown])[:5]}. Expected labels among the classes")
    if sample_weight is None:
        return codes, proba / total, np.ones(y.shape[0])
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != y.shape or not (np.isfinite(weight).all() and (weight >= 0.0).all() and weight.any()):
        raise ValueError(f"sample_weight must be {y.shape[0]} finite numbers of 0 or more, not all 0")
    return codes, proba / total, weight
