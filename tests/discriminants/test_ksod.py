"""The second-order discriminant against the paper's equations written out."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons

from discriminants import KFDClassifier, KSODClassifier
from discriminants.fisher.second_order import SecondOrderPath
from discriminants.fisher.thresholds import least_error_threshold
from discriminants.kernels import ExponentialKernel, GaussianKernel

PENALTIES = ["identity", "kernel"]


def _two_classes(n: int = 50) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_moons(n, noise=0.3, random_state=0)
    keep = np.sort(np.r_[np.flatnonzero(y == 0)[: n // 3], np.flatnonzero(y == 1)])  # unequal classes
    return X[keep], y[keep], GaussianKernel(0.5)(X[keep], X[keep])


def _paper(K: np.ndarray, y: np.ndarray, rho: float, eta: float, penalty: str) -> np.ndarray:
    """alpha by (24), (27) and (29), with eta P added."""
    N = eta * (np.eye(len(K)) if penalty == "identity" else K)
    for weight, c in ((rho, 0), (1 - rho, 1)):
        part = K[:, y == c]
        n = part.shape[1]
        N = N + weight / n * part @ (np.eye(n) - 1 / n) @ part.T
    return np.linalg.solve(N, K[:, y == 1].mean(axis=1) - K[:, y == 0].mean(axis=1))


@pytest.mark.parametrize("eta", [1e-3, 0.1])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_one_decomposition_solves_for_every_rho(penalty: str, eta: float) -> None:
    _, y, K = _two_classes()
    path = SecondOrderPath(K, y == 1, eta, penalty)
    for rho in (0.0, 0.3, 0.5, 1.0):
        expected = K @ _paper(K, y, rho, eta, penalty)
        found = path.solve(rho)
        np.testing.assert_allclose(K @ found.alpha, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
        difference = expected[y == 1].mean() - expected[y == 0].mean()
        assert found.separation == pytest.approx(difference, rel=1e-6)


def test_the_components_diagonalise_both_covariances_and_cost_what_the_paper_says() -> None:
    _, y, K = _two_classes()
    path = SecondOrderPath(K, y == 1, 0.1, "identity")
    V = path.components
    covariances = [np.cov(K[y == c].T, bias=True) + 0.1 * np.eye(len(K)) for c in (0, 1)]
    np.testing.assert_allclose(V.T @ covariances[0] @ V, np.diag(path.shares), atol=1e-8)
    np.testing.assert_allclose(V.T @ covariances[1] @ V, np.diag(1 - path.shares), atol=1e-8)
    M = V.T @ (K[y == 1].mean(axis=0) - K[y == 0].mean(axis=0))
    np.testing.assert_allclose(path.differences, M, atol=1e-10)
    assert (np.diff(M**2) <= 1e-12).all()
    # (33), (38): removing a component raises |N alpha - M|^2 in this basis by M_i^2, for any rho
    for rho in (0.1, 0.8):
        diagonal = rho * path.shares + (1 - rho) * (1 - path.shares)
        weights = path.weights(rho)
        for i in (0, 3, 20):
            pruned = np.where(np.arange(len(weights)) == i, 0.0, weights)
            assert ((diagonal * pruned - M) ** 2).sum() == pytest.approx(M[i] ** 2, abs=1e-12)


def test_fishers_rho_gives_the_direction_of_the_kernel_fisher_discriminant() -> None:
    X, y, K = _two_classes()
    found = SecondOrderPath(K, y == 1, 0.02, "identity").solve(float((y == 0).mean()))
    kfd = KFDClassifier(sigma=0.5, regularization=0.02 * len(y)).fit(X, y)  # there scatters are sums
    assert np.corrcoef(K @ found.alpha, kfd.decision_function(X))[0, 1] == pytest.approx(1.0, abs=1e-9)


def test_at_the_ends_of_rho_one_class_alone_is_kept_together() -> None:
    _, y, K = _two_classes()
    path = SecondOrderPath(K, y == 1, 1e-3, "kernel")
    for rho, c in ((1.0, 0), (0.0, 1)):
        spread = [(K @ path.solve(r).alpha)[y == c].std() / path.solve(r).separation for r in (rho, 0.5, 1 - rho)]
        assert spread[0] < spread[1] < spread[2]


def test_rho_and_threshold_are_those_with_the_fewest_errors_on_the_samples_held_out() -> None:
    X, y, K = _two_classes(90)
    learner = KSODClassifier(sigma=0.5, regularization=0.01, validation=0.3, random_state=3).fit(X, y)
    train = np.array([int(np.flatnonzero((center == X).all(axis=1))[0]) for center in learner.basis_centers_])
    held_out = np.setdiff1d(np.arange(len(y)), train)
    assert len(held_out) == pytest.approx(0.3 * len(y), abs=1)
    errors = []
    for rho in np.linspace(0, 1, 21):
        alpha = _paper(K[np.ix_(train, train)], y[train], rho, 0.01, "identity")
        outputs = K[np.ix_(held_out, train)] @ alpha
        threshold = least_error_threshold(outputs, y[held_out] == 1)
        errors.append(((outputs > threshold) != y[held_out]).mean())
    np.testing.assert_allclose(learner.held_out_errors_[0], errors)
    best = np.flatnonzero(np.array(errors) == min(errors)) / 20
    assert learner.rho_[0] == pytest.approx(best[np.argmin(np.abs(best - (y == 0).mean()))])
    assert 1 - learner.score(X[held_out], y[held_out]) == pytest.approx(min(errors))


def test_folds_choose_together_and_all_samples_are_learnt_from() -> None:
    X, y, K = _two_classes(90)
    learner = KSODClassifier(sigma=0.5, regularization=0.01, validation=5, n_components="held_out").fit(X, y)
    assert learner.basis_centers_.shape == X.shape
    assert 1 <= learner.n_components_[0] < len(X)
    expected = SecondOrderPath(K, y == 1, 0.01, "identity").solve(learner.rho_[0], learner.n_components_[0])
    np.testing.assert_allclose(learner.dual_coef_[:, 0], expected.alpha * 2 / expected.separation, rtol=1e-6)
    outputs = K @ learner.dual_coef_[:, 0]
    assert outputs[y == 1].mean() - outputs[y == 0].mean() == pytest.approx(2.0)


def test_outputs_of_the_folds_have_their_class_means_at_one_and_minus_one_so_that_one_threshold_serves_them() -> None:
    _, y, K = _two_classes()
    path = SecondOrderPath(K, y == 1, 1e-2, "identity")
    for rho in (0.0, 0.4, 1.0):
        outputs = path.outputs(K @ path.components, rho)
        np.testing.assert_allclose(outputs[y == 1].mean(axis=0), 1.0, atol=1e-8)
        np.testing.assert_allclose(outputs[y == 0].mean(axis=0), -1.0, atol=1e-8)
        found = path.solve(rho, 5)
        expected = (K @ found.alpha - found.midpoint) * 2 / found.separation
        np.testing.assert_allclose(outputs[:, 4], expected, atol=1e-8)


def test_pruning_to_the_best_number_of_components_is_never_worse_on_what_was_held_out() -> None:
    X, y = make_blobs(300, centers=6, cluster_std=1.6, random_state=2)
    y = y % 2
    whole = KSODClassifier(sigma=1.0, regularization=1e-3, random_state=0).fit(X, y)
    pruned = KSODClassifier(sigma=1.0, regularization=1e-3, n_components="held_out", random_state=0).fit(X, y)
    assert pruned.held_out_errors_.min() <= whole.held_out_errors_.min()
    assert pruned.n_components_[0] < 0.5 * whole.n_components_[0]
    every = KSODClassifier(sigma=1.0, penalty="kernel", validation=3).fit(X, y)
    assert every.n_components_[0] > 290
    given = KSODClassifier(sigma=1.0, regularization=1e-3, n_components=int(pruned.n_components_[0]), random_state=0)
    np.testing.assert_array_equal(given.fit(X, y).dual_coef_, pruned.dual_coef_)


def test_two_spirals_take_a_few_components_of_the_exponential_kernel() -> None:
    i = np.arange(97.0)
    angle, radius = i * np.pi / 16, 6.5 * (104 - i) / 104
    spiral = np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)
    X, y = np.concatenate([spiral, -spiral]), np.repeat([1, 0], 97)
    learner = KSODClassifier(
        kernel=ExponentialKernel(1.0), regularization=1e-5, n_components="held_out", validation=5
    ).fit(X, y)
    assert learner.score(X, y) == 1.0
    assert learner.n_components_[0] <= 20


def test_several_classes_have_an_output_each() -> None:
    X, y = load_iris(return_X_y=True)
    learner = KSODClassifier(sigma=2.0, regularization=1e-4, validation=5).fit(X, y)
    assert learner.decision_function(X).shape == (150, 3)
    assert learner.rho_.shape == learner.n_components_.shape == (3,)
    assert learner.score(X, y) > 0.96


@pytest.mark.parametrize("validation", [0.2, 3, "jackknife", "bootstrap"])
def test_a_class_of_one_sample_names_a_remedy(validation: Any) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"1 of 2 classes with one.*resubstitution"):
        KSODClassifier(validation=validation).fit(X[:51], y[:51])
    assert KSODClassifier(validation="resubstitution").fit(X[:51], y[:51]).score(X[:51], y[:51]) == 1.0


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("validation", ["resubstitution", "jackknife", "bootstrap"])
def test_resampled_errors_are_those_of_models_of_the_draws(validation: str, penalty: str) -> None:
    X, y, K = _two_classes(45)
    rows = np.arange(len(y))
    random = np.random.RandomState(4)
    match validation:
        case "resubstitution":
            splits = [(rows, rows)]
        case "jackknife":
            splits = [(np.delete(rows, i), rows[[i]]) for i in rows]
        case _:
            draws = [
                np.r_[random.choice(rows[y == 0], sum(y == 0)), random.choice(rows[y == 1], sum(y))] for _ in range(25)
            ]
            splits = [(drawn, np.setdiff1d(rows, drawn)) for drawn in draws]
    errors = []
    for rho in (0.0, 0.5, 1.0):
        outputs, labels = [], []
        for train, held_out in splits:
            columns = train if penalty == "kernel" else np.unique(train)
            part, own = K[np.ix_(train, columns)], y[train]
            N = 0.1 * (np.eye(len(columns)) if penalty == "identity" else part)
            N = N + rho * np.cov(part[own == 0].T, bias=True) + (1 - rho) * np.cov(part[own == 1].T, bias=True)
            alpha = np.linalg.pinv(N) @ (part[own == 1].mean(axis=0) - part[own == 0].mean(axis=0))
            means = [(part[own == c] @ alpha).mean() for c in (0, 1)]
            found = K[np.ix_(held_out, columns)] @ alpha
            outputs.append((2 * found - sum(means)) / (means[1] - means[0]))
            labels.append(y[held_out])
        pooled, wanted = np.concatenate(outputs), np.concatenate(labels)
        errors.append(((pooled > least_error_threshold(pooled, wanted == 1)) != wanted).mean())
    learner = KSODClassifier(
        sigma=0.5, regularization=0.1, penalty=penalty, n_rhos=3, validation=validation, random_state=4
    ).fit(X, y)
    np.testing.assert_allclose(learner.held_out_errors_[0], errors)
    assert learner.basis_centers_.shape == X.shape


@pytest.mark.parametrize("criterion", ["guaranteed_risk", "description_length"])
def test_number_of_components_minimizes_errors_and_their_penalty(criterion: str) -> None:
    X, y, _ = _two_classes(45)
    n = len(y)
    options = {"sigma": 0.5, "regularization": 1e-4, "rho": 0.5, "validation": "resubstitution"}
    values = []
    for k in range(1, n + 1):
        e = KSODClassifier(n_components=k, **options).fit(X, y).held_out_errors_[0, 0]
        if criterion == "guaranteed_risk":
            V = k + 1
            values.append(e + np.sqrt(V / n * (1 + np.log(2 * n / V)) - np.log(0.05 / 4) / n))
        else:
            entropy = -sum(p * np.log(p) for p in (e, 1 - e) if p > 0)
            values.append(n * entropy + (k + 1) / 2 * np.log(n))
    learner = KSODClassifier(n_components=criterion, **options).fit(X, y)
    assert learner.n_components_[0] == 1 + int(np.argmin(values))
    with pytest.raises(ValueError, match="resubstitution"):
        KSODClassifier(n_components=criterion).fit(X, y)


def test_truncation_leaves_out_directions_of_small_variance() -> None:
    X, y, K = _two_classes()
    covariances = [np.cov(K[y == c].T, bias=True) for c in (0, 1)]
    values, vectors = np.linalg.eigh(covariances[0] + covariances[1])
    kept = vectors[:, values > 1e-4 * values[-1]]
    path = SecondOrderPath(K, y == 1, 0.0, "identity", truncation=1e-4)
    assert path.components.shape == (len(y), kept.shape[1])
    M = K[y == 1].mean(axis=0) - K[y == 0].mean(axis=0)
    for rho in (0.2, 0.5):
        N = kept.T @ (rho * covariances[0] + (1 - rho) * covariances[1]) @ kept
        np.testing.assert_allclose(path.solve(rho).alpha, kept @ np.linalg.solve(N, kept.T @ M), rtol=1e-6)
    whole = SecondOrderPath(K, y == 1, 0.1, "identity").solve(0.3).alpha
    np.testing.assert_allclose(SecondOrderPath(K, y == 1, 0.1, "identity", 1e-9).solve(0.3).alpha, whole, rtol=1e-6)
    assert KSODClassifier(sigma=0.5, regularization=0.0, truncation=1e-4).fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match="truncation"):
        KSODClassifier(sigma=0.5, regularization=0.0).fit(X, y)
