"""The compactly supported Gaussian: sparse blocks against dense ones, and when it is positive definite."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from discriminants.kernels import CompactGaussianKernel, SparseKernelColumns


def columns_of(kernel: CompactGaussianKernel, centers: np.ndarray, dtype: type) -> SparseKernelColumns:
    columns = kernel.columns(centers, dtype)
    assert isinstance(columns, SparseKernelColumns)
    return columns


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("d", [1, 3, 8, 9, 30])
@pytest.mark.parametrize("taper", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_blocks_hold_the_values_of_dense_ones(dtype: type, taper: bool, d: int, offset: float) -> None:
    random = np.random.default_rng(0)
    X = (random.normal(size=(700, d)) + offset).astype(dtype)
    centers = X[:150]
    columns = columns_of(CompactGaussianKernel(0.3 * math.sqrt(d), taper=taper), centers, dtype)
    sparse, dense = columns.sparse(X), columns.block(X)
    assert isinstance(sparse, csr_array)
    assert sparse.dtype == dtype
    assert sparse.shape == dense.shape
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert sparse.nnz == np.count_nonzero(dense)
    assert sparse.has_sorted_indices
    assert 150 <= sparse.nnz < 0.7 * dense.size


@settings(max_examples=40, deadline=None)
@given(d=st.integers(1, 12), exponent=st.floats(-150, 150), cutoff=st.floats(0.1, 6), taper=st.booleans())
def test_sparse_equals_dense_at_any_scale_and_cutoff(d: int, exponent: float, cutoff: float, taper: bool) -> None:
    X = np.random.default_rng(d).normal(size=(40, d)) * 10.0**exponent
    columns = columns_of(CompactGaussianKernel(10.0**exponent, cutoff, taper), X[:11], np.float64)
    np.testing.assert_array_equal(columns.sparse(X).toarray(), columns.block(X))


@pytest.mark.parametrize("d", [2, 10])
def test_pairs_exactly_on_the_border_are_outside_in_both_forms(d: int) -> None:
    X = np.zeros((7, d))
    X[:, 0] = np.arange(7)
    columns = columns_of(CompactGaussianKernel(1.0, 3.0, taper=False), X, np.float64)
    gap = np.abs(X[:, :1] - X[:, 0])
    expected = np.where(gap < 3, np.exp(-(gap**2) / 2), 0.0)
    np.testing.assert_allclose(columns.block(X), expected, rtol=1e-15)
    np.testing.assert_array_equal(columns.sparse(X).toarray(), columns.block(X))


@pytest.mark.parametrize("step", [0.1, 0.3, 0.7, 1.1])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_rounding_at_the_border_falls_alike_in_both_forms(d: int, step: float) -> None:
    X = np.zeros((200, d))
    X[:, 0] = np.arange(200) * step
    columns = columns_of(CompactGaussianKernel(step, 3.0, taper=False), X, np.float64)
    np.testing.assert_array_equal(columns.sparse(X).toarray(), columns.block(X))


def test_sparse_blocks_cover_all_rows_once() -> None:
    X = np.random.default_rng(1).normal(size=(3000, 2))
    columns = columns_of(CompactGaussianKernel(0.1), X[:2500], np.float64)
    pieces = list(columns.sparse_blocks(X))
    assert len(pieces) > 1
    assert [rows.start for rows, _ in pieces[1:]] == [rows.stop for rows, _ in pieces[:-1]]
    assert pieces[-1][0].stop == 3000
    assert sum(K.nnz for _, K in pieces) == columns.sparse(X).nnz


def test_no_pair_within_reach_gives_an_empty_matrix() -> None:
    for d in (2, 20):
        columns = columns_of(CompactGaussianKernel(1.0), np.zeros((3, d)), np.float64)
        assert columns.sparse(np.full((4, d), 100.0)).nnz == 0
        assert columns.sparse(np.empty((0, d))).shape == (0, 3)
        np.testing.assert_array_equal(columns.product(np.full((4, d), 100.0), np.ones((3, 2))), np.zeros((4, 2)))


def test_a_wide_cutoff_without_taper_is_the_gaussian_kernel() -> None:
    X = np.random.default_rng(2).normal(size=(30, 3))
    K = CompactGaussianKernel(1.0, 50.0, taper=False)(X, X)
    np.testing.assert_allclose(K, np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2), atol=1e-15)


def test_truncation_alone_is_indefinite_and_the_taper_mends_it() -> None:
    X = np.linspace(0, 20, 100)[:, None]
    truncated = np.linalg.eigvalsh(CompactGaussianKernel(1.0, 2.0, taper=False)(X, X))
    tapered = np.linalg.eigvalsh(CompactGaussianKernel(1.0, 2.0)(X, X))
    assert truncated.min() < -0.1
    assert tapered.min() > 0


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_taper_alone_is_positive_definite_in_as_many_dimensions(d: int) -> None:
    # A cutoff far below the width leaves only the taper, which would fail first for points about a cutoff apart.
    X = np.random.default_rng(d).uniform(0, 3e-3, size=(250, d))
    K = CompactGaussianKernel(1.0, 1e-3 * math.sqrt(d))(X, X)
    assert 0.01 < np.count_nonzero(K) / K.size < 0.9
    assert np.linalg.eigvalsh(K).min() > 0
