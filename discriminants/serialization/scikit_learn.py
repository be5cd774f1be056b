"""Classes of scikit-learn that can be loaded from a file, and the checks before their code runs.

Trees and tree ensembles cannot be saved without pickle. Other unlisted classes start processes, or their compiled code
has not been checked with inconsistent arrays. Listed classes compute in NumPy, which raises an error for inconsistent
arrays. The exceptions are support vectors and neighbors, whose compiled loops do not check indices.
"""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from discriminants.serialization.requirements import (
    Rule,
    check_arrays,
    check_floats,
    check_indices,
    learnt,
    refuse,
    sizes_of,
)
from discriminants.util.errors import ModelFormatError


class Listed(NamedTuple):
    """A class that can be loaded from a file.

    module : public module of scikit-learn to import it from.

    whole : rule for the learned attributes.

    suited : rule for the parameters: whether a fitted estimator with them can be saved and loaded. It also applies to
    unfitted estimators.
    """

    module: str
    whole: Rule
    suited: Rule = lambda estimator: None


def _one_of(parameter: str, values: Iterable[Any]) -> Rule:
    allowed = tuple(values)

    def rule(estimator: Any) -> None:
        value = getattr(estimator, parameter)
        if not isinstance(value, str) or value not in allowed:
            raise ModelFormatError(
                f"{type(estimator).__name__} with {parameter} = {value!r} cannot be saved in a model file. "
                f"Expected {parameter} = {' or '.join(map(repr, allowed))}"
            )

    return rule


_VECTOR_KERNELS = ("linear", "poly", "rbf", "sigmoid")
_PAIR_KERNELS = ("rbf", "linear", "poly", "polynomial", "sigmoid", "cosine", "laplacian", "chi2", "additive_chi2")
_METRICS = ("minkowski", "euclidean", "sqeuclidean", "manhattan", "cityblock", "l1", "l2", "chebyshev", "cosine")


def _support_vectors(machine: Any) -> None:
    """Check the class counts that libsvm uses to index support vectors and coefficients."""
    sizes = sizes_of(machine)
    n = sizes["classes"]
    sizes |= {"others": n - 1, "pairs": n * (n - 1) // 2}
    vectors = {"support_vectors_": ("vectors", "features")}
    weights = {"_dual_coef_": ("others", "vectors"), "dual_coef_": ("others", "vectors")}
    biases = {"_intercept_": ("pairs",), "intercept_": ("pairs",)}
    check_arrays(machine, {**vectors, **weights, **biases}, sizes)
    check_indices(machine, "support_", machine.support_, ("vectors",), sizes)
    check_indices(machine, "_n_support", machine._n_support, ("classes",), sizes)
    for name in ("support_", "_n_support"):
        if (found := getattr(machine, name).dtype) != np.int32:
            refuse(machine, name, f"has dtype {found}. Expected int32")
    if not sizes["vectors"] or int(machine._n_support.sum()) != sizes["vectors"]:
        refuse(
            machine,
            "_n_support",
            f"sums to {machine._n_support.sum()}. Expected {sizes['vectors']}, the number of support vectors",
        )
    for name in ("_probA", "_probB"):
        value = getattr(machine, name)
        sizes["sigmoids"] = sizes["pairs"] if machine.probability is True or np.size(value) else 0
        check_floats(machine, name, value, ("sigmoids",), sizes)
    if machine._sparse is not False:
        refuse(machine, "_sparse", f"is {machine._sparse!r}. Expected False for dense support vectors")
    if not isinstance(machine._gamma, Real) or not 0 <= float(machine._gamma) < np.inf:
        refuse(machine, "_gamma", f"is {machine._gamma!r}. Expected a finite number of 0 or more")


def _neighbours(model: Any) -> None:
    """Check the samples and class numbers that distances and votes use."""
    sizes = sizes_of(model)
    check_floats(model, "_fit_X", model._fit_X, ("samples", "features"), sizes)
    check_indices(model, "_y", model._y, ("samples",), sizes, below=sizes["classes"])
    wanted = {
        "n_samples_fit_": sizes["samples"],
        "_fit_method": "brute",
        "_tree": None,
        "outputs_2d_": False,
    }
    for name, value in wanted.items():
        found = getattr(model, name, None)
        if type(found) is not type(value) or found != value:
            refuse(model, name, f"is {found!r}. Expected {value!r}, as in the other attributes")
    if not 1 <= model.n_neighbors <= sizes["samples"]:
        refuse(
            model, "n_neighbors", f"is {model.n_neighbors!r}. Expected 1 to {sizes['samples']}, the number of samples"
        )
    if model.effective_metric_ not in _METRICS or set(model.effective_metric_params_) - {"p"}:
        refuse(
            model,
            "effective_metric_",
            f"is {model.effective_metric_!r}, or has parameters other than p. Expected one of {', '.join(_METRICS)}",
        )


def _kept_as_samples(model: Any) -> None:
    """Check that neighbors use brute force, not a tree, and a metric without further arrays."""
    _one_of("algorithm", ["brute"])(model)
    _one_of("metric", _METRICS)(model)
    _one_of("weights", ["uniform", "distance"])(model)
    if model.metric_params:
        raise ModelFormatError(
            f"{type(model).__name__} with metric_params = {model.metric_params!r} cannot be saved in a model file"
        )


def _perceptron(network: Any) -> None:
    sizes = sizes_of(network)
    width, n_layers = "features", len(network.coefs_)
    for number, (coef, intercept) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
        following = "outputs" if number == n_layers - 1 else f"layer {number + 1}"
        check_floats(network, f"coefs_[{number}]", coef, (width, following), sizes)
        check_floats(network, f"intercepts_[{number}]", intercept, (following,), sizes)
        width = following
    for name, wanted in (("n_layers_", n_layers + 1), ("n_outputs_", sizes["outputs"])):
        if getattr(network, name) != wanted:
            refuse(network, name, f"is {getattr(network, name)!r}. Expected {wanted}, as in the weights")
    if network.out_activation_ not in ("softmax", "logistic"):
        refuse(network, "out_activation_", f"is {network.out_activation_!r}. Expected 'softmax' or 'logistic'")


def _quadratic(model: Any) -> None:
    sizes = sizes_of(model)
    check_arrays(model, {"means_": ("classes", "features"), "priors_": ("classes",)}, sizes)
    if not len(model.rotations_) == len(model.scalings_) == sizes["classes"]:
        refuse(model, "rotations_", "or scalings_ has the wrong length. Expected one entry per class")
    for number, (rotation, scaling) in enumerate(zip(model.rotations_, model.scalings_, strict=True)):
        rank = f"rank {number}"
        check_floats(model, f"rotations_[{number}]", rotation, ("features", rank), sizes)
        check_floats(model, f"scalings_[{number}]", scaling, (rank,), sizes)


def _pipeline(pipeline: Any) -> None:
    steps = pipeline.steps
    if not isinstance(steps, list) or not steps:
        refuse(pipeline, "steps", "is not a list of steps")
    for step in steps:
        match step:
            case (str(), None | "passthrough"):
                continue
            case (str(), estimator) if hasattr(estimator, "get_params"):
                continue
        refuse(pipeline, "steps", f"has the step {step!r}. Expected a name and an estimator")


def _one_against_rest(model: Any) -> None:
    sizes = sizes_of(model)
    if not np.array_equal(model.label_binarizer_.classes_, model.classes_):
        refuse(model, "label_binarizer_", "has other classes")
    if len(model.estimators_) != sizes["outputs"]:
        refuse(
            model,
            "estimators_",
            f"has {len(model.estimators_)} estimators. Expected {sizes['outputs']} for {sizes['classes']} classes",
        )
    _of_two_classes(model)


def _one_against_one(model: Any) -> None:
    n = sizes_of(model)["classes"]
    if len(model.estimators_) != n * (n - 1) // 2:
        refuse(
            model,
            "estimators_",
            f"has {len(model.estimators_)} estimators. Expected {n * (n - 1) // 2} for {n} classes",
        )
    if model.pairwise_indices_ is not None:
        refuse(model, "pairwise_indices_", "is not None. A model with a precomputed kernel cannot be loaded")
    _of_two_classes(model)


def _of_two_classes(model: Any) -> None:
    for estimator in model.estimators_:
        if sizes_of(estimator).get("classes") != 2:
            refuse(model, "estimators_", f"has a {type(estimator).__name__} with other than two classes")


def _labels(model: Any) -> None:
    if "classes" not in sizes_of(model):
        refuse(model, "classes_", "is missing")


_BIASED = {"coef_": ("outputs", "features"), "intercept_": ("outputs",)}
_LINEAR = learnt(_BIASED, numbers=["intercept_"])
_FEATURES = ("features",)


def _ridge(classifier: Any) -> None:
    sizes = sizes_of(classifier)
    of_one_row = sizes.get("outputs") == 1 and np.ndim(classifier.coef_) == 1  # since scikit-learn 1.8
    shapes = _BIASED | ({"coef_": _FEATURES} if of_one_row else {})
    check_arrays(classifier, shapes, sizes, numbers=["intercept_"])


def _naive_bayes(features: str, classes: str, *further: str) -> Rule:
    shapes = dict.fromkeys((features, *further), ("classes", "features")) | {classes: ("classes",)}
    return learnt(shapes, logarithms=shapes)


def _components(*optional: str) -> Rule:
    shapes = {"components_": ("kept", "features"), "mean_": _FEATURES, "explained_variance_": ("kept",)}
    return learnt(shapes, optional=optional)


def _by_feature(*names: str) -> Rule:
    """Check that each attribute is present, or None if the parameters omit it."""
    arrays = learnt(dict.fromkeys(names, _FEATURES), optional=names)

    def rule(scaler: Any) -> None:
        for name in names:
            if not hasattr(scaler, name):
                refuse(scaler, name, "is missing")
        arrays(scaler)

    return rule


def _power(transformer: Any) -> None:
    learnt({"lambdas_": _FEATURES})(transformer)
    scaler = getattr(transformer, "_scaler", None)
    if transformer.standardize and type(scaler).__name__ != "StandardScaler":
        refuse(transformer, "_scaler", f"has type {type(scaler).__name__}. Expected StandardScaler")


CLASSIFIERS: Mapping[str, Listed] = {
    "LogisticRegression": Listed("sklearn.linear_model", _LINEAR),
    "LogisticRegressionCV": Listed("sklearn.linear_model", _LINEAR),
    "RidgeClassifier": Listed("sklearn.linear_model", _ridge),
    "RidgeClassifierCV": Listed("sklearn.linear_model", _ridge),
    "SGDClassifier": Listed("sklearn.linear_model", _LINEAR),
    "Perceptron": Listed("sklearn.linear_model", _LINEAR),
    "LinearSVC": Listed("sklearn.svm", _LINEAR),
    "SVC": Listed("sklearn.svm", _support_vectors, _one_of("kernel", _VECTOR_KERNELS)),
    "NuSVC": Listed("sklearn.svm", _support_vectors, _one_of("kernel", _VECTOR_KERNELS)),
    "GaussianNB": Listed("sklearn.naive_bayes", _naive_bayes("theta_", "class_prior_", "var_")),
    "BernoulliNB": Listed("sklearn.naive_bayes", _naive_bayes("feature_log_prob_", "class_log_prior_")),
    "ComplementNB": Listed("sklearn.naive_bayes", _naive_bayes("feature_log_prob_", "class_log_prior_")),
    "MultinomialNB": Listed("sklearn.naive_bayes", _naive_bayes("feature_log_prob_", "class_log_prior_")),
    "LinearDiscriminantAnalysis": Listed(
        "sklearn.discriminant_analysis",
        learnt(
            _BIASED | {"scalings_": ("features", "directions"), "xbar_": _FEATURES}, optional=["scalings_", "xbar_"]
        ),
    ),
    "QuadraticDiscriminantAnalysis": Listed("sklearn.discriminant_analysis", _quadratic),
    "KNeighborsClassifier": Listed("sklearn.neighbors", _neighbours, _kept_as_samples),
    "NearestCentroid": Listed(
        "sklearn.neighbors",
        learnt(
            {"centroids_": ("classes", "features"), "class_prior_": ("classes",), "within_class_std_dev_": _FEATURES}
        ),
    ),
    "MLPClassifier": Listed("sklearn.neural_network", _perceptron),
}
"""Classes that are defined by name and parameters alone, by name."""

OTHERS: Mapping[str, Listed] = {
    "OneVsRestClassifier": Listed("sklearn.multiclass", _one_against_rest),
    "OneVsOneClassifier": Listed("sklearn.multiclass", _one_against_one),
    "Pipeline": Listed("sklearn.pipeline", learnt({}), _pipeline),
    "StandardScaler": Listed("sklearn.preprocessing", _by_feature("mean_", "scale_", "var_")),
    "MinMaxScaler": Listed("sklearn.preprocessing", learnt({"min_": _FEATURES, "scale_": _FEATURES})),
    "MaxAbsScaler": Listed("sklearn.preprocessing", learnt({"scale_": _FEATURES})),
    "RobustScaler": Listed("sklearn.preprocessing", _by_feature("center_", "scale_")),
    "Normalizer": Listed("sklearn.preprocessing", learnt({})),
    "QuantileTransformer": Listed(
        "sklearn.preprocessing", learnt({"quantiles_": ("quantiles", "features"), "references_": ("quantiles",)})
    ),
    "PowerTransformer": Listed("sklearn.preprocessing", _power),
    "LabelBinarizer": Listed("sklearn.preprocessing", _labels),
    "LabelEncoder": Listed("sklearn.preprocessing", _labels),
    "PCA": Listed("sklearn.decomposition", _components()),
    "IncrementalPCA": Listed("sklearn.decomposition", _components()),
    "TruncatedSVD": Listed("sklearn.decomposition", _components("mean_")),
    "Nystroem": Listed(
        "sklearn.kernel_approximation",
        learnt({"components_": ("centers", "features"), "normalization_": ("centers", "centers")}),
        _one_of("kernel", _PAIR_KERNELS),
    ),
    "RBFSampler": Listed(
        "sklearn.kernel_approximation",
        learnt({"random_weights_": ("features", "components"), "random_offset_": ("components",)}),
    ),
    "VarianceThreshold": Listed("sklearn.feature_selection", learnt({"variances_": _FEATURES})),
}
"""Parts of classifiers and classifiers around other classifiers, by name."""
