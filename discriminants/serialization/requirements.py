"""Checks of a restored estimator's learned attributes by shapes relative to each other."""

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array

from discriminants.util.errors import ModelFormatError

Rule = Callable[[Any], None]  # raises ModelFormatError for an incomplete estimator
Shape = tuple[int | str, ...]
"""Sizes by number or by name: "features", "classes" and "outputs" (one for two classes) are those of the estimator. Any
other name means the same number in all shapes.
"""

_OWN_SIZES: Mapping[int | str, str] = {"features": "n_features_in_", "classes": "classes_", "outputs": "classes_"}

_DIVISORS = frozenset({"scale_", "variances_"})  # scaled values must stay finite in single precision
_MIN_DIVISOR = 1e-30
LARGEST = 1e30  # products of a few such numbers and samples are finite in single precision, or never were


def learnt(
    shapes: Mapping[str, Shape],
    *,
    optional: Iterable[str] = (),
    numbers: Iterable[str] = (),
    logarithms: Iterable[str] = (),
) -> Rule:
    """Return a rule that these attributes are arrays of finite floats of these shapes.

    `optional` ones may be missing or None, `numbers` may be one number instead, `logarithms` may hold minus infinity.
    """

    def rule(estimator: Any) -> None:
        check_arrays(estimator, shapes, sizes_of(estimator), optional=optional, numbers=numbers, logarithms=logarithms)

    return rule


def check_arrays(
    estimator: Any,
    shapes: Mapping[str, Shape],
    sizes: dict[str, int],
    *,
    optional: Iterable[str] = (),
    numbers: Iterable[str] = (),
    logarithms: Iterable[str] = (),
) -> None:
    """Check arrays, as rules of `learnt` do; new sizes are added to `sizes`."""
    for name, shape in shapes.items():
        value = getattr(estimator, name, None)
        if value is None and name in optional:
            continue
        if name in numbers and isinstance(value, Real) and np.isfinite(float(value)):
            continue
        check_floats(estimator, name, value, shape, sizes, logarithms=name in logarithms)


def check_floats(
    estimator: Any, name: str, value: Any, shape: Shape, sizes: dict[str, int], *, logarithms: bool = False
) -> None:
    """Check that `value` is float32 or float64 of the shape, finite and not huge; `logarithms` may be minus
    infinity.
    """
    check_shape(estimator, name, value, shape, sizes)
    if isinstance(value, csr_array):
        value = value.data
    if value.dtype not in (np.float32, np.float64):
        refuse(estimator, name, f"has dtype {value.dtype}. Expected float32 or float64")
    if not ((np.abs(value) <= LARGEST) | ((value == -np.inf) & logarithms)).all():
        refuse(estimator, name, f"has values that are not finite, or above {LARGEST:g}")
    if name in _DIVISORS and not ((value >= _MIN_DIVISOR) & (value <= 1.0 / _MIN_DIVISOR)).all():
        refuse(estimator, name, f"has values out of range. Expected {_MIN_DIVISOR:g} to {1.0 / _MIN_DIVISOR:g}")


def check_indices(
    estimator: Any, name: str, value: Any, shape: Shape, sizes: dict[str, int], *, below: int | None = None
) -> None:
    """Check that `value` is an array of integers of the shape, from 0 to `below` - 1."""
    check_shape(estimator, name, value, shape, sizes)
    if value.dtype.kind not in "iu":
        refuse(estimator, name, f"has dtype {value.dtype}. Expected integers")
    if value.size and (value.min() < 0 or (below is not None and value.max() >= below)):
        allowed = "0 or more" if below is None else f"0 to {below - 1}"
        refuse(estimator, name, f"has values from {value.min()} to {value.max()}. Expected {allowed}")


def check_shape(estimator: Any, name: str, value: Any, shape: Shape, sizes: dict[str, int]) -> None:
    """Check that `value` is an array of the shape."""
    for size in shape:
        if size in _OWN_SIZES and size not in sizes:
            refuse(estimator, _OWN_SIZES[size], "is missing")
    if not (isinstance(value, np.ndarray) or (isinstance(value, csr_array) and _may_be_sparse(estimator, name))):
        refuse(estimator, name, f"has type {type(value).__name__}. Expected an array")
    wanted = [n if isinstance(n, int) else sizes.get(n, n) for n in shape]
    fits = value.ndim == len(shape)
    for size, n in zip(value.shape, shape, strict=False):
        fits = fits and size == (n if isinstance(n, int) else sizes.setdefault(n, size))
    if not fits:
        shown = ", ".join(map(str, wanted))
        refuse(estimator, name, f"has shape {value.shape}. Expected ({shown}), as in the other attributes")


def _may_be_sparse(estimator: Any, name: str) -> bool:
    sparse = getattr(estimator, "_sparse_inputs", False) and getattr(estimator.kernel_, "sparse_inputs", False)
    return name == "basis_centers_" and sparse


def sizes_of(estimator: Any) -> dict[str, int]:
    """Return the numbers of features, classes and outputs that the estimator has.

    Raises ModelFormatError if the classes are not sorted and distinct, or the number of features is invalid.
    """
    sizes = {}
    features = getattr(estimator, "n_features_in_", None)
    if features is not None:
        if not isinstance(features, Integral) or features < 1:
            refuse(estimator, "n_features_in_", f"is {features!r}. Expected a positive whole number")
        sizes["features"] = int(features)
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        sizes["classes"] = n = n_classes(estimator, classes)
        sizes["outputs"] = 1 if n == 2 else n
    return sizes


def n_classes(estimator: Any, classes: Any) -> int:
    """Return the number of classes, which must be sorted and distinct labels of one type."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not classes.size:
        refuse(estimator, "classes_", "is not a one-dimensional array of classes")
    labels = classes.tolist()
    kinds = {str if isinstance(label, str) else Real if isinstance(label, Real) else type(label) for label in labels}
    if kinds not in ({str}, {Real}) or not all(one < other for one, other in pairwise(labels)):
        refuse(estimator, "classes_", "has labels that are not sorted, not distinct or of mixed types")
    return len(labels)


def refuse(estimator: Any, name: str, reason: str) -> NoReturn:
    """Raise ModelFormatError: `Class.attribute`, then the reason."""
    raise ModelFormatError(f"{type(estimator).__name__}.{name} {reason}")
