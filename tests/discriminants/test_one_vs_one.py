"""Kernel machines for all pairs with shared centres, against one machine at a time."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from discriminants import ModelFormatError, NPDClassifier, OneVsOneKernelClassifier, OneVsOneSVC, OROLSClassifier
from discriminants.center_selection.forward.column_state import ColumnState
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.rules import error_reduction
from discriminants.kernels import CompactGaussianKernel, GaussianKernel, MultiscaleGaussianKernel
from discriminants.multiclass.gaussian_coupling import GaussianPairs, coupled, normalized
from discriminants.multiclass.labels import draw_by_class
from discriminants.multiclass.pairwise import couple
from discriminants.parallel.threads import ThreadWorkers
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays


def _digits(n: int = 600, classes: int = 6) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    kept = np.flatnonzero(y < classes)[:n]
    return X[kept], y[kept]


def _pools(machine: Any) -> list[slice]:
    ends = np.cumsum(machine.pool_sizes_)
    return [slice(end - size, end) for end, size in zip(ends, machine.pool_sizes_, strict=True)]


def _outputs(machine: Any, X: np.ndarray) -> np.ndarray:
    """Outputs of all pairs, (n_samples, n_pairs), a pair at a time."""
    K, pools = machine.kernel_(X, machine.basis_centers_), _pools(machine)
    return np.stack(
        [
            K[:, pools[i]] @ machine.dual_coef_[pools[i], j] + K[:, pools[j]] @ machine.dual_coef_[pools[j], i] + b
            for (i, j), b in zip(combinations(range(len(pools)), 2), machine.intercept_, strict=True)
        ],
        axis=1,
    )


def _coupled_one_by_one(machine: Any, X: np.ndarray) -> np.ndarray:
    """Log posteriors by (4.7) and (4.8), a pair at a time."""
    outputs, priors = _outputs(machine, X), machine.class_log_prior_
    means, variances = machine.means_, machine.variances_

    def log_density(k: int, p: int) -> np.ndarray:
        return -0.5 * np.log(variances[k, p]) - 0.5 * (outputs[:, p] - means[k, p]) ** 2 / variances[k, p]

    pairs = [
        (i, j, np.clip(log_density(0, p) - log_density(1, p) + priors[i] - priors[j], -80, 80))
        for p, (i, j) in enumerate(combinations(range(len(priors)), 2))
    ]
    return couple(pairs, len(X), len(priors))


def _machines() -> list[Any]:
    return [
        OneVsOneKernelClassifier(candidates_per_class=12, random_state=0),
        OneVsOneKernelClassifier("orols", candidates_per_class=12, n_centers=10, random_state=0),
        OneVsOneKernelClassifier(candidates_per_class=12, sigma=30.0, loss="logistic", random_state=0),
        OneVsOneSVC(sigma=30.0, max_samples_per_class=40, random_state=0),
    ]


@pytest.mark.parametrize("machine", _machines(), ids=["npd", "orols", "logistic", "svc"])
def test_posteriors_are_those_of_the_pairs_coupled_one_by_one(machine):
    X, y = _digits()
    machine.fit(X[::2], y[::2])
    expected = _coupled_one_by_one(machine, X)
    np.testing.assert_allclose(machine.predict_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    single = machine.predict_log_proba(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(np.exp(single), np.exp(expected), atol=2e-4)
    assert machine.score(X[1::2], y[1::2]) > 0.95
    assert (machine.predict(X) == machine.classes_[expected.argmax(axis=1)]).all()


def test_densities_of_support_vectors_are_those_of_the_outputs_in_training():
    X, y = _digits(200, 4)
    most = 30
    machine = OneVsOneSVC(sigma=30.0, max_samples_per_class=most, random_state=0).fit(X, y)
    members = draw_by_class(y, most, np.random.RandomState(0))
    outputs = _outputs(machine, X)
    for p, pair in enumerate(combinations(range(4), 2)):
        for row, number in enumerate(pair):
            of_class = outputs[members[number], p]
            np.testing.assert_allclose(machine.means_[row, p], of_class.mean(), rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(machine.variances_[row, p], of_class.var(), rtol=1e-4)


@pytest.mark.parametrize("norm_penalty", [0.0, 0.1])
def test_densities_are_those_of_outputs_with_weights_of_the_other_half(norm_penalty):
    X, y = _digits(200, 3)
    most, sigma = 21, 30.0
    machine = OneVsOneKernelClassifier(
        candidates_per_class=4, sigma=sigma, norm_penalty=norm_penalty, max_samples_per_class=most, random_state=0
    ).fit(X, y)
    members, pools = draw_by_class(y, most, np.random.RandomState(0)), _pools(machine)
    for p, (i, j) in enumerate(combinations(range(3), 2)):
        centers = np.concatenate([machine.basis_centers_[pools[i]], machine.basis_centers_[pools[j]]])
        penalty = np.zeros((9, 9))
        penalty[1:, 1:] = norm_penalty * machine.kernel_(centers, centers)
        halves = [[members[i][part], members[j][part]] for part in (slice(0, 10), slice(10, 21))]
        outputs: list[list[np.ndarray]] = [[], []]
        for train, test in (halves, halves[::-1]):
            columns = [np.c_[np.ones(rows.size), machine.kernel_(X[rows], centers)] for rows in (*train, *test)]
            K, targets = np.concatenate(columns[:2]), np.repeat([-1.0, 1.0], [rows.size for rows in train])
            share = K.shape[0] / (2 * most)
            other = np.concatenate(columns[2:])
            own = (K.var(axis=0) * K.shape[0] + share * np.diag(penalty))[1:]
            others = (other.var(axis=0) * other.shape[0] + (1.0 - share) * np.diag(penalty))[1:]
            ridge = np.diag(np.r_[0.0, np.maximum(0.1 * others - own, 0.0)])
            weights = np.linalg.solve(K.T @ K + share * penalty + ridge, K.T @ targets)
            for number in (0, 1):
                outputs[number].append(columns[2 + number] @ weights)
        for number in (0, 1):
            held_out = np.concatenate(outputs[number])
            np.testing.assert_allclose(machine.means_[number, p], held_out.mean(), rtol=1e-4)
            np.testing.assert_allclose(machine.variances_[number, p], held_out.var(), rtol=1e-3)


@pytest.mark.parametrize(("learner", "kind"), [("npd", NPDClassifier), ("orols", OROLSClassifier)])
@pytest.mark.parametrize("norm_penalty", [0.0, 0.1])
def test_a_pair_is_what_the_learner_makes_of_its_two_classes_and_pools(learner, kind, norm_penalty):
    X, y = _digits(150, 3)
    machine = OneVsOneKernelClassifier(
        learner, n_centers=9, candidates_per_class=8, sigma=30.0, norm_penalty=norm_penalty, random_state=0
    ).fit(X, y)
    for p, (i, j) in enumerate(combinations(range(3), 2)):
        samples = np.flatnonzero((y == i) | (y == j))
        pools = [machine.basis_centers_[_pools(machine)[k]] for k in (i, j)]
        points = np.array([np.flatnonzero((X[samples] == c).all(axis=1))[0] for c in np.concatenate(pools)])
        alone = kind(9, sigma=30.0, norm_penalty=norm_penalty, n_candidates=points.shape[0])
        alone._candidate_rows = lambda *_, points=points: points  # only the pools of the selection
        alone.fit(X[samples], y[samples])
        np.testing.assert_allclose(_outputs(machine, X)[:, p], alone.decision_function(X), rtol=1e-5, atol=1e-6)
        assert machine.n_centers_[p] == alone.n_centers_[0]


def test_without_a_penalty_weights_are_the_least_squares_ones():
    X, y = _digits(120, 2)
    machine = OneVsOneKernelClassifier(norm_penalty=0.0, candidates_per_class=5, sigma=30.0, random_state=0).fit(X, y)
    matrix = KernelMatrix(
        machine.kernel_, X, np.array([np.flatnonzero((c == X).all(1))[0] for c in machine.basis_centers_])
    )
    state = ColumnState(matrix, np.where(y == 1, 1.0, -1.0)[:, None], 10)
    while len(state.order) < 10:
        state.append(error_reduction(state))
    weights = np.zeros(10)
    weights[state.order] = state.system.weights()[1:, 0]
    np.testing.assert_allclose(machine.dual_coef_[np.arange(10), [1] * 5 + [0] * 5], weights, rtol=1e-6)


def test_a_pair_of_logistic_loss_is_logistic_regression_on_its_chosen_centres():
    X, y = _digits(200, 3)
    penalty, most = 0.05, 40
    machine = OneVsOneKernelClassifier(
        n_centers=9,
        candidates_per_class=8,
        sigma=30.0,
        loss="logistic",
        logistic_penalty=penalty,
        max_samples_per_class=most,
        random_state=0,
    ).fit(X, y)
    members, pools = draw_by_class(y, most, np.random.RandomState(0)), _pools(machine)
    for p, (i, j) in enumerate(combinations(range(3), 2)):
        samples = np.concatenate([members[i], members[j]])
        centers = np.concatenate([machine.basis_centers_[pools[k]] for k in (i, j)])
        weights = np.concatenate([machine.dual_coef_[pools[i], j], machine.dual_coef_[pools[j], i]])
        chosen = weights != 0
        assert chosen.sum() == machine.n_centers_[p] == 9
        # Over features F with FF' = K the penalty is that of a linear logistic regression.
        root = np.linalg.cholesky(machine.kernel_(centers[chosen], centers[chosen]))
        F = np.linalg.solve(root, machine.kernel_(X, centers[chosen]).T).T
        theirs = LogisticRegression(C=1.0 / penalty, tol=1e-10, max_iter=10_000).fit(F[samples], y[samples] == j)
        share = np.log(members[j].size / members[i].size)
        np.testing.assert_allclose(_outputs(machine, X)[:, p] + share, theirs.decision_function(F), atol=2e-3)


def test_output_of_the_logistic_loss_is_the_log_odds_at_equal_shares():
    X, y = _digits(200, 2)
    machine = OneVsOneKernelClassifier(sigma=30.0, loss="logistic", random_state=0).fit(X, y)
    odds = _outputs(machine, X)[:, 0] + np.subtract(*machine.class_log_prior_[::-1])
    np.testing.assert_allclose(machine.decision_function(X), np.clip(odds, -80, 80), atol=1e-6)


def test_residual_threshold_ends_the_selection_of_a_pair():
    X, y = _digits(150, 3)
    few, all_ = (
        OneVsOneKernelClassifier(candidates_per_class=10, residual_threshold=t, random_state=0).fit(X, y)
        for t in (0.9, None)
    )
    assert (few.n_centers_ <= all_.n_centers_).all() and few.n_centers_.sum() < all_.n_centers_.sum()


@pytest.mark.parametrize("machine", _machines(), ids=["npd", "orols", "logistic", "svc"])
def test_workers_do_not_change_what_is_learnt(machine):
    X, y = _digits(200, 4)
    one, other = (estimator_to_arrays(machine.fit(X, y, workers=w))[0] for w in (None, ThreadWorkers(3)))
    assert one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_classes_that_nothing_tells_apart_keep_their_shares():
    X, y = np.ones((30, 2)), np.repeat([0, 1, 2], [5, 10, 15])
    proba = OneVsOneKernelClassifier(sigma=1.0).fit(X, y).predict_proba(X[:1].astype(np.float32))
    assert np.isfinite(proba).all() and proba.argmax() == 2


@pytest.mark.parametrize("learner", ["npd", "orols"])
@pytest.mark.parametrize(("n", "most"), [(2, 2.0), (5, 1.6), (9, 1.4)])
def test_posteriors_of_small_classes_are_moderate(learner: str, n: int, most: float) -> None:
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == c)[:n] for c in range(10)])
    machine = OneVsOneKernelClassifier(learner, random_state=0).fit(X[rows], y[rows])
    assert log_loss(y[500:], machine.predict_proba(X[500:])) < most  # the classes' shares have 2.3
    assert machine.score(X[500:], y[500:]) > 0.3


def test_the_variance_of_small_classes_is_the_squared_error_to_expect_of_new_samples() -> None:
    X, y = _digits(24, 3)
    machine = OneVsOneKernelClassifier(candidates_per_class=3, sigma=30.0, random_state=0).fit(X, y)
    for p, pair in enumerate(combinations(range(3), 2)):
        rows = np.isin(y, pair)
        residual = np.where(y == pair[1], 1.0, -1.0)[rows] - _outputs(machine, X)[rows, p]
        n, n_weights = rows.sum(), machine.n_centers_[p] + 1
        expected = (residual @ residual + 2) / (n - n_weights + 2) * (1 + n_weights / n)
        means = [_outputs(machine, X)[y == c, p].mean() for c in pair]
        np.testing.assert_allclose(machine.means_[:, p], means, rtol=1e-6)
        np.testing.assert_allclose(machine.variances_[:, p], expected, rtol=1e-6)


def test_progress_counts_three_steps_a_class():
    X, y = _digits(100, 4)
    texts: list[tuple[int, int]] = []
    OneVsOneKernelClassifier(candidates_per_class=3).fit(X, y, progress=lambda *step: texts.append(step))
    assert texts == [(k, 12) for k in range(1, 13)]


def test_svc_is_scikit_learns():
    X, y = _digits(300, 5)
    ours = OneVsOneSVC(2.0, sigma=25.0, max_samples_per_class=None, held_out=0.0).fit(X, y)
    theirs = SVC(C=2.0, gamma=0.5 / 25.0**2, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(_outputs(ours, X), theirs.decision_function(X), atol=1e-8)


def test_shares_of_the_classes_are_those_of_all_samples():
    X, y = _digits(300, 3)
    kept = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y > 0)[:60]])
    machine = OneVsOneKernelClassifier(max_samples_per_class=20, random_state=0).fit(X[kept], y[kept])
    np.testing.assert_allclose(np.exp(machine.class_log_prior_), np.bincount(y[kept]) / kept.shape[0])


def test_a_draw_has_as_many_of_a_class_as_there_are_up_to_the_most():
    codes = np.array([0] * 5 + [1] * 50 + [0] * 2)
    small, large = draw_by_class(codes, 10, np.random.RandomState(1))
    assert small.tolist() == [0, 1, 2, 3, 4, 55, 56]
    assert large.shape == (10,) and (np.diff(large) > 0).all() and (codes[large] == 1).all()


def test_coupling_of_many_pairs_is_that_of_one_after_the_other():
    random = np.random.default_rng(0)
    n_classes, n_samples = 7, 33
    first, second = np.triu_indices(n_classes, 1)
    means, variances = random.normal(size=(2, first.size)), random.uniform(0.1, 3.0, (2, first.size))
    priors = np.log(random.dirichlet(np.ones(n_classes)))
    outputs = random.normal(size=(first.size, n_samples)) * 2
    variance = variances[:, :, None]
    density = -0.5 * np.log(variance) - 0.5 * (outputs - means[:, :, None]) ** 2 / variance
    log_odds = np.clip(density[0] - density[1] + (priors[first] - priors[second])[:, None], -80, 80)
    expected = couple(zip(first, second, log_odds, strict=True), n_samples, n_classes)
    pairs = GaussianPairs.of(means, variances, priors)
    parts = random.normal(size=(n_classes, n_classes, n_samples))
    parts[second, first] = outputs * pairs.scale[first, second, None] - parts[first, second]
    np.testing.assert_allclose(normalized(coupled(parts.copy(), pairs)), expected, atol=1e-9)
    single = coupled(parts.astype(np.float32), pairs.astype(np.float32))
    np.testing.assert_allclose(normalized(single), expected, rtol=2e-5, atol=2e-4)


def test_kernels_with_several_columns_a_point_are_refused():
    X, y = make_blobs(60, centers=3, random_state=0)
    with pytest.raises(ValueError, match="one column per point"):
        OneVsOneKernelClassifier(kernel=MultiscaleGaussianKernel()).fit(X, y)
    with pytest.raises(ValueError, match="one column per point"):
        OneVsOneKernelClassifier(kernel=GaussianKernel(np.ones(60))).fit(X, y)
    OneVsOneKernelClassifier(kernel=CompactGaussianKernel()).fit(X, y)


def test_a_file_with_parts_that_do_not_fit_is_refused():
    X, y = _digits(100, 3)
    arrays, description = estimator_to_arrays(OneVsOneKernelClassifier(candidates_per_class=4).fit(X, y))
    (pools,) = (name for name in arrays if name.endswith("pool_sizes_"))
    for sizes in ([4, 4, 5], [12, 0, 0], [-4, 8, 8]):
        with pytest.raises(ModelFormatError, match="pool_sizes_"):
            estimator_from_arrays(arrays | {pools: np.array(sizes)}, description)


@pytest.mark.parametrize("learner", ["npd", "orols"])
def test_a_far_off_sample_among_the_centres_does_not_spoil_the_posteriors(learner):
    """Standardized digits have rare pixels of some forty deviations; held-out variances reached 1e13."""
    X, y = load_digits(return_X_y=True)
    X = (X - X[:1200].mean(axis=0)) / np.maximum(X[:1200].std(axis=0), 1e-9)
    machine = OneVsOneKernelClassifier(learner=learner, random_state=0).fit(X[:1200], y[:1200])
    plain = LogisticRegression(max_iter=200).fit(X[:1200], y[:1200])
    assert machine.score(X[1200:], y[1200:]) > plain.score(X[1200:], y[1200:]) - 0.03


@pytest.mark.parametrize("learner", ["npd", "orols"])
def test_few_samples_have_few_centres(learner: str) -> None:
    X, y = make_classification(1060, 8, n_informative=5, n_redundant=0, n_classes=3, random_state=0)
    machine = OneVsOneKernelClassifier(learner, norm_penalty=0.0, random_state=0).fit(X[:60], y[:60])
    counts = np.bincount(y[:60])
    np.testing.assert_array_equal(
        machine.n_centers_, [(counts[i] + counts[j]) // 5 for i, j in combinations(range(3), 2)]
    )
    every = OneVsOneKernelClassifier(learner, n_centers=None, norm_penalty=0.0, random_state=0).fit(X[:60], y[:60])
    assert machine.score(X[60:], y[60:]) > every.score(X[60:], y[60:]) + (0.1 if learner == "npd" else 0.0)
    logistic = OneVsOneKernelClassifier(learner, loss="logistic", random_state=0).fit(X[:60], y[:60])
    assert logistic.n_centers_.min() > counts.max() // 3


def test_defaults_are_no_worse_than_few_centers_without_a_penalty() -> None:
    """Digits: the former defaults made more errors, and had a larger log loss."""
    X, y = load_digits(return_X_y=True)
    found = []
    for settings in ({}, {"norm_penalty": 0.0}):
        model = OneVsOneKernelClassifier(random_state=0, **settings).fit(X[:300], y[:300])
        found.append((model.score(X[300:600], y[300:600]), log_loss(y[300:600], model.predict_proba(X[300:600]))))
    assert found[0][0] > found[1][0] and found[0][1] < 0.8 * found[1][1]
