"""Kernel recursive least squares against the recursion as printed, and as a learner of streams."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import log_loss

from discriminants import KRLSClassifier, KRLSRegressor
from discriminants.fisher.class_moments import ClassMoments
from discriminants.kernels import GaussianKernel, MultiscaleGaussianKernel
from discriminants.posteriors.output_models import GaussianOutputModel


def k(X: np.ndarray, C: np.ndarray, sigma: float) -> np.ndarray:
    """The Gaussian kernel plus one, by its definition."""
    return 1 + np.exp(-((X[:, None] - C[None]) ** 2).sum(axis=2) / (2 * sigma**2))


class Printed:
    """The recursion as printed: (3.94)-(3.110), with Engel's update of alpha where a sample joins."""

    def __init__(self, sigma: float, nu: float, max_centers: int | None = None) -> None:
        self.sigma, self.nu, self.max_centers = sigma, nu, max_centers
        self.rows: list[int] = []

    def one_pass(self, X: np.ndarray, y: np.ndarray) -> "Printed":
        for n, x in enumerate(X):
            self._step(n, x, y[n], X)
        self.D = X[self.rows]
        return self

    def thesis(self, X: np.ndarray, y: np.ndarray) -> "Printed":
        """Algorithm 3, then algorithm 4 from P_m and alpha = 0."""
        self.one_pass(X, np.zeros_like(y))
        self.alpha[:] = 0
        for x, target in zip(X, y, strict=True):
            kx = k(x[None], self.D, self.sigma)[0]
            self._filter(kx, self.K_inverse @ kx, target)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return k(X, self.D, self.sigma) @ self.alpha

    def _step(self, n: int, x: np.ndarray, target: float, X: np.ndarray) -> None:
        knn = 2.0
        if not self.rows:
            self.rows, self.K_inverse, self.P = [n], np.array([[1 / knn]]), np.eye(1)
            self.alpha = np.array([target / knn])
            return
        kx = k(x[None], X[self.rows], self.sigma)[0]
        r = self.K_inverse @ kx
        delta = knn - kx @ r
        full = self.max_centers is not None and len(self.rows) == self.max_centers
        if delta <= self.nu or full:
            self._filter(kx, r, target)
            return
        m = len(self.rows)
        grown = np.zeros((m + 1, m + 1))
        grown[:m, :m] = self.P
        grown[m, m] = 1
        self.P = grown
        error = target - kx @ self.alpha
        self.alpha = np.append(self.alpha - r * error / delta, error / delta)
        top = np.hstack([delta * self.K_inverse + np.outer(r, r), -r[:, None]])
        self.K_inverse = np.vstack([top, np.append(-r, 1)]) / delta
        self.rows.append(n)

    def _filter(self, kx: np.ndarray, r: np.ndarray, target: float) -> None:
        q = self.P @ r / (1 + r @ self.P @ r)
        self.P = self.P - np.outer(q, r @ self.P)
        self.alpha = self.alpha + self.K_inverse @ q * (target - kx @ self.alpha)


@pytest.mark.parametrize("block_size", [1, 13, 1024])
@pytest.mark.parametrize(("nu", "max_centers"), [(0.3, None), (0.01, None), (0.01, 20)])
def test_one_pass_is_engels_recursion(
    wave: tuple[np.ndarray, ...], nu: float, max_centers: int | None, block_size: int
) -> None:
    X, y, X_test = wave
    naive = Printed(1.0, nu, max_centers).one_pass(X, y)
    learner = KRLSRegressor(nu, sigma=1.0, max_centers=max_centers, block_size=block_size, penalty=0).fit(X, y)
    np.testing.assert_array_equal(learner.center_indices_, naive.rows)
    np.testing.assert_array_equal(learner.basis_centers_, X[naive.rows])
    np.testing.assert_allclose(learner.predict(X_test), naive.predict(X_test), rtol=1e-9, atol=1e-9)


def test_two_passes_are_least_squares_in_the_kernels_of_the_dictionary(wave: tuple[np.ndarray, ...]) -> None:
    X, y, X_test = wave
    learner = KRLSRegressor(0.01, sigma=1.0, form="two_pass", block_size=64, penalty=0).fit(X, y)
    D = learner.basis_centers_
    assert 20 < D.shape[0] < 200
    alpha = np.linalg.lstsq(k(X, D, 1.0), y, rcond=None)[0]
    np.testing.assert_allclose(learner.predict(X_test), k(X_test, D, 1.0) @ alpha, atol=1e-9)
    np.testing.assert_array_equal(learner.center_indices_, KRLSRegressor(0.01, sigma=1.0).fit(X, y).center_indices_)


def test_the_thesis_form_is_algorithms_3_and_4_and_shrinks_the_outputs_to_about_half(
    wave: tuple[np.ndarray, ...],
) -> None:
    X, y, X_test = wave
    naive = Printed(1.0, 0.01).thesis(X, y)
    learner = KRLSRegressor(0.01, sigma=1.0, form="thesis", block_size=50, penalty=0).fit(X, y)
    np.testing.assert_allclose(learner.predict(X_test), naive.predict(X_test), atol=1e-8)
    whole = KRLSRegressor(0.01, sigma=1.0, penalty=0).fit(X, y).predict(X)
    share = (learner.predict(X) @ whole) / (whole @ whole)
    assert 0.4 < share < 0.6


@pytest.mark.parametrize(("sigma", "n_features"), [(0.5, 6), (1.0, 10)])
def test_one_pass_with_a_very_small_nu_is_dense_least_squares(sigma: float, n_features: int) -> None:
    rng = np.random.default_rng(1)
    X, X_test = rng.normal(size=(600, n_features)), rng.normal(size=(100, n_features))
    y = np.sin(X[:, 0]) + X[:, 1]
    learner = KRLSRegressor(1e-10, sigma=sigma, penalty=0).fit(X, y)
    alpha = np.linalg.lstsq(k(X, X, sigma), y, rcond=None)[0]
    assert learner.basis_centers_.shape[0] == 600
    np.testing.assert_allclose(learner.predict(X_test), k(X_test, X, sigma) @ alpha, atol=1e-6)
    np.testing.assert_allclose(learner.predict(X), y, atol=1e-6)


def test_factors_stay_exact_where_the_printed_inverses_break_down() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(500, 3))
    y = np.exp(X[:, 0])
    assert np.abs(KRLSRegressor(1e-10, sigma=1.0, penalty=0).fit(X, y).predict(X) - y).max() < 1e-4
    assert np.abs(Printed(1.0, 1e-10).one_pass(X, y).predict(X) - y).max() > 1e-3


@settings(max_examples=25)
@given(cuts=st.lists(st.integers(1, 299), max_size=12), block_size=st.integers(1, 400))
def test_however_a_stream_is_cut_the_model_is_that_of_one_fit(cuts: list[int], block_size: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    codes = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 0] > 1)
    whole = KRLSClassifier(sigma=1.0, posterior="gaussian").fit(X, codes)
    pieces = KRLSClassifier(sigma=1.0, block_size=block_size)
    for rows in np.split(np.arange(300), sorted(set(cuts))):
        pieces.partial_fit(X[rows], codes[rows], classes=[0, 1, 2])
    np.testing.assert_array_equal(pieces.center_indices_, whole.center_indices_)
    np.testing.assert_allclose(pieces.decision_function(X), whole.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X), atol=1e-7)


def test_duplicates_never_join_twice() -> None:
    rng = np.random.default_rng(4)
    X = np.repeat(1e3 * rng.normal(size=(40, 3)), 5, axis=0)[rng.permutation(200)]
    for sigma in (1e-3, 1.0, 1e3):
        learner = KRLSRegressor(1e-14, sigma=sigma, block_size=17, penalty=0).fit(X, X[:, 0])
        for _ in range(2):
            learner.partial_fit(X, X[:, 0])
        centers = learner.basis_centers_
        assert np.unique(centers, axis=0).shape == centers.shape
        assert centers.shape[0] <= 40
        np.testing.assert_allclose(learner.predict(X), X[:, 0], atol=1e-5 * np.abs(X).max())


def test_several_targets_share_the_dictionary(wave: tuple[np.ndarray, ...]) -> None:
    X, y, X_test = wave
    both = KRLSRegressor(sigma=1.0).fit(X, np.column_stack([y, -(y**2)]))
    assert both.dual_coef_.shape == (both.basis_centers_.shape[0], 2)
    for output, target in enumerate((y, -(y**2))):
        alone = KRLSRegressor(sigma=1.0).fit(X, target)
        np.testing.assert_allclose(both.predict(X_test)[:, output], alone.predict(X_test), atol=1e-9)


def test_single_precision_data_are_accumulated_in_double(wave: tuple[np.ndarray, ...]) -> None:
    X, y, X_test = (part.astype(np.float32) for part in wave)
    single = KRLSRegressor(1e-7, sigma=1.0).fit(X, y)
    double = KRLSRegressor(1e-7, sigma=1.0).fit(X.astype(np.float64), y.astype(np.float64))
    assert single.basis_centers_.dtype == single.predict(X_test).dtype == np.float32
    np.testing.assert_array_equal(single.center_indices_, double.center_indices_)
    np.testing.assert_allclose(single.predict(X_test), double.predict(X_test.astype(np.float64)), rtol=1e-5)
    single.partial_fit(wave[0], wave[1])
    assert single.basis_centers_.dtype == np.float32


@pytest.mark.parametrize("form", ["one_pass", "two_pass", "thesis"])
def test_a_precomputed_kernel_gives_the_same_model(wave: tuple[np.ndarray, ...], form: str) -> None:
    X, y, X_test = wave
    by_name = KRLSRegressor(0.05, sigma=1.0, form=form, block_size=100).fit(X, y)
    matrix = KRLSRegressor(0.05, kernel="precomputed", form=form, block_size=100).fit(GaussianKernel(1.0)(X, X), y)
    np.testing.assert_array_equal(matrix.center_indices_, by_name.center_indices_)
    np.testing.assert_allclose(matrix.predict(GaussianKernel(1.0)(X_test, X)), by_name.predict(X_test), atol=1e-9)


def test_digits_are_read_from_a_stream_with_posteriors_at_any_time() -> None:
    X, y = load_digits(return_X_y=True)
    learner = KRLSClassifier(0.2, sigma=30.0)
    for start in range(0, 1300, 130):
        rows = slice(start, start + 130)
        learner.partial_fit(X[rows], y[rows], classes=np.arange(10))
        proba = learner.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert learner.score(X[1300:], y[1300:]) > 0.93
    assert log_loss(y[1300:], learner.predict_proba(X[1300:])) < 0.4
    assert learner.basis_centers_.shape[0] < 450


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KRLSClassifier, KRLSRegressor])
def test_a_dictionary_is_bounded_unless_asked_otherwise(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2100, 2)), rng.integers(2, size=2100)
    assert (
        kind(sigma=1e-6)
        .partial_fit(X, y, **({"classes": [0, 1]} if kind is KRLSClassifier else {}))
        .basis_centers_.shape[0]
        == 2000
    )
    assert kind(max_centers=None).fit(X[:50], y[:50]).basis_centers_.shape[0] <= 50


def test_memory_is_that_of_the_triangles_and_one_block_however_long_the_stream() -> None:
    rng = np.random.default_rng(6)
    learner = KRLSRegressor(0.1, sigma=1.0, max_centers=50, block_size=500)
    X = rng.uniform(-1, 1, size=(200_000, 4))
    learner.partial_fit(X[:1000], X[:1000, 0])
    tracemalloc.start()
    learner.partial_fit(X, X[:, 0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (10 * 500 * 50 + 10 * 50**2)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_moments_give_the_output_model_of_the_outputs_themselves(n_classes: int) -> None:
    rng = np.random.default_rng(5)
    phi, codes = rng.normal(size=(500, 6)), rng.integers(n_classes, size=500)
    phi[:, 4:][:100] = 0.0
    weights = rng.normal(size=(6, 1 if n_classes == 2 else n_classes))
    moments = ClassMoments().start(n_classes)
    moments.add(phi[:100, :4], codes[:100])
    moments.add(phi[100:], codes[100:])
    found, expected = moments.output_model(weights), GaussianOutputModel().fit(phi @ weights, codes)
    assert vars(found).keys() == vars(expected).keys()
    for name, value in vars(expected).items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"]])
def test_a_class_not_seen_yet_has_posterior_zero(names: list[str]) -> None:
    X, codes = make_blobs(200, centers=len(names), random_state=0)
    y = np.array(names)[codes]
    learner = KRLSClassifier(sigma=2.0).partial_fit(X[y == "a"][:1], ["a"], classes=names)
    np.testing.assert_array_equal(learner.predict_proba(X)[:, 0], 1.0)
    learner.partial_fit(X[y == "a"], y[y == "a"])
    np.testing.assert_array_equal(learner.predict_proba(X)[:, 1:], 0.0)
    learner.partial_fit(X[y != "a"], y[y != "a"])
    assert learner.score(X, y) > 0.95
    assert (np.array(names)[learner.predict_proba(X).argmax(axis=1)] == y).mean() > 0.95


def test_fit_forgets_what_was_before(wave: tuple[np.ndarray, ...]) -> None:
    X, y, X_test = wave
    learner = KRLSRegressor(sigma=1.0).fit(X[:100] + 5, y[:100]).fit(X, y)
    np.testing.assert_array_equal(learner.predict(X_test), KRLSRegressor(sigma=1.0).fit(X, y).predict(X_test))


def test_the_width_scale_is_that_of_the_first_chunk(wave: tuple[np.ndarray, ...]) -> None:
    X, y, _ = wave
    learner = KRLSRegressor().partial_fit(X[:30], y[:30])
    width = learner.sigma_
    assert width == pytest.approx(np.sqrt(X[:30].var(axis=0).sum()))
    assert learner.partial_fit(10 * X[30:], y[30:]).sigma_ == width
    with pytest.raises(ValueError, match="sigma"):
        KRLSRegressor().partial_fit(X[:1], y[:1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_that_are_not_finite_are_refused_and_change_nothing(wave: tuple[np.ndarray, ...], bad: float) -> None:
    X, y, X_test = wave
    learner = KRLSRegressor(sigma=1.0).partial_fit(X, y)
    before = learner.predict(X_test)
    for part, targets in ((np.where(X > 2, bad, X), y), (X, np.where(y > 2, bad, y))):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            learner.partial_fit(part, targets)
    np.testing.assert_array_equal(learner.predict(X_test), before)


def test_stream_of_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="one class"):
        KRLSClassifier().partial_fit(np.arange(10.0)[:, None], np.zeros(10), classes=[0])


def test_classes_are_given_first_and_stay_the_same() -> None:
    X, y = make_blobs(30, random_state=2)
    with pytest.raises(ValueError, match="first call"):
        KRLSClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="unknown labels"):
        KRLSClassifier().partial_fit(X, y, classes=[0, 1])
    learner = KRLSClassifier().partial_fit(X, y, classes=[2, 1, 0])
    with pytest.raises(ValueError, match="previous calls"):
        learner.partial_fit(X, y, classes=[0, 1])


def test_targets_of_another_shape_than_before_are_refused(wave: tuple[np.ndarray, ...]) -> None:
    X, y, _ = wave
    learner = KRLSRegressor(sigma=1.0).partial_fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        learner.partial_fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize(
    "learner",
    [KRLSRegressor(form="two_pass"), KRLSRegressor(kernel="precomputed"), KRLSClassifier(posterior="platt")],
)
def test_there_is_no_partial_fit_where_all_data_are_needed(learner: Any) -> None:
    assert not hasattr(learner, "partial_fit")


def test_a_stream_cannot_go_on_from_a_fit_with_another_posterior() -> None:
    X, y = make_blobs(60, random_state=3)
    learner = KRLSClassifier(posterior="platt").fit(X, y).set_params(posterior="gaussian")
    with pytest.raises(ValueError, match="posterior"):
        learner.partial_fit(X, y)


def test_a_kernel_that_is_not_positive_definite_is_refused(wave: tuple[np.ndarray, ...]) -> None:
    X, y, _ = wave
    with pytest.raises(ValueError, match="positive definite"):
        KRLSRegressor(kernel=lambda A, B: np.tanh(3 * A @ B.T - 1)).fit(X, y)
    with pytest.raises(ValueError, match="symmetric"):
        KRLSRegressor(sigma=np.linspace(1, 2, X.shape[0])).fit(X, y)
    with pytest.raises(ValueError, match="the same for all centers"):
        KRLSRegressor(kernel=MultiscaleGaussianKernel([1.0, 2.0])).fit(X, y)


def test_a_nu_that_lets_nothing_in_is_refused(wave: tuple[np.ndarray, ...]) -> None:
    X, y, _ = wave
    with pytest.raises(ValueError, match="nu"):
        KRLSRegressor(nu=3.0).fit(X, y)


def test_kernel_values_that_overflow_are_refused() -> None:
    X = np.array([[1e200], [2e200], [3e200]])
    with pytest.raises(ValueError, match="finite"), np.errstate(over="ignore"):
        KRLSRegressor(kernel=lambda A, B: (A @ B.T) ** 2).fit(X, np.arange(3.0))
