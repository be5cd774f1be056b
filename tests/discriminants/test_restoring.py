"""What comes from a model file is an estimator that computes, or one sentence: never a crash, a process or a bomb."""

import json
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    LabelBinarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

from discriminants import (
    NARX,
    BayesianLSSVMClassifier,
    CodedClassifier,
    FixedSizeLSSVMClassifier,
    GreedyNystroem,
    KFDClassifier,
    KRLSClassifier,
    KRLSRegressor,
    LaplacianKernel,
    LinearDiscriminant,
    LSSVMClassifier,
    LSSVMRegressor,
    ModelFormatError,
    NPDClassifier,
    NPDRegressor,
    OROLSClassifier,
    PairwiseClassifier,
    ShrinkingGridSearchCV,
    SparseKernelLogisticClassifier,
)
from discriminants.serialization.learners import LEARNERS
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays, require_storable
from discriminants.serialization.scikit_learn import CLASSIFIERS, OTHERS

FORMAT = "scikit-learn estimator, 2"
Changed = Any


def samples(n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Positive numbers, for those that want such."""
    random = np.random.default_rng(0)
    y = np.arange(90) % n_classes
    return (np.eye(n_classes, 4)[y] * 3 + random.uniform(0.5, 2.0, size=(90, 4))).astype(np.float32), y


def fitted(estimator: BaseEstimator, n_classes: int = 3) -> BaseEstimator:
    X, y = samples(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


def outputs(estimator: Any, X: np.ndarray) -> np.ndarray:
    for method in ("predict_proba", "decision_function", "transform", "predict"):
        if hasattr(estimator, method):
            return np.asarray(getattr(estimator, method)(X))
    raise AssertionError(estimator)


def taken_apart(estimator: BaseEstimator) -> tuple[dict[str, np.ndarray], Any]:
    arrays, metadata = estimator_to_arrays(estimator)
    return dict(arrays), json.loads(json.dumps(metadata))


def restored(arrays: dict[str, np.ndarray], metadata: Any) -> Any:
    return estimator_from_arrays(arrays, metadata)


def described(description: Any) -> dict[str, Any]:
    return {"format": FORMAT, "estimator": description}


LISTED = [
    LogisticRegression(),
    LogisticRegressionCV(cv=2),
    RidgeClassifier(),
    RidgeClassifier(fit_intercept=False),
    RidgeClassifierCV(),
    SGDClassifier(random_state=0),
    SGDClassifier(loss="log_loss", average=True, random_state=0),
    Perceptron(),
    LinearSVC(),
    SVC(),
    SVC(kernel="poly", gamma=1),
    NuSVC(nu=0.1),
    GaussianNB(),
    BernoulliNB(binarize=1.0),
    ComplementNB(),
    MultinomialNB(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    QuadraticDiscriminantAnalysis(),
    KNeighborsClassifier(algorithm="brute"),
    KNeighborsClassifier(algorithm="brute", weights="distance", p=1),
    NearestCentroid(),
    MLPClassifier((8, 5), max_iter=5, random_state=0),
    OneVsRestClassifier(LogisticRegression()),
    OneVsOneClassifier(LinearSVC()),
    make_pipeline(StandardScaler(), PCA(3), SVC()),
    make_pipeline(Normalizer(), Nystroem(n_components=20, random_state=0), RidgeClassifier()),
    StandardScaler(with_mean=False),
    MinMaxScaler(),
    MaxAbsScaler(),
    RobustScaler(),
    QuantileTransformer(n_quantiles=20),
    PowerTransformer(),
    IncrementalPCA(2),
    TruncatedSVD(2),
    RBFSampler(random_state=0),
    VarianceThreshold(),
    make_pipeline(GreedyNystroem(20, chooser="greedy", random_state=0), RidgeClassifier()),
    FixedSizeLSSVMClassifier(20, random_state=0),
    NPDClassifier(9, kernel="laplacian"),
    KRLSClassifier(0.1),
    KFDClassifier(kernel="polynomial"),
    LSSVMClassifier(coding="one-vs-one"),
    BayesianLSSVMClassifier(),
    BayesianLSSVMClassifier(posterior="moderated", kernel="ard_gaussian"),
    LinearDiscriminant(posterior="gaussian"),
    PairwiseClassifier(NPDClassifier(9, kernel=LaplacianKernel(3.0)), "coupling"),
    PairwiseClassifier(LogisticRegression(), n_jobs=1),
    CodedClassifier(NPDClassifier(9), coding="error-correcting"),
    SparseKernelLogisticClassifier(9, random_state=0),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", LISTED, ids=lambda e: type(e).__name__)
def test_every_listed_class_comes_back_and_computes_the_same(estimator: BaseEstimator, n_classes: int) -> None:
    estimator = fitted(estimator, n_classes)
    require_storable(estimator)
    back = restored(*taken_apart(estimator))
    X, _ = samples()
    np.testing.assert_array_equal(outputs(back, X), outputs(estimator, X))


def test_every_entry_of_the_lists_is_a_class_that_is_there() -> None:
    for name, listed in {**CLASSIFIERS, **OTHERS, **LEARNERS}.items():
        back = restored({}, described(["estimator", f"{listed.module}:{name}", [*_needed(name)], []]))
        assert type(back).__name__ == name
        assert is_classifier(back) or name not in CLASSIFIERS


def _needed(name: str) -> list[Any]:
    kernel = ["estimator", "discriminants.kernels.gaussian:GaussianKernel", [], []]
    scaler = ["estimator", "sklearn.preprocessing:StandardScaler", [], []]
    needed: dict[str, list[Any]] = {
        "KNeighborsClassifier": [["algorithm", "brute"]],
        "OneVsRestClassifier": [["estimator", ["estimator", "sklearn.svm:LinearSVC", [], []]]],
        "OneVsOneClassifier": [["estimator", ["estimator", "sklearn.svm:LinearSVC", [], []]]],
        "Pipeline": [["steps", ["list", [["tuple", ["scale", scaler]]]]]],
        "PairwiseClassifier": [["estimator", ["estimator", "sklearn.svm:LinearSVC", [], []]]],
        "CodedClassifier": [["estimator", ["estimator", "sklearn.svm:LinearSVC", [], []]]],
        "KernelRecursion": [["kernel", kernel]],
        "LocalImageKernel": [["shape", ["tuple", [2, 2]]]],
        "ConformalKernel": [["kernel", kernel], ["centers", ["list", [["list", [1.0]]]]]],
        **{key: [["kernel", kernel]] for key in ("DistanceKernel", "NormalizedKernel", "ScaledKernel")},
        **{key: [["left", kernel], ["right", kernel]] for key in ("ProductKernel", "SumKernel")},
    }
    return needed.get(name, [])


# Arrays whose values native code uses as indices.
@pytest.mark.parametrize(
    ("estimator", "name", "change"),
    [
        (SVC(), "support_vectors_", lambda a: a[:5]),
        (SVC(), "support_vectors_", lambda a: a[:, :2].copy()),
        (SVC(), "_n_support", lambda a: a * 1000),
        (SVC(), "_n_support", lambda a: np.array([10**6, -(10**6), a.sum()], np.int32)),
        (SVC(), "_n_support", lambda a: a[:2] + a[2:].sum() // 2),
        (SVC(), "_dual_coef_", lambda a: a[:1].copy()),
        (SVC(), "_dual_coef_", lambda a: a[:, :4].copy()),
        (SVC(), "_dual_coef_", lambda a: a * np.nan),
        (SVC(), "_intercept_", lambda a: a[:1]),
        (SVC(), "support_", lambda a: a - 10**6),
        (SVC(), "classes_", lambda a: np.arange(50)),
        (SVC(), "classes_", lambda a: a[::-1].copy()),
        (KNeighborsClassifier(algorithm="brute"), "_fit_X", lambda a: a[:, :2].copy()),
        (KNeighborsClassifier(algorithm="brute"), "_fit_X", lambda a: a[:3].copy()),
        (KNeighborsClassifier(algorithm="brute"), "_y", lambda a: a + 10**6),
        (KNeighborsClassifier(algorithm="brute"), "_y", lambda a: a[:3]),
        (NPDClassifier(9, kernel="laplacian"), "basis_centers_", lambda a: a[:, :2].copy()),
        (NPDClassifier(9, kernel="laplacian"), "basis_centers_", lambda a: np.tile(a, (1, 9))),
        (NPDClassifier(9), "basis_centers_", lambda a: a[:, :1].copy()),
        (NPDClassifier(9), "basis_centers_", lambda a: a * np.inf),
        (NPDClassifier(9), "dual_coef_", lambda a: a[:, :2].copy()),
        (NPDClassifier(9), "intercept_", lambda a: a[:1]),
        (NPDClassifier(9), "classes_", lambda a: a[[0, 0, 1]]),
        (NPDClassifier(9, posterior="gaussian"), "posterior_.means_", lambda a: a[:, :1].copy()),
        (SparseKernelLogisticClassifier(9), "dual_coef_", lambda a: a.astype(np.int64)),
        (KRLSClassifier(0.1), "recursion_.information_", lambda a: a[:2]),
        (KRLSClassifier(0.1), "recursion_.centers_", lambda a: a[:, :2].copy()),
        (KRLSRegressor(0.1), "recursion_.projected_ones_", lambda a: a[:2]),
        (KRLSRegressor(0.1), "recursion_.residual_products_", lambda a: a[:1]),
        (KRLSClassifier(0.1), "moments_.squares_", lambda a: a[:, :2, :2].copy()),
        (LSSVMClassifier(coding="one-vs-one"), "code_", lambda a: a[:, :2].copy()),
        (LSSVMClassifier(coding="one-vs-one"), "code_", lambda a: a[:2].copy()),
        (LSSVMClassifier(coding="one-vs-one"), "code_", lambda a: a * np.int8(2)),
        (LSSVMClassifier(coding="one-vs-one"), "code_", lambda a: a.astype(np.float64)),
        (LSSVMClassifier(coding="minimum-output"), "dual_coef_", lambda a: a[:, :1].copy()),
        (BayesianLSSVMClassifier(), "prior_variance_", lambda a: -a),
        (BayesianLSSVMClassifier(), "noise_variance_", lambda a: a[:1]),
        (BayesianLSSVMClassifier(), "variance_.directions_", lambda a: a[:9].copy()),
        (BayesianLSSVMClassifier(), "variance_.offsets_", lambda a: a[:1].copy()),
        (BayesianLSSVMClassifier(posterior="moderated"), "variance_.references_", lambda a: a[:, :1].copy()),
        (BayesianLSSVMClassifier(posterior="moderated"), "class_means_", lambda a: a[:1].copy()),
        (LogisticRegression(), "coef_", lambda a: np.ones((10**5, 1))),
        (GaussianNB(), "theta_", lambda a: a[None]),
        (MLPClassifier((8, 5), max_iter=5), "coefs_.1", lambda a: a[:, :1].copy()),
        (QuadraticDiscriminantAnalysis(), "scalings_.1", lambda a: a[:1]),
        (StandardScaler(), "mean_", lambda a: np.ones((10**5, 1))),
        (PCA(3), "mean_", lambda a: a[:1]),
    ],
    ids=lambda v: v if isinstance(v, str) else "" if callable(v) else type(v).__name__,
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_arrays_that_do_not_belong_together_are_refused(estimator: BaseEstimator, name: str, change: Changed) -> None:
    arrays, metadata = taken_apart(fitted(estimator))
    key = f"{type(estimator).__name__}.{name}"
    arrays[key] = change(arrays[key])
    with pytest.raises(ModelFormatError):
        restored(arrays, metadata)


def value_of(metadata: Any, name: str) -> list[Any]:
    """The pair [name, value] among parameters and attributes of the estimator described."""
    _, _, parameters, attributes = metadata["estimator"]
    pair: list[Any] = next(pair for pair in (*parameters, *attributes) if pair[0] == name)
    return pair


@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [
        (SVC(), "kernel", "precomputed"),
        (SVC(), "kernel", ["numpy type", "float64"]),
        (SVC(), "_sparse", True),
        (SVC(), "_gamma", ["float", "nan"]),
        (SVC(), "n_features_in_", 10**9),
        (SVC(), "degree", "3"),
        (KNeighborsClassifier(algorithm="brute"), "algorithm", "kd_tree"),
        (KNeighborsClassifier(algorithm="brute"), "_fit_method", "ball_tree"),
        (KNeighborsClassifier(algorithm="brute"), "n_samples_fit_", 10**9),
        (KNeighborsClassifier(algorithm="brute"), "n_neighbors", 10**9),
        (KNeighborsClassifier(algorithm="brute"), "n_neighbors", None),
        (KNeighborsClassifier(algorithm="brute"), "metric", "haversine"),
        (KNeighborsClassifier(algorithm="brute"), "metric_params", ["dict", [["p", 3]]]),
        (KNeighborsClassifier(algorithm="brute"), "weights", ["numpy type", "float64"]),
        (KNeighborsClassifier(algorithm="brute"), "outputs_2d_", True),
        (NPDClassifier(9), "n_features_in_", 1),
        (NPDClassifier(9), "kernel_", "gaussian"),
        (NPDClassifier(9), "kernel_", ["estimator", "discriminants.kernels.gaussian:GaussianKernel", [], []]),
        (NPDClassifier(9), "kernel_", ["estimator", "discriminants.kernels.matrix:PrecomputedKernel", [], []]),
        (
            NPDClassifier(9),
            "kernel_",
            [
                "estimator",
                "discriminants.kernels.multiscale:MultiscaleGaussianKernel",
                [["sigmas", ["list", [1.0, 2.0]]]],
                [],
            ],
        ),
        (NPDClassifier(9), "posterior_", None),
        (NPDClassifier(9), "posterior_", ["estimator", "sklearn.svm:LinearSVC", [], []]),
        (MLPClassifier((8, 5), max_iter=5), "n_layers_", 10**9),
        (MLPClassifier((8, 5), max_iter=5), "out_activation_", "identity"),
        (PairwiseClassifier(LogisticRegression()), "estimators_", ["list", []]),
        (OneVsRestClassifier(LogisticRegression()), "estimators_", ["list", [None, None, None]]),
        (make_pipeline(StandardScaler(), SVC()), "steps", ["list", []]),
        (make_pipeline(StandardScaler(), SVC()), "steps", ["list", [["tuple", ["a", 3]]]]),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_values_that_do_not_belong_there_are_refused(estimator: BaseEstimator, name: str, value: Any) -> None:
    arrays, metadata = taken_apart(fitted(estimator))
    value_of(metadata, name)[1] = value
    with pytest.raises(ModelFormatError):
        restored(arrays, metadata)


def test_an_attribute_that_is_missing_is_an_error_of_the_file() -> None:
    for estimator in LISTED:
        arrays, metadata = taken_apart(fitted(estimator))
        attributes = metadata["estimator"][3]
        X, _ = samples()
        for number in range(len(attributes)):
            metadata["estimator"][3] = attributes[:number] + attributes[number + 1 :]
            try:
                back = restored(arrays, metadata)
            except ModelFormatError:
                continue
            outputs(back, X)


@pytest.mark.parametrize("estimator", [PairwiseClassifier(LogisticRegression(), n_jobs=2)])
@pytest.mark.slow
def test_a_file_does_not_say_how_many_processes_are_started(estimator: BaseEstimator) -> None:
    assert restored(*taken_apart(fitted(estimator))).n_jobs is None


@pytest.mark.parametrize("estimator", [BaggingClassifier(LogisticRegression(), n_estimators=2)])
def test_classes_that_are_not_listed_come_back_for_those_who_trust_them(estimator: BaseEstimator) -> None:
    arrays, metadata = taken_apart(fitted(estimator))
    with pytest.raises(ModelFormatError, match="not allowed"):
        restored(arrays, metadata)
    back = estimator_from_arrays(arrays, metadata, trusted=["sklearn"])
    X, _ = samples()
    np.testing.assert_array_equal(outputs(back, X), outputs(estimator, X))


@pytest.mark.parametrize(
    "description",
    [
        ["scalar", "V8", 2_000_000_000],
        ["scalar", "S8", 2_000_000_000],
        ["scalar", "<U8", 2_000_000_000],
        ["scalar", "<f8", "1"],
        ["scalar", "<i4", 10**12],
        ["scalar", "<f8,<f8", 1],
        ["scalar", "(9999,9999)f8", 1],
        ["scalar", "<M8[ns]", 1],
        ["dtype", "(100000,100000)f8"],
        ["dtype", "V2000000000"],
        ["dtype", "O"],
        ["numpy type", "void"],
        ["numpy type", "V8"],
        ["float", "1e5"],
        ["float", "infinity"],
        ["text array", "codes", "U2000000000"],
        ["text array", "codes", "f4"],
        ["text array", "codes", "O"],
        ["text array", "high", "U2"],
        ["text array", "scalar", "U1"],
        ["object array", [2], []],
        ["object array", [1, -1], [1]],
        ["object array", [True], [1]],
        ["object array", [0, 10**30], [1]],
        ["object array", [1] * 40, [1]],
        ["set", [["list", []]]],
        ["dict", [[["list", []], 1]]],
        ["dict", [[1]]],
        ["dict", {"a": 1}],
        ["slice", [1]],
        ["list", {"a": 1}],
        ["list", "text"],
        {"a": 1},
        10**30,
        ["array", ["list", []]],
        ["estimator", 3, [], []],
        ["estimator", "sklearn.svm:SVC", [["C", 1], ["C", 2]], []],
        ["estimator", "sklearn.svm:SVC", [], [[3, 1]]],
    ],
    ids=str,
)
def test_a_value_that_no_estimator_was_written_with_is_refused_before_it_is_made(description: Any) -> None:
    arrays = {
        "codes": np.full((2, 2), 65, np.uint32),
        "high": np.full((2, 2), 0xD800, np.uint32),
        "scalar": np.array(65, np.uint32),
    }
    around = ["estimator", "sklearn.naive_bayes:GaussianNB", [], [["extra_", description]]]
    tracemalloc.start()
    try:
        with pytest.raises(ModelFormatError):
            restored(arrays, described(around))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_description_that_is_nested_for_ever_is_refused() -> None:
    lists: Any = 1
    for _ in range(300):
        lists = ["list", [lists]]
    pipelines: Any = None
    for _ in range(20):
        steps = ["list", [["tuple", ["step", pipelines]]]]
        pipelines = ["estimator", "sklearn.pipeline:Pipeline", [["steps", steps]], []]
    for nested in (lists, pipelines):
        with pytest.raises(ModelFormatError, match="nested"):
            restored({}, described(nested))


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (RandomForestClassifier(), "RandomForestClassifier"),
        (BaggingClassifier(), "BaggingClassifier"),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), "RandomForestClassifier"),
        (PairwiseClassifier(RandomForestClassifier()), "RandomForestClassifier"),
        (KNeighborsClassifier(algorithm="kd_tree"), "'brute'"),
        (KNeighborsClassifier(algorithm="brute", metric="mahalanobis"), "metric = 'mahalanobis'"),
        (SVC(kernel="precomputed"), "kernel = 'precomputed'"),
        (NPDClassifier(kernel=np.dot), "NPDClassifier.kernel"),
        (OROLSClassifier(random_state=np.random.RandomState(0)), "random_state"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_could_not_be_stored_is_told_before_it_is_fitted(estimator: BaseEstimator, reason: str) -> None:
    with pytest.raises(ModelFormatError, match=reason):
        require_storable(estimator)


@pytest.mark.parametrize("search", [GridSearchCV, ShrinkingGridSearchCV])
@pytest.mark.parametrize("cv", [2, TimeSeriesSplit(2)])
def test_of_a_search_the_best_is_saved(search: Any, cv: Any) -> None:
    X, y = samples()
    found = search(LSSVMRegressor(), {"regularization": [0.1]}, cv=cv).fit(X, y.astype(float))
    around = NARX(found, n_lags=2).fit(X[:, 0])
    for model, where in ((found, type(found).__name__), (around, "NARX.regressor")):
        with pytest.raises(ModelFormatError, match=f"{where}: .*best_estimator_"):
            taken_apart(model)
        with pytest.raises(ModelFormatError, match="best_estimator_"):
            require_storable(model)
    np.testing.assert_array_equal(restored(*taken_apart(found.best_estimator_)).predict(X), found.predict(X))
    again = NARX(around.regressor_.best_estimator_, n_lags=2).fit(X[:, 0])
    np.testing.assert_array_equal(restored(*taken_apart(again)).simulate(5), around.simulate(5))


@pytest.mark.parametrize("estimator", [SVC(), NPDClassifier(), make_pipeline(StandardScaler(), SVC())], ids=str)
def test_unfitted_estimator_raises_when_saved(estimator: BaseEstimator) -> None:
    with pytest.raises(NotFittedError):
        estimator_to_arrays(estimator)


def test_regressors_and_label_transformers_come_back() -> None:
    X, y = samples()
    regressor = NPDRegressor(9, kernel="linear").fit(X, y.astype(float))
    np.testing.assert_array_equal(restored(*taken_apart(regressor)).predict(X), regressor.predict(X))
    labels = LabelBinarizer().fit(y)
    np.testing.assert_array_equal(restored(*taken_apart(labels)).transform(y), labels.transform(y))
