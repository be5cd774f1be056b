"""Forward selection, least squares and generalised cross-validation against naive transcriptions."""

import tracemalloc

import numpy as np
import pytest
from scipy.linalg import qr, qr_insert, solve_triangular

from discriminants.center_selection.forward.column_state import ColumnState
from discriminants.center_selection.forward.forward_selection import Rule, SelectionState, forward_selection
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.center_selection.forward.gram_schmidt_state import GramSchmidtState
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem
from discriminants.center_selection.forward.rules import RULES, error_reduction, largest_residual, make_rule
from discriminants.kernels import CompactGaussianKernel, GaussianKernel, MultiscaleGaussianKernel

KERNEL = GaussianKernel(1.5)


def problem(n_samples: int = 300, n_targets: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, 4))
    Y = np.sign(random.normal(size=(n_samples, n_targets)) + 2 * X[:, :1] * X[:, 1:2])
    return X, Y, KERNEL(X, X)


def gram_state(
    X: np.ndarray, Y: np.ndarray, n_centers: int, residual: bool = False, rows: int | None = None
) -> GramState:
    gram = accumulate_gram(KERNEL, X, Y, X[:rows], block=64)
    return GramState(gram, n_centers, points=(KERNEL(X[:rows], X[:rows]), Y[:rows]) if residual else None)


def column_state(X: np.ndarray, Y: np.ndarray, n_centers: int, rows: int | None = None) -> ColumnState:
    return ColumnState(KernelMatrix(KERNEL, X, np.arange(X.shape[0])[:rows]), Y, n_centers)


def dense_state(X: np.ndarray, Y: np.ndarray, n_centers: int, rows: int | None = None) -> GramSchmidtState:
    return GramSchmidtState(KernelMatrix(KERNEL, X, np.arange(X.shape[0])[:rows]), Y, n_centers)


def naive_orthogonal_least_squares(K: np.ndarray, Y: np.ndarray, n_centers: int) -> list[int]:
    """Modified Gram-Schmidt over all candidate columns; the column that explains most of Y comes next."""
    residual = Y - Y.mean(axis=0)
    columns = K - K.mean(axis=0)
    order: list[int] = []
    for _ in range(n_centers):
        energy = (columns**2).sum(axis=0)
        reduction = ((columns.T @ residual) ** 2).sum(axis=1) / np.maximum(energy, 1e-300)
        reduction[order] = -1
        best = int(reduction.argmax())
        order.append(best)
        q = columns[:, best] / np.sqrt(energy[best])
        residual = residual - np.outer(q, q @ residual)
        columns = columns - np.outer(q, q @ columns)
    return order


def naive_largest_residual(K: np.ndarray, Y: np.ndarray, n_centers: int) -> list[int]:
    order: list[int] = []
    for _ in range(n_centers):
        A = np.hstack([np.ones((K.shape[0], 1)), K[:, order]])
        residual = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
        size = (residual**2).sum(axis=1)
        size[order] = -1
        order.append(int(size.argmax()))
    return order


def test_givens_rotations_give_the_same_centers_and_weights() -> None:
    X, Y, K = problem(n_targets=1)
    state = column_state(X, Y, 20)
    forward_selection(state, largest_residual, 20)
    Q, R = qr(np.ones((X.shape[0], 1)), mode="economic")
    order: list[int] = []
    for _ in range(20):
        residual = np.abs(Y - Q @ (Q.T @ Y))[:, 0]
        residual[order] = 0.0
        order.append(int(residual.argmax()))
        Q, R = qr_insert(Q, R, K[:, order[-1]], 0, which="col")  # as the first column, which takes rotations
    assert state.order == order
    np.testing.assert_allclose(state.system.weights(0.0), solve_triangular(R, Q.T @ Y)[::-1], rtol=1e-7, atol=1e-8)


def test_gram_form_chooses_in_the_order_of_naive_orthogonal_least_squares() -> None:
    X, Y, K = problem()
    expected = naive_orthogonal_least_squares(K[:, :200], Y, 150)  # more than two panels
    assert forward_selection(gram_state(X, Y, 150, rows=200), error_reduction, 150) == expected


def test_column_form_chooses_by_error_reduction_as_the_gram_form_does() -> None:
    X, Y, _ = problem()
    columns = forward_selection(column_state(X, Y, 80), error_reduction, 80)
    assert columns == forward_selection(gram_state(X, Y, 80), error_reduction, 80)


def test_both_forms_choose_by_largest_residual_as_least_squares_from_scratch_does() -> None:
    X, Y, K = problem(n_samples=150)
    expected = naive_largest_residual(K, Y, 60)
    assert forward_selection(column_state(X, Y, 60), largest_residual, 60) == expected
    assert forward_selection(gram_state(X, Y, 60, residual=True), largest_residual, 60) == expected


def test_a_rule_that_needs_residuals_says_so_when_the_gram_form_has_none() -> None:
    X, Y, _ = problem(50)
    with pytest.raises(ValueError, match="residuals"):
        forward_selection(gram_state(X, Y, 5), largest_residual, 5)


@pytest.mark.parametrize("lam", [0.0, 0.3])
@pytest.mark.parametrize("name", sorted(RULES))
def test_all_forms_choose_alike_by_every_rule(name: str, lam: float) -> None:
    X, Y, _ = problem()

    def chosen(state: SelectionState) -> list[int]:
        state.lam = lam
        return forward_selection(state, make_rule(name, np.random.RandomState(7)), 60)

    expected = chosen(dense_state(X, Y, 60, rows=200))
    assert chosen(column_state(X, Y, 60, rows=200)) == expected
    assert chosen(gram_state(X, Y, 60, residual=True, rows=200)) == expected


def test_matching_pursuit_correlates_the_columns_as_they_are_with_the_residual() -> None:
    X, Y, K = problem()
    state = gram_state(X, Y, 20)
    state.lam = 0.4
    forward_selection(state, error_reduction, 20)
    A = np.hstack([np.ones((K.shape[0], 1)), K[:, state.order]])
    residual = Y - A @ state.system.weights(0.4)
    columns = K - K.mean(axis=0)
    expected = ((columns.T @ residual) ** 2).sum(axis=1) / (columns**2).sum(axis=0)
    expected[state.order] = 0.0
    np.testing.assert_allclose(state.matching(), expected, rtol=1e-8, atol=1e-10)


def test_every_candidate_of_several_widths_is_a_column_of_its_own() -> None:
    X, Y, _ = problem()
    kernel, points = MultiscaleGaussianKernel([0.7, 2.0]).over(X[:50])
    matrix = KernelMatrix(kernel, X, points, epsilon=0.1)
    assert sorted(zip(points, kernel.sigma, strict=True)) == [(i, s) for i in range(50) for s in (0.7, 2.0)]
    distances = ((X[:, None] - X[None, points]) ** 2).sum(axis=2)
    K = np.exp(-distances / (2 * kernel.sigma**2))
    K[points, np.arange(100)] += 0.1
    np.testing.assert_allclose(matrix.columns(np.arange(100)), K, atol=1e-12)
    np.testing.assert_allclose(matrix.at_candidates(), K[points], atol=1e-12)
    np.testing.assert_allclose(matrix.energies(), (K**2).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(matrix.transposed_times(Y), K.T @ Y, atol=1e-10)
    dense = forward_selection(GramSchmidtState(matrix, Y, 30), error_reduction, 30)
    gram = accumulate_gram(kernel, X, Y, X[points], diagonal=(points, 0.1))
    assert forward_selection(GramState(gram, 30), error_reduction, 30) == dense


@pytest.mark.parametrize("form", ["columns", "gram"])
def test_weights_and_residual_equal_least_squares_in_the_chosen_columns_after_every_step(form: str) -> None:
    X, Y, K = problem()
    steps = 0

    def check(state: SelectionState) -> bool:
        nonlocal steps
        steps += 1
        A = np.hstack([np.ones((K.shape[0], 1)), K[:, state.order]])
        W = np.linalg.lstsq(A, Y, rcond=None)[0]
        np.testing.assert_allclose(state.system.weights(), W, rtol=0, atol=1e-8 * np.abs(W).max())
        np.testing.assert_allclose(state.residual(), Y - A @ W, atol=1e-8)
        np.testing.assert_allclose(state.system.residual_sum_of_squares(), ((Y - A @ W) ** 2).sum(axis=0), rtol=1e-8)
        return False

    state = column_state(X, Y, 70) if form == "columns" else gram_state(X, Y, 70, residual=True)
    forward_selection(state, largest_residual, 70, check)
    assert steps == 70


@pytest.mark.parametrize("n_samples", [1000, 2000, 5000])
def test_columns_that_depend_on_each_other_ever_more_do_not_end_in_rounding(n_samples: int) -> None:
    # A wide kernel: the order that lowers the error most selects columns with almost zero remaining norm. Rounding
    # errors of the products grow from one to the next; without a check, the squared error here becomes 1.6e6.
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, size=(n_samples, 2))
    Y = 1.0 - 2.0 * (np.floor(X).sum(axis=1, keepdims=True) % 2)
    kernel, rows = GaussianKernel(1.6), np.arange(1000)
    state = GramState(accumulate_gram(kernel, X, Y, X[rows]), 200)
    order = forward_selection(state, error_reduction, 200)
    assert len(order) > 30
    A = np.hstack([np.ones((n_samples, 1)), kernel(X, X[order])])
    best = ((Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]) ** 2).mean()
    np.testing.assert_allclose(((Y - A @ state.system.weights()) ** 2).mean(), best, rtol=0.01)
    # A difference of large sums: the result varies by one or two percent with the seed and the version of the BLAS.
    np.testing.assert_allclose(state.system.residual_sum_of_squares()[0] / n_samples, best, rtol=0.03)


@pytest.mark.parametrize("form", ["columns", "gram"])
@pytest.mark.parametrize("lam", [0.0, 1e-3, 0.5, 20.0])
def test_a_penalty_applies_to_all_orthogonal_weights_at_once(form: str, lam: float) -> None:
    X, Y, K = problem()
    state = column_state(X, Y, 40) if form == "columns" else gram_state(X, Y, 40, residual=True)
    forward_selection(state, largest_residual, 40)
    state.lam = lam
    A = np.hstack([np.ones((K.shape[0], 1)), K[:, state.order]])
    R = np.linalg.cholesky(A.T @ A).T
    U = R / np.diagonal(R)[:, None]  # A = Q U with orthogonal, not normalized columns
    W = np.linalg.solve(A.T @ A + lam * U.T @ U, A.T @ Y)
    np.testing.assert_allclose(state.system.weights(lam), W, atol=1e-8 * np.abs(W).max())
    np.testing.assert_allclose(state.residual(), Y - A @ W, atol=1e-8)
    residual_sum = ((Y - A @ W) ** 2).sum(axis=0)
    np.testing.assert_allclose(state.system.residual_sum_of_squares(lam), residual_sum, rtol=1e-8)
    hat = A @ np.linalg.solve(A.T @ A + lam * U.T @ U, A.T)
    free = X.shape[0] - np.trace(hat)
    gcv = X.shape[0] * residual_sum.sum() / free**2
    assert state.system.generalised_cross_validation(lam) == pytest.approx(gcv, rel=1e-8)


def test_lambda_that_reestimates_to_itself_is_a_minimum_of_generalised_cross_validation() -> None:
    X, Y, _ = problem(n_targets=1)
    state = column_state(X, Y, 60)
    forward_selection(state, largest_residual, 60)
    lam = 0.0
    for _ in range(500):
        lam = state.system.reestimate_lambda(lam)
    assert lam > 0
    here = state.system.generalised_cross_validation(lam)
    assert here <= state.system.generalised_cross_validation(lam * 1.01)
    assert here <= state.system.generalised_cross_validation(lam * 0.99)


def test_lambda_stays_where_the_formula_is_undefined() -> None:
    system = OrthogonalSystem(1, np.zeros(1), np.zeros(1), 10.0)
    assert system.reestimate_lambda(0.25) == 0.25


@pytest.mark.parametrize("form", ["columns", "gram"])
def test_columns_that_depend_on_chosen_ones_are_dropped(form: str) -> None:
    X, Y, _ = problem(40)
    X = np.vstack([X, X])
    Y = np.vstack([Y, -Y[:, ::-1]])
    state = column_state(X, Y, 80) if form == "columns" else gram_state(X, Y, 80)
    order = forward_selection(state, error_reduction, 80)
    points = [i % 40 for i in order]
    assert len(set(points)) == len(points)
    assert np.isfinite(state.system.weights()).all()
    assert not state.available.any()


def test_weights_of_samples_are_repetitions() -> None:
    X, Y, _ = problem(60)
    weight = np.random.default_rng(5).integers(1, 4, size=60)
    one = accumulate_gram(KERNEL, X, Y, X[:20], sample_weight=weight, block=16)
    other = accumulate_gram(KERNEL, X.repeat(weight, axis=0), Y.repeat(weight, axis=0), X[:20], block=16)
    for name in ("gram", "correlation", "means", "target_means", "target_energy", "n_samples"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


def test_epsilon_is_added_where_a_candidate_meets_itself() -> None:
    X, Y, K = problem(50)
    rows = np.array([3, 17, 40, 41])
    gram = accumulate_gram(KERNEL, X, Y, X[rows], diagonal=(rows, 0.3), block=16)
    A = K[:, rows].copy()
    A[rows, np.arange(4)] += 0.3
    centred = A - A.mean(axis=0)
    np.testing.assert_allclose(gram.gram, centred.T @ centred, atol=1e-10)
    np.testing.assert_allclose(gram.correlation, centred.T @ Y, atol=1e-10)


def test_float32_samples_give_nearly_the_float64_gram_matrix_even_for_wide_kernels() -> None:
    X, Y, _ = problem(5000)
    wide = GaussianKernel(20.0)
    reference = accumulate_gram(wide, X, Y, X[:50]).gram
    single = X.astype(np.float32)
    found = accumulate_gram(wide, single, Y, single[:50]).gram
    assert np.abs(found - reference).max() < 2e-6 * np.diagonal(reference).max()
    np.testing.assert_array_equal(found, found.T)


def test_the_gram_matrix_is_streamed() -> None:
    X = np.random.default_rng(6).normal(size=(40_000, 4)).astype(np.float32)
    Y = np.ones((40_000, 1), dtype=np.int8)
    accumulate_gram(KERNEL, X[:500], Y[:500], X[:400], block=100)  # later loading and compilation is not counted
    tracemalloc.start()
    accumulate_gram(KERNEL, X, Y, X[:400], block=1024)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000 * 400 * 4 / 4


def test_a_rule_that_names_a_candidate_twice_is_refused() -> None:
    X, Y, _ = problem(50)
    rule: Rule = make_rule(lambda state: 3, np.random.RandomState(0))
    with pytest.raises(ValueError, match="candidate 3"):
        forward_selection(column_state(X, Y, 5), rule, 5)


def test_lambda_that_maximizes_the_evidence_is_a_maximum_of_the_marginal_likelihood() -> None:
    X, Y, K = problem(n_samples=120, n_targets=1)
    state = column_state(X, Y, 25)
    forward_selection(state, largest_residual, 25)
    lam = 0.1
    for _ in range(2000):
        lam = state.system.maximize_evidence(lam)
    A = np.hstack([np.ones((120, 1)), K[:, state.order]])
    R = np.linalg.cholesky(A.T @ A).T
    Q = A @ np.linalg.inv(R / np.diagonal(R)[:, None])

    def log_evidence(ratio: float) -> float:
        """Of y ~ N(0, s^2 (I + QQ' / ratio)) with the best s^2."""
        C = np.eye(120) + Q @ Q.T / ratio
        quadratic = float(Y[:, 0] @ np.linalg.solve(C, Y[:, 0]))
        return -0.5 * (np.linalg.slogdet(C)[1] + 120 * np.log(quadratic))

    assert log_evidence(lam) >= max(log_evidence(lam * 1.02), log_evidence(lam / 1.02))


def test_a_sparse_kernel_matrix_gives_the_gram_system_of_the_dense_one() -> None:
    random = np.random.default_rng(8)
    X = random.uniform(0, 10, size=(400, 2))
    Y = np.sign(random.normal(size=(400, 2))) + 0.5
    weight = random.uniform(0.5, 2.0, size=400)
    kernel = CompactGaussianKernel(0.2)
    K = kernel(X, X)
    assert (K != 0).mean() < 0.02
    K[np.arange(400), np.arange(400)] += 0.3
    K = K[:, ::2]
    centred = K - (weight @ K) / weight.sum()
    gram = accumulate_gram(kernel, X, Y, X[::2], sample_weight=weight, diagonal=(np.arange(0, 400, 2), 0.3))
    np.testing.assert_allclose(gram.gram, (centred * weight[:, None]).T @ centred, atol=1e-10)
    means = weight @ Y / weight.sum()
    np.testing.assert_allclose(gram.correlation, (centred * weight[:, None]).T @ (Y - means), atol=1e-10)
    np.testing.assert_allclose(gram.means, weight @ K / weight.sum(), atol=1e-12)
    np.testing.assert_allclose(gram.target_energy, weight @ (Y - means) ** 2)
