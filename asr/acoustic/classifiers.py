"""Finding classifiers by name: the built-in ones and those that other packages register.

A package offers its own through the entry-point group `asr.classifiers`; the entry point names a class or function
that takes keyword parameters and returns a scikit-learn classifier.
"""

from collections.abc import Callable, Mapping
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


def make_classifier(name: str, parameters: Mapping[str, Any]) -> Any:
    """An unfitted classifier.

    Raises
    ------
    ConfigError
        If the name is unknown, its package cannot be imported, or it does not take the parameters.
    """
    factory = BUILT_IN.get(name)
    if factory is None:
        found = [entry for entry in entry_points(group=GROUP) if entry.name == name]
        if not found:
            raise ConfigError(f"unknown classifier {name!r}; known are {', '.join(available_classifiers())}")
        try:
            factory = found[0].load()
        except ImportError as error:
            raise ConfigError(f"classifier {name!r} cannot be imported from {found[0].value}: {error}") from error
    try:
        return factory(**parameters)
    except TypeError as error:
        raise ConfigError(f"classifier {name!r} does not take its parameters: {error}") from error
