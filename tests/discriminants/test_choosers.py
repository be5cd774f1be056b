"""The choosers of centres: what each promises, against plain transcriptions."""

from typing import Any

import numpy as np
import pytest
from sklearn.utils import check_random_state

from discriminants.center_selection.choice import CHOOSERS, chosen_rows
from discriminants.center_selection.entropy import CenterExchange
from discriminants.center_selection.feature_vectors import feature_vectors
from discriminants.center_selection.leverage import leverage_scores
from discriminants.kernels import GaussianKernel, LinearKernel, PrecomputedKernel

KERNEL = GaussianKernel(1.0)


def samples(n_samples: int = 120, n_features: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_samples, n_features))
    return X, np.sin(2 * X[:, :1])


def chosen(name: Any, n_centers: int = 10, seed: int = 0, **parameters: Any) -> np.ndarray:
    X, targets = samples()
    return chosen_rows(name, X, KERNEL, n_centers, check_random_state(seed), targets, **parameters)


@pytest.mark.parametrize("name", CHOOSERS)
def test_rows_are_as_many_as_wanted_different_and_decided_by_the_seed(name: str) -> None:
    rows = chosen(name)
    assert rows.shape == np.unique(rows).shape == (10,)
    np.testing.assert_array_equal(rows, chosen(name))
    if name not in ("cholesky", "greedy"):  # which use all of so few samples
        assert set(rows) != set(chosen(name, seed=1))


@pytest.mark.parametrize("name", CHOOSERS)
def test_of_repeated_samples_one_is_chosen_and_of_few_all(name: str) -> None:
    X, targets = samples(8)
    rows = chosen_rows(name, np.repeat(X, 5, axis=0), KERNEL, 30, check_random_state(0), np.repeat(targets, 5, axis=0))
    assert len(set(rows // 5)) == len(rows) == 8


@pytest.mark.parametrize("name", CHOOSERS)
def test_a_sample_of_the_rows_is_enough(name: str) -> None:
    rows = chosen(name, n_candidates=30)
    allowed = np.sort(check_random_state(0).choice(np.arange(120), 30, replace=False))
    assert np.isin(rows, allowed).all()
    assert chosen(name, 20, n_candidates=5).shape == (20,)  # at least the requested number


@pytest.mark.parametrize("name", sorted(set(CHOOSERS) - {"k-means"}))
def test_a_precomputed_kernel_gives_the_same_rows(name: str) -> None:
    X, targets = samples()
    K = KERNEL(X, X)
    by_matrix = chosen_rows(name, K, PrecomputedKernel().resolved(K), 10, check_random_state(0), targets)
    np.testing.assert_array_equal(by_matrix, chosen(name))


def test_what_an_exchange_says_it_changes_is_what_it_changes() -> None:
    X, _ = samples()
    exchange = CenterExchange(X, KERNEL, np.arange(12))
    before = exchange.total
    for start in range(12, 120, 25):
        left = exchange.offer(np.arange(start, min(start + 25, 120)))
        K = KERNEL(X[exchange.rows], X[exchange.rows])
        np.testing.assert_allclose(exchange.total, K.sum(), rtol=1e-10)
        np.testing.assert_allclose(exchange._sums, K.sum(axis=1), rtol=1e-10)
        assert not np.isin(left, exchange.rows).any()
    assert exchange.total < before


def test_exchanges_are_those_of_the_sums_worked_out_anew() -> None:
    X, _ = samples(40)
    K = KERNEL(X, X)
    exchange = CenterExchange(X, KERNEL, np.arange(6))
    exchange.offer(np.arange(6, 40))
    rows = list(range(6))
    for sample in range(6, 40):
        totals = []
        for place in range(6):
            tried = [*rows[:place], sample, *rows[place + 1 :]]
            totals.append(K[np.ix_(tried, tried)].sum())
        if min(totals) < K[np.ix_(rows, rows)].sum():
            rows[int(np.argmin(totals))] = sample
    np.testing.assert_array_equal(exchange.rows, rows)


def test_entropy_ends_where_no_exchange_helps_much() -> None:
    X, _ = samples()
    rows = chosen("entropy", 6)
    K = KERNEL(X, X)
    total = K[np.ix_(rows, rows)].sum()
    for place in range(6):
        for sample in np.setdiff1d(np.arange(120), rows):
            tried = rows.copy()
            tried[place] = sample
            assert K[np.ix_(tried, tried)].sum() > total * (1 - 1e-4)


def test_every_feature_vector_raises_the_fitness_most() -> None:
    X, _ = samples(50)  # all of them are tried
    K = KERNEL(X, X)

    def fitness(rows: list[int]) -> float:
        among = K[np.ix_(rows, rows)]
        return float(np.einsum("ij,ij->j", K[rows], np.linalg.solve(among, K[rows])).mean())

    expected: list[int] = []
    for _ in range(5):
        expected.append(max(set(range(50)) - set(expected), key=lambda row: fitness([*expected, row])))
    np.testing.assert_array_equal(feature_vectors(X, KERNEL, 5, check_random_state(0)), expected)


@pytest.mark.parametrize("name", ["cholesky", "feature-vectors"])
def test_no_more_are_chosen_than_span_the_samples(name: str) -> None:
    X, targets = samples()
    assert chosen_rows(name, X, LinearKernel(), 10, check_random_state(0), targets).shape == (3,)


def test_k_means_takes_one_of_each_cluster_the_largest_first() -> None:
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [20, 50, 30])
    X = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])[y] + random.normal(size=(100, 2))
    rows = chosen_rows("k-means", X, KERNEL, 3, check_random_state(0))
    np.testing.assert_array_equal(y[rows], [1, 2, 0])


def test_forward_selection_goes_by_the_targets() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-3, 3, size=(200, 1))
    targets = np.where(X > 0, np.sin(5 * X), 0.0)
    rows = chosen_rows("greedy", X, GaussianKernel(0.3), 8, check_random_state(0), targets)
    assert (X[rows] > -0.5).all()
    with pytest.raises(ValueError, match="y = None"):
        chosen_rows("greedy", X, KERNEL, 8, check_random_state(0))


@pytest.mark.parametrize(
    "answer", [[[]], [0, 0], [-1], [120], [0.5], [[1, 2]], list(range(11))], ids=lambda answer: str(answer)[:12]
)
def test_a_function_that_gives_no_rows_is_refused(answer: Any) -> None:
    with pytest.raises(ValueError, match="row numbers"):
        chosen(lambda X, kernel, n_centers, random, targets: np.array(answer))


def test_that_no_column_serves_is_told() -> None:
    with pytest.raises(ValueError, match="constant"):
        chosen(lambda X, kernel, n_centers, random, targets: np.array([], dtype=int))


def test_a_function_is_given_all_there_is() -> None:
    def first(X: np.ndarray, kernel: Any, n_centers: int, random: Any, targets: Any) -> np.ndarray:
        assert X.shape == (120, 3) and targets.shape == (120, 1) and kernel is KERNEL
        return np.arange(n_centers)

    np.testing.assert_array_equal(chosen(first, 4), np.arange(4))


def test_leverage_scores_of_all_samples_are_the_diagonal_of_the_smoother() -> None:
    X, _ = samples(60)
    K = KERNEL(X, X)
    values = np.linalg.eigvalsh(K)[::-1]
    penalty = values[10:].sum() / 10
    expected = np.diag(K @ np.linalg.inv(K + penalty * np.eye(60)))
    np.testing.assert_allclose(leverage_scores(X, KERNEL, np.arange(60), 10), expected, rtol=1e-8)
    assert 5 < expected.sum() < 20  # the effective number of samples is about the number of centers


def test_leverage_scores_of_a_sketch_are_near_those_of_all_and_see_what_lies_apart() -> None:
    X, _ = samples(400)
    X[:5] += 20.0 * np.eye(5, 3)
    exact = leverage_scores(X, KERNEL, np.arange(400), 20)
    sketched = leverage_scores(X, KERNEL, check_random_state(0).permutation(400)[:200], 20)
    assert np.corrcoef(exact, sketched)[0, 1] > 0.8
    assert exact[:3].min() > 2 * np.median(exact[5:])
    with pytest.raises(ValueError, match="semidefinite"):
        leverage_scores(-np.eye(400), PrecomputedKernel().resolved(-np.eye(400)), np.arange(400), 20)
