"""Classifiers by name or as objects: built-in, of scikit-learn, registered by other packages, or the user's own.

A package registers a classifier through the entry-point group `asr.classifiers`. The entry point names a class or
function that takes keyword parameters and returns a scikit-learn classifier of the same package. Classifiers of
scikit-learn are named by their import path, such as `sklearn.naive_bayes.GaussianNB`;
`discriminants.serialization.scikit_learn` lists those that a model file can hold. Users name their own class or
function as `package.module:Class`, or give an object in Python. A model file can hold these classes too, but it can
only be read after the user has given the class in the same process.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Protocol

from asr.util.errors import ConfigError
from asr.util.named_objects import imported, is_import_path
from discriminants.util.errors import DiscriminantError

GROUP = "asr.classifiers"
PERCEPTRON_NAME = "sklearn.neural_network.MLPClassifier"  # same class and defaults as `mlp`
SCORES = ("predict_log_likelihood", "predict_log_proba", "predict_proba", "decision_function")
"""Methods that score states; the first one that a classifier has is used."""
_CHECKED = ("sklearn", "discriminants")  # model files list the classes of these packages

_given: dict[str, type] = {}  # the user's own classes in this process, by name


class Classifier(Protocol):
    """Required method of the user's own classifier; one of `SCORES` is required too."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to frames, float32 (n_frames, n_features), and their states, int (n_frames,)."""


# These learners do not select models by cross-validation or leave-one-out over frames, because neighboring frames are
# similar. Posteriors follow the source.


def _kernel_logistic(**parameters: Any) -> Any:
    from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier

    return SparseKernelLogisticClassifier(**{"alpha": 1e-7, **parameters})


def _orols(**parameters: Any) -> Any:
    from discriminants.sparse.orols import OROLSClassifier

    return OROLSClassifier(**{"criterion": None, "posterior": "gaussian", **parameters})


def _npd(**parameters: Any) -> Any:
    from discriminants.sparse.npd import NPDClassifier

    return NPDClassifier(**{"criterion": None, "posterior": "gaussian", **parameters})


# Limits for about 100 classes and 40,000 frames: without max_centers most frames become centers, and the Gaussian
# posterior keeps a centers-by-centers matrix for each class (5 GB here); sigmoids need none. No penalty, as in the
# source's table 4.2.
RECURSIVE: Mapping[str, Any] = {"nu": 0.1, "max_centers": 2000, "posterior": "platt", "penalty": 0.0}
FISHER: Mapping[str, Any] = {"regularization": 0.03, "calibrate_on": "training", "posterior": "gaussian"}


def _krls(**parameters: Any) -> Any:
    from discriminants.sparse.krls import KRLSClassifier

    return KRLSClassifier(**{**RECURSIVE, **parameters})


def _kfd(**parameters: Any) -> Any:
    from discriminants.fisher.kfd import KFDClassifier

    return KFDClassifier(**{**FISHER, **parameters})


def _sparse_greedy_kfd(**parameters: Any) -> Any:
    from discriminants.fisher.sparse_greedy_kfd import SparseGreedyKFDClassifier

    return SparseGreedyKFDClassifier(**{**FISHER, **parameters})


def _ksod(**parameters: Any) -> Any:
    from discriminants.fisher.ksod import KSODClassifier

    return KSODClassifier(**{"posterior": "gaussian", **parameters})


def _fixed_size_lssvm(**parameters: Any) -> Any:
    from discriminants.lssvm.fixed_size import FixedSizeLSSVMClassifier

    return FixedSizeLSSVMClassifier(**{"regularization": "gcv", "posterior": "gaussian", **parameters})


def _bayesian_lssvm(**parameters: Any) -> Any:
    from discriminants.lssvm.bayesian_lssvm_classifier import BayesianLSSVMClassifier

    return BayesianLSSVMClassifier(**parameters)


# For states of phones, tuned on word errors of three held-out parts of AN4's training speakers
# (docs/background/acoustic-models.md).
_PAIRS_LOGISTIC: Mapping[str, Any] = {
    "loss": "logistic",
    "candidates_per_class": 80,
    "norm_penalty": 0.1,
    "max_samples_per_class": 3000,
}


def _one_vs_one(learner: str, defaults: Mapping[str, Any] = MappingProxyType({})) -> Callable[..., Any]:
    def make(**parameters: Any) -> Any:
        from discriminants.sparse.one_vs_one import OneVsOneKernelClassifier

        return OneVsOneKernelClassifier(
            **{"learner": learner, "n_centers": None, "norm_penalty": 0.0, **defaults, **parameters}
        )

    return make


def _svm_ovo(**parameters: Any) -> Any:
    from discriminants.sparse.one_vs_one_svc import OneVsOneSVC

    return OneVsOneSVC(**parameters)


# scikit-learn's defaults (200 passes, tol 1e-4 ten times in a row) rarely converge on a corpus. Its early stopping
# holds out random frames, whose neighbors stay in the training set, so the training loss is used instead.
PERCEPTRON: Mapping[str, Any] = {"max_iter": 100, "tol": 2e-3, "n_iter_no_change": 3}


def _mlp(**parameters: Any) -> Any:
    from sklearn.neural_network import MLPClassifier

    if parameters.get("solver") == "lbfgs":  # max_iter has another meaning here
        return MLPClassifier(**parameters)
    return MLPClassifier(**{**PERCEPTRON, **parameters})


BUILT_IN: Mapping[str, Callable[..., Any]] = {
    "kernel-logistic": _kernel_logistic,
    "orols": _orols,
    "npd": _npd,
    "krls": _krls,
    "kfd": _kfd,
    "sparse-greedy-kfd": _sparse_greedy_kfd,
    "ksod": _ksod,
    "fixed-size-lssvm": _fixed_size_lssvm,
    "bayesian-lssvm": _bayesian_lssvm,
    "npd-ovo": _one_vs_one("npd"),
    "orols-ovo": _one_vs_one("orols"),
    "npd-ovo-logistic": _one_vs_one("npd", _PAIRS_LOGISTIC),
    "svm-ovo": _svm_ovo,
    "mlp": _mlp,
}


def available_classifiers() -> list[str]:
    """Return the names that `make_classifier` accepts, sorted."""
    return sorted({*BUILT_IN, *(entry.name for entry in entry_points(group=GROUP))})


def registered_packages() -> tuple[str, ...]:
    """Return the packages that register a classifier, sorted; a model file may create their classes.

    A package that registers a classifier of scikit-learn does not make all of scikit-learn trusted.
    """
    packages = {entry.module.partition(".")[0] for entry in entry_points(group=GROUP)}
    return tuple(sorted(packages - {"sklearn", "discriminants"}))


def trusted_classes() -> tuple[str | type, ...]:
    """Return the packages and classes that a model file may use: registered ones, and those given in this process."""
    return (*registered_packages(), *_given.values())


def given_classes() -> list[str]:
    """Return the names of the user's own classes in this process."""
    return list(_given)


def give_classifier(given: str | Classifier) -> type | None:
    """Let model files use the class of a classifier that the user names as `package.module:Class` or gives.

    Returns the class. Raises ConfigError as `make_classifier` does; names without a colon have no effect, and None is
    returned.
    """
    if isinstance(given, str) and not is_import_path(given):
        return None
    found: Any = imported(given, "classifier") if isinstance(given, str) else given
    if isinstance(given, str) and not isinstance(found, type):
        found = found()
    kind: type = found if isinstance(found, type) else type(found)
    _trust(kind)
    return kind


def _trust(kind: type) -> None:
    if kind.__module__.partition(".")[0] not in _CHECKED:
        _given[f"{kind.__module__}:{kind.__qualname__}"] = kind


def name_of_classifier(given: str | type | Classifier) -> str:
    """Return the name of a classifier, or the class of an object as `module:Class`."""
    if isinstance(given, str):
        return given
    kind = given if isinstance(given, type) else type(given)
    return f"{kind.__module__}:{kind.__qualname__}"


def described_classifier(given: str | Classifier) -> str:
    """Return the name of a classifier, or the class and parameters of an object."""
    values = {} if isinstance(given, str | type) else parameters_of(given, deep=True)
    shown = f"({', '.join(f'{name}={value!r}' for name, value in values.items())})" if values else ""
    return name_of_classifier(given) + shown


def parameters_of(classifier: Any, *, deep: bool = False) -> dict[str, Any]:
    """Return the parameters of a classifier; none for a class without `get_params`."""
    parameters: dict[str, Any] = classifier.get_params(deep=deep) if hasattr(classifier, "get_params") else {}
    return parameters


def make_classifier(given: str | Classifier, parameters: Mapping[str, Any]) -> Any:
    """Make an unfitted classifier, from a name or as a copy of an object.

    From a name, a model file can hold it after fitting. Only the listed classifiers of scikit-learn are imported
    (`discriminants.serialization.scikit_learn`). Raises ConfigError if the name is unknown, its package cannot be
    imported, a parameter is invalid, or the result is not a scikit-learn classifier that a model file can hold. An
    object must have `fit` and one of `SCORES`; a model file may be unable to hold it.
    """
    return _named(given, parameters) if isinstance(given, str) else _copied(given, parameters)


def _without_tree(classifier: Any) -> Any:
    """Set the search of nearest neighbors to "brute": "auto" may select a tree, which model files do not support."""
    from sklearn.neighbors import KNeighborsClassifier

    if isinstance(classifier, KNeighborsClassifier) and classifier.algorithm == "auto":
        classifier.set_params(algorithm="brute")
    return classifier


def _copied(given: Classifier, parameters: Mapping[str, Any]) -> Any:
    """Copy an object without its fit."""
    from sklearn.base import clone

    name = name_of_classifier(given)
    if parameters:
        raise ConfigError(f"hybrid.parameters are for a named classifier. Set those of the object {name}")
    try:
        if isinstance(given, type):
            classifier = given()
        else:
            classifier = clone(given) if hasattr(given, "get_params") else deepcopy(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(f"classifier {name} cannot be copied without its fit: {error}") from error
    if not _is_classifier(classifier):
        raise ConfigError(f"{name} is not a classifier. Expected the methods fit and one of {', '.join(SCORES)}")
    for part in (classifier, *parameters_of(classifier, deep=True).values()):
        if hasattr(part, "get_params") and not isinstance(part, type):
            _trust(type(part))
    return _without_tree(classifier)


def _is_classifier(made: Any) -> bool:
    return hasattr(made, "fit") and any(hasattr(made, name) for name in SCORES)


def _named(name: str, parameters: Mapping[str, Any]) -> Any:
    factory = _factory(name)
    try:
        classifier = factory(**parameters)
        if hasattr(classifier, "_parameter_constraints"):
            classifier._validate_params()  # scikit-learn itself checks only in fit
    except (TypeError, ValueError) as error:
        why = _unknown_parameter(factory, parameters) if isinstance(error, TypeError) else None
        raise ConfigError(f"parameters of the classifier {name!r} are not valid: {why or error}") from error
    from sklearn.base import BaseEstimator

    from discriminants.serialization.persistence import require_storable

    if not (isinstance(classifier, BaseEstimator) and _is_classifier(classifier)):
        raise ConfigError(
            f"classifier {name!r} creates a {type(classifier).__name__}. Expected a scikit-learn classifier: a "
            f"BaseEstimator with fit and one of {', '.join(SCORES)}"
        )
    if is_import_path(name):
        _trust(type(classifier))
    package = type(classifier).__module__.partition(".")[0]
    known = ("discriminants", "sklearn", *registered_packages())
    if not is_import_path(name) and package not in known:
        raise ConfigError(
            f"classifier {name!r} creates a {type(classifier).__name__} of the package {package!r}, which model "
            f"files do not support. Expected a class of one of {', '.join(known)}"
        )
    try:
        require_storable(_without_tree(classifier), trusted=trusted_classes())
    except DiscriminantError as error:
        raise ConfigError(f"classifier {name!r} cannot be saved in a model file: {error}") from error
    return classifier


def _factory(name: str) -> Callable[..., Any]:
    if name in BUILT_IN or name == PERCEPTRON_NAME:
        return BUILT_IN.get(name, _mlp)
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            try:
                registered: Callable[..., Any] = entry.load()
            except (ImportError, AttributeError) as error:
                raise ConfigError(f"classifier {name!r} cannot be imported from {entry.value}: {error}") from error
            return registered
    if is_import_path(name):
        found: Callable[..., Any] = imported(name, "classifier")
        return found
    if name.partition(".")[0] != "sklearn":
        near = get_close_matches(name, available_classifiers(), 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise ConfigError(
            f"classifier {name!r} is unknown. {meant}Expected one of {', '.join(available_classifiers())}, the import "
            "path of a scikit-learn classifier, such as sklearn.naive_bayes.GaussianNB, or package.module:Class"
        )
    from discriminants.serialization.classes import scikit_learn_classifiers

    # An allowlist, because the name may come from another person's settings file.
    if name not in scikit_learn_classifiers():
        raise ConfigError(
            (
                f"classifier {name!r} is not supported in model files. Expected one of these of scikit-learn (each "
                "after 'sklearn.'): "
            )
            + ", ".join(path.removeprefix("sklearn.") for path in scikit_learn_classifiers())
        )
    module, _, attribute = name.rpartition(".")
    made: Callable[..., Any] = getattr(import_module(module), attribute)
    return made


def _unknown_parameter(factory: Callable[..., Any], parameters: Mapping[str, Any]) -> str | None:
    """Describe a parameter that the classifier does not have; None if all are known."""
    try:
        known = sorted(factory().get_params(deep=False))
    except (TypeError, ValueError, AttributeError):
        return None
    strange = [each for each in parameters if each not in known]
    if not strange:
        return None
    near = get_close_matches(strange[0], known, 2)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"{strange[0]!r} is unknown. {meant}Parameters: {', '.join(known)}"
