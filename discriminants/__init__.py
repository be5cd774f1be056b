"""Sparse kernel discriminants: a few basis centres chosen by forward selection, weights by least squares or
logistic loss.

Stands alone: scikit-learn estimators over plain arrays, nothing of speech. Names are loaded when first used,
so that `import discriminants` stays cheap.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "GaussianKernel": "kernels",
    "NPDClassifier": "npd",
    "OROLSClassifier": "orols",
    "SparseKernelLogisticClassifier": "sparse_logistic",
    "GaussianOutputModel": "posteriors",
    "LogisticOutputModel": "posteriors",
    "save_arrays": "persistence",
    "load_arrays": "persistence",
    "estimator_to_arrays": "persistence",
    "estimator_from_arrays": "persistence",
    "DiscriminantError": "errors",
    "ModelFormatError": "errors",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
