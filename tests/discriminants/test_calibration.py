"""Measures of calibration and the reliability curve."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve

from discriminants.posteriors.calibration import (
    brier_score,
    expected_calibration_error,
    log_loss,
    plot_reliability,
    reliability_curve,
)


def sample(n_classes: int, n_samples: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, the posteriors they are drawn from, and weights."""
    random = np.random.default_rng(seed)
    proba = random.dirichlet(np.full(n_classes, 0.7), n_samples)
    codes = np.array([random.choice(n_classes, p=row) for row in proba])
    return np.array(list("abcdefgh"))[codes], proba, random.uniform(0.1, 2.0, n_samples)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_equal_a_loop_over_the_samples_and_scikit_learn(n_classes: int, weighted: bool) -> None:
    y, proba, weight = sample(n_classes)
    weight = weight if weighted else np.ones_like(weight)
    brier = log = 0.0
    for label, row, w in zip(y, proba, weight, strict=True):
        own = "abcdefgh".index(label)
        log -= w * np.log(row[own])
        brier += w * sum((p - (c == own)) ** 2 for c, p in enumerate(row))
    assert log_loss(y, proba, sample_weight=weight) == pytest.approx(log / weight.sum())
    assert brier_score(y, proba, sample_weight=weight) == pytest.approx(brier / weight.sum())
    assert log_loss(y, proba) == pytest.approx(metrics.log_loss(y, proba))
    if n_classes == 2:
        peer = metrics.brier_score_loss(y, proba[:, 1], sample_weight=weight, pos_label="b")
        assert brier_score(y, proba, sample_weight=weight) == pytest.approx(2 * peer)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("label", [None, "b"])
def test_the_reliability_curve_is_scikit_learns_with_counts(strategy: str, label: Any) -> None:
    y, proba, _ = sample(3)
    curve = reliability_curve(y, proba, label=label, n_bins=7, strategy=strategy)
    confidence = proba.max(axis=1) if label is None else proba[:, 1]
    came_true = np.array(list("abc"))[proba.argmax(axis=1)] == y if label is None else y == label
    accuracy, mean_confidence = calibration_curve(came_true, confidence, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(curve.accuracy, accuracy)
    np.testing.assert_allclose(curve.confidence, mean_confidence)
    assert curve.counts.sum() == 500


def test_whole_weights_are_repetition() -> None:
    y, proba, _ = sample(3, 100)
    weight = np.random.default_rng(1).integers(0, 4, 100)
    again, often = np.repeat(y, weight), np.repeat(proba, weight, axis=0)
    one, other = reliability_curve(y, proba, sample_weight=weight), reliability_curve(again, often, labels=list("abc"))
    for name in ("confidence", "accuracy", "counts"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name))
    assert log_loss(y, proba, sample_weight=weight) == pytest.approx(log_loss(again, often, labels=list("abc")))


def test_the_expected_calibration_error_is_small_where_posteriors_are_true_and_large_where_they_are_sharpened() -> None:
    y, proba, _ = sample(3, 5000)
    sharp = proba**4 / (proba**4).sum(axis=1, keepdims=True)
    assert expected_calibration_error(y, proba) < 0.02
    assert expected_calibration_error(y, sharp) > 0.1
    curve = reliability_curve(y, sharp, n_bins=4)
    by_hand = (curve.counts * np.abs(curve.accuracy - curve.confidence)).sum() / 5000
    assert expected_calibration_error(y, sharp, n_bins=4) == pytest.approx(by_hand)


@given(st.integers(2, 6), st.integers(1, 40), st.integers(1, 12), st.integers(0, 10**6))
def test_the_curve_keeps_the_samples_and_both_means(n_classes: int, n: int, n_bins: int, seed: int) -> None:
    y, proba, weight = sample(n_classes, n, seed)
    labels = list("abcdefgh")[:n_classes]
    for strategy in ("uniform", "quantile"):
        curve = reliability_curve(y, proba, labels=labels, n_bins=n_bins, strategy=strategy, sample_weight=weight)
        assert curve.counts.sum() == pytest.approx(weight.sum())
        assert curve.counts @ curve.confidence == pytest.approx(weight @ proba.max(axis=1))
        assert 0.0 <= curve.expected_error <= 1.0
    assert 0.0 <= brier_score(y, proba, labels=labels) <= 2.0


def test_certain_and_wrong_posteriors_have_finite_scores() -> None:
    y, proba = np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]], dtype=np.float32)
    assert 10.0 < log_loss(y, proba) < 100.0
    assert brier_score(y, proba) == 1.0
    assert expected_calibration_error(y, proba) == 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"proba": np.full((4, 2), 0.4)}, "sum to one"),
        ({"proba": np.log(np.full((4, 2), 0.5))}, "logarithms"),
        ({"proba": np.full((4, 2), np.nan)}, "finite"),
        ({"proba": np.full((4, 3), 1 / 3)}, "3 columns for the 2 classes"),
        ({"proba": np.full((3, 2), 0.5)}, "shape"),
        ({"labels": [1, 2]}, "unknown labels"),
        ({"label": 7}, "label must be one of"),
        ({"n_bins": 0}, "n_bins"),
        ({"strategy": "even"}, "strategy"),
        ({"sample_weight": [1, 1, 1]}, "sample_weight"),
        ({"sample_weight": [1, 1, 1, -1]}, "sample_weight"),
    ],
)
def test_bad_input_is_refused_with_the_reason(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"y": [0, 1, 0, 1], "proba": np.full((4, 2), 0.5), **change}
    with pytest.raises(ValueError, match=message):
        reliability_curve(**arguments)


def test_curves_are_drawn_on_one_pair_of_axes() -> None:
    y, proba, _ = sample(3)
    curve = reliability_curve(y, proba)
    ax = plot_reliability(curve, name="posteriors")
    assert plot_reliability(curve, ax=ax) is ax
    diagonal, first, second = ax.lines
    assert diagonal.get_xydata().tolist() == [[0.0, 0.0], [1.0, 1.0]]
    for line in (first, second):
        np.testing.assert_array_equal(line.get_xdata(), curve.confidence)
        np.testing.assert_array_equal(line.get_ydata(), curve.accuracy)
    assert first.get_label() == f"posteriors: error {curve.expected_error:.3f}"
