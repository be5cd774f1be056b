"""Kernel logistic regression on a small dictionary: centres by orthogonal least squares, weights by the
logistic loss.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from discriminants.gram import accumulate_gram
from discriminants.gram_state import GramState
from discriminants.kernels import GaussianKernel, KernelColumns, resolve_sigma
from discriminants.logistic_fit import fit_logistic_weights
from discriminants.logistic_loss import LOSSES, log_posteriors
from discriminants.one_vs_rest import one_vs_rest_targets
from discriminants.sampling import balanced_sample
from discriminants.selection import error_reduction, forward_selection
from discriminants.whitening import Whitening, whiten

_MOMENT_SAMPLES = 20  # samples for each centre from which the second moment is estimated

Progress = Callable[[int, int, float, float | None], None]


class SparseKernelLogisticClassifier(ClassifierMixin, BaseEstimator):
    """Kernel logistic regression with few shared centres, for hundreds of thousands of samples and hundreds
    of classes.

    Minimises mean logistic loss + alpha / 2 tr(W'K_mm W) over outputs f(x) = sum_n W_n k(x, x_n) + b. The
    centres are chosen by orthogonal least squares on one-vs-rest targets (squared loss) or at random; the
    weights by mini-batch descent in coordinates whitened by K_mm and the covariance of the kernel columns
    (`whiten`). The full kernel matrix is never formed.

    Parameters
    ----------
    n_centers : int
    n_candidates : int
        Samples among which orthogonal least squares chooses.
    selection : {"orols", "random"}
    selection_samples : int
        Samples, balanced over the classes, on which the selection's squared loss is measured.
    sigma : float or "scale"
        Kernel width; "scale" is the root of the summed feature variances.
    alpha : float
        Ridge in the norm of the kernel's Hilbert space; the bias is not penalised.
    damping : float
        Variance, relative to K_mm, below which a direction is no longer scaled up to unit variance.
    loss : {"multinomial", "ovr"}
        Softmax over the classes, or one binary loss a class whose sigmoids are normalised for posteriors.
    max_iter : int
        Passes over the samples.
    batch_size : int
    min_steps : int
        Fewest batches altogether: small data are passed over more often than `max_iter` says.
    learning_rate : float
        Highest root-mean-square step of a class's whitened weights; it falls to zero over the passes.
    warm_start : bool
        Keep the centres and start from the weights of the fit before, if there is one with the same classes.
    random_state : int, RandomState or None
        Draws candidates, samples and the order of the passes.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (m, n_features)
    dual_coef_ : ndarray of shape (m, n_classes)
    intercept_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    sigma_ : float
    n_iter_ : int
        Passes made.
    training_loss_curve_ : list of float
        Mean loss over each pass, while the weights moved.
    loss_curve_ : list of float
        Held-out cross-entropy (natural log, a sample) after each pass where validation samples were given,
        else the training loss.

    See Also
    --------
    OROLSClassifier : the same dictionary with squared loss.

    References
    ----------
    E. Andelic, Sparse Nonlinear Discriminants, 2007 (selection). J. Zhu and T. Hastie, Kernel logistic
    regression and the import vector machine, 2005. A. Rudi, L. Carratino, L. Rosasco, Falkon, 2017
    (preconditioner).
    """

    classes_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_centers": [Interval(Integral, 1, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"orols", "random"})],
        "selection_samples": [Interval(Integral, 1, None, closed="left")],
        "sigma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "damping": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions(set(LOSSES))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "min_steps": [Interval(Integral, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_centers: int = 1000,
        *,
        n_candidates: int = 3000,
        selection: str = "orols",
        selection_samples: int = 60_000,
        sigma: float | str = "scale",
        alpha: float = 1e-7,
        damping: float = 2e-3,
        loss: str = "multinomial",
        max_iter: int = 6,
        batch_size: int = 2048,
        min_steps: int = 400,
        learning_rate: float = 0.01,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.n_candidates = n_candidates
        self.selection = selection
        self.selection_samples = selection_samples
        self.sigma = sigma
        self.alpha = alpha
        self.damping = damping
        self.loss = loss
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_steps = min_steps
        self.learning_rate = learning_rate
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(
        self,
        X: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
        *,
        X_val: np.ndarray | None = None,
        y_val: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Choose the dictionary (unless warm-started) and fit the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            float32 is computed in float32, else float64.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the logistic loss.
        X_val, y_val : array-like, optional
            Held-out samples for `loss_curve_`; they do not influence the fit.
        progress : callable, optional
            Called after each pass with (pass number from 1, passes, training loss, held-out loss or None).

        Raises
        ------
        ValueError
            For NaN or infinite input, fewer than two classes, held-out labels that are no class, or
            parameters out of range.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.all():  # a weight of zero is absence, also from the dictionary
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if classes.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least two classes, got one class: {classes}")
        held_out = None if X_val is None else self._held_out(X_val, y_val, classes)
        random = check_random_state(self.random_state)

        again = self.warm_start and hasattr(self, "classes_") and np.array_equal(self.classes_, classes)
        if not again:
            self.classes_ = classes
            self.sigma_ = resolve_sigma(self.sigma, X, weight)
            self.basis_centers_ = X[self._choose_centers(X, codes, weight, random)]
        whitening = self._whiten(X, weight, random)
        if again:
            weights = whitening.inverse @ self.dual_coef_
            bias = self.intercept_ + whitening.mean @ self.dual_coef_
        else:
            weights = np.zeros((whitening.transform.shape[1], classes.shape[0]))
            bias = self._initial_bias(codes, weight)
        weights, bias = weights.astype(X.dtype), bias.astype(X.dtype)

        n_batches = -(-X.shape[0] // self.batch_size)
        self.n_iter_ = max(self.max_iter, -(-self.min_steps // n_batches))
        self.training_loss_curve_: list[float] = []
        self.loss_curve_: list[float] = []

        def after_pass(number: int, training_loss: float) -> None:
            W = whitening.transform @ weights.astype(np.float64)
            self.dual_coef_ = W.astype(X.dtype)
            self.intercept_ = (bias - whitening.mean @ W).astype(X.dtype)
            held_out_loss = None if held_out is None else self._cross_entropy(*held_out)
            self.training_loss_curve_.append(training_loss)
            self.loss_curve_.append(training_loss if held_out_loss is None else held_out_loss)
            if progress is not None:
                progress(number, self.n_iter_, training_loss, held_out_loss)

        fit_logistic_weights(
            X,
            codes,
            weight,
            KernelColumns(GaussianKernel(self.sigma_), self.basis_centers_, X.dtype),
            whitening,
            weights,
            bias,
            loss=LOSSES[self.loss],
            alpha=self.alpha,
            learning_rate=self.learning_rate,
            n_passes=self.n_iter_,
            n_batches=n_batches,
            random=random,
            after_pass=after_pass,
        )
        return self

    def _held_out(
        self, X_val: np.ndarray, y_val: np.ndarray | None, classes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        X_val = validate_data(self, X_val, dtype=[np.float64, np.float32], order="C", reset=False)
        labels = np.asarray(y_val)
        if labels.shape != (X_val.shape[0],):
            raise ValueError(f"y_val must have one label for each of {X_val.shape[0]} rows, got shape {labels.shape}")
        codes = np.searchsorted(classes, labels).clip(max=classes.shape[0] - 1)
        unknown = classes[codes] != labels
        if unknown.any():
            raise ValueError(f"y_val holds labels that y does not: {np.unique(labels[unknown])[:5]}")
        return X_val, codes

    def _choose_centers(
        self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray, random: np.random.RandomState
    ) -> np.ndarray:
        """Rows of X that become centres, no point twice."""
        if self.selection == "random":
            return random.permutation(_distinct(X, np.arange(X.shape[0])))[: self.n_centers]
        if self.n_candidates < self.n_centers:
            raise ValueError(
                f"n_candidates = {self.n_candidates} is fewer than n_centers = {self.n_centers}; "
                "two or three candidates for each centre are usual"
            )
        rows = balanced_sample(codes, max(self.selection_samples, self.n_candidates), random)
        candidates = _distinct(X, rows)
        if candidates.shape[0] > self.n_candidates:
            candidates = random.permutation(candidates)[: self.n_candidates]
        targets = one_vs_rest_targets(codes[rows], self.classes_.shape[0])
        gram = accumulate_gram(
            GaussianKernel(self.sigma_),
            X[rows],
            targets,
            X[candidates],
            sample_weight=weight[rows],
            exact=False,
        )
        order = forward_selection(GramState(gram, self.n_centers), error_reduction, self.n_centers)
        # Where no column varies over the samples there is nothing to choose by, and one centre says as much
        # as many.
        return candidates[order] if order else candidates[:1]

    def _whiten(self, X: np.ndarray, weight: np.ndarray, random: np.random.RandomState) -> Whitening:
        centers = self.basis_centers_
        rows = np.arange(X.shape[0])
        if _MOMENT_SAMPLES * centers.shape[0] < X.shape[0]:
            rows = np.sort(random.permutation(rows)[: _MOMENT_SAMPLES * centers.shape[0]])
        kernel = GaussianKernel(self.sigma_)
        moments = accumulate_gram(kernel, X[rows], np.empty((rows.shape[0], 0)), centers, sample_weight=weight[rows])
        wide = centers.astype(np.float64)
        return whiten(kernel(wide, wide), moments.gram / moments.n_samples, moments.means, self.damping)

    def _initial_bias(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Log priors, or their logits where each class has a loss of its own."""
        prior = np.bincount(codes, weight, self.classes_.shape[0]) / weight.sum()
        return np.log(prior) - (np.log1p(-prior) if self.loss == "ovr" else 0.0)

    def _cross_entropy(self, X: np.ndarray, codes: np.ndarray) -> float:
        log_proba = log_posteriors(self._outputs(X), self.loss)
        return -float(log_proba[np.arange(X.shape[0]), codes].mean(dtype=np.float64))

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        return GaussianKernel(self.sigma_).evaluate(X, self.basis_centers_, self.dual_coef_, self.intercept_)

    def _checked_outputs(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        return self._outputs(validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False))

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Outputs of shape (n_samples, n_classes); for two classes their difference, shape (n_samples,)."""
        outputs = self._checked_outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class with the largest output."""
        best = self._checked_outputs(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Natural log posteriors, shape (n_samples, n_classes), float32 where X is float32."""
        return log_posteriors(self._checked_outputs(X), self.loss)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Posteriors, shape (n_samples, n_classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))


def _distinct(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """One of `rows` for each distinct point, in the order of the points' coordinates."""
    _, first = np.unique(X[rows], axis=0, return_index=True)
    return rows[first]
