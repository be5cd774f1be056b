"""Learners with `partial_fit` and their accumulated sums: the checks of their attributes."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from discriminants.serialization.expansions import classifier, regressor
from discriminants.serialization.least_squares import bars
from discriminants.serialization.requirements import check_arrays, check_indices, check_shape, refuse
from discriminants.serialization.scikit_learn import Listed


def _recursive_classifier(learner: Any) -> None:
    classifier(learner)
    _recursion_of(learner)
    moments = getattr(learner, "moments_", None)
    if moments is not None and getattr(moments, "squares_", np.empty(0)).shape != (
        learner.classes_.shape[0],
        *learner.recursion_.gram_factor_.shape,
    ):
        refuse(learner, "moments_", "does not match the classes or the dictionary")


def _recursive_regressor(learner: Any) -> None:
    regressor(learner)
    _recursion_of(learner)


def _recursion_of(learner: Any) -> None:
    """Check that the recursion uses the learner's dictionary."""
    recursion: Any = getattr(learner, "recursion_", None)
    if type(recursion).__name__ != "KernelRecursion":
        refuse(learner, "recursion_", f"has type {type(recursion).__name__}. Expected KernelRecursion")
    if recursion.projected_targets_.shape != learner.dual_coef_.shape:
        refuse(learner, "recursion_", "does not match the dictionary or the outputs")
    if recursion.centers_.shape[1] != learner.n_features_in_:
        refuse(learner, "recursion_", f"has {recursion.centers_.shape[1]} features. Expected {learner.n_features_in_}")
    learner.penalty = recursion.penalty  # older files do not contain it


def _recursion(recursion: Any) -> None:
    from discriminants.kernels import Kernel

    if not isinstance(recursion.kernel, Kernel):
        refuse(recursion, "kernel", f"has type {type(recursion.kernel).__name__}. Expected a kernel")
    if not (isinstance(recursion.penalty, Real) and 0 <= float(recursion.penalty) < np.inf):
        refuse(recursion, "penalty", f"is {recursion.penalty!r}. Expected a finite number of 0 or more")
    shapes: dict[str, tuple[int | str, ...]] = {
        "centers_": ("centers", "columns"),
        "gram_factor_": ("centers", "centers"),
        "information_": ("centers", "centers"),
        "projected_targets_": ("centers", "targets"),
    }
    sizes: dict[str, int] = {}
    check_arrays(recursion, shapes, sizes)
    if recursion.free_bias:
        n_products = sizes["targets"] + 1
        check_arrays(recursion, {"projected_ones_": ("centers", 1), "residual_products_": (n_products,)}, sizes)
    check_indices(recursion, "indices_", recursion.indices_, ("centers",), sizes)
    if type(recursion.n_samples_seen_) is not int or recursion.n_samples_seen_ < 0:
        refuse(recursion, "n_samples_seen_", f"is {recursion.n_samples_seen_!r}. Expected a whole number of 0 or more")


def _fixed_size_classifier(learner: Any) -> None:
    classifier(learner)
    _sums_of(learner)
    moments = getattr(learner, "moments_", None)
    if moments is not None and getattr(moments, "squares_", np.empty(0)).shape != (
        learner.classes_.shape[0],
        learner.dual_coef_.shape[0] + 1,
        learner.dual_coef_.shape[0] + 1,
    ):
        refuse(learner, "moments_", "does not match the classes or the centers")


def _fixed_size_regressor(learner: Any) -> None:
    (bars if hasattr(learner, "variance_") else regressor)(learner)
    _sums_of(learner)


def _sums_of(learner: Any) -> None:
    """Check that the sums match the learner's centers and outputs."""
    sums: Any = getattr(learner, "sums_", None)
    if sums is None:
        return
    if type(sums).__name__ != "RidgeSums":
        refuse(learner, "sums_", f"has type {type(sums).__name__}. Expected RidgeSums")
    if getattr(sums, "products_", np.empty(0)).shape != learner.dual_coef_.shape:
        refuse(learner, "sums_", "does not match the centers or the outputs")
    n_centers = learner.dual_coef_.shape[0]
    check_arrays(learner, {"whitening_": (n_centers, n_centers)}, {})


def _ridge_sums(sums: Any) -> None:
    shapes: dict[str, tuple[int | str, ...]] = {
        "origin_": ("columns",),
        "target_origin_": ("targets",),
        "sums_": ("columns",),
        "squares_": ("columns", "columns"),
        "target_sums_": ("targets",),
        "target_squares_": ("targets",),
        "products_": ("columns", "targets"),
    }
    check_arrays(sums, shapes, {})
    if type(sums.n_samples_) not in (int, float) or not 0 < sums.n_samples_ < np.inf:
        refuse(sums, "n_samples_", f"is {sums.n_samples_!r}. Expected a positive number")


def _moments(moments: Any) -> None:
    sizes: dict[str, int] = {}
    check_shape(moments, "counts_", moments.counts_, ("kinds",), sizes)
    moments.counts_ = moments.counts_.astype(np.float64)  # integers in older files
    check_arrays(
        moments,
        {"counts_": ("kinds",), "sums_": ("kinds", "centers"), "squares_": ("kinds", "centers", "centers")},
        sizes,
    )


STREAMS: Mapping[str, Listed] = {
    "KRLSClassifier": Listed("discriminants.sparse.krls", _recursive_classifier),
    "KRLSRegressor": Listed("discriminants.sparse.krls", _recursive_regressor),
    "FixedSizeLSSVMClassifier": Listed("discriminants.lssvm.fixed_size", _fixed_size_classifier),
    "FixedSizeLSSVMRegressor": Listed("discriminants.lssvm.fixed_size", _fixed_size_regressor),
    "KernelRecursion": Listed("discriminants.sparse.recursive_least_squares", _recursion),
    "RidgeSums": Listed("discriminants.linear_systems.ridge_sums", _ridge_sums),
    "ClassMoments": Listed("discriminants.fisher.class_moments", _moments),
}
"""Listed classes by name."""
