"""Sparse kernel discriminants: a few basis centres chosen by forward selection, weights by least squares or
logistic loss.

Stands alone: scikit-learn estimators over plain arrays, nothing of speech. Names are loaded when first used,
so that `import discriminants` stays cheap.
"""

from importlib import import_module
from typing import Any

_NAMES = {
    "kernels": [
        "Kernel",
        "GaussianKernel",
        "ARDGaussianKernel",
        "LaplacianKernel",
        "ExponentialKernel",
        "PolynomialKernel",
        "SigmoidKernel",
        "LinearKernel",
        "CompactGaussianKernel",
        "MultiscaleGaussianKernel",
        "PrecomputedKernel",
        "FunctionKernel",
    ],
    "npd": ["NPDClassifier", "NPDRegressor"],
    "orols": ["OROLSClassifier", "OROLSRegressor"],
    "ols": ["OLSClassifier", "OLSRegressor"],
    "krls": ["KRLSClassifier", "KRLSRegressor"],
    "kfd": ["KFDClassifier"],
    "invariant_kfd": ["InvariantKFDClassifier"],
    "lssvm": ["LSSVMClassifier", "LSSVMRegressor"],
    "bayesian_lssvm": ["BayesianLSSVMRegressor"],
    "bayesian_lssvm_classifier": ["BayesianLSSVMClassifier"],
    "weighted_lssvm": ["WeightedLSSVMRegressor"],
    "heteroscedastic_lssvm": ["HeteroscedasticLSSVMRegressor"],
    "pruned_lssvm": ["PrunedLSSVMClassifier", "PrunedLSSVMRegressor"],
    "committee": ["CommitteeRegressor"],
    "kernel_cca": ["KernelCCA"],
    "lssvm_pca": ["LSSVMKernelPCA"],
    "series_density": ["SeriesDensity"],
    "narx": ["NARX", "lag_table"],
    "recurrent_lssvm": ["RecurrentLSSVM"],
    "shrinking_grid": ["ShrinkingGridSearchCV"],
    "oriented_kernel_pca": ["OrientedKernelPCA"],
    "image_transformations": ["transformed_images", "smoothed_images"],
    "kernel_discriminant_analysis": ["KernelDiscriminantAnalysis"],
    "ksod": ["KSODClassifier"],
    "greedy_nystroem": ["GreedyNystroem"],
    "fixed_size": ["FixedSizeLSSVMClassifier", "FixedSizeLSSVMRegressor"],
    "linear_discriminant": ["LinearDiscriminant"],
    "robust_kfd": ["RobustKFDClassifier"],
    "sparse_greedy_kfd": ["SparseGreedyKFDClassifier"],
    "sparse_kfd": ["SparseKFDClassifier", "SparseKFDRegressor"],
    "sparse_logistic": ["SparseKernelLogisticClassifier"],
    "multiclass.pairwise": ["PairwiseClassifier"],
    "one_vs_one": ["OneVsOneKernelClassifier"],
    "one_vs_one_svc": ["OneVsOneSVC"],
    "posteriors": ["GaussianOutputModel", "PlattOutputModel", "LogisticOutputModel"],
    "calibration": [
        "log_loss",
        "brier_score",
        "reliability_curve",
        "expected_calibration_error",
        "plot_reliability",
    ],
    "persistence": ["estimator_to_arrays", "estimator_from_arrays", "require_storable"],
    "model_file": ["save_arrays", "load_arrays"],
    "errors": ["DiscriminantError", "ModelFormatError"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
