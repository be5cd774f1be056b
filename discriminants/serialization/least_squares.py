"""Least-squares support vector machines that can be loaded from a file, and their checks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from discriminants.serialization.expansions import check_one_column, directions, expansion, output_model, regressor
from discriminants.serialization.requirements import LARGEST, check_arrays, check_shape, learnt, refuse, sizes_of
from discriminants.serialization.scikit_learn import Listed


def _coded(learner: Any) -> None:
    """Check outputs of tasks that separate some classes from others."""
    sizes = expansion(learner, "tasks")
    check_code(learner, sizes)
    output_model(learner, learner.posterior_, sizes)


def check_code(learner: Any, sizes: dict[str, int]) -> None:
    """Check the sides of the classes in each task; the number of tasks is added to `sizes`."""
    code: Any = getattr(learner, "code_", None)
    check_shape(learner, "code_", code, ("classes", "tasks"), sizes)
    if code.dtype != np.int8 or not np.isin(code, (-1, 0, 1)).all():
        refuse(learner, "code_", "has invalid values. Expected int8 numbers -1, 0 and 1")
    if (sizes["tasks"] == 1) != (sizes["classes"] == 2):
        refuse(
            learner,
            "code_",
            f"has {sizes['tasks']} tasks for {sizes['classes']} classes. Expected one task only for two classes",
        )


def _semiparametric(learner: Any) -> None:
    """Check the outputs, and the terms without a penalty."""
    from discriminants.lssvm.lssvm import term_degrees

    regressor(learner)
    sizes = expansion(learner)
    try:
        n_terms = int(term_degrees(learner.unpenalized, sizes["features"]).sum())
    except ValueError as error:
        refuse(learner, "unpenalized", str(error))
    shapes: dict[str, tuple[int | str, ...]] = {
        "unpenalized_coef_": (n_terms, "weights"),
        "unpenalized_scale_": (2, "features"),
    }
    check_arrays(learner, shapes, sizes)
    if (learner.unpenalized_scale_[1] <= 0).any():
        refuse(learner, "unpenalized_scale_", "has deviations of 0 or less. Expected positive numbers")


def _inferred(learner: Any, sizes: dict[str, int], n_outputs: int, n_references: int) -> None:
    """Check the variances of every output, and the posterior of the weights over the same centers."""
    positive = ("regularization_", "prior_variance_", "noise_variance_")
    check_arrays(learner, dict.fromkeys((*positive, "effective_parameters_", "log_evidence_"), (n_outputs,)), {})
    for name in positive:
        if (getattr(learner, name) <= 0).any():
            refuse(learner, name, "has values of 0 or less. Expected positive numbers")
    variance: Any = getattr(learner, "variance_", None)
    if type(variance).__name__ != "PosteriorVariance":
        refuse(learner, "variance_", f"has type {type(variance).__name__}. Expected PosteriorVariance")
    if getattr(variance, "references_", np.empty(0)).shape != (sizes["centers"], n_references):
        refuse(learner, "variance_", "does not match the centers or the reference points")


def bars(learner: Any) -> None:
    """Check a regressor with error bars."""
    regressor(learner)
    sizes = expansion(learner)
    _inferred(learner, sizes, sizes["weights"], 1)
    check_arrays(learner, {"_bias_variance": ("weights",)}, sizes)
    if not isinstance(learner._noise_known, bool):
        refuse(learner, "_noise_known", f"is {learner._noise_known!r}. Expected a bool")


def _bayesian_classifier(learner: Any) -> None:
    sizes = expansion(learner, "outputs")
    check_arrays(
        learner, {"class_means_": (2, "outputs"), "spread_": ("outputs",), "class_log_prior_": ("classes",)}, sizes
    )
    if learner.posterior_ is None:
        _inferred(learner, sizes, sizes["outputs"], 2 * sizes["outputs"])
    else:
        _inferred(learner, sizes, sizes["outputs"], 1)
        output_model(learner, learner.posterior_, sizes)


def _heteroscedastic(learner: Any) -> None:
    """Check the machines of the curve and of its noise: one output each, equal features."""
    sizes = sizes_of(learner)
    check_arrays(learner, {"noise_range_": (2,)}, sizes)
    factor: Any = getattr(learner, "noise_factor_", None)
    if not isinstance(factor, float) or not 0.0 <= factor <= LARGEST:
        refuse(learner, "noise_factor_", f"is {factor!r}. Expected a number from 0 to {LARGEST:g}")
    for name in ("regressor_", "noise_regressor_"):
        machine: Any = getattr(learner, name, None)
        if machine is None and name == "noise_regressor_":
            continue
        own = type(machine).__name__ == "BayesianLSSVMRegressor" and machine.n_features_in_ == sizes.get("features")
        if not own or not machine._one_column:
            refuse(
                learner,
                name,
                f"has type {type(machine).__name__}. Expected a BayesianLSSVMRegressor with one output, same features",
            )


def _committee(committee: Any) -> None:
    sizes = sizes_of(committee)
    members: Any = getattr(committee, "estimators_", None)
    if not isinstance(members, list) or not members:
        refuse(committee, "estimators_", "is not a list of members")
    n_members = len(members)
    check_arrays(committee, {"member_weights_": (n_members,), "error_covariance_": (n_members, n_members)}, sizes)
    for member in members:
        if not hasattr(member, "predict") or getattr(member, "n_features_in_", None) != sizes["features"]:
            refuse(committee, "estimators_", f"has a {type(member).__name__} without predict, or with other features")
    found = {np.asarray(member.predict(np.zeros((1, sizes["features"])))).size for member in members}
    if len(found) != 1 or not isinstance(committee._one_column, bool) or (committee._one_column and found != {1}):
        refuse(committee, "estimators_", "has members with different numbers of outputs")
    layer = getattr(committee, "combine_", None)
    if layer is not None and getattr(layer, "n_features_in_", None) != n_members * found.pop():
        refuse(committee, "combine_", "does not match the members")


def _autoregression(model: Any) -> None:
    """Check that the regressor takes the lag features and returns as many outputs as are fed back."""
    sizes: dict[str, int] = {}
    shapes: dict[str, tuple[int | str, ...]] = {
        "last_outputs_": (model.n_lags, "targets"),
        "last_inputs_": (model.n_input_lags, "inputs"),
    }
    check_arrays(model, shapes, sizes)
    n_outputs, n_inputs = sizes["targets"], sizes["inputs"]
    if not n_outputs or bool(n_inputs) != bool(model.n_input_lags):
        refuse(
            model,
            "last_inputs_",
            f"has {n_inputs} inputs with n_input_lags = {model.n_input_lags} and {n_outputs} outputs",
        )
    if not isinstance(model._one_column, bool) or (model._one_column and n_outputs != 1):
        refuse(
            model,
            "_one_column",
            f"is {model._one_column!r} for {n_outputs} outputs. Expected a bool, True only for one output",
        )
    wanted = model.n_lags * n_outputs + model.n_input_lags * n_inputs
    regressor: Any = getattr(model, "regressor_", None)
    if not hasattr(regressor, "predict") or getattr(regressor, "n_features_in_", None) != wanted:
        refuse(model, "regressor_", f"is not a regressor with {wanted} features")
    found = np.asarray(regressor.predict(np.zeros((1, wanted))))
    if found.size != n_outputs:
        refuse(model, "regressor_", f"returns {found.size} outputs. Expected {n_outputs}")


def _two_views(transformer: Any) -> None:
    sizes = sizes_of(transformer)
    check_arrays(transformer, {"correlations_": ("pairs",), "singular_values_": ("pairs",)}, sizes)
    for name in ("x_directions_", "y_directions_"):
        view: Any = getattr(transformer, name, None)
        if type(view).__name__ != "KernelDirections" or view.dual_coef_.shape[1] != sizes["pairs"]:
            refuse(transformer, name, f"is not a set of {sizes['pairs']} directions")
    if transformer.x_directions_.n_features_in_ != sizes["features"]:
        refuse(
            transformer,
            "x_directions_",
            f"has {transformer.x_directions_.n_features_in_} features. Expected {sizes['features']}",
        )


def _components(transformer: Any) -> None:
    sizes = expansion(transformer)
    check_arrays(transformer, {"eigenvalues_": ("weights",)}, sizes)
    regressor = getattr(transformer, "regressor_", None)
    if regressor is None:
        return
    if not hasattr(regressor, "predict") or getattr(regressor, "n_features_in_", None) != sizes["weights"]:
        refuse(transformer, "regressor_", f"is not a regressor with {sizes['weights']} features")


def _latent_regression(model: Any) -> None:
    sizes = expansion(model)
    check_arrays(model, {"loadings_": ("weights", "targets"), "means_": ("targets",)}, sizes)
    check_one_column(model, sizes["targets"])


def _density(estimator: Any) -> None:
    from discriminants.kernels import GaussianKernel

    sizes = expansion(estimator)
    if sizes["weights"] != 1 or not isinstance(estimator.kernel_, GaussianKernel):
        refuse(estimator, "dual_coef_", "does not fit. Expected weights of one sum of Gaussians")


LEAST_SQUARES: Mapping[str, Listed] = {
    "LSSVMClassifier": Listed("discriminants.lssvm.lssvm", _coded),
    "LSSVMRegressor": Listed("discriminants.lssvm.lssvm", _semiparametric),
    "WeightedLSSVMRegressor": Listed("discriminants.lssvm.weighted_lssvm", _semiparametric),
    "BayesianLSSVMRegressor": Listed("discriminants.lssvm.bayesian_lssvm", bars),
    "BayesianLSSVMClassifier": Listed("discriminants.lssvm.bayesian_lssvm_classifier", _bayesian_classifier),
    "HeteroscedasticLSSVMRegressor": Listed("discriminants.lssvm.heteroscedastic_lssvm", _heteroscedastic),
    "PosteriorVariance": Listed(
        "discriminants.lssvm.evidence.posterior_variance",
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
    "PrunedLSSVMClassifier": Listed("discriminants.lssvm.pruned_lssvm", _coded),
    "PrunedLSSVMRegressor": Listed("discriminants.lssvm.pruned_lssvm", _semiparametric),
    "RecurrentLSSVM": Listed("discriminants.time_series.recurrent_lssvm", _autoregression),
    "NARX": Listed("discriminants.time_series.narx", _autoregression),
    "CommitteeRegressor": Listed("discriminants.lssvm.committee", _committee),
    "KernelCCA": Listed("discriminants.unsupervised.kernel_cca", _two_views),
    "KernelDirections": Listed("discriminants.unsupervised.kernel_cca", directions),
    "KernelPLS": Listed("discriminants.unsupervised.kernel_pls", _latent_regression),
    "LSSVMKernelPCA": Listed("discriminants.unsupervised.lssvm_pca", _components),
    "SeriesDensity": Listed("discriminants.unsupervised.series_density", _density),
}
"""Listed classes by name."""
