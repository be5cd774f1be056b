"""Whatever is wrong with the input, every learner says so in words, or does what its documentation promises."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

from discriminants import (
    KFDClassifier,
    KRLSClassifier,
    KRLSRegressor,
    LinearDiscriminant,
    NPDClassifier,
    NPDRegressor,
    OLSClassifier,
    OLSRegressor,
    OROLSClassifier,
    OROLSRegressor,
    PairwiseClassifier,
    SparseKernelLogisticClassifier,
)
from discriminants.kernels import GaussianKernel, PolynomialKernel

Data = tuple[np.ndarray, np.ndarray, np.ndarray]

SELECTING: dict[str, Any] = {
    "NPD": NPDClassifier(12),
    "NPD, columns": NPDClassifier(12, n_candidates=None, rule="largest_residual", posterior="platt"),
    "NPD, private, BIC": NPDClassifier(12, dictionary="private", criterion="bic"),
    "OROLS": OROLSClassifier(12, posterior="multinomial"),
    "OROLS, evidence, CV": OROLSClassifier(12, reestimation="evidence", criterion="cv", cv=2),
    "OLS": OLSClassifier(12),
    "NPD regression": NPDRegressor(12),
    "NPD regression, columns": NPDRegressor(12, n_candidates=None, rule="largest_residual"),
    "NPD regression, private, MDL": NPDRegressor(12, dictionary="private", criterion="mdl"),
    "OROLS regression": OROLSRegressor(12),
    "OROLS regression, evidence, CV": OROLSRegressor(12, reestimation="evidence", criterion="cv", cv=2),
    "OLS regression": OLSRegressor(12),
}
KERNEL_LEARNERS: dict[str, Any] = {
    **SELECTING,
    "KRLS": KRLSClassifier(),
    "KRLS, two passes": KRLSClassifier(form="two_pass"),
    "KRLS regression": KRLSRegressor(),
    "KRLS regression, two passes": KRLSRegressor(form="two_pass"),
    "KFD": KFDClassifier(),
    "KFD, kernel penalty": KFDClassifier(penalty="kernel"),
    "logistic": SparseKernelLogisticClassifier(12, learning_rate=0.03, min_steps=150),
    "logistic, Newton": SparseKernelLogisticClassifier(12, selection="random", solver="irls", random_state=0),
}
LEARNERS: dict[str, Any] = {
    **KERNEL_LEARNERS,
    "linear": LinearDiscriminant(),
    "pairs": PairwiseClassifier(NPDClassifier(12)),
    "pairs, coupled": PairwiseClassifier(KFDClassifier(), "coupling"),
}
CLASSIFIERS = [name for name, learner in LEARNERS.items() if is_classifier(learner)]
REGRESSORS = [name for name in LEARNERS if name not in CLASSIFIERS]


@pytest.fixture(scope="module")
def data() -> Data:
    """Samples, three classes, and a smooth target."""
    random = np.random.default_rng(0)
    X = random.normal(size=(45, 3))
    classes = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)
    return X, classes, np.sin(X[:, 0]) + 0.1 * random.normal(size=45)


def fitted(name: str, X: Any, y: Any, **parameters: Any) -> Any:
    return clone(LEARNERS[name]).set_params(**parameters).fit(X, y)


def targets(name: str, data: Data) -> np.ndarray:
    return data[1] if name in CLASSIFIERS else data[2]


def refuses(name: str, X: Any, y: Any, message: str, **parameters: Any) -> None:
    """A ValueError whose text says what is wrong, and no warning before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            fitted(name, X, y, **parameters)


def check_sound(learner: Any, X: np.ndarray) -> None:
    """Everything learnt and everything predicted is finite."""
    for attribute in ("dual_coef_", "intercept_", "coef_"):
        assert np.isfinite(getattr(learner, attribute, 0.0)).all()
    if not is_classifier(learner):
        assert np.isfinite(learner.predict(X)).all()
        return
    assert np.isin(learner.predict(X), learner.classes_).all()
    if hasattr(learner, "predict_proba"):
        proba = learner.predict_proba(X)
        assert (proba >= 0).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-4)
    if hasattr(learner, "decision_function"):
        assert np.isfinite(learner.decision_function(X)).all()


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("bad", "message"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_samples_that_are_not_finite_are_refused(name: str, bad: float, message: str, data: Data) -> None:
    X = data[0].copy()
    X[3, 1] = bad
    refuses(name, X, targets(name, data), f"X contains {message}")
    learner = fitted(name, data[0], targets(name, data))
    with pytest.raises(ValueError, match=f"X contains {message}"):
        learner.predict(X)


@pytest.mark.parametrize("name", LEARNERS)
def test_shapes_that_do_not_fit_are_refused(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    refuses(name, X[:, 0], y, "2D array")
    refuses(name, X[:, :, None], y, "dim 3")
    refuses(name, X[:0], y[:0], "0 sample")
    refuses(name, X[:, :0], y, "0 feature")
    refuses(name, X, y[:-1], "inconsistent numbers of samples")
    refuses(name, 1j * X, y, "Complex data")
    learner = fitted(name, X, y)
    for wrong, message in ((X[:, :2], "2 features"), (X[0], "2D array"), (X[:0], "0 sample")):
        with pytest.raises(ValueError, match=message):
            learner.predict(wrong)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_that_are_no_classes_are_refused(name: str, data: Data) -> None:
    X, y, smooth = data
    refuses(name, X, np.zeros(45), "one class")
    refuses(name, X[:1], y[:1], "one class")
    refuses(name, X, smooth, "continuous")
    refuses(name, X, np.column_stack([y, y]), "1d array")
    refuses(name, X, np.where(y == 1, np.nan, 0.0), "NaN")
    refuses(name, X, np.where(y == 1, None, "a"), "mixture of .*NoneType")
    refuses(name, X, np.array(["a", 1, 2.5], dtype=object)[y], "all numbers or all strings")


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "b", "c"]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([-7, 0, 300]),
        np.array([0.0, 1.0, 5.0]),
        np.array([False, True, True]),
    ],
)
def test_labels_of_any_one_kind_come_back(name: str, labels: np.ndarray, data: Data) -> None:
    X, y, _ = data
    learner = fitted(name, X, labels[y])
    classes, codes = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(learner.predict(X), classes[fitted(name, X, codes[y]).predict(X)])


@pytest.mark.parametrize("name", REGRESSORS)
def test_targets_that_are_no_numbers_are_refused(name: str, data: Data) -> None:
    X, classes, y = data
    refuses(name, X, classes.astype(str), "must hold numbers")
    refuses(name, X, np.array(["a", "b", "c"])[classes], "must hold numbers")
    refuses(name, X, np.where(classes == 1, None, 1.0), "missing values")
    refuses(name, X, np.where(classes == 1, np.nan, 1.0), "NaN")
    refuses(name, X, np.where(classes == 1, np.inf, 1.0), "infinity")
    refuses(name, X, 1j * y, "Complex data")
    for taken, meant in ((y.astype(object), y), (classes > 0, (classes > 0).astype(float)), (classes, 1.0 * classes)):
        np.testing.assert_array_equal(fitted(name, X, taken).predict(X), fitted(name, X, meant).predict(X))


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e160), (np.float64, 1e-160), (np.float32, 1e35)])
def test_targets_beyond_what_squares_can_hold_are_refused(name: str, dtype: type, size: float, data: Data) -> None:
    refuses(name, data[0].astype(dtype), size * data[2], "scale y")


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("size", [1e140, 1e-140])
def test_the_scale_of_the_targets_is_that_of_the_outputs(name: str, size: float, data: Data) -> None:
    X, _, y = data
    expected = fitted(name, X, y).predict(X)
    found = fitted(name, X, size * y).predict(X) / size
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("value", [0.0, 3.7, -1e6])
def test_constant_targets_give_a_constant_function(name: str, value: float, data: Data) -> None:
    found = fitted(name, data[0], np.full(45, value)).predict(np.vstack([data[0], data[0] + 0.1]))
    # A constant is not quite in the span of k + 1, the kernel of recursive least squares.
    tolerance = 1e-2 if name.startswith("KRLS") else 1e-9
    np.testing.assert_allclose(found, value, rtol=tolerance)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("exponent", [-300, 300])
def test_the_scale_of_the_samples_does_not_matter_or_is_refused(name: str, exponent: int, data: Data) -> None:
    X, y = data[0], targets(name, data)
    if name == "linear":
        refuses(name, 10.0**exponent * X, y, "scale the features")
        exponent //= 2
    size = 10.0**exponent
    expected, found = fitted(name, X, y).predict(X), fitted(name, size * X, y).predict(size * X)
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_scale_of_float32_samples_does_not_matter(name: str, size: float, data: Data) -> None:
    X, y = data[0].astype(np.float32), targets(name, data)
    scaled = (size * X).astype(np.float32)
    expected, found = fitted(name, X, y).predict(X), fitted(name, scaled, y).predict(scaled)
    assert found.dtype == expected.dtype
    if name in CLASSIFIERS:
        assert (found == expected).mean() > 0.95  # ties between candidates are broken by rounding
    else:
        np.testing.assert_allclose(found, expected, atol=0.05)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("kind", [bool, np.int8, np.int64, object])
def test_samples_of_any_number_type_are_taken_as_float64(name: str, kind: Any, data: Data) -> None:
    X = (3 * data[0]).astype(np.int64) if kind is not bool else data[0] > 0
    learner = fitted(name, X.astype(kind), targets(name, data))
    reference = fitted(name, X.astype(np.float64), targets(name, data))
    np.testing.assert_array_equal(learner.predict(X.astype(kind)), reference.predict(X.astype(np.float64)))


@pytest.mark.parametrize("name", LEARNERS)
def test_samples_that_are_all_equal_are_refused_or_give_the_mean_or_the_priors(name: str, data: Data) -> None:
    X, y = np.full((45, 3), 2.2), targets(name, data)
    if name.startswith("KRLS regression"):
        np.testing.assert_allclose(fitted(name, X, y).predict(X), y.mean())
    elif name.startswith(("KRLS", "logistic")):
        learner = fitted(name, X, y)
        np.testing.assert_allclose(learner.predict_proba(X)[0], np.bincount(y) / 45, atol=1e-3)
    else:
        refuses(name, X, y, "constant")


@pytest.mark.parametrize("name", LEARNERS)
def test_a_constant_feature_changes_nothing(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    more = np.hstack([X, np.full((45, 1), 1e6)])
    expected, found = fitted(name, X, y).predict(X), fitted(name, more, y).predict(more)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_repeated_rows_give_a_model_of_the_distinct_ones(name: str, data: Data) -> None:
    points, labels = data[0][:10], targets(name, data)[:10]
    X, y = points.repeat(4, axis=0), labels.repeat(4)
    y[0] = y[-1]  # one row speaks against its copies
    learner = fitted(name, X, y)
    check_sound(learner, X)
    if not name.startswith("KFD"):  # which is dense
        centers = learner.basis_centers_
        assert np.unique(centers, axis=0).shape == centers.shape
    if "CV" in name or "MDL" in name or "OROLS" in name:  # smaller, or smoother, than interpolation
        return
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(learner.predict(points), labels)
    else:
        np.testing.assert_allclose(learner.predict(points), y.reshape(10, 4).mean(axis=1), atol=0.15)


@pytest.mark.parametrize("name", SELECTING)
def test_more_centres_than_samples_is_as_many_as_are_independent(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    learner = fitted(name, X, y, n_centers=10_000)
    assert learner.n_centers_.max() <= 44  # the constant column is the 45th
    check_sound(learner, X)


@pytest.mark.parametrize("name", LEARNERS)
def test_two_samples_are_enough_or_too_few_in_words(name: str, data: Data) -> None:
    X, y = data[0][:2], np.array([0, 1]) if name in CLASSIFIERS else data[2][:2]
    if name == "linear":
        refuses(name, X, y, "regularization")
    elif name == "OROLS, evidence, CV":
        refuses(name, X, y, "two samples of every class")
    else:
        learner = fitted(name, X, y)
        check_sound(learner, X)
        np.testing.assert_allclose(learner.predict(X), y, atol=0.25 * np.ptp(y))


@pytest.mark.parametrize("name", REGRESSORS)
def test_one_sample_gives_its_value_or_is_refused(name: str, data: Data) -> None:
    if name.startswith("KRLS"):
        np.testing.assert_allclose(fitted(name, data[0][:1], [2.5]).predict(data[0][:1]), 2.5)
    else:
        refuses(name, data[0][:1], [2.5], "at least two samples")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_of_one_sample_is_learnt_or_refused(name: str, data: Data) -> None:
    y = np.where(np.arange(45) == 44, 1, 0)
    if name == "OROLS, evidence, CV":
        refuses(name, data[0], y, "two samples of every class")
    else:
        check_sound(fitted(name, data[0], y), data[0])


WIDTHS = [0, -1.0, np.nan, np.inf, "auto", None, True, 1e-310, np.zeros(45), np.full(45, np.nan), np.ones((45, 1))]


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_width_that_is_not_positive_and_finite_is_refused(name: str, data: Data) -> None:
    for sigma in WIDTHS:
        refuses(name, data[0], targets(name, data), "sigma", sigma=sigma)
        if sigma is None or isinstance(sigma, str | bool):
            continue
        with pytest.raises(ValueError, match="sigma"):
            GaussianKernel(sigma)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_wrong_number_of_widths_is_refused(name: str, data: Data) -> None:
    refuses(name, data[0], targets(name, data), "44 widths for 45 samples", sigma=np.ones(44))


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
@pytest.mark.parametrize("sigma", [1e-200, 1e-3])
def test_a_tiny_width_gives_spikes_on_the_training_samples(name: str, sigma: float, data: Data) -> None:
    X, y = data[0], targets(name, data)
    more = {"n_centers": 44} if "n_centers" in LEARNERS[name].get_params() and "logistic" not in name else {}
    learner = fitted(name, X, y, sigma=sigma, **more)
    check_sound(learner, X)
    outside = X + 0.5
    if name in CLASSIFIERS:
        assert np.unique(learner.predict(outside)).shape == (1,)
    else:
        np.testing.assert_allclose(learner.predict(outside), learner.intercept_[0], atol=1e-9)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_an_unknown_kernel_is_refused(name: str, data: Data) -> None:
    for kernel in ("rbf", "", 3, None, np.eye(45)):
        refuses(name, data[0], targets(name, data), "kernel", kernel=kernel)


FUNCTIONS: list[tuple[Callable[[np.ndarray, np.ndarray], Any], str]] = [
    (lambda A, B: np.full((len(A), len(B)), np.nan), "not finite"),
    (lambda A, B: np.full((len(A), len(B)), np.inf), "not finite"),
    (lambda A, B: np.ones(3), "shape"),
    (lambda A, B: np.ones((len(B) + 1, len(A))), "shape"),
    (lambda A, B: 1.0, "shape"),
    (lambda A, B: None, "shape"),
]


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_function_that_returns_no_kernel_matrix_is_refused(name: str, data: Data) -> None:
    for kernel, message in FUNCTIONS:
        refuses(name, data[0], targets(name, data), message, kernel=kernel)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_kernel_that_is_constant_is_refused_or_gives_the_mean_or_the_priors(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)

    def constant(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.ones((len(A), len(B)))

    if name.startswith(("KRLS", "logistic")):
        learner = fitted(name, X, y, kernel=constant)
        check_sound(learner, X)
        assert np.unique(learner.predict(X)).shape == (1,)
    else:
        refuses(name, X, y, "constant", kernel=constant)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_precomputed_matrix_that_does_not_fit_is_refused(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    K = rbf_kernel(X)
    refuses(name, K[:, :40], y, "square", kernel="precomputed")
    refuses(name, np.where(K < 0.5, np.nan, K), y, "NaN", kernel="precomputed")
    learner = fitted(name, K, y, kernel="precomputed")
    with pytest.raises(ValueError, match="40 features"):
        learner.predict(K[:, :40])


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_width_beside_a_kernel_that_brings_its_own_is_refused(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    refuses(name, X, y, "brings its own", kernel=GaussianKernel(1.0), sigma=2.0)
    refuses(name, X, y, "brings its own", kernel="linear", sigma=2.0)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_kernel_parameter_set_out_of_range_later_is_refused(name: str, data: Data) -> None:
    learner = clone(LEARNERS[name]).set_params(kernel=GaussianKernel(1.0))
    with pytest.raises(ValueError, match="sigma"):
        learner.set_params(kernel__sigma=-1.0).fit(data[0], targets(name, data))
    learner = clone(LEARNERS[name]).set_params(kernel=PolynomialKernel(2))
    with pytest.raises(ValueError, match="degree"):
        learner.set_params(kernel__degree=1.5).fit(data[0], targets(name, data))


COUNTS = [0, -1, 2.5, "many", np.nan]
OUT_OF_RANGE: list[tuple[str, list[Any]]] = [
    ("n_centers", [*COUNTS, None]),
    ("n_candidates", COUNTS),
    ("epsilon", [-1e-9, np.nan, np.inf, None]),
    ("norm_penalty", [-1e-9, np.nan, np.inf, None]),
    ("criterion", ["aic", "GCV", 1]),
    ("cv", [1, 0, 2.5, None]),
    ("dictionary", ["both", None]),
    ("rule", ["best", None, 3]),
    ("posterior", ["svm", None]),
    ("random_state", ["seed", -1, 1.5]),
    ("reestimation", ["mackay", None]),
    ("tol", [-1.0, np.nan, None]),
    ("patience", COUNTS),
    ("max_condition", [1.0, 0.0, np.nan, None]),
    ("residual_threshold", [-1.0, np.nan, "small"]),
    ("unexplained", [-0.1, 1.0, np.nan]),
    ("nu", [0.0, -1.0, np.nan, np.inf]),
    ("max_centers", COUNTS),
    ("form", ["three_pass", None]),
    ("block_size", COUNTS),
    ("regularization", [-1.0, np.nan, np.inf]),
    ("penalty", ["ridge", None]),
    ("combine", ["best", None]),
    ("alpha", [-1.0, np.nan]),
    ("damping", [0.0, np.nan]),
    ("solver", ["sgd"]),
    ("loss", ["hinge"]),
    ("selection", ["npd"]),
    ("learning_rate", [0.0, np.nan]),
    ("batch_size", COUNTS),
]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_parameter_out_of_range_is_refused_by_its_name(name: str, data: Data) -> None:
    parameters = LEARNERS[name].get_params(deep=False)
    for parameter, values in OUT_OF_RANGE:
        for value in values if parameter in parameters else []:
            refuses(name, data[0], targets(name, data), f"'{parameter}' parameter", **{parameter: value})


@pytest.mark.parametrize("name", [name for name in SELECTING if "OLS" not in name or "OROLS" in name])
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda state: 0, "candidate 0, which is not available"),
        (lambda state: -1, "candidate -1"),
        (lambda state: 10**9, "candidate 1000000000"),
        (lambda state: 2.5, "got 2.5"),
        (lambda state: np.nan, "got nan"),
        (lambda state: None, "got None"),
        (lambda state: True, "got True"),
        (lambda state: "first", "got 'first'"),
        (lambda state: np.array([1, 2]), "number of a candidate"),
    ],
)
def test_a_rule_that_names_no_available_candidate_is_refused(name: str, rule: Any, message: str, data: Data) -> None:
    refuses(name, data[0], targets(name, data), message, rule=rule)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "linear"])
def test_an_ordinary_problem_is_solved_as_well_as_by_support_vectors(name: str) -> None:
    random = np.random.default_rng(1)
    X, X_test = random.normal(size=(300, 2)), random.normal(size=(300, 2))
    if name in CLASSIFIERS:
        y, y_test = ((Z[:, 0] > Z[:, 1]).astype(int) + (Z[:, 0] + Z[:, 1] > 1) for Z in (X, X_test))
        reference = SVC(C=10.0)
    else:
        y, y_test = (np.sin(2 * Z[:, 0]) + Z[:, 1] for Z in (X, X_test))
        reference = SVR(C=10.0, epsilon=0.01)
    parameters = {"n_centers": 40} if "n_centers" in LEARNERS[name].get_params() else {}
    parameters["estimator__sigma" if name.startswith("pairs") else "sigma"] = 1.0
    score = fitted(name, X, y, **parameters).score(X_test, y_test)
    assert score > reference.fit(X, y).score(X_test, y_test) - 0.05


@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("sigma", [1e5, 1e6])
def test_a_width_at_which_columns_differ_by_rounding_alone_gives_few_centres(
    name: str, sigma: float, data: Data
) -> None:
    X, y = data[0], targets(name, data)
    learner = fitted(name, X, y, sigma=sigma, n_centers=44)
    assert learner.n_centers_.max() <= 6
    reference = LogisticRegression() if name in CLASSIFIERS else LinearRegression()
    assert learner.score(X, y) > reference.fit(X, y).score(X, y) - 0.2


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_a_kernel_of_no_real_numbers_is_refused(name: str, data: Data) -> None:
    for kernel in (lambda A, B: 1j * A @ B.T, lambda A, B: [["a"] * len(B)] * len(A)):
        refuses(name, data[0], targets(name, data), "real numbers", kernel=kernel)


@pytest.mark.parametrize("name", KERNEL_LEARNERS)
def test_the_class_of_a_kernel_is_no_kernel(name: str, data: Data) -> None:
    refuses(name, data[0], targets(name, data), r"GaussianKernel\(\)", kernel=GaussianKernel)


@pytest.mark.parametrize("name", [name for name in KERNEL_LEARNERS if not name.startswith("KRLS")])
def test_kernel_values_whose_squares_overflow_are_refused(name: str, data: Data) -> None:
    X, y = data[0], targets(name, data)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="too large to be squared"):
        fitted(name, X, y, kernel=lambda A, B: 1e250 * rbf_kernel(A, B))
