"""The classes of this package that may come from a file, and what each must hold before it computes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from discriminants.errors import ModelFormatError
from discriminants.restoring.requirements import (
    check_arrays,
    check_indices,
    check_shape,
    learnt,
    n_classes,
    refuse,
    sizes_of,
)
from discriminants.restoring.scikit_learn import Listed


def _expansion(learner: Any, n_outputs: str | None = None) -> dict[str, int]:
    """Kernel, centres and weights; `n_outputs` is the size that the number of weights must have."""
    from discriminants.kernels import Kernel, PrecomputedKernel

    sizes = sizes_of(learner)
    kernel = getattr(learner, "kernel_", None)
    if not isinstance(kernel, Kernel):
        refuse(learner, "kernel_", f"is a {type(kernel).__name__}, not a kernel")
    outputs = "weights" if n_outputs is None else n_outputs
    shapes: dict[str, tuple[int | str, ...]] = {
        "basis_centers_": ("centers", 0 if isinstance(kernel, PrecomputedKernel) else "features"),
        "dual_coef_": ("centers", outputs),
        "intercept_": (outputs,),
    }
    check_arrays(learner, shapes, sizes)
    if isinstance(kernel, PrecomputedKernel):
        check_indices(learner, "kernel_.indices", kernel.indices, ("centers",), sizes, below=sizes["features"])
    if kernel.over(learner.basis_centers_[:1])[1].size != 1:
        refuse(learner, "kernel_", "has several columns for a centre")
    try:  # a width for each centre, no word in place of a number, and as many columns as centres
        columns = kernel.columns(learner.basis_centers_)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{type(learner).__name__}.kernel_ does not suit the centres: {error}") from error
    if columns.n_centers != sizes["centers"]:
        refuse(learner, "kernel_", f"has {columns.n_centers} columns for {sizes['centers']} centres")
    return sizes


def _least_squares(learner: Any) -> None:
    sizes = _expansion(learner, "outputs")
    _output_model(learner, learner.posterior_, sizes)


def _output_model(learner: Any, model: Any, sizes: dict[str, int]) -> None:
    """One of `discriminants.posteriors`, for as many outputs and classes as the learner has."""
    from discriminants.posteriors import POSTERIORS

    n_outputs, classes = sizes["outputs"], sizes["classes"]
    shapes: dict[str, tuple[int | str, ...]] = {
        "means_": (2, n_outputs),
        "slopes_": (n_outputs,),
        "coef_": (n_outputs, classes),
    }
    if not isinstance(model, tuple(POSTERIORS.values())):
        refuse(learner, "posterior_", f"is a {type(model).__name__}, not a model of outputs")
    found = {name: shape for name, shape in shapes.items() if hasattr(model, name)}
    if not found:
        refuse(learner, "posterior_", f"is a {type(model).__name__} that has learnt nothing")
    check_arrays(model, found, {})


def _coded(learner: Any) -> None:
    """Outputs of tasks, each of which parts some classes from others."""
    sizes = _expansion(learner, "tasks")
    code: Any = getattr(learner, "code_", None)
    check_shape(learner, "code_", code, ("classes", "tasks"), sizes)
    if code.dtype != np.int8 or not np.isin(code, (-1, 0, 1)).all():
        refuse(learner, "code_", "holds other numbers than -1, 0 and 1 of int8")
    if (sizes["tasks"] == 1) != (sizes["classes"] == 2):
        refuse(learner, "code_", f"is of {sizes['tasks']} tasks for {sizes['classes']} classes")
    _output_model(learner, learner.posterior_, sizes)


def _inferred(learner: Any, sizes: dict[str, int], n_outputs: int, n_references: int) -> None:
    """Variances for every output, and the posterior of the weights over the same centres."""
    positive = ("regularization_", "prior_variance_", "noise_variance_")
    check_arrays(learner, dict.fromkeys((*positive, "effective_parameters_", "log_evidence_"), (n_outputs,)), {})
    for name in positive:
        if (getattr(learner, name) <= 0).any():
            refuse(learner, name, "holds numbers that are not positive")
    variance: Any = getattr(learner, "variance_", None)
    if type(variance).__name__ != "PosteriorVariance":
        refuse(learner, "variance_", f"is a {type(variance).__name__}")
    if getattr(variance, "references_", np.empty(0)).shape != (sizes["centers"], n_references):
        refuse(learner, "variance_", "is of other centres or other points of reference")


def _bayesian_regressor(learner: Any) -> None:
    _regressor(learner)
    sizes = _expansion(learner)
    _inferred(learner, sizes, sizes["weights"], 1)
    check_arrays(learner, {"_bias_variance": ("weights",)}, sizes)
    if not isinstance(learner._noise_known, bool):
        refuse(learner, "_noise_known", f"is {learner._noise_known!r}")


def _bayesian_classifier(learner: Any) -> None:
    sizes = _expansion(learner, "outputs")
    check_arrays(
        learner, {"class_means_": (2, "outputs"), "spread_": ("outputs",), "class_log_prior_": ("classes",)}, sizes
    )
    if learner.posterior_ is None:
        _inferred(learner, sizes, sizes["outputs"], 2 * sizes["outputs"])
    else:
        _inferred(learner, sizes, sizes["outputs"], 1)
        _output_model(learner, learner.posterior_, sizes)


def _logistic(learner: Any) -> None:
    _expansion(learner, "classes")


def _directions(transformer: Any) -> None:
    sizes = _expansion(transformer)
    if hasattr(transformer, "class_means_"):
        check_arrays(transformer, {"class_means_": ("classes", "weights")}, sizes)


def _committee(committee: Any) -> None:
    sizes = sizes_of(committee)
    members: Any = getattr(committee, "estimators_", None)
    if not isinstance(members, list) or not members:
        refuse(committee, "estimators_", "are no list of members")
    n_members = len(members)
    check_arrays(committee, {"member_weights_": (n_members,), "error_covariance_": (n_members, n_members)}, sizes)
    for member in members:
        if not hasattr(member, "predict") or getattr(member, "n_features_in_", None) != sizes["features"]:
            refuse(committee, "estimators_", f"hold a {type(member).__name__} of other features")
    found = {np.asarray(member.predict(np.zeros((1, sizes["features"])))).size for member in members}
    if len(found) != 1 or not isinstance(committee._one_column, bool) or (committee._one_column and found != {1}):
        refuse(committee, "estimators_", "are of different outputs")
    layer = getattr(committee, "combine_", None)
    if layer is not None and getattr(layer, "n_features_in_", None) != n_members * found.pop():
        refuse(committee, "combine_", "is of other members")


def _two_views(transformer: Any) -> None:
    sizes = sizes_of(transformer)
    check_arrays(transformer, {"correlations_": ("pairs",), "singular_values_": ("pairs",)}, sizes)
    for name in ("x_directions_", "y_directions_"):
        view: Any = getattr(transformer, name, None)
        if type(view).__name__ != "KernelDirections" or view.dual_coef_.shape[1] != sizes["pairs"]:
            refuse(transformer, name, f"are no {sizes['pairs']} directions")
    if transformer.x_directions_.n_features_in_ != sizes["features"]:
        refuse(transformer, "x_directions_", f"are of {transformer.x_directions_.n_features_in_} features")


def _components(transformer: Any) -> None:
    sizes = _expansion(transformer)
    check_arrays(transformer, {"eigenvalues_": ("weights",)}, sizes)
    regressor = getattr(transformer, "regressor_", None)
    if regressor is None:
        return
    if not hasattr(regressor, "predict") or getattr(regressor, "n_features_in_", None) != sizes["weights"]:
        refuse(transformer, "regressor_", f"is no regressor of {sizes['weights']} scores")


def _density(estimator: Any) -> None:
    from discriminants.kernels import GaussianKernel

    sizes = _expansion(estimator)
    if sizes["weights"] != 1 or not isinstance(estimator.kernel_, GaussianKernel):
        refuse(estimator, "dual_coef_", "are not weights of one sum of Gaussians")


def _regressor(learner: Any) -> None:
    sizes = _expansion(learner)
    if not isinstance(learner._one_column, bool) or (learner._one_column and sizes["weights"] != 1):
        refuse(learner, "_one_column", f"is {learner._one_column!r} for {sizes['weights']} outputs")


def _autoregression(model: Any) -> None:
    """The regressor takes as many features as the lags make, and gives as many outputs as it is fed."""
    sizes: dict[str, int] = {}
    shapes: dict[str, tuple[int | str, ...]] = {
        "last_outputs_": (model.n_lags, "targets"),
        "last_inputs_": (model.n_input_lags, "inputs"),
    }
    check_arrays(model, shapes, sizes)
    n_outputs, n_inputs = sizes["targets"], sizes["inputs"]
    if not n_outputs or bool(n_inputs) != bool(model.n_input_lags):
        refuse(model, "last_inputs_", f"are {n_inputs} for {n_outputs} outputs and {model.n_input_lags} lags")
    if not isinstance(model._one_column, bool) or (model._one_column and n_outputs != 1):
        refuse(model, "_one_column", f"is {model._one_column!r} for {n_outputs} outputs")
    wanted = model.n_lags * n_outputs + model.n_input_lags * n_inputs
    regressor: Any = getattr(model, "regressor_", None)
    if not hasattr(regressor, "predict") or getattr(regressor, "n_features_in_", None) != wanted:
        refuse(model, "regressor_", f"is no regressor of {wanted} features")
    found = np.asarray(regressor.predict(np.zeros((1, wanted))))
    if found.size != n_outputs:
        refuse(model, "regressor_", f"gives {found.size} outputs, not {n_outputs}")


def _recursive_classifier(learner: Any) -> None:
    _least_squares(learner)
    _recursion_of(learner)
    moments = getattr(learner, "moments_", None)
    if moments is not None and getattr(moments, "squares_", np.empty(0)).shape != (
        learner.classes_.shape[0],
        *learner.recursion_.gram_factor_.shape,
    ):
        refuse(learner, "moments_", "are of other classes or another dictionary")


def _recursive_regressor(learner: Any) -> None:
    _regressor(learner)
    _recursion_of(learner)


def _recursion_of(learner: Any) -> None:
    """The recursion goes on from the dictionary that the learner has."""
    recursion: Any = getattr(learner, "recursion_", None)
    if type(recursion).__name__ != "KernelRecursion":
        refuse(learner, "recursion_", f"is a {type(recursion).__name__}")
    if recursion.projected_targets_.shape != learner.dual_coef_.shape:
        refuse(learner, "recursion_", "is of another dictionary or other outputs")
    if recursion.centers_.shape[1] != learner.n_features_in_:
        refuse(learner, "recursion_", f"is of {recursion.centers_.shape[1]} features, not {learner.n_features_in_}")


def _recursion(recursion: Any) -> None:
    from discriminants.kernels import Kernel

    if not isinstance(recursion.kernel, Kernel):
        refuse(recursion, "kernel", f"is a {type(recursion.kernel).__name__}, not a kernel")
    shapes: dict[str, tuple[int | str, ...]] = {
        "centers_": ("centers", "columns"),
        "gram_factor_": ("centers", "centers"),
        "information_": ("centers", "centers"),
        "projected_targets_": ("centers", "targets"),
    }
    sizes: dict[str, int] = {}
    check_arrays(recursion, shapes, sizes)
    check_indices(recursion, "indices_", recursion.indices_, ("centers",), sizes)
    if type(recursion.n_samples_seen_) is not int or recursion.n_samples_seen_ < 0:
        refuse(recursion, "n_samples_seen_", f"is {recursion.n_samples_seen_!r}")


def _fixed_size_classifier(learner: Any) -> None:
    _least_squares(learner)
    _sums_of(learner)
    moments = getattr(learner, "moments_", None)
    if moments is not None and getattr(moments, "squares_", np.empty(0)).shape != (
        learner.classes_.shape[0],
        learner.dual_coef_.shape[0] + 1,
        learner.dual_coef_.shape[0] + 1,
    ):
        refuse(learner, "moments_", "are of other classes or other centres")


def _fixed_size_regressor(learner: Any) -> None:
    _regressor(learner)
    _sums_of(learner)


def _sums_of(learner: Any) -> None:
    """A stream goes on with the centres and outputs that the learner has."""
    sums: Any = getattr(learner, "sums_", None)
    if sums is None:
        return
    if type(sums).__name__ != "RidgeSums":
        refuse(learner, "sums_", f"is a {type(sums).__name__}")
    if getattr(sums, "products_", np.empty(0)).shape != learner.dual_coef_.shape:
        refuse(learner, "sums_", "are of other centres or other outputs")
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
    if type(sums.n_samples_) is not int or sums.n_samples_ < 1:
        refuse(sums, "n_samples_", f"is {sums.n_samples_!r}")


def _moments(moments: Any) -> None:
    sizes: dict[str, int] = {}
    check_indices(moments, "counts_", moments.counts_, ("kinds",), sizes)
    check_arrays(moments, {"sums_": ("kinds", "centers"), "squares_": ("kinds", "centers", "centers")}, sizes)


def _linear(discriminant: Any) -> None:
    sizes = sizes_of(discriminant)
    shapes: dict[str, tuple[int | str, ...]] = {"coef_": ("outputs", "features"), "intercept_": ("outputs",)}
    check_arrays(discriminant, shapes, sizes)
    if discriminant.posterior_ is not None:
        _output_model(discriminant, discriminant.posterior_, sizes)


def _pairwise(classifier: Any) -> None:
    sizes = sizes_of(classifier)
    n = sizes["classes"]
    if not isinstance(classifier.estimators_, list) or len(classifier.estimators_) != n * (n - 1) // 2:
        refuse(classifier, "estimators_", f"are not one for each pair of {n} classes")
    samples = classifier.pair_samples_
    if samples is not None and len(samples) != len(classifier.estimators_):
        refuse(classifier, "pair_samples_", "are not those of every pair")
    for number, estimator in enumerate(classifier.estimators_):
        if n_classes(estimator, getattr(estimator, "classes_", None)) != 2:
            refuse(classifier, "estimators_", f"holds a {type(estimator).__name__} that is not of two classes")
        if samples is not None:
            check_indices(
                classifier, f"pair_samples_[{number}]", samples[number], ("rows",), {}, below=sizes["features"]
            )


def _pair_expansion(classifier: Any) -> None:
    """Centres by class, weights for every pair of classes, and the densities of the outputs."""
    from discriminants.kernels import Kernel

    sizes = sizes_of(classifier)
    n = sizes.get("classes", 0)
    if n < 2:
        refuse(classifier, "classes_", "are not two or more")
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
        refuse(classifier, "pool_sizes_", f"are not one or more of the {sizes['centers']} centres for each class")
    kernel = getattr(classifier, "kernel_", None)
    if not isinstance(kernel, Kernel):
        refuse(classifier, "kernel_", f"is a {type(kernel).__name__}, not a kernel")
    if not kernel.centers_are_points or kernel.over(classifier.basis_centers_[:1])[1].size != 1:
        refuse(classifier, "kernel_", "is not the same for all centres")
    try:
        columns = kernel.columns(classifier.basis_centers_)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{type(classifier).__name__}.kernel_ does not suit the centres: {error}") from error
    if columns.n_centers != sizes["centers"]:
        refuse(classifier, "kernel_", f"has {columns.n_centers} columns for {sizes['centers']} centres")


def _gaussian_outputs(model: Any) -> None:
    pairs: tuple[int | str, ...] = (2, "columns")
    sizes: dict[str, int] = {}
    shapes = {"means_": pairs, "variances_": pairs, "log_priors_": pairs}
    check_arrays(model, shapes, sizes)


LEARNERS: Mapping[str, Listed] = {
    "ARDGaussianKernel": Listed("discriminants.kernels.ard_gaussian", learnt({})),
    "CompactGaussianKernel": Listed("discriminants.kernels.compact", learnt({})),
    "ExponentialKernel": Listed("discriminants.kernels.euclidean_exponential", learnt({})),
    "GaussianKernel": Listed("discriminants.kernels.gaussian", learnt({})),
    "LaplacianKernel": Listed("discriminants.kernels.laplacian", learnt({})),
    "LinearKernel": Listed("discriminants.kernels.dot_product", learnt({})),
    "MultiscaleGaussianKernel": Listed("discriminants.kernels.multiscale", learnt({})),
    "PolynomialKernel": Listed("discriminants.kernels.dot_product", learnt({})),
    "PrecomputedKernel": Listed("discriminants.kernels.matrix", learnt({})),
    "SigmoidKernel": Listed("discriminants.kernels.dot_product", learnt({})),
    "NPDClassifier": Listed("discriminants.npd", _least_squares),
    "NPDRegressor": Listed("discriminants.npd", _regressor),
    "OROLSClassifier": Listed("discriminants.orols", _least_squares),
    "OROLSRegressor": Listed("discriminants.orols", _regressor),
    "OLSClassifier": Listed("discriminants.ols", _least_squares),
    "OLSRegressor": Listed("discriminants.ols", _regressor),
    "KRLSClassifier": Listed("discriminants.krls", _recursive_classifier),
    "KRLSRegressor": Listed("discriminants.krls", _recursive_regressor),
    "KFDClassifier": Listed("discriminants.kfd", _least_squares),
    "InvariantKFDClassifier": Listed("discriminants.invariant_kfd", _least_squares),
    "LSSVMClassifier": Listed("discriminants.lssvm", _coded),
    "LSSVMRegressor": Listed("discriminants.lssvm", _regressor),
    "WeightedLSSVMRegressor": Listed("discriminants.weighted_lssvm", _regressor),
    "BayesianLSSVMRegressor": Listed("discriminants.bayesian_lssvm", _bayesian_regressor),
    "BayesianLSSVMClassifier": Listed("discriminants.bayesian_lssvm_classifier", _bayesian_classifier),
    "PosteriorVariance": Listed(
        "discriminants.evidence.posterior_variance",
        learnt(
            {
                "directions_": ("centers", "columns"),
                "eigenvalues_": ("columns",),
                "references_": ("centers", "points"),
                "offsets_": ("columns", "points"),
                "squares_": ("points",),
            }
        ),
    ),
    "PrunedLSSVMClassifier": Listed("discriminants.pruned_lssvm", _coded),
    "PrunedLSSVMRegressor": Listed("discriminants.pruned_lssvm", _regressor),
    "RecurrentLSSVM": Listed("discriminants.recurrent_lssvm", _autoregression),
    "NARX": Listed("discriminants.narx", _autoregression),
    "KSODClassifier": Listed("discriminants.ksod", _least_squares),
    "RobustKFDClassifier": Listed("discriminants.robust_kfd", _least_squares),
    "SparseGreedyKFDClassifier": Listed("discriminants.sparse_greedy_kfd", _least_squares),
    "SparseKFDClassifier": Listed("discriminants.sparse_kfd", _least_squares),
    "SparseKFDRegressor": Listed("discriminants.sparse_kfd", _regressor),
    "KernelDiscriminantAnalysis": Listed("discriminants.kernel_discriminant_analysis", _directions),
    "OrientedKernelPCA": Listed("discriminants.oriented_kernel_pca", _directions),
    "CommitteeRegressor": Listed("discriminants.committee", _committee),
    "KernelCCA": Listed("discriminants.kernel_cca", _two_views),
    "KernelDirections": Listed("discriminants.kernel_cca", _directions),
    "LSSVMKernelPCA": Listed("discriminants.lssvm_pca", _components),
    "SeriesDensity": Listed("discriminants.series_density", _density),
    "GreedyNystroem": Listed("discriminants.greedy_nystroem", _directions),
    "FixedSizeLSSVMClassifier": Listed("discriminants.fixed_size", _fixed_size_classifier),
    "FixedSizeLSSVMRegressor": Listed("discriminants.fixed_size", _fixed_size_regressor),
    "LinearDiscriminant": Listed("discriminants.linear_discriminant", _linear),
    "SparseKernelLogisticClassifier": Listed("discriminants.sparse_logistic", _logistic),
    "PairwiseClassifier": Listed("discriminants.multiclass.pairwise", _pairwise),
    "OneVsOneKernelClassifier": Listed("discriminants.one_vs_one", _pair_expansion),
    "OneVsOneSVC": Listed("discriminants.one_vs_one_svc", _pair_expansion),
    "GaussianOutputModel": Listed("discriminants.posteriors", _gaussian_outputs),
    "PlattOutputModel": Listed("discriminants.posteriors", learnt({"slopes_": ("columns",), "offsets_": ("columns",)})),
    "LogisticOutputModel": Listed(
        "discriminants.posteriors", learnt({"coef_": ("columns", "kinds"), "intercept_": ("kinds",)})
    ),
    "KernelRecursion": Listed("discriminants.recursive_least_squares", _recursion),
    "RidgeSums": Listed("discriminants.linear_systems.ridge_sums", _ridge_sums),
    "ClassMoments": Listed("discriminants.class_moments", _moments),
}
"""By name."""
