"""Sparse kernel discriminants: few basis centers by forward selection, weights by least squares or logistic loss.

The package contains scikit-learn estimators on plain arrays and does not depend on speech. Names are loaded on first
use, so that `import discriminants` is fast.
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
        "NormalizedKernel",
        "DistanceKernel",
        "InverseMultiquadricKernel",
        "PrecomputedKernel",
        "FunctionKernel",
    ],
    "sparse.npd": ["NPDClassifier", "NPDRegressor"],
    "sparse.orols": ["OROLSClassifier", "OROLSRegressor"],
    "sparse.ols": ["OLSClassifier", "OLSRegressor"],
    "sparse.krls": ["KRLSClassifier", "KRLSRegressor"],
    "sparse.lp_machine": ["LPMachineClassifier", "LPMachineRegressor"],
    "sparse.rvm": ["RVMClassifier", "RVMRegressor"],
    "fisher.kfd": ["KFDClassifier"],
    "fisher.invariant_kfd": ["InvariantKFDClassifier"],
    "lssvm.lssvm": ["LSSVMClassifier", "LSSVMRegressor"],
    "lssvm.bayesian_lssvm": ["BayesianLSSVMRegressor"],
    "lssvm.bayesian_lssvm_classifier": ["BayesianLSSVMClassifier"],
    "lssvm.weighted_lssvm": ["WeightedLSSVMRegressor"],
    "lssvm.heteroscedastic_lssvm": ["HeteroscedasticLSSVMRegressor"],
    "lssvm.pruned_lssvm": ["PrunedLSSVMClassifier", "PrunedLSSVMRegressor"],
    "lssvm.committee": ["CommitteeRegressor"],
    "unsupervised.kernel_cca": ["KernelCCA"],
    "unsupervised.kernel_pls": ["KernelPLS"],
    "unsupervised.lssvm_pca": ["LSSVMKernelPCA"],
    "unsupervised.series_density": ["SeriesDensity"],
    "time_series.narx": ["NARX", "lag_table"],
    "time_series.recurrent_lssvm": ["RecurrentLSSVM"],
    "lssvm.shrinking_grid": ["ShrinkingGridSearchCV"],
    "model_selection.criteria": ["selection_criterion", "criterion_scorer"],
    "fisher.oriented_kernel_pca": ["OrientedKernelPCA"],
    "fisher.image_transformations": ["transformed_images", "smoothed_images"],
    "fisher.kernel_discriminant_analysis": ["KernelDiscriminantAnalysis"],
    "fisher.ksod": ["KSODClassifier"],
    "unsupervised.greedy_nystroem": ["GreedyNystroem"],
    "lssvm.fixed_size": ["FixedSizeLSSVMClassifier", "FixedSizeLSSVMRegressor"],
    "fisher.linear_discriminant": ["LinearDiscriminant"],
    "fisher.robust_kfd": ["RobustKFDClassifier"],
    "fisher.sparse_greedy_kfd": ["SparseGreedyKFDClassifier"],
    "fisher.sparse_kfd": ["SparseKFDClassifier", "SparseKFDRegressor"],
    "sparse.sparse_logistic": ["SparseKernelLogisticClassifier"],
    "multiclass.coded": ["CodedClassifier"],
    "multiclass.pairwise": ["PairwiseClassifier"],
    "sparse.one_vs_one": ["OneVsOneKernelClassifier"],
    "sparse.one_vs_one_svc": ["OneVsOneSVC"],
    "posteriors.output_models": ["GaussianOutputModel", "PlattOutputModel", "LogisticOutputModel"],
    "posteriors.calibration": [
        "log_loss",
        "brier_score",
        "reliability_curve",
        "expected_calibration_error",
        "plot_reliability",
    ],
    "serialization.persistence": ["estimator_to_arrays", "estimator_from_arrays", "require_storable"],
    "serialization.model_file": ["save_arrays", "load_arrays"],
    "util.errors": ["DiscriminantError", "ModelFormatError"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
