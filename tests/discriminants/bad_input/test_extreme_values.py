"""Every estimator on extreme data and with extreme penalties: finite results, or a ValueError that names the cause."""

import re
import warnings
from inspect import isclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import discriminants
from discriminants import (
    NARX,
    CommitteeRegressor,
    GaussianOutputModel,
    GreedyNystroem,
    KernelCCA,
    KernelDiscriminantAnalysis,
    KernelPLS,
    KFDClassifier,
    LinearDiscriminant,
    LogisticOutputModel,
    LSSVMClassifier,
    LSSVMKernelPCA,
    LSSVMRegressor,
    NPDClassifier,
    OneVsOneKernelClassifier,
    OneVsOneSVC,
    OrientedKernelPCA,
    OROLSClassifier,
    PlattOutputModel,
    PrunedLSSVMRegressor,
    RecurrentLSSVM,
    SeriesDensity,
    ShrinkingGridSearchCV,
    SparseKernelLogisticClassifier,
    SparseKFDClassifier,
)
from discriminants.kernels import Kernel
from tests.discriminants.bad_input.learners import LEARNERS, Data

pytestmark = pytest.mark.slow

_FIRST = {type(learner): name for name, learner in reversed(LEARNERS.items())}
ESTIMATORS: dict[str, Any] = {
    **{name: LEARNERS[name] for name in _FIRST.values()},
    "OROLS": OROLSClassifier(12),
    "KFD, descent": KFDClassifier(penalty="kernel", solver="coordinate_descent", significant_figures=6),
    "sparse KFD, absolute": SparseKFDClassifier(loss="absolute"),
    "LSSVM, pairs": LSSVMClassifier(coding="one-vs-one", decoding="hamming"),
    "LSSVM regression, iterated": LSSVMRegressor(solver="conjugate_gradient", regularization=0.1),
    "NPD, compact": NPDClassifier(12, kernel="compact_gaussian"),
    "LSSVM regression, linear": LSSVMRegressor(kernel="linear"),
    "logistic, Newton": SparseKernelLogisticClassifier(
        12, loss="ovr", solver="irls", selection="random", random_state=0
    ),
    "linear, Gaussian": LinearDiscriminant(posterior="gaussian"),
    "pairs of SVMs": OneVsOneSVC(random_state=0),
    "pairs of kernel machines": OneVsOneKernelClassifier("orols", n_centers=6, norm_penalty=0.01, random_state=0),
    "pairs, logistic": OneVsOneKernelClassifier(n_centers=6, loss="logistic", random_state=0),
    "committee": CommitteeRegressor(n_members=2, random_state=0),
    "grid": ShrinkingGridSearchCV(LSSVMRegressor(), {"regularization": [0.01, 1.0]}, n_refinements=1, cv=2),
    "density": SeriesDensity(),
    "CCA": KernelCCA(),
    "PLS": KernelPLS(),
    "PCA": LSSVMKernelPCA(),
    "PCA, reconstructing": LSSVMKernelPCA(bias=False, reconstruct=True),
    "oriented PCA": OrientedKernelPCA(penalty="kernel"),
    "Nystroem": GreedyNystroem(10, random_state=0),
    "discriminant analysis": KernelDiscriminantAnalysis(),
    "discriminant analysis, eigen": KernelDiscriminantAnalysis(penalty="kernel", solver="eigen"),
    "series": NARX(n_lags=3),
    "recurrent": RecurrentLSSVM(n_lags=3, horizon=4),
    "Gaussian outputs": GaussianOutputModel(),
    "Platt outputs": PlattOutputModel(),
    "logistic outputs": LogisticOutputModel(),
}
SERIES, OUTPUTS = ("series", "recurrent"), ("Gaussian outputs", "Platt outputs", "logistic outputs")
TRANSFORMERS = ("oriented PCA", "Nystroem", "discriminant analysis", "discriminant analysis, eigen")
DATA: dict[str, Any] = {
    "offset 1e8": lambda Z: Z + 1e8,
    "times 1e-110": lambda Z: 1e-110 * Z,
    "times 1e-150": lambda Z: 1e-149 * Z,
    "times 1e100": lambda Z: 1e100 * Z,
    "times 1e150": lambda Z: 1e149 * Z,
    "outlier": lambda Z: np.where(np.arange(Z.size).reshape(Z.shape) == 22, 1e12, Z),
}
PENALTIES = ("regularization", "alpha", "C", "nu", "norm_penalty", "damping", "epsilon", "y_regularization")
CASES = [
    *((name, case) for name in ESTIMATORS for case in DATA),
    *(
        (name, f"{parameter}={value}")
        for name, estimator in ESTIMATORS.items()
        for parameter in PENALTIES
        for value in (1e-300, 1e300)
        if parameter in estimator.get_params()
    ),
]
REFUSED = {
    "density": ("times 1e-110", "times 1e-150"),  # whose density is beyond float64
    "LSSVM, pairs": ("outlier",),  # compared with it, the samples of a pair are all equal
    "LSSVM regression, linear": ("offset 1e8", "times 1e100", "times 1e150"),  # the kernel loses all information
}
"""Data that have no finite result; others are refused only for a penalty."""


def _arguments(name: str, data: Data, change: Any) -> tuple[Any, ...]:
    X, classes, y = data
    if name in SERIES:
        return (change(y),)
    if name == "density":
        return (change(X),)
    if is_classifier(ESTIMATORS[name]) or name in TRANSFORMERS + OUTPUTS:
        return change(X), classes
    return change(X), y[:, None] if name == "CCA" else y


def _check_finite(name: str, estimator: Any, X: np.ndarray) -> None:
    learnt = {key: value for key, value in vars(estimator).items() if key.endswith("_") and key != "cv_results_"}
    methods = ["predict_proba", "decision_function", "transform", "score_samples", "density"]
    if name in SERIES:
        methods = ["forecast"] if name == "recurrent" else []
        learnt["simulation"] = estimator.simulate(20)
    elif not is_classifier(estimator):
        methods.append("predict")
    for method in methods:
        if hasattr(estimator, method) and method != "forecast":
            learnt[method] = getattr(estimator, method)(X)
    for key, value in learnt.items():
        values = value if isinstance(value, list | tuple) else [value]
        for array in values:
            if isinstance(array, float | np.ndarray) and np.asarray(array).dtype.kind == "f":
                assert np.isfinite(array).all(), key
    if "predict_proba" in learnt:
        np.testing.assert_allclose(learnt["predict_proba"].sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize(("name", "case"), CASES)
def test_estimator_on_extreme_values_is_finite_or_raises(name: str, case: str, data: Data) -> None:
    parameter, _, value = case.partition("=")
    estimator = clone(ESTIMATORS[name])
    arguments = _arguments(name, data, DATA.get(case, np.copy))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            if value:
                estimator.set_params(**{parameter: float(value)})
            estimator.fit(*arguments)
            _check_finite(name, estimator, arguments[0])
        except ValueError as error:
            cause = parameter if value else "X|y|features|kernel"
            assert re.search(rf"\b({cause})\b", str(error))
            assert value or case in REFUSED.get(name, ())


@pytest.mark.parametrize(
    "name", [name for name in ESTIMATORS if "linear" not in name and is_classifier(ESTIMATORS[name])]
)
def test_classifier_far_from_the_origin_predicts_the_same(name: str, data: Data) -> None:
    X, y, _ = data
    near, far = clone(ESTIMATORS[name]).fit(X, y), clone(ESTIMATORS[name]).fit(X + 1e8, y)
    assert (near.predict(X) == far.predict(X + 1e8)).mean() > 0.95


def test_estimator_of_the_package_has_a_row() -> None:
    public = [getattr(discriminants, name) for name in discriminants.__all__]
    estimators = {one for one in public if isclass(one) and hasattr(one, "fit") and not issubclass(one, Kernel)}
    assert estimators == {type(estimator) for estimator in ESTIMATORS.values()} & estimators


@pytest.mark.parametrize("size", [1.0, 10.0, 1e8])
def test_pruned_regressor_with_an_outlier_keeps_its_score(size: float) -> None:
    X = np.linspace(-5, 5, 401)[:, None]
    y = 0.001 * np.sin(X[:, 0])
    y[200] += size
    full, pruned = LSSVMRegressor().fit(X, y), PrunedLSSVMRegressor().fit(X, y)
    assert pruned.score(X, y) > full.score(X, y) - 0.02
    assert pruned.support_.shape[0] < 401


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("alpha", [1.0, 1e8, 1e300])
def test_logistic_classifier_of_a_large_ridge_gives_priors(dtype: type, alpha: float, data: Data) -> None:
    X, y = data[0].astype(dtype), data[1]
    for warm in (False, True):
        model = SparseKernelLogisticClassifier(10, alpha=alpha, random_state=0, warm_start=warm)
        if warm:
            model.set_params(alpha=1e-4).fit(X, y).set_params(alpha=alpha)
        found = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(found, np.tile(np.bincount(y) / 45, (45, 1)), atol=0.02)


def test_svm_with_a_tiny_width_separates_the_samples(data: Data) -> None:
    for sigma in (1e-300, 1e-5):
        model = OneVsOneSVC(sigma=sigma, C=10.0, random_state=0).fit(data[0], data[1])
        assert model.score(data[0], data[1]) == 1.0
