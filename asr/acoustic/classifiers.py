"""Finding classifiers by name: the built-in ones, scikit-learn's, and those that other packages register.

A package offers its own through the entry-point group `asr.classifiers`; the entry point names a class or function
that takes keyword parameters and returns a scikit-learn classifier of the same package. A classifier of
scikit-learn is named by where it is imported from, such as `sklearn.naive_bayes.GaussianNB`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from asr.errors import ConfigError

GROUP = "asr.classifiers"


def _kernel_logistic(**parameters: Any) -> Any:
    from discriminants.sparse_logistic import SparseKernelLogisticClassifier

    return SparseKernelLogisticClassifier(**parameters)


def _orols(**parameters: Any) -> Any:
    from discriminants.orols import OROLSClassifier

    return OROLSClassifier(**parameters)


def _npd(**parameters: Any) -> Any:
    from discriminants.npd import NPDClassifier

    return NPDClassifier(**parameters)


def _mlp(**parameters: Any) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(**parameters)


BUILT_IN: Mapping[str, Callable[..., Any]] = {
    "kernel-logistic": _kernel_logistic,
    "orols": _orols,
    "npd": _npd,
    "mlp": _mlp,
}


def available_classifiers() -> list[str]:
    """Names that `make_classifier` knows, sorted."""
    return sorted({*BUILT_IN, *(entry.name for entry in entry_points(group=GROUP))})


def registered_packages() -> tuple[str, ...]:
    """Packages that register a classifier, sorted: their classes may be made from a model file."""
    return tuple(sorted({entry.module.partition(".")[0] for entry in entry_points(group=GROUP)}))


def make_classifier(name: str, parameters: Mapping[str, Any]) -> Any:
    """An unfitted classifier.

    Raises
    ------
    ConfigError
        If the name is unknown, its package cannot be imported, it does not take the parameters, or what is made
        is no scikit-learn classifier that a model file could bring back.
    """
    factory = _factory(name)
    try:
        classifier = factory(**parameters)
        if hasattr(classifier, "_parameter_constraints"):
            classifier._validate_params()  # scikit-learn would tell only when it is fitted
    except (TypeError, ValueError) as error:
        raise ConfigError(f"classifier {name!r} does not take its parameters: {error}") from error
    from sklearn.base import BaseEstimator, is_classifier

    if not (isinstance(classifier, BaseEstimator) and is_classifier(classifier)):
        raise ConfigError(f"classifier {name!r} makes a {type(classifier).__name__}, which is no classifier")
    package = type(classifier).__module__.partition(".")[0]
    known = ("discriminants", "sklearn", *registered_packages())
    if package not in known:
        raise ConfigError(
            f"classifier {name!r} makes a {type(classifier).__name__} of the package {package!r}, which a model file "
            f"could not bring back; its class must belong to one of {', '.join(known)}"
        )
    return classifier


def _factory(name: str) -> Callable[..., Any]:
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = [entry for entry in entry_points(group=GROUP) if entry.name == name]
    try:
        if found:
            factory: Callable[..., Any] = found[0].load()
            return factory
        module, _, attribute = name.rpartition(".")
        if module == "sklearn" or module.startswith("sklearn."):
            return _class_of_scikit_learn(name, getattr(import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        source = found[0].value if found else "scikit-learn"
        raise ConfigError(f"classifier {name!r} cannot be imported from {source}: {error}") from error
    raise ConfigError(
        f"unknown classifier {name!r}; known are {', '.join(available_classifiers())}, and scikit-learn's by their "
        "import path, such as sklearn.naive_bayes.GaussianNB"
    )


def _class_of_scikit_learn(name: str, found: Any) -> Callable[..., Any]:
    """`found` if it is a class of classifiers: settings are data, and no other function is called at their word."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    if not (isinstance(found, type) and issubclass(found, BaseEstimator) and issubclass(found, ClassifierMixin)):
        raise ConfigError(f"classifier {name!r} names {found!r}, which is no classifier of scikit-learn")
    return found
