"""Learners with one machine per pair of classes or per task, and their checks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from discriminants.serialization.expansions import check_columns
from discriminants.serialization.least_squares import check_code
from discriminants.serialization.requirements import check_arrays, check_indices, n_classes, refuse, sizes_of
from discriminants.serialization.scikit_learn import Listed


def _pairwise(classifier: Any) -> None:
    sizes = sizes_of(classifier)
    n = sizes["classes"]
    if not isinstance(classifier.estimators_, list) or len(classifier.estimators_) != n * (n - 1) // 2:
        refuse(classifier, "estimators_", f"has the wrong length. Expected one estimator for each pair of {n} classes")
    samples = classifier.pair_samples_
    if samples is not None and len(samples) != len(classifier.estimators_):
        refuse(classifier, "pair_samples_", "has the wrong length. Expected one entry per pair")
    for number, estimator in enumerate(classifier.estimators_):
        if n_classes(estimator, getattr(estimator, "classes_", None)) != 2:
            refuse(classifier, "estimators_", f"has a {type(estimator).__name__} with other than two classes")
        if samples is not None:
            check_indices(
                classifier, f"pair_samples_[{number}]", samples[number], ("rows",), {}, below=sizes["features"]
            )


def _coded_tasks(classifier: Any) -> None:
    sizes = sizes_of(classifier)
    check_code(classifier, sizes)
    estimators: Any = getattr(classifier, "estimators_", None)
    if not isinstance(estimators, list) or len(estimators) != sizes["tasks"]:
        refuse(
            classifier,
            "estimators_",
            f"has the wrong length. Expected one estimator for each of {sizes['tasks']} tasks",
        )
    for estimator in estimators:
        if n_classes(estimator, getattr(estimator, "classes_", None)) != 2:
            refuse(classifier, "estimators_", f"has a {type(estimator).__name__} with other than two classes")


def _pair_expansion(classifier: Any) -> None:
    """Check centers by class, weights for every pair of classes, and the densities of the outputs."""
    from discriminants.kernels import Kernel

    sizes = sizes_of(classifier)
    n = sizes.get("classes", 0)
    if n < 2:
        refuse(classifier, "classes_", "has fewer than two classes")
    sizes["pairs"] = n * (n - 1) // 2
    shapes: dict[str, tuple[int | str, ...]] = {
        "basis_centers_": ("centers", "features"),
        "dual_coef_": ("centers", "classes"),
        "intercept_": ("pairs",),
        "means_": (2, "pairs"),
        "variances_": (2, "pairs"),
        "class_log_prior_": ("classes",),
    }
    check_arrays(classifier, shapes, sizes)
    pools: Any = getattr(classifier, "pool_sizes_", None)
    check_indices(classifier, "pool_sizes_", pools, ("classes",), sizes, below=sizes["centers"] + 1)
    if pools.min() < 1 or int(pools.astype(np.int64).sum()) != sizes["centers"]:
        refuse(
            classifier, "pool_sizes_", f"does not fit. Expected 1 or more centers per class, {sizes['centers']} in all"
        )
    kernel = getattr(classifier, "kernel_", None)
    if not isinstance(kernel, Kernel):
        refuse(classifier, "kernel_", f"has type {type(kernel).__name__}. Expected a kernel")
    if not kernel.centers_are_points or kernel.over(classifier.basis_centers_[:1])[1].size != 1:
        refuse(classifier, "kernel_", "is not the same for all centers")
    check_columns(classifier, kernel, sizes["centers"])


PAIRS: Mapping[str, Listed] = {
    "CodedClassifier": Listed("discriminants.multiclass.coded", _coded_tasks),
    "PairwiseClassifier": Listed("discriminants.multiclass.pairwise", _pairwise),
    "OneVsOneKernelClassifier": Listed("discriminants.sparse.one_vs_one", _pair_expansion),
    "OneVsOneSVC": Listed("discriminants.sparse.one_vs_one_svc", _pair_expansion),
}
"""Listed classes by name."""
