"""Thresholds against brute force and scikit-learn's support vector machine."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.svm import SVC

from discriminants import LSSVMClassifier, LSSVMRegressor
from discriminants.fisher.thresholds import (
    _one_dimensional_machine,
    bayes_threshold,
    fisher_targets_threshold,
    least_error_threshold,
    least_errors,
    soft_margin_threshold,
)


def outputs(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    positive = random.random(n) < 0.4
    positive[:2] = True, False
    return random.normal(size=n) + positive * random.uniform(1.2, 3), positive


def brute_force(q: np.ndarray, positive: np.ndarray) -> int:
    cuts = np.concatenate([[-np.inf], 0.5 * (np.unique(q)[1:] + np.unique(q)[:-1]), [np.inf]])
    return min(int(((q > cut) != positive).sum()) for cut in cuts)


@pytest.mark.parametrize("seed", range(20))
def test_no_threshold_makes_fewer_errors(seed: int) -> None:
    q, positive = outputs(seed)
    q = np.round(q, 1)  # with ties
    errors, thresholds = least_errors(np.stack([q, -q], axis=1), positive)
    for s, sign in enumerate((1, -1)):
        assert errors[s] == brute_force(sign * q, positive)
        assert ((sign * q > thresholds[s]) != positive).sum() == errors[s]


def test_among_thresholds_of_equal_errors_the_widest_gap_is_cut_in_the_middle() -> None:
    q = np.array([0.0, 1.0, 1.2, 4.0, 4.1, 9.0])
    positive = np.array([False, False, True, False, True, True])
    assert least_error_threshold(q, positive) == pytest.approx(1.1)
    q[2] = 3.0
    assert least_error_threshold(q, positive) == pytest.approx(2.0)


def test_where_nothing_parts_the_classes_the_smaller_one_is_left_out() -> None:
    q = np.ones(5)
    errors, threshold = least_errors(q[:, None], np.array([True, False, False, False, False]))
    assert errors[0] == 1
    assert threshold[0] > 1


@pytest.mark.parametrize("cost", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(15))
def test_the_machine_on_one_output_is_the_support_vector_machine(seed: int, cost: float) -> None:
    q, positive = outputs(seed)
    y = np.where(positive, 1, -1)

    def objective(w: float, b: float) -> float:
        return float(0.5 * w * w + cost * np.maximum(0, 1 - y * (w * q + b)).sum())

    w, b = _one_dimensional_machine(np.sort(q[positive]), np.sort(q[~positive])[::-1], cost)
    reference = SVC(C=cost, kernel="linear", tol=1e-8).fit(q[:, None], y)
    assert objective(w, b) <= objective(reference.coef_[0, 0], reference.intercept_[0]) + 1e-6
    assert w == pytest.approx(reference.coef_[0, 0], rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_bayes_threshold_makes_the_classes_equally_probable(seed: int) -> None:
    q, positive = outputs(seed)
    deviation = np.sqrt(np.mean(np.concatenate([q[side] - q[side].mean() for side in (positive, ~positive)]) ** 2))

    def difference(at: float) -> float:
        above, below = (side.mean() * norm.pdf(at, q[side].mean(), deviation) for side in (positive, ~positive))
        return float(above - below)

    assert bayes_threshold(q, positive) == pytest.approx(brentq(difference, -9, 9))
    assert bayes_threshold(-5 * q, positive) == least_error_threshold(-5 * q, positive)


def test_fisher_targets_are_ordinary_targets_with_another_threshold() -> None:
    q, positive = outputs(0)
    inputs = np.stack([q, np.sin(9 * q)], axis=1)
    sizes = positive.mean(), 1 - positive.mean()
    fisher = LSSVMRegressor(regularization=0.1).fit(inputs, np.where(positive, 1 / sizes[0], -1 / sizes[1]))
    model = LSSVMClassifier(regularization=0.1, threshold="fisher_targets").fit(inputs, positive)
    np.testing.assert_array_equal(model.predict(inputs), fisher.predict(inputs) > 0)
    scale = 2 * sizes[0] * sizes[1]
    np.testing.assert_allclose(model.decision_function(inputs), scale * fisher.predict(inputs), atol=1e-10)


def test_separated_outputs_are_parted_in_the_middle_of_the_gap() -> None:
    q, positive = np.array([-3.0, -2.0, -1.0, 5.0, 6.0]), np.array([False, False, False, True, True])
    assert soft_margin_threshold(q, positive, cost=1e6) == pytest.approx(2.0)
    assert least_error_threshold(q, positive) == pytest.approx(2.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_threshold_moves_with_the_outputs(seed: int) -> None:
    q, positive = outputs(seed)
    for find in (soft_margin_threshold, least_error_threshold, bayes_threshold):
        assert find(1e5 * q - 3e6, positive) == pytest.approx(1e5 * find(q, positive) - 3e6, rel=1e-6)


def test_outputs_that_fall_from_class_to_class_still_have_a_threshold() -> None:
    q, positive = outputs(0)
    assert np.isfinite(soft_margin_threshold(-5 * q, positive))
    assert soft_margin_threshold(np.ones(6), np.arange(6) > 3) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_a_weight_counts_samples(seed: int) -> None:
    q, positive = outputs(seed, 25)
    q = np.round(q, 1 + seed % 2)  # with ties
    counts = np.random.default_rng(seed).integers(1, 4, 25)
    many, sides = q.repeat(counts), positive.repeat(counts)
    for find in (soft_margin_threshold, least_error_threshold, bayes_threshold, fisher_targets_threshold):
        assert find(q, positive, counts.astype(float)) == pytest.approx(find(many, sides), abs=1e-9)
    # halves of samples, with different numbers of samples in one class
    assert soft_margin_threshold(q, positive, counts / 2, cost=2.0) == pytest.approx(
        soft_margin_threshold(many, sides, cost=1.0), abs=1e-9
    )
