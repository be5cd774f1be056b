"""Least-squares support vector classifiers that choose penalty, widths and inputs by the evidence."""

from typing import Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin

from discriminants.kernels import PrecomputedKernel, make_kernel
from discriminants.linear_systems.kernel_values import memory_of_whole_matrix
from discriminants.lssvm.bayesian_lssvm import BayesianLSSVM, PosteriorParameters
from discriminants.lssvm.evidence.posterior_variance import PosteriorVariance
from discriminants.multiclass.labels import class_codes, one_vs_rest_targets
from discriminants.posteriors.output_models import PlattOutputModel, finite_log_proba, log_proba_from_odds
from discriminants.util.blas_threads import one_blas_thread_for_few
from discriminants.util.estimator import estimator, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.weights import CLASS_WEIGHTS, weights_of

_MIN_VARIANCE = 1e-12  # of outputs, whose targets are +-1


@estimator
class BayesianLSSVMClassifier(ClassifierMixin, BayesianLSSVM):
    """`LSSVMClassifier` that chooses its penalty, widths and inputs by the evidence, with moderated class
    probabilities.

    The targets are +-1, one output per class against the rest (one output for two classes). They are treated as
    regression targets with normal noise, as in `BayesianLSSVMRegressor`. Probabilities include the posterior variance
    of the output, so they approach the priors far from the training samples (Suykens et al. 2002, section 4.1.3). The
    predicted class has the largest probability.

    Time and memory are those of `BayesianLSSVMRegressor`; all outputs share the decompositions.

    Parameters
    ----------
    kernel
        Must not be precomputed.
    posterior : {"leave_one_out", "moderated"}
        How outputs become probabilities. "moderated" follows the source: normal densities of the output about the
        training means of the class and the rest, with the noise and the posterior variance of w'(phi(x) - phi_class)
        (4.19-4.27). It is overconfident, because outputs of training samples are optimistic and label errors are not
        normal. "leave_one_out" is Platt's sigmoid of the output divided by its standard deviation (posterior variance
        plus noise), fitted to leave-one-out outputs.
    class_weight : None
        Weights of classes are not supported. Use `LSSVMClassifier(class_weight=...)`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_log_prior_ : ndarray of shape (n_classes,)
        Log relative frequencies of the classes in the training samples.
    class_means_ : ndarray of shape (2, n_outputs)
        Mean training outputs in the class and in the rest; leave-one-out outputs for "leave_one_out".
    spread_ : ndarray of shape (n_outputs,)
        Variance of the outputs about these means.
    posterior_ : PlattOutputModel or None

    See Also
    --------
    LSSVMClassifier : other codes for several classes, thresholds, a fixed kernel.
    PairwiseClassifier : one-vs-one over any classifier, with posteriors by coupling.
    """

    posterior: str = parameter({"leave_one_out", "moderated"}, default="leave_one_out")
    class_weight: Any = parameter(*CLASS_WEIGHTS, default=None)

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: None = None) -> Self:
        """Learn the outputs and their probabilities.

        Raises
        ------
        ValueError
            For fewer than two classes, weights of samples or classes (not supported), a kernel that is precomputed, not
            symmetric or has negative eigenvalues, or `select_inputs` with another kernel than "ard_gaussian".
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        weights_of(self, X, y, sample_weight)
        if isinstance(make_kernel(self.kernel, self.sigma), PrecomputedKernel):
            raise ValueError(
                "kernel = 'precomputed' is not supported: moderated probabilities need k(x, x) of new samples. "
                "Expected a kernel name, object or function"
            )
        self.classes_, codes = class_codes(y)
        self.class_log_prior_ = np.log(np.bincount(codes) / codes.shape[0])
        targets = one_vs_rest_targets(codes, self.classes_.shape[0]).astype(np.float64)
        with memory_of_whole_matrix(X.shape[0]), one_blas_thread_for_few(X.shape[0]):
            learnt = self._infer(X, targets)
        penalties = learnt.found.regularization
        self.posterior_ = None
        if self.posterior == "moderated":
            outputs = targets - penalties * learnt.alpha
            inside = targets > 0
            references = np.hstack([inside / inside.sum(axis=0), ~inside / (~inside).sum(axis=0)])
            self._keep_densities(outputs, targets)
        else:
            outputs, variances = _left_out(learnt, targets)
            references = learnt.spectrum.share[:, None]
            self._keep_densities(outputs, targets)
            self.posterior_ = PlattOutputModel().fit(outputs / np.sqrt(self.spread_ + variances), codes)
        self.variance_ = PosteriorVariance().fit(learnt.spectrum, references, float(penalties.min()))
        return self

    def _keep_densities(self, outputs: np.ndarray, targets: np.ndarray) -> None:
        inside = targets > 0
        self.class_means_ = np.stack([(outputs * part).sum(axis=0) / part.sum(axis=0) for part in (inside, ~inside)])
        squares = (outputs - np.where(inside, *self.class_means_[:, None])) ** 2
        self.spread_ = np.maximum(squares.mean(axis=0), _MIN_VARIANCE)

    def predict(self, X: np.ndarray, priors: np.ndarray | None = None) -> np.ndarray:
        """Predict the class with the largest probability; `priors` as in `predict_log_proba`."""
        found = self.predict_log_proba(X, priors)
        return self.classes_[found.argmax(axis=1)]

    def predict_log_proba(self, X: np.ndarray, priors: np.ndarray | None = None) -> np.ndarray:
        """Compute natural log posteriors, shape (n_samples, n_classes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        priors : array-like of shape (n_classes,), optional
            Class priors for the new samples instead of the training frequencies; scaled to sum to one.
        """
        X = self._checked(X)
        outputs = self._outputs(X).astype(np.float64)
        found = self._moderated(X, outputs) if self.posterior_ is None else self._scaled(X, outputs)
        if priors is not None:
            found = log_softmax(found + np.log(self._checked_priors(priors)) - self.class_log_prior_, axis=1)
        return finite_log_proba(found, X)

    def predict_proba(self, X: np.ndarray, priors: np.ndarray | None = None) -> np.ndarray:
        """Compute posteriors, shape (n_samples, n_classes); rows sum to one. `priors` as in `predict_log_proba`."""
        return np.exp(self.predict_log_proba(X, priors))

    def _scaled(self, X: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Compute log posteriors by the sigmoid of the outputs divided by their standard deviations."""
        wanted = [(0, s2, r) for s2, r in zip(self.prior_variance_, self.regularization_, strict=True)]
        variances = self.variance_.variances(self.kernel_, self.basis_centers_, X, wanted)
        variances += self.noise_variance_ / self.basis_centers_.shape[0]  # of the bias
        assert self.posterior_ is not None
        return self.posterior_.predict_log_proba(outputs / np.sqrt(self.spread_ + variances))

    def _moderated(self, X: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Compute log posteriors by normal densities about the class and the rest (4.26)."""
        n_outputs = outputs.shape[1]
        most_probable = list(zip(self.prior_variance_, self.regularization_, strict=True))
        wanted = [(part * n_outputs + s, *most_probable[s]) for part in (0, 1) for s in range(n_outputs)]
        variances = self.variance_.variances(self.kernel_, self.basis_centers_, X, wanted)
        variances = variances.reshape(-1, 2, n_outputs) + self.noise_variance_
        densities = -0.5 * (np.log(variances) + (outputs[:, None] - self.class_means_) ** 2 / variances)
        shares = np.exp(self.class_log_prior_[-n_outputs:])  # of two classes that of the second
        return log_proba_from_odds(densities[:, 0] - densities[:, 1] + np.log(shares / (1.0 - shares)))

    def _checked_priors(self, priors: np.ndarray) -> np.ndarray:
        checked = np.asarray(priors, dtype=np.float64)
        if checked.shape != self.classes_.shape or not (np.isfinite(checked).all() and (checked > 0).all()):
            raise ValueError(f"priors must be {self.classes_.shape[0]} positive numbers, one per class, got {priors}")
        return checked / checked.sum()


def _left_out(learnt: PosteriorParameters, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return leave-one-out outputs of the training samples and their posterior variances, (n, n_outputs).

    With h_i the leverage of sample i, the variance of its output is h times the noise variance, and h / (1 - h) times
    without the sample.
    """
    found = learnt.found
    diagonal = learnt.spectrum.inverse_diagonal(found.regularization)
    others = found.regularization * diagonal  # 1 - h
    return targets - learnt.alpha / diagonal, found.noise_variance * np.maximum(1.0 - others, 0.0) / others
