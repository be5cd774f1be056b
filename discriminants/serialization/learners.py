"""Classes of this package that can be loaded from a file, and the checks of their attributes."""

from collections.abc import Mapping

from discriminants.serialization.expansions import (
    classifier,
    directions,
    gaussian_outputs,
    linear,
    logistic,
    regressor,
    relevance,
)
from discriminants.serialization.least_squares import LEAST_SQUARES
from discriminants.serialization.pairs import PAIRS
from discriminants.serialization.requirements import learnt
from discriminants.serialization.scikit_learn import Listed
from discriminants.serialization.streams import STREAMS

LEARNERS: Mapping[str, Listed] = {
    "ARDGaussianKernel": Listed("discriminants.kernels.ard_gaussian", learnt({})),
    "CompactGaussianKernel": Listed("discriminants.kernels.compact", learnt({})),
    "ConformalKernel": Listed("discriminants.kernels.conformal", learnt({})),
    "DistanceKernel": Listed("discriminants.kernels.distance", learnt({})),
    "ExponentialKernel": Listed("discriminants.kernels.euclidean_exponential", learnt({})),
    "FourierKernel": Listed("discriminants.kernels.fourier", learnt({})),
    "GaussianKernel": Listed("discriminants.kernels.gaussian", learnt({})),
    "HiddenLayerKernel": Listed("discriminants.kernels.hidden_layer", learnt({})),
    "InverseMultiquadricKernel": Listed("discriminants.kernels.inverse_multiquadric", learnt({})),
    "LaplacianKernel": Listed("discriminants.kernels.laplacian", learnt({})),
    "LinearKernel": Listed("discriminants.kernels.dot_product", learnt({})),
    "LocalImageKernel": Listed("discriminants.kernels.locality", learnt({})),
    "LocalSequenceKernel": Listed("discriminants.kernels.locality", learnt({})),
    "MultiscaleGaussianKernel": Listed("discriminants.kernels.multiscale", learnt({})),
    "NormalizedKernel": Listed("discriminants.kernels.conformal", learnt({})),
    "PolynomialKernel": Listed("discriminants.kernels.dot_product", learnt({})),
    "PrecomputedKernel": Listed("discriminants.kernels.matrix", learnt({})),
    "ProductKernel": Listed("discriminants.kernels.algebra", learnt({})),
    "ScaledKernel": Listed("discriminants.kernels.algebra", learnt({})),
    "SigmoidKernel": Listed("discriminants.kernels.dot_product", learnt({})),
    "SplineKernel": Listed("discriminants.kernels.spline", learnt({})),
    "SumKernel": Listed("discriminants.kernels.algebra", learnt({})),
    "NPDClassifier": Listed("discriminants.sparse.npd", classifier),
    "NPDRegressor": Listed("discriminants.sparse.npd", regressor),
    "OROLSClassifier": Listed("discriminants.sparse.orols", classifier),
    "OROLSRegressor": Listed("discriminants.sparse.orols", regressor),
    "OLSClassifier": Listed("discriminants.sparse.ols", classifier),
    "OLSRegressor": Listed("discriminants.sparse.ols", regressor),
    "KFDClassifier": Listed("discriminants.fisher.kfd", classifier),
    "InvariantKFDClassifier": Listed("discriminants.fisher.invariant_kfd", classifier),
    "KSODClassifier": Listed("discriminants.fisher.ksod", classifier),
    "RobustKFDClassifier": Listed("discriminants.fisher.robust_kfd", classifier),
    "SparseGreedyKFDClassifier": Listed("discriminants.fisher.sparse_greedy_kfd", classifier),
    "SparseKFDClassifier": Listed("discriminants.fisher.sparse_kfd", classifier),
    "SparseKFDRegressor": Listed("discriminants.fisher.sparse_kfd", regressor),
    "KernelDiscriminantAnalysis": Listed("discriminants.fisher.kernel_discriminant_analysis", directions),
    "OrientedKernelPCA": Listed("discriminants.fisher.oriented_kernel_pca", directions),
    "GreedyNystroem": Listed("discriminants.unsupervised.greedy_nystroem", directions),
    "LinearDiscriminant": Listed("discriminants.fisher.linear_discriminant", linear),
    "SparseKernelLogisticClassifier": Listed("discriminants.sparse.sparse_logistic", logistic),
    "LPMachineClassifier": Listed("discriminants.sparse.lp_machine", classifier),
    "LPMachineRegressor": Listed("discriminants.sparse.lp_machine", regressor),
    "RVMClassifier": Listed("discriminants.sparse.rvm", classifier),
    "RVMRegressor": Listed("discriminants.sparse.rvm", relevance),
    "GaussianOutputModel": Listed("discriminants.posteriors.output_models", gaussian_outputs),
    "PlattOutputModel": Listed(
        "discriminants.posteriors.output_models", learnt({"slopes_": ("columns",), "offsets_": ("columns",)})
    ),
    "LogisticOutputModel": Listed(
        "discriminants.posteriors.output_models", learnt({"coef_": ("columns", "kinds"), "intercept_": ("kinds",)})
    ),
    **LEAST_SQUARES,
    **STREAMS,
    **PAIRS,
}
"""Listed classes by name."""
