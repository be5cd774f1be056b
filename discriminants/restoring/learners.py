"""The classes of this package that may come from a file, and what each must hold before it computes."""

from collections.abc import Mapping

from discriminants.restoring.expansions import classifier, directions, gaussian_outputs, linear, logistic, regressor
from discriminants.restoring.least_squares import LEAST_SQUARES
from discriminants.restoring.pairs import PAIRS
from discriminants.restoring.requirements import learnt
from discriminants.restoring.scikit_learn import Listed
from discriminants.restoring.streams import STREAMS

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
    "NPDClassifier": Listed("discriminants.npd", classifier),
    "NPDRegressor": Listed("discriminants.npd", regressor),
    "OROLSClassifier": Listed("discriminants.orols", classifier),
    "OROLSRegressor": Listed("discriminants.orols", regressor),
    "OLSClassifier": Listed("discriminants.ols", classifier),
    "OLSRegressor": Listed("discriminants.ols", regressor),
    "KFDClassifier": Listed("discriminants.kfd", classifier),
    "InvariantKFDClassifier": Listed("discriminants.invariant_kfd", classifier),
    "KSODClassifier": Listed("discriminants.ksod", classifier),
    "RobustKFDClassifier": Listed("discriminants.robust_kfd", classifier),
    "SparseGreedyKFDClassifier": Listed("discriminants.sparse_greedy_kfd", classifier),
    "SparseKFDClassifier": Listed("discriminants.sparse_kfd", classifier),
    "SparseKFDRegressor": Listed("discriminants.sparse_kfd", regressor),
    "KernelDiscriminantAnalysis": Listed("discriminants.kernel_discriminant_analysis", directions),
    "OrientedKernelPCA": Listed("discriminants.oriented_kernel_pca", directions),
    "GreedyNystroem": Listed("discriminants.greedy_nystroem", directions),
    "LinearDiscriminant": Listed("discriminants.linear_discriminant", linear),
    "SparseKernelLogisticClassifier": Listed("discriminants.sparse_logistic", logistic),
    "GaussianOutputModel": Listed("discriminants.posteriors", gaussian_outputs),
    "PlattOutputModel": Listed("discriminants.posteriors", learnt({"slopes_": ("columns",), "offsets_": ("columns",)})),
    "LogisticOutputModel": Listed(
        "discriminants.posteriors", learnt({"coef_": ("columns", "kinds"), "intercept_": ("kinds",)})
    ),
    **LEAST_SQUARES,
    **STREAMS,
    **PAIRS,
}
"""By name."""
