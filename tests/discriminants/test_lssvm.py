"""Least-squares support vector machines against kernel ridge regression, refitting, and one another."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import KernelCenterer

from discriminants import (
    BayesianLSSVMClassifier,
    BayesianLSSVMRegressor,
    FixedSizeLSSVMRegressor,
    GaussianKernel,
    KFDClassifier,
    LSSVMClassifier,
    LSSVMRegressor,
    PairwiseClassifier,
)
from discriminants.linear_systems.kernel_conjugate_gradients import kernel_conjugate_gradients
from discriminants.linear_systems.penalty_choice import distinct_samples, expected_squares, usual_penalties
from discriminants.linear_systems.weighted_ridge import WeightedRidge
from discriminants.multiclass.output_codes import class_scores, output_code

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 5, X[:, 1] * X[:, 2]]) + 0.1 * RANDOM.normal(size=(60, 2))
WEIGHT = RANDOM.uniform(0.1, 3, size=60)
NEW = RANDOM.normal(size=(20, 3))
K = GaussianKernel(1.0)(X, X)
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
CODINGS = ["one-vs-rest", "one-vs-one", "minimum-output", "error-correcting"]


def _bordered(y: np.ndarray, mu: float, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The system of the source as it is printed (Suykens et al. 2002, 3.32 and 5.13)."""
    n = y.shape[0]
    system = np.ones((n + 1, n + 1))
    system[0, 0] = 0.0
    system[1:, 1:] = K[:n, :n] + np.diag(mu / weight)
    solution = solve(system, np.vstack([np.zeros(y.shape[1]), y]))
    return solution[1:], solution[0]


@pytest.mark.parametrize("mu", [1e-3, 0.1, 10.0])
def test_it_solves_the_system_of_the_source(mu: float) -> None:
    for weight in (None, WEIGHT):
        learner = LSSVMRegressor(sigma=1.0, regularization=mu).fit(X, Y, weight)
        alpha, bias = _bordered(Y, mu, np.ones(60) if weight is None else weight)
        np.testing.assert_allclose(learner.dual_coef_, alpha, atol=1e-8 * np.abs(alpha).max())
        np.testing.assert_allclose(learner.intercept_, bias, atol=1e-8)


def test_it_is_kernel_ridge_regression_on_centred_features() -> None:
    learner = LSSVMRegressor(sigma=1.0, regularization=0.1).fit(X, Y)
    centerer = KernelCenterer().fit(K)
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(centerer.transform(K.copy()), Y - Y.mean(axis=0))
    expected = ridge.predict(centerer.transform(GaussianKernel(1.0)(NEW, X))) + Y.mean(axis=0)
    np.testing.assert_allclose(learner.predict(NEW), expected, atol=1e-8)


def test_a_large_constant_in_the_kernel_costs_no_digits() -> None:
    plain = LSSVMRegressor(kernel="precomputed").fit(K, Y)
    shifted = LSSVMRegressor(kernel="precomputed").fit(K + 1e6, Y)
    np.testing.assert_allclose(shifted.dual_coef_, plain.dual_coef_, atol=1e-6)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_leave_one_out_residuals_are_those_of_refitting(weight: np.ndarray | None) -> None:
    learner = LSSVMRegressor(sigma=1.0, regularization=0.05).fit(X, Y, weight)
    for i in (0, 17, 59):
        others = np.delete(np.arange(60), i)
        without = clone(learner).fit(X[others], Y[others], None if weight is None else weight[others])
        np.testing.assert_allclose(learner.leave_one_out_residuals_[i], Y[i] - without.predict(X[[i]])[0], atol=1e-8)


def test_weights_count_samples() -> None:
    counts = np.random.default_rng(1).integers(0, 4, size=60)
    weighted = LSSVMRegressor(regularization=0.1).fit(X, Y, counts)
    repeated = LSSVMRegressor(regularization=0.1).fit(X.repeat(counts, axis=0), Y.repeat(counts, axis=0))
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-8)
    np.testing.assert_array_equal(weighted.basis_centers_, X[counts > 0])
    absent = counts == 0
    np.testing.assert_allclose(
        weighted.leave_one_out_residuals_[absent], Y[absent] - weighted.predict(X[absent]), atol=1e-12
    )
    by_number = LSSVMRegressor(kernel="precomputed", regularization=0.2).fit(K, Y, counts)
    by_kernel = LSSVMRegressor(sigma=1.0, regularization=0.2).fit(X, Y, counts)
    np.testing.assert_allclose(by_number.predict(K), by_kernel.predict(X), atol=1e-10)


@pytest.mark.parametrize("criterion", ["leave_one_out", "gcv"])
def test_every_penalty_from_one_decomposition_is_each_by_itself(criterion: str) -> None:
    penalties = [10.0**exponent for exponent in range(-4, 3)]
    together = expected_squares(K, Y, penalties, criterion)
    one_by_one = expected_squares(K, Y, penalties, criterion, np.ones(60))
    np.testing.assert_allclose(together, one_by_one, rtol=1e-8)
    learner = LSSVMRegressor(sigma=1.0, regularization=penalties, choose_by=criterion).fit(X, Y)
    np.testing.assert_allclose(learner.criterion_, together / 2, rtol=1e-8)
    assert learner.regularization_ == penalties[np.argmin(together)]
    alone = LSSVMRegressor(sigma=1.0, regularization=learner.regularization_).fit(X, Y)
    np.testing.assert_array_equal(learner.predict(NEW), alone.predict(NEW))
    if criterion == "leave_one_out":
        expected = (learner.leave_one_out_residuals_**2).mean()
        assert learner.criterion_.min() == pytest.approx(expected, rel=1e-8)


def test_the_usual_penalties_fit_the_scale_of_kernel_and_weights() -> None:
    usual = usual_penalties(K)
    assert len(usual) == 17
    assert usual[12] == pytest.approx(np.trace(K) / 60 - K.mean())
    np.testing.assert_allclose(usual_penalties(7 * K, 2.0), np.multiply(14, usual))
    assert usual_penalties(np.ones((5, 5)))[12] == 1.0
    chosen = LSSVMRegressor(sigma=1.0).fit(X, Y)
    expected = LSSVMRegressor(sigma=1.0, regularization=usual).fit(X, Y)
    np.testing.assert_array_equal(chosen.criterion_, expected.criterion_)
    np.testing.assert_array_equal(chosen.predict(NEW), expected.predict(NEW))
    for solver in ("direct", "conjugate_gradient"):
        scaled = LSSVMRegressor(kernel="precomputed", solver=solver, tol=1e-10).fit(1e4 * K, Y, np.full(60, 1e-3))
        assert scaled.regularization_ == pytest.approx(10 * chosen.regularization_)
        np.testing.assert_allclose(scaled.predict(1e4 * K), chosen.predict(X), atol=1e-5)


def test_equal_samples_are_one_with_the_mean_of_their_targets() -> None:
    samples = np.array([[2.0, 1.0], [0.0, 0.0], [2.0, 1.0], [1.0, 0.0], [0.0, 0.0], [2.0, 1.0]])
    targets = np.arange(12.0).reshape(6, 2)
    rows, means, weight = distinct_samples(samples, targets)
    np.testing.assert_array_equal(rows, [0, 1, 3])
    np.testing.assert_allclose(means, [targets[[0, 2, 5]].mean(axis=0), targets[[1, 4]].mean(axis=0), targets[3]])
    assert weight is None
    counts = np.array([1.0, 2.0, 3.0, 1.0, 0.5, 1.0])
    _, means, weight = distinct_samples(samples, targets, counts)
    np.testing.assert_allclose(weight, [5.0, 2.5, 1.0])
    np.testing.assert_allclose(means[1], np.average(targets[[1, 4]], axis=0, weights=[2.0, 0.5]))


def test_copies_do_not_make_every_penalty_look_good() -> None:
    samples, labels = make_moons(1060, noise=0.3, random_state=1)
    once = LSSVMClassifier().fit(samples[:60], labels[:60])
    twice = LSSVMClassifier().fit(samples[:60].repeat(2, axis=0), labels[:60].repeat(2))
    assert 0.3 < twice.regularization_ / once.regularization_ < 3
    assert twice.score(samples[60:], labels[60:]) > 0.8


@pytest.mark.parametrize("coding", CODINGS)
def test_of_many_samples_some_choose_the_penalty(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discriminants.linear_systems.penalty_choice.MAX_TO_CHOOSE_ON", 60)
    sizes = []

    def counted(K: np.ndarray, *arguments: Any, **options: Any) -> np.ndarray:
        sizes.append(K.shape[0])
        return expected_squares(K, *arguments, **options)

    monkeypatch.setattr("discriminants.lssvm.lssvm.expected_squares", counted)
    learner = LSSVMClassifier(coding=coding).fit(IRIS_X, IRIS_Y)
    assert all(
        0 < most - size < 4 for size, most in zip(sizes, [42] * 3 if coding == "one-vs-one" else [61], strict=True)
    )
    assert 1e-4 < learner.regularization_ < 10
    assert learner.basis_centers_.shape[0] == 150
    again = LSSVMClassifier(coding=coding, solver="conjugate_gradient").fit(IRIS_X, IRIS_Y)
    assert again.regularization_ == pytest.approx(learner.regularization_)


@pytest.mark.parametrize("weight", [None, np.full(60, 2.0), WEIGHT])
def test_generalised_cross_validation_is_its_definition_whatever_samples_weigh(weight: np.ndarray | None) -> None:
    smoother = np.stack(
        [WeightedRidge(K.copy(), unit[:, None], 0.3, weight).residuals[:, 0] for unit in np.eye(60)], axis=1
    )  # I - S
    found = WeightedRidge(K.copy(), Y, 0.3, weight)
    own = np.ones(60) if weight is None else weight
    naive = 60 * (own / own.mean() @ found.residuals**2).sum() / np.trace(smoother) ** 2
    assert found.generalised_cross_validation() == pytest.approx(naive, rel=1e-8)
    if weight is not None:
        noisy = Y + RANDOM.normal(size=Y.shape)
        plain = LSSVMRegressor(choose_by="gcv").fit(X, noisy)
        weighted = LSSVMRegressor(choose_by="gcv").fit(X, noisy, weight)
        assert 0.09 < weighted.regularization_ / plain.regularization_ / weight.mean() < 11


@pytest.mark.parametrize("rank", [0, 5, 60])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_conjugate_gradients_come_to_the_direct_solution(weight: np.ndarray | None, rank: int) -> None:
    found = kernel_conjugate_gradients(GaussianKernel(1.0), X, Y, 0.05, weight, tol=1e-12, rank=rank)
    direct = WeightedRidge(K.copy(), Y, 0.05, weight)
    assert found.converged
    assert found.residual < 1e-9
    np.testing.assert_allclose(found.alpha, direct.alpha, atol=1e-8)
    np.testing.assert_allclose(found.bias, direct.bias, atol=1e-8)
    np.testing.assert_allclose(found.alpha.sum(axis=0), 0.0, atol=1e-10)


def test_a_low_rank_preconditioner_saves_evaluations_of_the_kernel() -> None:
    products = [
        kernel_conjugate_gradients(GaussianKernel(1.0), X, Y, 1e-3, tol=1e-8, rank=rank).n_products
        for rank in (0, 20, 60)
    ]
    assert products[0] > 2 * products[1] > 2 * products[2]


def test_conjugate_gradients_that_do_not_arrive_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*arguments: Any, **settings: Any) -> Any:
        return kernel_conjugate_gradients(*arguments, **settings, rank=0, max_products=3)

    monkeypatch.setattr("discriminants.lssvm.lssvm.kernel_conjugate_gradients", short)
    with pytest.warns(ConvergenceWarning, match="3 products|4 products"):
        LSSVMRegressor(sigma=1.0, regularization=1e-4, solver="conjugate_gradient").fit(X, Y)


def test_what_only_the_direct_solver_has_is_refused_of_the_other() -> None:
    iterated = LSSVMRegressor(solver="conjugate_gradient")
    assert iterated.fit(X, Y).leave_one_out_residuals_ is None
    with pytest.raises(ValueError, match="one regularization, got 2"):
        iterated.set_params(regularization=[0.1, 1.0]).fit(X, Y)
    learner = LSSVMClassifier(solver="conjugate_gradient", calibrate_on="leave_one_out")
    with pytest.raises(ValueError, match="solver = 'direct'"):
        learner.fit(IRIS_X, IRIS_Y)


@pytest.mark.parametrize("penalties", [[], [[0.1]], [0.1, -1.0], [0.1, np.nan], ["small"]])
def test_penalties_that_are_none_are_refused(penalties: Any) -> None:
    with pytest.raises(ValueError, match="regularization"):
        LSSVMRegressor(regularization=penalties).fit(X, Y)


@pytest.mark.parametrize("coding", CODINGS)
def test_codes_tell_every_two_classes_apart(coding: str) -> None:
    for n_classes in (2, 3, 4, 5, 6, 7, 20):
        code = output_code(coding, n_classes, 0)
        assert code.dtype == np.int8
        assert (code > 0).any(axis=0).all()
        assert (code < 0).any(axis=0).all()
        expected = {
            "one-vs-rest": n_classes,
            "one-vs-one": n_classes * (n_classes - 1) // 2,
            "minimum-output": int(np.ceil(np.log2(n_classes))),
        }
        if coding in expected and n_classes > 2:
            assert code.shape == (n_classes, expected[coding])
        for first, second in combinations(code.astype(int), 2):
            assert (first != second).any()
        for first, second in combinations(code.T.astype(int), 2):
            assert abs(first @ second) < n_classes or coding == "one-vs-one"
        np.testing.assert_array_equal(code, output_code(coding, n_classes, 0))


def test_error_correcting_codes_correct_errors() -> None:
    for n_classes in (4, 5, 8, 20):
        code = output_code("error-correcting", n_classes, 0).astype(float)
        apart = min(int((a != b).sum()) for a, b in combinations(code, 2))
        assert apart > 2
        damaged = code.copy()
        damaged[:, 0] *= -1  # every codeword has one error
        for decoding in ("hamming", "loss"):
            np.testing.assert_array_equal(class_scores(damaged, code, decoding).argmax(axis=1), np.arange(n_classes))


@pytest.mark.parametrize("coding", CODINGS)
def test_scores_are_those_of_their_definition(coding: str) -> None:
    code = output_code(coding, 4, 0)
    outputs = np.random.default_rng(0).normal(size=(50, code.shape[1]))
    squares = ((1 - code * outputs[:, None, :]) ** 2).sum(axis=2)
    scores = class_scores(outputs, code, "loss")
    np.testing.assert_array_equal(scores.argmax(axis=1), squares.argmin(axis=1))
    if coding != "one-vs-rest":
        np.testing.assert_allclose(scores, -squares, atol=1e-10)
    lost = (np.abs(code) * (1 - np.sign(code * outputs[:, None, :])) / 2).sum(axis=2)
    winner = class_scores(outputs, code, "hamming").argmax(axis=1)
    expected = np.lexsort(np.moveaxis(np.stack([squares, lost]), 2, -1), axis=-1)[:, 0]
    np.testing.assert_array_equal(winner, expected)


def test_one_output_a_class_is_the_kernel_fisher_discriminant() -> None:
    for threshold, calibrate_on in (("least_squares", "training"), ("soft_margin", "leave_one_out")):
        settings = {"sigma": 1.5, "regularization": 0.1, "threshold": threshold, "calibrate_on": calibrate_on}
        fisher = KFDClassifier(penalty="kernel", **settings).fit(IRIS_X, IRIS_Y)
        learner = LSSVMClassifier(**settings).fit(IRIS_X, IRIS_Y)
        np.testing.assert_allclose(learner.decision_function(IRIS_X), fisher.decision_function(IRIS_X), atol=1e-8)
        np.testing.assert_allclose(learner.predict_proba(IRIS_X), fisher.predict_proba(IRIS_X), atol=1e-6)


def test_two_classes_have_one_task_in_every_coding() -> None:
    samples, labels = make_moons(60, noise=0.2, random_state=0)
    expected = LSSVMClassifier(sigma=0.5).fit(samples, labels)
    regression = LSSVMRegressor(sigma=0.5).fit(samples, 2.0 * labels - 1)
    np.testing.assert_allclose(expected.decision_function(samples), regression.predict(samples), atol=1e-12)
    for coding in CODINGS:
        learner = LSSVMClassifier(sigma=0.5, coding=coding, decoding="hamming").fit(samples, labels)
        np.testing.assert_array_equal(learner.decision_function(samples), expected.decision_function(samples))


@pytest.mark.parametrize("coding", ["one-vs-rest", "minimum-output", "error-correcting"])
def test_tasks_on_the_same_samples_are_those_fitted_one_by_one(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factored = []

    def counted(*arguments: Any) -> WeightedRidge:
        factored.append(arguments)
        return WeightedRidge(*arguments)

    monkeypatch.setattr("discriminants.lssvm.lssvm.WeightedRidge", counted)
    learner = LSSVMClassifier(sigma=1.5, regularization=0.1, coding=coding).fit(IRIS_X, IRIS_Y)
    assert len(factored) == 1
    for task, sides in enumerate(learner.code_.T):
        alone = LSSVMRegressor(sigma=1.5, regularization=0.1).fit(IRIS_X, sides[IRIS_Y].astype(float))
        np.testing.assert_allclose(learner.dual_coef_[:, task], alone.dual_coef_[:, 0], atol=1e-8)


def test_pairs_see_their_two_classes_alone() -> None:
    learner = LSSVMClassifier(sigma=1.5, regularization=0.1, coding="one-vs-one", decoding="hamming").fit(
        IRIS_X, IRIS_Y
    )
    for task, (first, second) in enumerate(combinations(range(3), 2)):
        rows = np.isin(IRIS_Y, (first, second))
        alone = LSSVMRegressor(sigma=1.5, regularization=0.1).fit(
            IRIS_X[rows], np.where(IRIS_Y[rows] == second, 1.0, -1.0)
        )
        np.testing.assert_allclose(learner.dual_coef_[rows, task], alone.dual_coef_[:, 0], atol=1e-8)
        assert not learner.dual_coef_[~rows, task].any()
    voting = PairwiseClassifier(LSSVMClassifier(sigma=1.5, regularization=0.1)).fit(IRIS_X, IRIS_Y)
    assert (learner.predict(IRIS_X) == voting.predict(IRIS_X)).mean() > 0.99  # ties are broken in another way


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("decoding", ["loss", "hamming"])
def test_every_coding_knows_the_irises_by_either_solver(coding: str, decoding: str) -> None:
    settings: dict[str, Any] = {"sigma": 1.5, "coding": coding, "decoding": decoding, "tol": 1e-10}
    direct = LSSVMClassifier(**settings).fit(IRIS_X[::2], IRIS_Y[::2])
    assert direct.score(IRIS_X[1::2], IRIS_Y[1::2]) > 0.93
    assert (direct.predict_proba(IRIS_X).argmax(axis=1) == IRIS_Y).mean() > 0.93
    iterated = LSSVMClassifier(solver="conjugate_gradient", **settings).fit(IRIS_X[::2], IRIS_Y[::2])
    np.testing.assert_allclose(iterated.dual_coef_, direct.dual_coef_, atol=1e-7)
    np.testing.assert_allclose(iterated.decision_function(IRIS_X), direct.decision_function(IRIS_X), atol=1e-6)


def test_pairs_choose_one_penalty_together() -> None:
    penalties = [1e-3, 0.1, 10.0]
    learner = LSSVMClassifier(sigma=1.5, coding="one-vs-one", regularization=penalties).fit(IRIS_X, IRIS_Y)
    errors = []
    for first, second in combinations(range(3), 2):
        rows = np.isin(IRIS_Y, (first, second))
        alone = LSSVMRegressor(sigma=1.5, regularization=penalties)
        errors.append(alone.fit(IRIS_X[rows], np.where(IRIS_Y[rows] == second, 1.0, -1.0)).criterion_)
    np.testing.assert_allclose(learner.criterion_, np.mean(errors, axis=0), rtol=1e-8)
    assert learner.regularization_ == penalties[np.argmin(learner.criterion_)]


@pytest.mark.parametrize("coding", CODINGS)
def test_thresholds_and_posteriors_from_samples_left_out(coding: str) -> None:
    for calibrate_on in ("leave_one_out", "held_out"):
        learner = LSSVMClassifier(sigma=0.3, coding=coding, threshold="least_error", calibrate_on=calibrate_on)
        learner.fit(IRIS_X, IRIS_Y)
        assert learner.score(IRIS_X, IRIS_Y) > 0.95
        plain = LSSVMClassifier(sigma=0.3, coding=coding, calibrate_on="training").fit(IRIS_X, IRIS_Y)
        assert not np.allclose(learner.predict_proba(IRIS_X), plain.predict_proba(IRIS_X))


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("posterior", ["gaussian", "platt", "multinomial"])
def test_weights_count_samples_of_classes(coding: str, posterior: str) -> None:
    counts = np.random.default_rng(2).integers(0, 3, size=75)
    samples, labels = IRIS_X[::2], IRIS_Y[::2]
    threshold = {"gaussian": "least_squares", "platt": "soft_margin", "multinomial": "least_error"}[posterior]
    learner = LSSVMClassifier(
        regularization=0.1, coding=coding, posterior=posterior, threshold=threshold, calibrate_on="training"
    )
    repeated = clone(learner).fit(samples.repeat(counts, axis=0), labels.repeat(counts))
    weighted = learner.fit(samples, labels, counts)
    np.testing.assert_allclose(weighted.decision_function(IRIS_X), repeated.decision_function(IRIS_X), atol=1e-8)
    np.testing.assert_allclose(weighted.predict_proba(IRIS_X), repeated.predict_proba(IRIS_X), atol=1e-6)
    np.testing.assert_array_equal(weighted.basis_centers_, samples[counts > 0])
    absent = counts == 0
    scores = class_scores(weighted.leave_one_out_outputs_[absent], weighted.code_, "loss")
    np.testing.assert_allclose(scores, weighted.decision_function(samples[absent]), atol=1e-10)


@pytest.mark.parametrize("calibrate_on", ["held_out", "leave_one_out"])
def test_a_sample_of_weight_zero_is_as_none(calibrate_on: str) -> None:
    kept = np.random.default_rng(3).random(150) < 0.6
    weight = np.where(kept, 1.0, 0.0)
    for kernel, samples in (("gaussian", IRIS_X), ("precomputed", IRIS_X @ IRIS_X.T)):
        learner = LSSVMClassifier(kernel=kernel, threshold="least_error", calibrate_on=calibrate_on)
        part = samples[np.ix_(kept, kept)] if kernel == "precomputed" else samples[kept]
        without = clone(learner).fit(part, IRIS_Y[kept])
        learner.fit(samples, np.where(kept, IRIS_Y, 7), weight)
        expected = without.predict_proba(samples[:, kept] if kernel == "precomputed" else samples)
        np.testing.assert_allclose(learner.predict_proba(samples), expected, atol=1e-8)


def test_leave_one_out_outputs_are_those_of_refitting() -> None:
    labels, weight = (IRIS_Y == 1)[::5], RANDOM.uniform(0.5, 2, size=30)
    learner = LSSVMClassifier(sigma=1.0, regularization=0.1).fit(IRIS_X[::5], labels, weight)
    for i in (3, 20):
        others = np.arange(30) != i
        without = clone(learner).fit(IRIS_X[::5][others], labels[others], weight[others])
        output = without.decision_function(IRIS_X[::5][[i]])
        np.testing.assert_allclose(learner.leave_one_out_outputs_[i], output, atol=1e-8)


def test_no_room_for_the_kernel_matrix_is_told_with_its_size_and_what_needs_none() -> None:
    def too_large(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        raise MemoryError("Unable to allocate")

    for learner in (LSSVMRegressor(kernel=too_large), BayesianLSSVMRegressor(kernel=too_large)):
        with pytest.raises(MemoryError, match=r"60 samples: 2.68e-05 GiB"):
            learner.fit(X, Y)
    with pytest.raises(MemoryError, match="conjugate_gradient"):
        BayesianLSSVMClassifier(kernel=too_large).fit(X, Y[:, 0] > 5)


def test_messages_name_the_parameter_that_was_meant() -> None:
    for learner, message in (
        (FixedSizeLSSVMRegressor(20, regularization=[0.1, 1.0]), "Use penalties"),
        (LSSVMRegressor(sigma=[1.0, 2.0, 3.0]), "ard_gaussian"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.fit(X, Y)
    with pytest.raises(ValueError, match="got 2 samples"):
        BayesianLSSVMRegressor().fit(X[:2], Y[:2])
