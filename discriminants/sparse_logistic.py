"""Kernel logistic regression on a small dictionary: centres by orthogonal least squares, weights by the
logistic loss.
"""

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, validate_data

from discriminants.expansion import FLOATS, KernelExpansion
from discriminants.kernels import Kernel, PrecomputedKernel, make_kernel
from discriminants.kernels.named import NAMED
from discriminants.logistic.descent import fit_logistic_weights
from discriminants.logistic.dictionary import random_dictionary, selected_dictionary
from discriminants.logistic.irls import fit_irls_weights, irls_is_affordable
from discriminants.logistic.loss import LOSSES, log_posteriors
from discriminants.logistic.whitening import Whitening, whiten
from discriminants.multiclass.labels import class_codes
from discriminants.selection.gram import accumulate_gram

_MOMENT_SAMPLES = 20  # samples for each centre from which the second moment is estimated

Progress = Callable[[int, int, float, float | None], None]


class SparseKernelLogisticClassifier(ClassifierMixin, KernelExpansion):
    """Kernel logistic regression with few shared centres, for hundreds of thousands of samples and hundreds
    of classes.

    Minimises mean logistic loss + alpha / 2 tr(W'K_mm W) over outputs f(x) = sum_n W_n k(x, x_n) + b. The
    centres are chosen by orthogonal least squares on one-vs-rest targets (squared loss) or at random; the
    weights by mini-batch descent or by Newton's method (iteratively reweighted least squares), both in
    coordinates whitened by K_mm and the covariance of the kernel columns (`whiten`). The full kernel matrix is
    formed only where it is small.

    Parameters
    ----------
    n_centers : int
    n_candidates : int
        Samples among which orthogonal least squares chooses.
    selection : {"orols", "random"}
    selection_samples : int
        Samples, balanced over the classes, on which the selection's squared loss is measured.
    kernel : str, Kernel or callable
        A name ("gaussian", "precomputed", ...), a kernel object or a function of two arrays. Where k(x, z) is not
        positive semidefinite, directions in which W'K_mm W is not positive are left out.
    sigma : float, "scale" or ndarray of shape (n_samples,)
        Width of a kernel given by name; "scale" is the root of the summed feature variances.
    alpha : float
        Ridge in the norm of the kernel's Hilbert space; the bias is not penalised.
    damping : float
        Variance, relative to K_mm, below which a direction is no longer scaled up to unit variance.
    loss : {"multinomial", "ovr"}
        Softmax over the classes, or one binary loss a class whose sigmoids are normalised for posteriors.
    solver : {"descent", "irls", "auto"}
        "descent" makes a fixed number of passes, whose early end shrinks weak directions; "irls" goes to the
        minimum: for two classes with one Cholesky factorisation of an (m + 1, m + 1) matrix a step, for more by
        conjugate gradients. "auto" is "irls" where it takes up to about a minute on one core.
    max_iter : int
        Passes over the samples of the descent.
    batch_size : int
    min_steps : int
        Fewest batches of the descent: small data are passed over more often than `max_iter` says.
    learning_rate : float
        Highest root-mean-square step of a class's whitened weights in the descent; it falls to zero over the
        passes.
    tol : float
        Largest entry of the gradient of the objective (in whitened coordinates, where features have variance
        up to one) at which "irls" stops.
    max_newton_steps : int
        Most steps of "irls".
    warm_start : bool
        Keep the centres and start from the weights of the fit before, if there is one with the same classes.
    random_state : int, RandomState or None
        Draws candidates, samples and the order of the passes.

    Attributes
    ----------
    kernel_ : Kernel
        With its parameters as numbers, for the centres.
    basis_centers_ : ndarray of shape (m, n_features)
        Of no columns where the kernel is precomputed.
    dual_coef_ : ndarray of shape (m, n_classes)
    intercept_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    sigma_ : float
        Of kernels that have a width.
    n_iter_ : int
        Passes or Newton steps made.
    training_loss_curve_ : list of float
        Mean loss over each pass, while the weights moved; of "irls", mean loss and penalty after each step,
        which never rise.
    loss_curve_ : list of float
        Held-out cross-entropy (natural log, a sample) after each pass or step where validation samples were
        given, else the training loss.

    See Also
    --------
    OROLSClassifier : the same dictionary with squared loss.

    References
    ----------
    E. Andelic, Sparse Nonlinear Discriminants, 2007 (selection). J. Zhu and T. Hastie, Kernel logistic
    regression and the import vector machine, 2005. A. Rudi, L. Carratino, L. Rosasco, Falkon, 2017
    (preconditioner). C.-J. Lin, R. Weng, S. Keerthi, Trust region Newton method for large-scale logistic
    regression, 2008 (truncated Newton).
    """

    classes_: np.ndarray
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_centers": [Interval(Integral, 1, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"orols", "random"})],
        "selection_samples": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions(set(NAMED)), Kernel, callable],
        "sigma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither"), np.ndarray],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "damping": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions(set(LOSSES))],
        "solver": [StrOptions({"descent", "irls", "auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "min_steps": [Interval(Integral, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_newton_steps": [Interval(Integral, 1, None, closed="left")],
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
        kernel: Any = "gaussian",
        sigma: Any = "scale",
        alpha: float = 1e-7,
        damping: float = 2e-3,
        loss: str = "multinomial",
        solver: str = "descent",
        max_iter: int = 6,
        batch_size: int = 2048,
        min_steps: int = 400,
        learning_rate: float = 0.01,
        tol: float = 1e-8,
        max_newton_steps: int = 100,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.n_candidates = n_candidates
        self.selection = selection
        self.selection_samples = selection_samples
        self.kernel = kernel
        self.sigma = sigma
        self.alpha = alpha
        self.damping = damping
        self.loss = loss
        self.solver = solver
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_steps = min_steps
        self.learning_rate = learning_rate
        self.tol = tol
        self.max_newton_steps = max_newton_steps
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
            Called after each pass or Newton step with (its number from 1, the most there can be, training loss,
            held-out loss or None).

        Raises
        ------
        ValueError
            For NaN or infinite input, fewer than two classes, held-out labels that are no class, or
            parameters out of range.

        Warns
        -----
        ConvergenceWarning
            If "irls" ends at `max_newton_steps`.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=FLOATS, order="C")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        all_samples, present = X, weight > 0
        if not present.all():  # a weight of zero is absence, also from the dictionary
            X, y, weight = X[present], y[present], weight[present]
        classes, codes = class_codes(y)
        held_out = None if X_val is None else self._held_out(X_val, y_val, classes)
        random = check_random_state(self.random_state)

        again = self.warm_start and hasattr(self, "classes_") and np.array_equal(self.classes_, classes)
        if not again:
            kernel = make_kernel(self.kernel, self.sigma)
            if kernel.centers_are_points:
                kernel = kernel.resolved(X, weight)
            else:  # its parameters belong to the samples, absent ones included
                kernel = kernel.resolved(all_samples).at(np.flatnonzero(present))
            self.classes_ = classes
            self._choose_dictionary(kernel, X, codes, weight, random)
        whitening = self._whiten(X, weight, all_samples, random)
        if again:
            weights = whitening.inverse @ self.dual_coef_
            bias = self.intercept_ + whitening.mean @ self.dual_coef_
        else:
            weights = np.zeros((whitening.transform.shape[1], classes.shape[0]))
            bias = self._initial_bias(codes, weight)
        by_newton = self.solver == "irls" or (
            self.solver == "auto" and irls_is_affordable(X.shape[0], self.basis_centers_.shape[0], classes.shape[0])
        )
        if not by_newton:
            weights, bias = weights.astype(X.dtype), bias.astype(X.dtype)
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
                progress(number, most, training_loss, held_out_loss)

        columns = self.kernel_.columns(self.basis_centers_, X.dtype)
        if by_newton:
            most = self.max_newton_steps
            converged = fit_irls_weights(
                X,
                codes,
                weight,
                columns,
                whitening,
                weights,
                bias,
                loss=self.loss,
                alpha=self.alpha,
                tol=self.tol,
                max_steps=most,
                after_step=after_pass,
            )
            if not converged:
                warnings.warn(
                    f"the gradient is still above tol = {self.tol} after {most} Newton steps; "
                    "more of them, or a larger alpha, would help",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        else:
            n_batches = -(-X.shape[0] // self.batch_size)
            most = max(self.max_iter, -(-self.min_steps // n_batches))
            fit_logistic_weights(
                X,
                codes,
                weight,
                columns,
                whitening,
                weights,
                bias,
                loss=LOSSES[self.loss],
                alpha=self.alpha,
                learning_rate=self.learning_rate,
                n_passes=most,
                n_batches=n_batches,
                random=random,
                after_pass=after_pass,
            )
        self.n_iter_ = len(self.training_loss_curve_)
        return self

    def _held_out(
        self, X_val: np.ndarray, y_val: np.ndarray | None, classes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        X_val = validate_data(self, X_val, dtype=FLOATS, order="C", reset=False)
        labels = np.asarray(y_val)
        if labels.shape != (X_val.shape[0],):
            raise ValueError(f"y_val must have one label for each of {X_val.shape[0]} rows, got shape {labels.shape}")
        codes = np.searchsorted(classes, labels).clip(max=classes.shape[0] - 1)
        unknown = classes[codes] != labels
        if unknown.any():
            raise ValueError(f"y_val holds labels that y does not: {np.unique(labels[unknown])[:5]}")
        return X_val, codes

    def _choose_dictionary(
        self, kernel: Kernel, X: np.ndarray, codes: np.ndarray, weight: np.ndarray, random: np.random.RandomState
    ) -> None:
        """Choose the centres and store an expansion in them whose weights are zero."""
        n_classes = self.classes_.shape[0]
        if self.selection == "random":
            kernel, rows = random_dictionary(kernel, X, self.n_centers, random)
        else:
            kernel, rows = selected_dictionary(
                kernel,
                X,
                codes,
                weight,
                n_classes=n_classes,
                n_centers=self.n_centers,
                n_candidates=self.n_candidates,
                n_samples=self.selection_samples,
                random=random,
            )
        self._keep_expansion(kernel, X[rows], np.zeros((rows.shape[0], n_classes)), np.zeros(n_classes))

    def _whiten(
        self, X: np.ndarray, weight: np.ndarray, all_samples: np.ndarray, random: np.random.RandomState
    ) -> Whitening:
        kernel, centers = self.kernel_, self.basis_centers_
        rows = np.arange(X.shape[0])
        if _MOMENT_SAMPLES * centers.shape[0] < X.shape[0]:
            rows = np.sort(random.permutation(rows)[: _MOMENT_SAMPLES * centers.shape[0]])
        moments = accumulate_gram(kernel, X[rows], np.empty((rows.shape[0], 0)), centers, sample_weight=weight[rows])
        # The values that a precomputed kernel takes at the centres stand in their rows of the training samples.
        points = all_samples[kernel.indices] if isinstance(kernel, PrecomputedKernel) else centers
        wide = points.astype(np.float64)
        center_kernel = kernel(wide, wide)
        if not kernel.centers_are_points:  # not symmetric, perhaps, and W'K_mm W is that of the symmetric part
            center_kernel = 0.5 * (center_kernel + center_kernel.T)
        return whiten(center_kernel, moments.gram / moments.n_samples, moments.means, self.damping)

    def _initial_bias(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Log priors, or their logits where each class has a loss of its own."""
        prior = np.bincount(codes, weight, self.classes_.shape[0]) / weight.sum()
        return np.log(prior) - (np.log1p(-prior) if self.loss == "ovr" else 0.0)

    def _cross_entropy(self, X: np.ndarray, codes: np.ndarray) -> float:
        log_proba = log_posteriors(self._outputs(X), self.loss)
        return -float(log_proba[np.arange(X.shape[0]), codes].mean(dtype=np.float64))

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Outputs of shape (n_samples, n_classes); for two classes their difference, shape (n_samples,)."""
        outputs = self._outputs(self._checked(X))
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class with the largest output."""
        best = self._outputs(self._checked(X)).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Natural log posteriors, shape (n_samples, n_classes), float32 where X is float32."""
        return log_posteriors(self._outputs(self._checked(X)), self.loss)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Posteriors, shape (n_samples, n_classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))
