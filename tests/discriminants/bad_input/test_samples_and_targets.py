"""Whatever is wrong with samples, labels or targets, every learner says so in words, or does what its docs promise."""

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from tests.discriminants.bad_input.learners import (
    CLASSIFIERS,
    HOLDING_OUT,
    KERNEL_LEARNERS,
    LEARNERS,
    REGRESSORS,
    SELECTING,
    Data,
    check_sound,
    fitted,
    refuses,
    targets,
)


@pytest.mark.slow
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


@pytest.mark.slow
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
    refuses(name, X, np.where(classes == 1, None, 1.0), "NaN")
    refuses(name, X, np.where(classes == 1, np.nan, 1.0), "NaN")
    refuses(name, X, np.where(classes == 1, np.inf, 1.0), "infinity")
    refuses(name, X, 1j * y, "Complex data")
    for taken, meant in ((y.astype(object), y), (classes > 0, (classes > 0).astype(float)), (classes, 1.0 * classes)):
        np.testing.assert_array_equal(fitted(name, X, taken).predict(X), fitted(name, X, meant).predict(X))


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e160), (np.float64, 1e-160), (np.float32, 1e35)])
def test_targets_beyond_what_squares_can_hold_are_refused(name: str, dtype: type, size: float, data: Data) -> None:
    refuses(name, data[0].astype(dtype), size * data[2], "Scale y")


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
    np.testing.assert_allclose(found, value, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("exponent", [-300, 300])
def test_the_scale_of_the_samples_does_not_matter_or_is_refused(name: str, exponent: int, data: Data) -> None:
    X, y = data[0], targets(name, data)
    if name == "linear":
        refuses(name, 10.0**exponent * X, y, "Scale the features")
        exponent //= 2
    size = 10.0**exponent
    expected, found = fitted(name, X, y).predict(X), fitted(name, size * X, y).predict(size * X)
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_scale_of_float32_samples_does_not_matter(name: str, size: float, data: Data) -> None:
    X, y = data[0].astype(np.float32), targets(name, data)
    scaled = (size * X).astype(np.float32)
    expected, found = fitted(name, X, y).predict(X), fitted(name, scaled, y).predict(scaled)
    assert found.dtype == expected.dtype
    if name in CLASSIFIERS:
        assert (found == expected).mean() > 0.95  # rounding breaks ties between candidates
    else:
        np.testing.assert_allclose(found, expected, atol=0.05)


@pytest.mark.slow
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


@pytest.mark.slow
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
    y[0] = y[-1]  # one row contradicts its copies
    learner = fitted(name, X, y)
    check_sound(learner, X)
    if not name.startswith(("KFD", "KSOD", "robust", "LSSVM", "weighted", "Bayesian")):  # which are dense
        centers = learner.basis_centers_
        assert np.unique(centers, axis=0).shape == centers.shape
    if (
        "CV" in name or "MDL" in name or "OROLS" in name or "pruned" in name or "RVM" in name
    ):  # smaller, or smoother, than interpolation
        return
    if name in CLASSIFIERS:
        np.testing.assert_array_equal(learner.predict(points), labels)
    else:
        middle = np.median if name.startswith(("weighted", "LP")) else np.mean
        np.testing.assert_allclose(learner.predict(points), middle(y.reshape(10, 4), axis=1), atol=0.15)


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
    elif name in HOLDING_OUT:
        refuses(name, X, y, "two samples of every class")
    elif name.startswith("Bayesian"):
        refuses(name, X, y, "three samples")
    else:
        learner = fitted(name, X, y)
        check_sound(learner, X)
        shrunk = 0.5 if name == "sparse KFD regression" else 0.25  # by the penalty
        np.testing.assert_allclose(learner.predict(X), y, atol=shrunk * np.ptp(y))


@pytest.mark.parametrize("name", REGRESSORS)
def test_one_sample_gives_its_value_or_is_refused(name: str, data: Data) -> None:
    if name.startswith("KRLS"):
        np.testing.assert_allclose(fitted(name, data[0][:1], [2.5]).predict(data[0][:1]), 2.5)
    else:
        refuses(name, data[0][:1], [2.5], "at least (two|three) samples")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_of_one_sample_is_learnt_or_refused(name: str, data: Data) -> None:
    y = np.where(np.arange(45) == 44, 1, 0)
    if name in HOLDING_OUT:
        refuses(name, data[0], y, "two samples of every class")
    else:
        check_sound(fitted(name, data[0], y), data[0])


@pytest.mark.slow
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
    parameters["estimator__sigma" if hasattr(LEARNERS[name], "estimator") else "sigma"] = 1.0
    score = fitted(name, X, y, **parameters).score(X_test, y_test)
    assert score > reference.fit(X, y).score(X_test, y_test) - 0.05
