"""What holds for every kernel, each against its formula, one pair of points at a time."""

import math
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel

from discriminants.kernels import (
    ARDGaussianKernel,
    CompactGaussianKernel,
    DistanceKernel,
    ExponentialKernel,
    FourierKernel,
    FunctionKernel,
    GaussianKernel,
    InverseMultiquadricKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    LocalSequenceKernel,
    NormalizedKernel,
    PolynomialKernel,
    SigmoidKernel,
    SplineKernel,
)

Formula = Callable[[np.ndarray, np.ndarray], float]


@dataclass
class Case:
    kernel: Kernel
    formula: Formula  # of two float64 points
    positive_definite: bool = True
    shift_invariant: bool = True


def distance(x: np.ndarray, c: np.ndarray) -> float:
    return math.hypot(*(x - c))  # without overflow of the squares


def gauss(r: float) -> float:
    return math.exp(-0.5 * r * r)


def compact_formula(sigma: float, cutoff: float, tapered: bool) -> Formula:
    def formula(x: np.ndarray, c: np.ndarray) -> float:
        r = distance(x, c) / sigma
        taper = max(0.0, 1 - r / cutoff) ** ((x.shape[0] + 1) / 2) if tapered else float(r < cutoff)
        return gauss(r) * taper

    return formula


def spline(x: float, c: float) -> float:
    """1 + x c + integral of (x - t)_+ (c - t)_+ over t >= 0, by Simpson's rule, exact for cubic polynomials."""
    m = max(0.0, min(x, c))
    values = [(x - t) * (c - t) for t in (0.0, m / 2, m)]
    return 1 + x * c + m / 6 * (values[0] + 4 * values[1] + values[2])


def windows_of_matches(x: np.ndarray, c: np.ndarray) -> float:
    """Windows of three positions with weights 1, 2, 1; local degree 2, degree 1."""
    matches = np.concatenate([[0.0], x == c, [0.0]])
    return math.fsum((matches[:-2] + 2 * matches[1:-1] + matches[2:]) ** 2)


def quadratic(x: np.ndarray, c: np.ndarray) -> float:
    return (0.1 * math.fsum(x * c) + 1.0) ** 2


def squared_norm(x: np.ndarray, c: np.ndarray) -> float:
    return quadratic(x, x) + quadratic(c, c) - 2 * quadratic(x, c)


CASES = {
    "gaussian": Case(GaussianKernel(1.5), lambda x, c: gauss(distance(x, c) / 1.5)),
    "narrow gaussian": Case(GaussianKernel(0.02), lambda x, c: gauss(distance(x, c) / 0.02)),
    "ARD gaussian": Case(ARDGaussianKernel(1.5), lambda x, c: gauss(distance(x, c) / 1.5)),
    "narrow ARD gaussian": Case(ARDGaussianKernel(0.02), lambda x, c: gauss(distance(x, c) / 0.02)),
    "exponential": Case(ExponentialKernel(1.5), lambda x, c: math.exp(-distance(x, c) / 1.5)),
    "narrow exponential": Case(ExponentialKernel(0.02), lambda x, c: math.exp(-distance(x, c) / 0.02)),
    "laplacian": Case(LaplacianKernel(4.0), lambda x, c: math.exp(-math.fsum(abs(x - c)) / 4.0)),
    "compact gaussian": Case(CompactGaussianKernel(1.5), compact_formula(1.5, 3.0, True)),
    "truncated gaussian": Case(CompactGaussianKernel(1.0, 2.5, taper=False), compact_formula(1.0, 2.5, False), False),
    "function": Case(
        FunctionKernel(lambda X, C: laplacian_kernel(X, C, gamma=0.25)),
        lambda x, c: math.exp(-math.fsum(abs(x - c)) / 4.0),
    ),
    "inverse multiquadric": Case(InverseMultiquadricKernel(1.5), lambda x, c: 1 / math.hypot(1, distance(x, c) / 1.5)),
    "narrow inverse multiquadric": Case(
        InverseMultiquadricKernel(0.02), lambda x, c: 1 / math.hypot(1, distance(x, c) / 0.02)
    ),
    "fourier": Case(FourierKernel(0.4), lambda x, c: math.prod(0.36 / (1.16 - 0.8 * np.cos(x - c)))),
    "spline": Case(SplineKernel(), lambda x, c: math.prod(map(spline, x, c)), shift_invariant=False),
    "sequence": Case(LocalSequenceKernel(1), windows_of_matches, shift_invariant=False),
    "linear": Case(LinearKernel(), lambda x, c: math.fsum(x * c), shift_invariant=False),
    **{
        f"polynomial of degree {degree}": Case(
            PolynomialKernel(degree, 1.0, 0.1),
            lambda x, c, degree=degree: (0.1 * math.fsum(x * c) + 1.0) ** degree,  # type: ignore[misc]
            shift_invariant=False,
        )
        for degree in (1, 2, 3, 6)
    },
    "sum": Case(
        ExponentialKernel(1.5) + 0.5 * GaussianKernel(1.0),
        lambda x, c: math.exp(-distance(x, c) / 1.5) + 0.5 * gauss(distance(x, c)),
    ),
    "product": Case(
        GaussianKernel(1.5) * PolynomialKernel(2, 1.0, 0.1),
        lambda x, c: gauss(distance(x, c) / 1.5) * quadratic(x, c),
        shift_invariant=False,
    ),
    "normalized": Case(
        NormalizedKernel(PolynomialKernel(2, 1.0, 0.1)),
        lambda x, c: quadratic(x, c) / math.sqrt(quadratic(x, x) * quadratic(c, c)),
        shift_invariant=False,
    ),
    "distance": Case(
        DistanceKernel(PolynomialKernel(2, 1.0, 0.1), 1.5),
        lambda x, c: math.exp(-squared_norm(x, c) / (2 * 1.5**2)),
        shift_invariant=False,
    ),
    "sigmoid": Case(SigmoidKernel(0.1, -0.5), lambda x, c: math.tanh(0.1 * math.fsum(x * c) - 0.5), False, False),
}
SHIFT_INVARIANT = [name for name, case in CASES.items() if case.shift_invariant]
POSITIVE_DEFINITE = [name for name, case in CASES.items() if case.positive_definite]
TOLERANCE = {np.float32: 3e-6, np.float64: 1e-12}


def naive(case: Case, X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return np.array([[case.formula(x, c) for c in centers.astype(np.float64)] for x in X.astype(np.float64)])


def settings(kernel: Kernel) -> dict[str, Any]:
    """The parameters, and those of kernels among them instead of the kernels."""
    return {name: value for name, value in kernel.get_params().items() if not isinstance(value, Kernel)}


def sample(n: int, d: int, dtype: type = np.float64, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def assert_close(K: np.ndarray, expected: np.ndarray, dtype: type, times: float = 1.0) -> None:
    np.testing.assert_allclose(K, expected, rtol=0, atol=times * TOLERANCE[dtype] * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", CASES)
class TestEveryKernel:
    @pytest.mark.parametrize("width", [1, 3, 5])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_samples_that_are_not_as_wide_as_the_centres_are_refused(self, name: str, dtype: type, width: int) -> None:
        columns = CASES[name].kernel.columns(sample(600, 4, dtype), dtype)
        X, weights = sample(9, width, dtype), np.ones((600, 2), dtype)
        with pytest.raises(ValueError, match=rf"shape \(9, {width}\).* 4 features"):
            columns.block(X)
        with pytest.raises(ValueError, match="4 features"):
            columns.product(X, weights)

    @pytest.mark.parametrize("d", [1, 4, 11])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_matrix_equals_the_formula_and_keeps_the_float_type(self, name: str, dtype: type, d: int) -> None:
        case = CASES[name]
        X = sample(40, d, dtype)
        centers = np.vstack([X[:12], X[:3] + dtype(0.01), sample(5, d, dtype, 1)])
        K = case.kernel(X, centers)
        assert K.dtype == dtype
        # A width of 0.02 makes the float32 inputs' own rounding count.
        assert_close(K, naive(case, X, centers), dtype, times=20 if "narrow" in name else 2)

    def test_columns_of_either_float_type_take_rows_of_either(self, name: str) -> None:
        case = CASES[name]
        X = sample(20, 3, np.float32)
        for dtype in (np.float32, np.float64):
            K = case.kernel.columns(X[:7], dtype).block(X.astype(np.float64 if dtype == np.float32 else np.float32))
            assert K.dtype == dtype
            # The function returns the float type of its input.
            accuracy = np.float32 if name == "function" else dtype
            assert_close(K, naive(case, X, X[:7]), accuracy, times=20 if "narrow" in name else 2)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_blocks_equal_the_whole_and_cover_all_rows_once(self, name: str, dtype: type) -> None:
        kernel = CASES[name].kernel
        X = sample(23, 3, dtype)
        columns = kernel.columns(X[:4], dtype)
        pieces = [(rows, K.copy()) for rows, K in columns.blocks(X, 10)]
        assert [rows.stop - rows.start for rows, _ in pieces] == [10, 10, 3]
        assert_close(np.vstack([K for _, K in pieces]), kernel(X, X[:4]), dtype)

    def test_a_block_goes_into_the_array_it_is_given(self, name: str) -> None:
        X = sample(9, 3)
        columns = CASES[name].kernel.columns(X[:4])
        out = np.full((9, 4), np.nan)
        assert columns.block(X, out) is out
        assert_close(out, columns.block(X), np.float64)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_diagonal_is_the_kernel_of_each_point_with_itself(self, name: str, dtype: type) -> None:
        case = CASES[name]
        X = sample(15, 5, dtype)
        diagonal = case.kernel.diagonal(X)
        assert diagonal.dtype == np.float64
        assert_close(diagonal, np.diagonal(naive(case, X, X)), dtype)
        assert_close(np.diagonal(case.kernel(X, X)), diagonal, dtype, times=20)

    def test_a_clone_has_the_same_parameters_and_values(self, name: str) -> None:
        kernel = CASES[name].kernel
        copy = clone(kernel)
        assert copy is not kernel
        assert settings(copy) == settings(kernel)
        again = type(kernel)(**kernel.get_params(deep=False))
        X = sample(10, 3)
        np.testing.assert_array_equal(copy(X, X[:4]), kernel(X, X[:4]))
        np.testing.assert_array_equal(again(X, X[:4]), kernel(X, X[:4]))

    def test_resolving_a_kernel_of_numbers_changes_nothing(self, name: str) -> None:
        kernel = CASES[name].kernel
        X = sample(10, 3)
        resolved = kernel.resolved(X)
        assert settings(resolved) == settings(kernel)
        candidates, numbers = resolved.over(X)
        np.testing.assert_array_equal(numbers, np.arange(10))
        np.testing.assert_array_equal(candidates.at(numbers[:4])(X, X[:4]), kernel(X, X[:4]))

    @pytest.mark.parametrize("n_samples", [0, 1, 255, 256, 600])
    def test_evaluation_equals_matrix_times_weights_plus_bias(self, name: str, n_samples: int) -> None:
        kernel = CASES[name].kernel
        random = np.random.default_rng(1)
        X, centers = random.normal(size=(n_samples, 5)), random.normal(size=(30, 5))
        weights, bias = random.normal(size=(30, 4)), random.normal(size=4)
        expected = kernel(X, centers) @ weights + bias if n_samples else np.empty((0, 4))
        largest = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(kernel.evaluate(X, centers, weights, bias), expected, atol=1e-12 * largest)
        single = kernel.evaluate(X.astype(np.float32), centers.astype(np.float32), weights, bias)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, expected, atol=2e-4 * largest)

    def test_evaluation_never_holds_the_whole_matrix(self, name: str) -> None:
        kernel = CASES[name].kernel
        X, centers = sample(20_000, 4, np.float32), sample(500, 4, np.float32, 1)
        kernel.evaluate(X[:10], centers, np.ones((500, 2), dtype=np.float32))
        if isinstance(kernel, CompactGaussianKernel):
            kernel = CompactGaussianKernel(0.1, taper=kernel.taper)
        tracemalloc.start()
        kernel.evaluate(X, centers, np.ones((500, 2), dtype=np.float32))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < X.shape[0] * centers.shape[0] * 4 / 10

    def test_the_matrix_of_a_set_with_itself_is_symmetric(self, name: str) -> None:
        X = sample(60, 4)
        K = CASES[name].kernel(X, X)
        np.testing.assert_allclose(K, K.T, atol=1e-12 * np.abs(K).max())


@pytest.mark.parametrize("name", POSITIVE_DEFINITE)
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_no_eigenvalue_is_negative_where_the_kernel_is_positive_definite(name: str, d: int) -> None:
    case = CASES[name]
    random = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*[np.arange({1: 60, 2: 8, 3: 4, 6: 2}[d])] * d), axis=-1).reshape(-1, d) * 0.7
    for X in (random.normal(size=(80, d)), random.uniform(0, 6, size=(80, d)), grid):
        eigenvalues = np.linalg.eigvalsh(case.kernel(X, X))
        assert eigenvalues.min() > -1e-12 * X.shape[0] * max(1.0, eigenvalues.max())


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_data_far_from_the_origin_lose_nothing(name: str, dtype: type) -> None:
    case = CASES[name]
    X = sample(50, 7, dtype) + dtype(1000)
    centers = np.vstack([X[:20], X[:3] + dtype(0.01)])
    assert_close(case.kernel(X, centers), naive(case, X, centers), dtype, times=20 if "narrow" in name else 2)


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
@pytest.mark.parametrize("gap", [1e3, 1e5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clusters_a_long_way_apart_lose_nothing(name: str, dtype: type, gap: float) -> None:
    case = CASES[name]
    X = sample(30, 4, dtype)
    X[::2] += dtype(gap)
    loose = "narrow" in name or dtype == np.float64
    assert_close(case.kernel(X, X), naive(case, X, X), dtype, times=200 if loose else 2)


@pytest.mark.parametrize("name", [name for name in CASES if name != "function"])  # which is checked separately
@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e20), (np.float64, 1e155), (np.float64, 1e300)])
def test_huge_points_give_the_right_value_or_an_error_never_nan(name: str, dtype: type, size: float) -> None:
    case = CASES[name]
    near = sample(6, 3, dtype)
    mixed = np.vstack([near, near[:2] * dtype(size), -near[:2] * dtype(size)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X, centers in [(mixed, near), (near, mixed), (mixed, mixed)]:
            if case.shift_invariant:
                with np.errstate(over="ignore"):
                    expected = np.array([[case.formula(x, c) for c in centers] for x in X.astype(np.float64)])
                assert_close(case.kernel(X, centers), expected, dtype, times=40)
            else:
                try:
                    K = case.kernel(X, centers)
                except ValueError as error:
                    assert "too large for float" in str(error)
                else:
                    assert np.isfinite(K).all()


@pytest.mark.parametrize(
    "kernel",
    [
        ARDGaussianKernel(0.5),
        GaussianKernel(0.5),
        ExponentialKernel(0.5),
        LaplacianKernel(0.5),
        CompactGaussianKernel(0.5),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_at_the_end_of_the_float_range_are_far_from_all_others(kernel: Kernel, dtype: type) -> None:
    largest = np.finfo(dtype).max
    X = np.array([[largest, largest], [-largest, largest], [largest / 4, 0]], dtype=dtype)
    np.testing.assert_array_equal(kernel(X, sample(9, 2, dtype) * dtype(5)), np.zeros((3, 9)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *[
            (lambda k=kernel, s=sigma: k(s), "sigma must be")
            for kernel in (
                ARDGaussianKernel,
                GaussianKernel,
                ExponentialKernel,
                LaplacianKernel,
                CompactGaussianKernel,
            )
            for sigma in (0.0, -1.0, np.nan, np.inf, None, [], 1e-310, [[1.0]])
        ],
        *[
            (lambda k=kernel: k([1.0, 2.0]), "one number")
            for kernel in (ExponentialKernel, LaplacianKernel, CompactGaussianKernel)
        ],
        *[(lambda c=c: CompactGaussianKernel(1.0, c), "cutoff must be") for c in (0.0, -1.0, np.nan, "3", [1.0, 2.0])],
        *[(lambda n=n: PolynomialKernel(n), "degree must be") for n in (0, -1, 1.5, "3", True, None)],
        *[(lambda t=t: PolynomialKernel(theta=t), "theta must be") for t in (np.nan, np.inf, "1", [1.0])],
        *[(lambda g=g: PolynomialKernel(gamma=g), "gamma must be") for g in (0.0, -1.0, np.nan, "auto", [1.0, 2.0])],
        *[(lambda g=g: SigmoidKernel(kappa=g), "kappa must be") for g in (0.0, -1.0, np.nan, "auto", [1.0, 2.0])],
        (lambda: SigmoidKernel(theta=np.nan), "theta must be"),
    ],
)
def test_a_parameter_out_of_range_is_refused(make: Callable[[], Kernel], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("kernel", "parameter"),
    [
        (GaussianKernel(), "sigma"),
        (ExponentialKernel(), "sigma"),
        (LaplacianKernel(), "sigma"),
        (CompactGaussianKernel(), "sigma"),
        (PolynomialKernel(), "gamma"),
        (SigmoidKernel(), "kappa"),
    ],
)
class TestParametersWorkedOutOnData:
    def test_resolved_they_are_positive_numbers_and_the_kernel_asked_stays_as_it_was(
        self, kernel: Kernel, parameter: str
    ) -> None:
        resolved = kernel.resolved(sample(20, 3))
        assert resolved.get_params()[parameter] > 0
        assert kernel.get_params()[parameter] == "scale"
        assert np.isfinite(resolved(sample(20, 3), sample(4, 3))).all()

    def test_before_that_a_matrix_is_refused(self, kernel: Kernel, parameter: str) -> None:
        with pytest.raises(ValueError, match="resolved"):
            kernel(sample(5, 2), sample(3, 2))

    def test_a_value_set_later_is_checked_when_it_is_resolved(self, kernel: Kernel, parameter: str) -> None:
        with pytest.raises(ValueError, match=parameter):
            clone(kernel).set_params(**{parameter: -1.0}).resolved(sample(5, 2))

    @pytest.mark.parametrize("value", [0.0, 3.0])
    def test_constant_data_give_a_kernel_all_the_same(self, kernel: Kernel, parameter: str, value: float) -> None:
        X = np.full((5, 2), value)
        assert np.isfinite(kernel.resolved(X)(X, X)).all()

    def test_weights_count_as_repetitions(self, kernel: Kernel, parameter: str) -> None:
        X, counts = sample(10, 3), np.arange(10)
        weighted = kernel.resolved(X, counts.astype(np.float64)).get_params()[parameter]
        assert weighted == pytest.approx(kernel.resolved(X.repeat(counts, axis=0)).get_params()[parameter])


def test_the_laplacian_kernel_is_that_of_scikit_learn() -> None:
    X = sample(30, 6)
    np.testing.assert_allclose(LaplacianKernel(2.0)(X, X[:9]), laplacian_kernel(X, X[:9], gamma=0.5), atol=1e-14)


def test_laplacian_columns_of_more_centres_than_a_tile_equal_the_formula() -> None:
    X, centers = sample(3, 2), sample(1100, 2, seed=1)
    np.testing.assert_allclose(LaplacianKernel(2.0)(X, centers), laplacian_kernel(X, centers, gamma=0.5), atol=1e-14)


def test_the_scale_of_dot_products_is_one_over_the_mean_squared_norm() -> None:
    X = sample(20, 3) * 100
    gamma = PolynomialKernel().resolved(X).get_params()["gamma"]
    assert gamma == pytest.approx(1 / (X**2).sum(axis=1).mean())
    assert SigmoidKernel().resolved(X).get_params()["kappa"] == gamma


def test_a_scale_of_dot_products_that_overflows_is_refused() -> None:
    with pytest.raises(ValueError, match="overflow"):
        PolynomialKernel().resolved(np.full((3, 2), 1e200))


@pytest.mark.parametrize("kernel", [LinearKernel(), PolynomialKernel(8, gamma=1.0)])
def test_a_dot_product_that_overflows_is_refused(kernel: Kernel) -> None:
    X = np.full((3, 2), 1e20, dtype=np.float32)
    with pytest.raises(ValueError, match="too large for float32"):
        kernel(X, X)


def test_a_sigmoid_saturates_where_its_argument_overflows() -> None:
    X = np.full((3, 2), 1e20, dtype=np.float32)
    np.testing.assert_array_equal(SigmoidKernel(1.0)(X, -X), np.full((3, 3), -1.0))
