"""Sparse samples: the same model as from the dense copy, sparse centers, and errors of the other learners."""

import json
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix, random_array
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    check_estimator_sparse_tag,
)

import discriminants
from discriminants import (
    FixedSizeLSSVMClassifier,
    FixedSizeLSSVMRegressor,
    GreedyNystroem,
    KFDClassifier,
    KRLSClassifier,
    LSSVMClassifier,
    LSSVMRegressor,
    NPDClassifier,
    NPDRegressor,
    OLSClassifier,
    OROLSClassifier,
    OROLSRegressor,
    PairwiseClassifier,
    PrunedLSSVMClassifier,
    SparseGreedyKFDClassifier,
    SparseKernelLogisticClassifier,
    WeightedLSSVMRegressor,
)
from discriminants.center_selection.choice import CHOOSERS
from discriminants.center_selection.cluster_means import cluster_means
from discriminants.kernels import (
    ConformalKernel,
    DistanceKernel,
    GaussianKernel,
    LinearKernel,
    NormalizedKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from discriminants.logistic.checkpoint import digest_of
from discriminants.parallel.workers import LocalWorkers
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays
from discriminants.util.errors import ModelFormatError
from discriminants.util.sampling import distinct_rows

_LINEAR = {"kernel": "linear"}
_COSINE = NormalizedKernel(LinearKernel())
_COMBINED = [_COSINE, LinearKernel() + 0.5 * PolynomialKernel(2) * _COSINE, DistanceKernel(LinearKernel())]
_LEARNERS = [
    FixedSizeLSSVMRegressor(20, kernel="polynomial", chooser="greedy", regularization="leave_one_out", random_state=0),
    *(
        FixedSizeLSSVMClassifier(20, chooser=name, random_state=0, **_LINEAR)
        for name in sorted(CHOOSERS.keys() - {"k-means"})
    ),
    GreedyNystroem(20, chooser="random", random_state=0, **_LINEAR),
    KFDClassifier(regularization=0.1, **_LINEAR),
    KFDClassifier(kernel="polynomial", penalty="kernel", solver="coordinate_descent", calibrate_on="held_out"),
    LSSVMClassifier(**_LINEAR),
    LSSVMRegressor(kernel=PolynomialKernel(2), solver="conjugate_gradient", tol=1e-10),
    NPDClassifier(10, kernel="sigmoid", random_state=0),
    NPDRegressor(10, n_candidates=None, rule="largest_residual", criterion=None, **_LINEAR),
    FixedSizeLSSVMClassifier(20, kernel=_COSINE, random_state=0),
    LSSVMClassifier(kernel=LinearKernel() + 0.5 * PolynomialKernel(2) * _COSINE),
    OROLSClassifier(10, kernel=DistanceKernel(LinearKernel()), random_state=0),
    SparseKernelLogisticClassifier(10, kernel=_COSINE, learning_rate=0.03),
    OLSClassifier(10, **_LINEAR),
    OROLSClassifier(10, n_candidates=40, candidates="residual", random_state=0, **_LINEAR),
    OROLSRegressor(10, criterion="cv", random_state=0, **_LINEAR),
    PairwiseClassifier(LSSVMClassifier(**_LINEAR)),
    PrunedLSSVMClassifier(share=0.3, **_LINEAR),
    SparseGreedyKFDClassifier(10, random_state=0, **_LINEAR),
    SparseKernelLogisticClassifier(10, learning_rate=0.03, **_LINEAR),
    SparseKernelLogisticClassifier(10, selection="random", solver="irls", n_extra_centers=5, random_state=0, **_LINEAR),
    WeightedLSSVMRegressor(regularization=0.1, **_LINEAR),
]

_SPARSE_CHECKS = [check_estimator_sparse_array, check_estimator_sparse_matrix, check_estimator_sparse_tag]


def _samples(n: int = 80) -> tuple[csr_array, np.ndarray]:
    random = np.random.default_rng(3)
    X = random_array((n, 60), density=0.1, rng=random, format="csr")[[0, *range(n - 1)]]  # two rows are equal
    weights = random.normal(size=60)
    outputs = X @ weights
    return csr_array(X), np.searchsorted(np.quantile(outputs, [0.3, 0.7]), outputs)


def _outputs(learner: Any, X: Any) -> np.ndarray:
    for method in ("decision_function", "transform", "predict"):
        if hasattr(learner, method):
            return np.asarray(getattr(learner, method)(X))
    raise AssertionError


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("learner", _LEARNERS, ids=str)
def test_sparse_samples_give_the_model_of_the_dense_copy(learner: Any, dtype: Any) -> None:
    X, y = _samples()
    X = X.astype(dtype)
    sparse, dense = clone(learner).fit(X, y), clone(learner).fit(X.toarray(), y)
    tolerance = 1e-6 if dtype == np.float64 else 1e-3
    expected = _outputs(dense, X.toarray())
    for model in (sparse, dense):
        for new in (X, csr_matrix(X), csc_array(X), X.toarray()):
            np.testing.assert_allclose(_outputs(model, new), expected, rtol=0, atol=tolerance * np.abs(expected).max())
    if isinstance(learner, PairwiseClassifier):
        return
    assert isinstance(sparse.basis_centers_, csr_array)
    np.testing.assert_array_equal(sparse.basis_centers_.toarray(), dense.basis_centers_)
    arrays, metadata = estimator_to_arrays(sparse)
    np.testing.assert_array_equal(_outputs(estimator_from_arrays(arrays, metadata), X), _outputs(sparse, X))


@pytest.mark.parametrize("check", _SPARSE_CHECKS)
@pytest.mark.parametrize("kind", sorted({type(learner) for learner in _LEARNERS} - {PairwiseClassifier}, key=str))
def test_dot_product_learner_keeps_the_contract_of_sparse_input(kind: Any, check: Any) -> None:
    for kernel in ("linear", "gaussian"):
        check(kind.__name__, kind(kernel=kernel))


@pytest.mark.parametrize("kernel", [LinearKernel(), PolynomialKernel(3), SigmoidKernel(), *_COMBINED], ids=str)
def test_kernel_of_sparse_points_equals_the_dense_one(kernel: Any) -> None:
    X, _ = _samples()
    dense, resolved = X.toarray(), kernel.resolved(X)
    expected = kernel.resolved(dense)(dense, dense[:9])
    np.testing.assert_allclose(resolved.diagonal(X), kernel.resolved(dense).diagonal(dense), rtol=1e-12)
    for samples in (X, dense):
        for centers in (X[:9], dense[:9]):
            np.testing.assert_allclose(resolved(samples, centers), expected, rtol=1e-12, atol=1e-15)
            out = np.full(expected.shape, np.nan)
            assert resolved.columns(centers).block(samples, out) is out
            np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-15)


def test_unsorted_repeated_and_zero_entries_change_nothing() -> None:
    X, y = _samples()
    parts = np.tile(X.data / 2, 2), np.tile(X.indices, 2).astype(np.int64)
    order = np.argsort(np.tile(X.nonzero()[0], 2), kind="stable")
    messy = csr_array((parts[0][order], parts[1][order], 2 * X.indptr.astype(np.int64)), X.shape)
    messy.data[:2] = messy.data[0], 0.0
    before, tidy = messy.copy(), csr_array(messy.toarray())
    learner = FixedSizeLSSVMClassifier(20, kernel="linear", random_state=0)
    expected = learner.fit(tidy, y).decision_function(tidy)
    np.testing.assert_array_equal(learner.fit(messy, y).decision_function(messy), expected)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(messy, part), getattr(before, part))


def test_cluster_means_of_sparse_samples_are_those_of_the_dense_copy() -> None:
    X, _ = _samples(900)
    X.data[:] += 100.0 * (np.repeat(np.arange(900), np.diff(X.indptr)) % 3) ** 2
    found = [cluster_means(each, LinearKernel(), 3, np.random.RandomState(0)) for each in (X, X.toarray())]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("form", [csr_array, np.asarray], ids=["sparse", "dense"])
def test_distinct_rows_are_the_first_of_equal_ones(form: Any) -> None:
    X = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    first, which = distinct_rows(form(X))
    np.testing.assert_array_equal(first, [0, 1, 3, 5])
    np.testing.assert_array_equal(which, [0, 1, 0, 2, 1, 3])


def test_checksum_of_sparse_samples_depends_on_values_and_places() -> None:
    X, _ = _samples()
    other, moved = X.copy(), X[::-1]
    other.data[-1] += 1.0
    digests = {digest_of({}, [each]) for each in (X, X.copy(), other, moved)}
    assert len(digests) == 3 and digest_of({}, [X]) == digest_of({}, [X.copy()])


@pytest.mark.slow
def test_processes_compute_the_model_of_sparse_samples() -> None:
    X, y = _samples()
    learner = SparseKernelLogisticClassifier(10, kernel="linear", learning_rate=0.03, random_state=0)
    expected = clone(learner).fit(X, y, X_val=X, y_val=y)
    found = clone(learner).fit(X, y, X_val=X, y_val=y, workers=LocalWorkers(2))
    np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)


def test_stream_of_sparse_samples_continues_after_loading() -> None:
    X, y = _samples()
    learner = FixedSizeLSSVMClassifier(20, kernel="linear", chooser="cholesky", random_state=0)
    expected = clone(learner).partial_fit(X[:40].toarray(), y[:40], range(3)).partial_fit(X[40:].toarray(), y[40:])
    half = estimator_from_arrays(*estimator_to_arrays(learner.partial_fit(X[:40], y[:40], range(3))))
    np.testing.assert_allclose(half.partial_fit(X[40:], y[40:]).dual_coef_, expected.dual_coef_, atol=1e-8)


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        ("indices", lambda array: array + 60),
        ("indices", lambda array: array.astype(np.float64)),
        ("indptr", lambda array: array[::-1].copy()),
        ("indptr", lambda array: array[:0]),
        ("indptr", lambda array: np.where(array == array[-1], -1, array)),
        ("indptr", lambda array: np.r_[array[0], [2**31 - 1, -2], array[3:]].astype(np.int32)),
        ("data", lambda array: array[:-1]),
        ("data", lambda array: array * np.inf),
        ("data", lambda array: array.reshape(-1, 1)),
    ],
)
def test_corrupt_sparse_centers_are_refused(part: str, damage: Any) -> None:
    X, y = _samples()
    arrays, metadata = estimator_to_arrays(LSSVMClassifier(kernel="linear").fit(X, y))
    name = f"LSSVMClassifier.basis_centers_.{part}"
    with pytest.raises(ModelFormatError):
        estimator_from_arrays({**arrays, name: damage(arrays[name])}, metadata)


def test_sparse_centers_of_another_kernel_are_refused() -> None:
    X, y = _samples()
    arrays, metadata = estimator_to_arrays(LSSVMClassifier(kernel="linear").fit(X, y))
    text = json.dumps(metadata).replace("dot_product:LinearKernel", "laplacian:LaplacianKernel")
    with pytest.raises(ModelFormatError, match="basis_centers_"):
        estimator_from_arrays(arrays, json.loads(text))


_DENSE = ["gaussian", "precomputed", rbf_kernel, LinearKernel() + GaussianKernel(), ConformalKernel(_COSINE, np.eye(2))]


@pytest.mark.parametrize("kernel", ["linear", SigmoidKernel(), *_COMBINED, *_DENSE])
@pytest.mark.parametrize("learner", [LSSVMClassifier, KRLSClassifier])
def test_tag_of_sparse_input_depends_on_learner_and_kernel(learner: Any, kernel: Any) -> None:
    supported = learner is LSSVMClassifier and not any(kernel is each for each in _DENSE)
    assert get_tags(learner(kernel=kernel)).input_tags.sparse == supported


@pytest.mark.parametrize("learner", [FixedSizeLSSVMClassifier(), PairwiseClassifier(KFDClassifier())], ids=str)
def test_kernel_of_distances_refuses_sparse_samples(learner: Any) -> None:
    X, y = _samples()
    with pytest.raises(TypeError, match=r"(?s)(LSSVM|KFD).*sparse.*gaussian.*linear"):
        clone(learner).fit(X, y)
    with pytest.raises(TypeError, match="sparse"):
        clone(learner).fit(X.toarray(), y).predict(X)


_SUPPORTED = {type(learner).__name__ for learner in _LEARNERS} | {"OLSRegressor", "PrunedLSSVMRegressor"}
_OTHER_INPUTS = {
    "NARX",
    "RecurrentLSSVM",
    "ShrinkingGridSearchCV",
    "PairwiseClassifier",
    "CodedClassifier",
}  # series, or another estimator
_NAMES = [
    name
    for name in discriminants.__all__
    if hasattr(getattr(discriminants, name), "fit") and not name.endswith("OutputModel") and name not in _OTHER_INPUTS
]


@pytest.mark.parametrize("name", _NAMES)
def test_learner_without_support_names_itself_and_dense_samples(name: str) -> None:
    X, y = _samples()
    learner = getattr(discriminants, name)()
    kernels = ["gaussian"] if name in _SUPPORTED else ["gaussian", "linear"]
    for kernel in kernels if "kernel" in learner.get_params() else [None]:
        if kernel is not None:
            learner.set_params(kernel=kernel)
        with pytest.raises(TypeError, match=rf"{name} .*sparse.*dense"):
            learner.fit(X, y)
