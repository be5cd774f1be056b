"""Relevance vector machines: few centers and all penalties by the marginal likelihood (Tipping 2001)."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from discriminants.fisher.column_generation import Columns
from discriminants.kernels import make_kernel
from discriminants.linear_systems.kernel_values import kernel_matrix, memory_of_whole_matrix
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.posteriors.output_models import PlattOutputModel
from discriminants.sparse.relevance import Relevance, logistic_relevance, normal_relevance
from discriminants.util.estimator import POSITIVE, estimator, field, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.regression import KernelRegressor

_CONSTANT = 1e-10  # of the largest kernel value: a column with a smaller deviation has no weight


@estimator
class _RVM(KernelExpansion):
    """Base: every weight has a normal prior of its own precision, and the precisions maximize the marginal likelihood.

    Most precisions become infinite, so that few weights remain. One precision at a time is set to its best value, the
    one that raises the marginal likelihood most (Tipping and Faul 2003). The bias has a flat prior. Each output has
    centers of its own; those of all outputs are kept. A step takes O(N m^2) time for m centers, and memory is 16 N^2
    bytes.

    Parameters
    ----------
    kernel
        The kernel may be indefinite. Choose its width by cross-validation; `log_evidence_` prefers narrow kernels,
        because every sample may have a center of its own.
    tol : float
        Smallest increase of the log marginal likelihood by one step.

    Attributes
    ----------
    log_evidence_ : ndarray of shape (n_outputs,)
        Logarithm of the marginal likelihood, at one of its maxima.

    References
    ----------
    M. Tipping, Sparse Bayesian learning and the relevance vector machine, JMLR 1, 2001. M. Tipping, A. Faul, Fast
    marginal likelihood maximisation for sparse Bayesian models, AISTATS 2003.
    """

    kernel: Any = "gaussian"
    sigma: Any = "scale"
    tol: float = parameter(POSITIVE, default=1e-4)
    log_evidence_: np.ndarray = field(init=False)
    _takes_weights: ClassVar[bool] = True

    def _fit_outputs(
        self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, find: Callable[..., Relevance]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Store the expansion; return noise variances and covariances, as `RVMRegressor` keeps them."""
        if X.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs at least two samples, got 1 sample")
        weight = np.ones(X.shape[0]) if weight is None else weight
        with memory_of_whole_matrix(X.shape[0]):
            columns = Columns(make_kernel(self.kernel, self.sigma).resolved(X, weight), X)
            K = columns.at(np.arange(columns.n_candidates))
        least = _CONSTANT * np.sqrt(weight.sum()) * float(np.abs(K).max())
        means = weight @ K / weight.sum()
        K -= means
        lengths = np.sqrt(np.einsum("i,ij,ij->j", weight, K, K))
        usable = np.flatnonzero(lengths >= min(least, lengths.max()))
        K, means, lengths = K[:, usable] / lengths[usable], means[usable], lengths[usable]
        found = [find(K, target.astype(np.float64), weight, float(self.tol)) for target in targets.T]
        union = np.unique(np.concatenate([relevance.active for relevance in found]))
        if not union.size:  # the bias alone
            union = np.array([0])
        weights, bias = np.zeros((union.shape[0], len(found))), np.empty(len(found))
        covariances = np.zeros((len(found), union.shape[0] + 1, union.shape[0] + 1))
        for s, relevance in enumerate(found):
            # weights of the columns as the kernel has them, and the bias for them
            places = np.append(np.searchsorted(union, relevance.active), union.shape[0])
            scale = np.append(1.0 / lengths[relevance.active], 1.0)
            change = np.diag(scale)
            change[-1, :-1] = -means[relevance.active] * scale[:-1]
            mean = change @ relevance.mean
            weights[places[:-1], s], bias[s] = mean[:-1], mean[-1]
            covariances[s][np.ix_(places, places)] = change @ relevance.covariance @ change.T
        self.log_evidence_ = np.array([relevance.log_evidence for relevance in found])
        candidates = usable[union]
        self._keep_expansion(columns.kernel.at(candidates), X[columns.points[candidates]], weights, bias)
        return np.array([relevance.noise_variance for relevance in found]), covariances


@estimator
class RVMRegressor(_RVM, KernelRegressor):
    """Relevance vector machine for regression: few centers, noise and penalties without a search, and error bars.

    Only the width of the kernel has to be chosen. The error bars are those of the weights of a few centers, so they
    become small, not large, far from all samples (Rasmussen and Quinonero-Candela 2005). Those of
    `BayesianLSSVMRegressor` become large.

    Attributes
    ----------
    noise_variance_ : ndarray of shape (n_outputs,)
        Noise variance of a sample of weight one.
    covariance_ : ndarray of shape (n_outputs, m + 1, m + 1)
        Posterior covariance of the weights and the bias, float64; zero for centers of other outputs only.

    See Also
    --------
    BayesianLSSVMRegressor : all samples as centers, and the width by the evidence.
    OROLSRegressor : a given number of centers.
    sklearn.linear_model.ARDRegression : the same prior on features.
    """

    noise_variance_: np.ndarray = field(init=False)
    covariance_: np.ndarray = field(init=False)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        if weight is not None and not weight.sum() > 2:
            raise ValueError(f"sample_weight has the sum {weight.sum()}. Expected a sum above 2")
        self.noise_variance_, self.covariance_ = self._fit_outputs(X, targets, weight, normal_relevance)

    def predict(self, X: np.ndarray, return_std: bool = False) -> Any:
        """Predict outputs, shaped like the y of `fit`, and optionally their standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool
            Also return the standard deviation of a new target: that of the output and of the noise.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs), or two of them
        """
        outputs = super().predict(X)
        if not return_std:
            return outputs
        X = self._checked(X)
        K = np.column_stack([kernel_matrix(self.kernel_, X, self.basis_centers_), np.ones(X.shape[0])])
        variances = [((K @ covariance) * K).sum(axis=1) for covariance in self.covariance_]
        deviations = np.sqrt(np.maximum(np.array(variances).T, 0.0) + self.noise_variance_).astype(X.dtype)
        return outputs, deviations.reshape(outputs.shape)


@estimator
class RVMClassifier(_RVM, OneVsRestClassifier):
    """Relevance vector machine: sparse kernel logistic regression without a penalty to choose.

    The outputs are log odds of a class against the rest, by Laplace's method (Tipping 2001, section 3). Two classes
    have one output. With more classes, the probabilities of the outputs are normalized over the classes.

    Attributes
    ----------
    posterior_ : PlattOutputModel
        The sigmoid of each output.

    See Also
    --------
    SparseKernelLogisticClassifier : a given number of centers, and many samples.
    BayesianLSSVMClassifier : all samples as centers.
    """

    posterior: str = field(default="platt", init=False)
    decide_by: str = field(default="output", init=False)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        self._fit_outputs(X, targets, weight, logistic_relevance)

    def _calibrate(self, X: np.ndarray, codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Store the identity as the map of outputs to log odds."""
        self.posterior_ = PlattOutputModel()
        self.posterior_.slopes_, self.posterior_.offsets_ = np.ones(targets.shape[1]), np.zeros(targets.shape[1])
        self.posterior_.n_classes_ = self.classes_.shape[0]

    def _posterior_inputs(self, outputs: np.ndarray) -> np.ndarray:
        return outputs
