"""Least-squares support vector machines with Bayesian inference (Suykens et al. 2002, chapter 4)."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from discriminants.kernels import ARDGaussianKernel, Kernel, PrecomputedKernel, make_kernel
from discriminants.kernels.width import feature_deviations
from discriminants.linear_systems.kernel_values import (
    check_symmetric,
    check_values,
    kernel_matrix,
    memory_of_whole_matrix,
    one_column_a_sample,
)
from discriminants.lssvm.error_bars import ErrorBars, checked_variances
from discriminants.lssvm.evidence.inputs import added_inputs, selected_inputs
from discriminants.lssvm.evidence.penalty import Inference, most_probable
from discriminants.lssvm.evidence.posterior_variance import PosteriorVariance
from discriminants.lssvm.evidence.spectrum import KernelSpectrum
from discriminants.lssvm.evidence.widths import WidthEvidence
from discriminants.util.blas_threads import one_blas_thread_for_few
from discriminants.util.estimator import estimator, field, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import checked_samples
from discriminants.util.regression import checked_targets

_WANTED_BY = "a Bayesian least-squares support vector machine"


class PosteriorParameters(NamedTuple):
    """Result of the inference: the eigenpairs, the most probable variances, and weights alpha (n, n_outputs)."""

    spectrum: KernelSpectrum
    found: Inference
    alpha: np.ndarray


@estimator
class BayesianLSSVM(KernelExpansion):
    """Base: finds penalty, widths and inputs by the evidence, then fits the machine of `LSSVMRegressor`.

    Parameters
    ----------
    kernel
        Symmetric and positive semidefinite.
    sigma
        Width at which the search begins.
    tune_width : bool
        Find the widths with the largest evidence, for the kernels "gaussian", "ard_gaussian", "laplacian" and
        "exponential"; other kernels keep their parameters. All outputs share one width.
    select_inputs : bool, "backward" or "forward"
        With the kernel "ard_gaussian", remove inputs one by one, starting with the widest, while the evidence grows
        ("backward", True); or add them one by one ("forward"), which costs more unless few of many inputs matter
        (`evidence.inputs`).

    Attributes
    ----------
    regularization_ : ndarray of shape (n_outputs,)
        mu of each output: noise variance divided by prior variance.
    prior_variance_ : ndarray of shape (n_outputs,)
        Prior variance of the function, in units of k(x, x): 1 / mu in the source.
    noise_variance_ : ndarray of shape (n_outputs,)
        Noise variance of a sample of weight one: 1 / zeta in the source. It is 1 if `fit` was given the variances.
    effective_parameters_ : ndarray of shape (n_outputs,)
        Effective number of parameters, between 1 and the number of samples.
    log_evidence_ : ndarray of shape (n_outputs,)
        Logarithm of the probability of the targets. Compares kernels on the same samples.
    removed_inputs_ : ndarray of int of shape (n_removed,)
        Inputs left out by `select_inputs`, in order of removal; their widths in `kernel_.sigma` are infinite.
    input_relevances_ : ndarray of shape (n_features,)
        With "ard_gaussian": mean contribution of each input to the exponent of the kernel, over pairs of samples.
    variance_ : PosteriorVariance
        Posterior variance of the outputs.
    """

    kernel: Any = "gaussian"
    sigma: Any = "scale"
    tune_width: bool = parameter("boolean", default=True)
    select_inputs: bool | str = parameter("boolean", {"backward", "forward"}, default=False)
    regularization_: np.ndarray = field(init=False)
    prior_variance_: np.ndarray = field(init=False)
    noise_variance_: np.ndarray = field(init=False)
    effective_parameters_: np.ndarray = field(init=False)
    log_evidence_: np.ndarray = field(init=False)
    removed_inputs_: np.ndarray = field(init=False)
    variance_: PosteriorVariance = field(init=False)

    @property
    def input_relevances_(self) -> np.ndarray:
        """Mean contribution of each input to the exponent of the kernel over pairs of training samples, shape
        (n_features,). It is (deviation / width)^2, and 0 for removed inputs. Only for the kernel "ard_gaussian".
        """
        if not isinstance(self.kernel_, ARDGaussianKernel):
            raise AttributeError(f"input_relevances_ needs one width per input, got {self.kernel_}")
        relevances: np.ndarray = (self.basis_centers_.std(axis=0) / np.asarray(self.kernel_.sigma)) ** 2
        return relevances

    def _infer(
        self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None, *, noise_known: bool = False
    ) -> PosteriorParameters:
        """Store the expansion and the most probable variances, for positive sample weights."""
        if X.shape[0] < 3:
            raise ValueError(
                f"{type(self).__name__} needs at least three samples, got {X.shape[0]} sample{'s' * (X.shape[0] != 1)}"
            )
        wide = X.astype(np.float64, copy=False)
        kernel = one_column_a_sample(make_kernel(self.kernel, self.sigma).resolved(X, weight), X, _WANTED_BY)
        K = kernel_matrix(kernel, wide, wide)
        check_values(K)
        check_symmetric(K, _WANTED_BY)
        evidence = WidthEvidence(wide, targets, weight, noise_known=noise_known)
        tuned = self._tuned(kernel, evidence, wide, weight)
        if tuned is not kernel:
            kernel, K = tuned, kernel_matrix(tuned, wide, wide)
        spectrum = KernelSpectrum(K, weight)
        found = most_probable(spectrum, targets, noise_known=noise_known)
        alpha = spectrum.weights(spectrum.rotated(targets), found.regularization)
        bias = spectrum.share @ targets - spectrum.column_means @ alpha
        self.regularization_, self.prior_variance_, self.noise_variance_ = found[:3]
        self.effective_parameters_ = found.effective_parameters
        self.log_evidence_ = found.log_evidence(evidence.n_samples)
        self._keep_expansion(kernel, wide, alpha, bias)
        return PosteriorParameters(spectrum, found, alpha)

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Compute all outputs for checked X, in its float type. Sums are in float64, because the weights of wide
        kernels cancel.
        """
        return super()._outputs(X.astype(np.float64, copy=False)).astype(X.dtype, copy=False)

    def _tuned(self, kernel: Kernel, evidence: WidthEvidence, X: np.ndarray, weight: np.ndarray | None) -> Kernel:
        self.removed_inputs_ = np.empty(0, dtype=np.intp)
        by_input = isinstance(kernel, ARDGaussianKernel)
        if self.select_inputs and not (by_input and self.tune_width):
            raise ValueError(
                f"select_inputs does not support {kernel} with tune_width = {self.tune_width}. "
                "Expected kernel = 'ard_gaussian' and tune_width = True"
            )
        if not (self.tune_width and kernel.has_width_gradient):
            return kernel
        if not by_input:
            return evidence.tuned(kernel)
        around = np.broadcast_to(np.asarray(kernel.get_params()["sigma"], dtype=np.float64), (X.shape[1],))
        if self.select_inputs == "forward":
            kernel, self.removed_inputs_, _ = added_inputs(evidence, feature_deviations(X, weight), around)
            return kernel
        kernel = evidence.tuned(ARDGaussianKernel(around.copy()))
        if self.select_inputs:
            deviations = feature_deviations(X, weight)
            kernel, self.removed_inputs_, _ = selected_inputs(evidence, kernel, deviations, around)
        return kernel


@estimator
class BayesianLSSVMRegressor(BayesianLSSVM, ErrorBars):
    """`LSSVMRegressor` that chooses its penalty, widths and inputs by the evidence, and gives error bars.

    Squared errors correspond to normal noise and the penalty to a normal prior of the function: a Gaussian process with
    a flat prior of its bias. The most probable variances of both (level 2 of Suykens et al. 2002, 4.39) come from one
    eigendecomposition of the centered kernel matrix. The widths (level 3, 4.53) are found by quasi-Newton steps, each
    with one decomposition. Inputs that do not raise the evidence can be removed (4.77). No samples are held out and no
    grid is searched.

    Time is O(N^3) for every kernel that is tried, a dozen or more. Memory is 48 N^2 bytes, or 24 N^2 if the kernel is
    not tuned; up to 8 N^2 are kept for the error bars.

    Attributes
    ----------
    leave_one_out_residuals_ : ndarray of the shape of y
        y_i - f(x_i) of the machine without sample i, float64; widths and penalty stay fixed.

    See Also
    --------
    LSSVMRegressor : one kernel, the penalty by leave-one-out.
    """

    _takes_weights: ClassVar[bool] = True

    def fit(
        self,
        X: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
        noise_variance: np.ndarray | None = None,
    ) -> Self:
        """Learn the outputs.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), optional
            v >= 0: weight 2 counts as two equal samples, weight 0 as none. If the weights have mean 1, the noise
            variance of a sample is `noise_variance_` / v.
        noise_variance : array-like of shape (n_samples,), optional
            Known noise variance of every sample (zeta_k in the source, 4.60); then only the prior variance is found.
            Cannot be combined with `sample_weight`.

        Raises
        ------
        ValueError
            For a kernel that is not symmetric or has negative eigenvalues, or `select_inputs` with another kernel.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y, multi_output=True, y_numeric=True)
        self._one_column = y.ndim == 1
        targets = checked_targets(y, X.dtype)
        known = noise_variance is not None
        if known and sample_weight is not None:
            raise ValueError("sample_weight and noise_variance cannot be combined. Use one of them")
        weight = None
        if noise_variance is not None:
            weight = 1.0 / checked_variances("noise_variance", noise_variance, X.shape[0])
        elif sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not weight.sum() > 2:
                raise ValueError(
                    f"sample_weight has the sum {weight.sum()}. Expected at least three samples, a sum above 2"
                )
        rows = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
        own = None if weight is None else weight[rows]
        pairwise = isinstance(make_kernel(self.kernel, self.sigma), PrecomputedKernel)
        samples = X if rows.shape[0] == X.shape[0] else X[np.ix_(rows, rows)] if pairwise else X[rows]
        with memory_of_whole_matrix(rows.shape[0]), one_blas_thread_for_few(rows.shape[0]):
            learnt = self._infer(samples, targets[rows], own, noise_known=known)
        if pairwise:
            self.kernel_ = PrecomputedKernel(rows)
        spectrum, found = learnt.spectrum, learnt.found
        left_out = np.empty(targets.shape)
        left_out[rows] = learnt.alpha / spectrum.inverse_diagonal(found.regularization)
        if rows.shape[0] < X.shape[0]:
            others = np.setdiff1d(np.arange(X.shape[0]), rows)
            left_out[others] = targets[others] - self._outputs(X[others])
        self.leave_one_out_residuals_ = left_out[:, 0] if self._one_column else left_out
        self._bias_variance = self.noise_variance_ / spectrum.total
        self._noise_known = known
        self.variance_ = PosteriorVariance().fit(spectrum, spectrum.share[:, None], float(found.regularization.min()))
        return self
