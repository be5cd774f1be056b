"""Kernel logistic regression on a small dictionary chosen by orthogonal least squares."""

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from discriminants.kernels import Kernel, PrecomputedKernel, make_kernel
from discriminants.kernels.named import NAMED
from discriminants.logistic.alpha_choice import chosen_alpha
from discriminants.logistic.block_sums import Features, Weights, cross_entropy
from discriminants.logistic.checkpoint import Checkpoint, digest_of, random_state_at_start
from discriminants.logistic.descent import descent_schedule, fit_logistic_weights
from discriminants.logistic.dictionary import random_dictionary, selected_dictionary, with_more_centers
from discriminants.logistic.irls import fit_irls_weights, irls_is_affordable
from discriminants.logistic.loss import LOSSES, Factored, bias_of_priors, log_posteriors
from discriminants.logistic.memory import FitSize, within_memory
from discriminants.logistic.moments import whitening_of
from discriminants.logistic.objective import LogisticObjective
from discriminants.logistic.samples import BLOCK_ROWS, Samples, opened, within_reach
from discriminants.logistic.training import FitContext, LossHistory
from discriminants.logistic.whitening import Whitening
from discriminants.multiclass.labels import class_codes
from discriminants.parallel.threads import workers_of_this_process
from discriminants.parallel.workers import Workers
from discriminants.util.blas_threads import one_blas_thread
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, field, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import checked_samples
from discriminants.util.weights import CLASS_WEIGHTS, weights_of

_SAMPLES_A_CENTER, _MAX_SELECTION_SAMPLES = 20, 60_000
_FASTEST = 1e3  # learning rate; weights stay finite in float32
_CACHED_KERNEL = 1 << 24  # maximum number of entries of a kernel matrix that is kept between passes

Progress = Callable[[int, int, float, float | None], None]


@estimator
class SparseKernelLogisticClassifier(ClassifierMixin, KernelExpansion):
    """Kernel logistic regression with few shared centers, for very many samples and hundreds of classes.

    Minimizes mean logistic loss + alpha / 2 tr(W'K_mm W) over outputs f(x) = sum_n W_n k(x, x_n) + b. The centers are
    chosen by orthogonal least squares on one-vs-rest targets (squared loss) or at random. The weights are fitted by
    mini-batch descent or by Newton's method (iteratively reweighted least squares). Both use coordinates whitened by
    K_mm and the covariance of the kernel columns (`whiten`). The samples are streamed in blocks, from memory or from a
    file; the full kernel matrix is formed only if it is small.

    Parameters
    ----------
    n_centers : int
        Maximum number of centers chosen by the selection.
    n_extra_centers : int
        Number of additional centers drawn at random, if orthogonal least squares would take too long for all centers.
    n_candidates : int
        Number of samples among which orthogonal least squares chooses, from each class in proportion.
    selection : {"orols", "random"}
        Selection of the centers: by orthogonal least squares, or at random.
    selection_samples : int or "auto"
        Number of samples, balanced over the classes, on which the selection's squared loss is measured. "auto" is 20
        per center, and at most 60,000.
    kernel
        If k(x, z) is not positive semidefinite, directions in which W'K_mm W is not positive are omitted.
    alpha : float or "auto"
        Ridge in the norm of the kernel's Hilbert space, relative to the mean loss, without the bias. "auto" is 1e-7, or
        with fewer than ten samples per center the best of five values by five-fold cross-validation.
    damping : float
        Variance, relative to K_mm, below which a direction is no longer scaled up to unit variance.
    loss : {"multinomial", "ovr"}
        Softmax over the classes, or one binary loss per class with sigmoids normalized for posteriors.
    groups : array-like of shape (n_classes,), optional
        Group of each of the sorted classes. Posteriors are then factored, P(class | x) = P(group | x) P(class | group,
        x): `loss` is that of the groups, and within a group there is a softmax (Franco et al. 1994). Needs descent.
    solver : {"descent", "irls", "auto"}
        "descent" makes a fixed number of passes; early stopping shrinks weak directions. "irls" converges to the
        minimum: for two classes with one Cholesky factorization of an (m + 1, m + 1) matrix per step, for more by
        conjugate gradients. "auto" is "irls" if it takes up to about a minute on one core.
    max_iter : int
        Minimum number of passes over the samples in the descent; few samples have more, see `min_steps`.
    batch_size : int
        Maximum number of samples in one step of the descent.
    min_steps : int
        Minimum number of steps of the descent. With few samples, batches are smaller. Once they are down to 2048,
        there are more passes than `max_iter`, and finally up to four times `min_steps` steps.
    learning_rate : float or "auto"
        Highest root-mean-square step of a class's whitened weights in the descent; it falls to zero over the passes.
        "auto" uses a lower rate for more steps. At most 1000.
    tol : float
        Largest entry of the objective's gradient at which "irls" stops, in whitened coordinates.
    max_newton_steps : int
        Maximum number of steps of "irls".
    class_weight : dict, "balanced" or None
        Weight of each class in the loss, multiplied by the sample weights.
    max_memory : int, optional
        Bytes that the fit may use in addition to the samples, with its workers on this machine.
    warm_start : bool
        Keep the centers and start from the weights of the previous fit, if it had the same classes.
    random_state : int, RandomState or None
        Draws the order of the passes, and the random centers; candidates are spread evenly over classes and samples.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m, n_classes)
    intercept_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    groups_ : ndarray of int of shape (n_classes,), or None
        Number of the group of each class, if there are groups. The first outputs are then those of the groups, and
        `dual_coef_` and `intercept_` also include them.
    alpha_ : float
    n_iter_ : int
        Number of passes or Newton steps.
    training_loss_curve_ : list of float
        Mean loss over each pass, with changing weights; for "irls", mean loss and penalty after each step.
    loss_curve_ : list of float
        Cross-entropy (natural log, per sample) of the validation samples after each pass or step, or the training loss.

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

    _takes_weights: ClassVar[bool] = True
    _sparse_inputs: ClassVar[bool] = True
    classes_: np.ndarray = field(init=False)
    n_centers: int = parameter(COUNT, default=1000, kw_only=False)
    n_extra_centers: int = parameter(Interval(Integral, 0, None, closed="left"), default=0)
    n_candidates: int = parameter(COUNT, default=3000)
    selection: str = parameter({"orols", "random"}, default="orols")
    selection_samples: int | str = parameter({"auto"}, COUNT, default="auto")
    kernel: Any = parameter(set(NAMED), Kernel, callable, default="gaussian")
    sigma: Any = parameter({"scale"}, POSITIVE, np.ndarray, default="scale")
    alpha: float | str = parameter(NOT_NEGATIVE, {"auto"}, default="auto")
    damping: float = parameter(POSITIVE, default=2e-3)
    loss: str = parameter(set(LOSSES), default="multinomial")
    groups: Any = parameter("array-like", None, default=None)
    solver: str = parameter({"descent", "irls", "auto"}, default="descent")
    max_iter: int = parameter(COUNT, default=8)
    batch_size: int = parameter(COUNT, default=16_384)
    min_steps: int = parameter(Interval(Integral, 0, None, closed="left"), default=112)
    learning_rate: float | str = parameter({"auto"}, Interval(Real, 0, _FASTEST, closed="right"), default="auto")
    tol: float = parameter(NOT_NEGATIVE, default=1e-8)
    max_newton_steps: int = parameter(COUNT, default=100)
    class_weight: Any = parameter(*CLASS_WEIGHTS, default=None)
    max_memory: int | None = parameter(None, COUNT, default=None)
    warm_start: bool = parameter("boolean", default=False)
    random_state: Any = parameter("random_state", default=None)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: np.ndarray | None = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        progress: Progress | None = None,
        workers: Workers | None = None,
        checkpoint: Path | str | None = None,
    ) -> Self:
        """Choose the dictionary (unless warm-started) and fit the weights.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_samples, n_features), or StoredArray
            float32 is processed in float32, other types in float64. An array mapped from an `.npy` file is read in
            blocks.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the logistic loss.
        X_val, y_val : array-like, optional
            Held-out samples for `loss_curve_`; they do not influence the fit.
        progress : callable, optional
            Called after each pass or Newton step with (its number from 1, the maximum number, training loss, held-out
            loss or None).
        workers : Workers, optional
            Workers that compute blocks of samples; by default threads of this process, as many as BLAS may use. The
            model does not depend on them. Other processes read X from its file, or from a temporary one if it has none.
            On a cluster, X should be mapped from a file that all machines can read.
        checkpoint : path, optional
            File that stores the state while the fit runs, in addition to a second file next to it. If the fit is
            interrupted and called again with the same data and parameters, it resumes and ends with the same model. The
            files are then removed.

        Raises
        ------
        ValueError
            For NaN or infinite input, fewer than two classes, held-out labels that are not classes, parameters out of
            range, groups not given for every class or without descent, or a `max_memory` that is too small.

        Warns
        -----
        ConvergenceWarning
            If "irls" ends at `max_newton_steps`.
        UserWarning
            If `checkpoint` exists but belongs to another fit.
        """
        self._validate_params()
        workers = workers_of_this_process() if workers is None else workers
        with one_blas_thread(), ExitStack() as open_files:
            X, y = checked_samples(self, opened(X), y)
            weight = weights_of(self, X, y, sample_weight)
            weight = np.ones(X.shape[0]) if weight is None else weight
            all_samples, present = X, weight > 0
            if not present.all():  # samples of weight zero are excluded, also from the dictionary
                X, y, weight = X[present], y[present], weight[present]
            classes, codes = class_codes(y)
            held_out = None if X_val is None else self._held_out(opened(X_val), y_val, classes)
            groups = self._groups_of(classes)
            again = self._starts_from_last_fit(classes, groups)
            n_outputs = classes.shape[0] + (0 if groups is None else int(groups.max()) + 1)
            kept = self._checkpoint(checkpoint, [all_samples, y, weight, *(held_out or ())], again)
            random = random_state_at_start(self.random_state, kept)
            self.alpha_ = chosen_alpha(self, X, codes, weight)
            source = open_files.enter_context(within_reach(X, workers))
            in_reach, workers = workers, self._held_to_memory(workers, X, n_outputs, again)
            training = FitContext(X, source, codes, weight, classes.shape[0], workers, random, kept)
            if not again:
                self.classes_, self.groups_ = classes, groups
                self._choose_dictionary(self._kernel_of(all_samples, present, weight), training, n_outputs)
            # With a precomputed kernel, the values at the centers are in their rows of the training samples.
            precomputed = isinstance(self.kernel_, PrecomputedKernel)
            points = all_samples[self.kernel_.indices] if precomputed else self.basis_centers_
            whitening = whitening_of(self.kernel_, self.basis_centers_, points, training, self.damping)
            n_samples, m = X.shape[0], self.basis_centers_.shape[0]
            by_newton = self.solver == "irls" or (
                self.solver == "auto" and groups is None and irls_is_affordable(n_samples, m, classes.shape[0])
            )
            whitening, alpha = (whitening, self.alpha_) if by_newton else whitening.for_ridge(self.alpha_)
            weights, bias = self._first_weights(whitening, alpha, training, again)
            if not by_newton:
                weights, bias = weights.astype(X.dtype), bias.astype(X.dtype)
            features = Features(self.kernel_, self.basis_centers_)
            if n_samples * m <= _CACHED_KERNEL:
                K = self.kernel_values(X, np.float64 if by_newton else X.dtype)
                source, features = open_files.enter_context(within_reach(K, in_reach)), Features()
            samples = Samples(source, codes, weight * (n_samples / weight.sum()))
            evaluate = None
            if held_out is not None:
                watched = open_files.enter_context(within_reach(held_out[0], in_reach))
                evaluate = self._evaluation(Samples(watched, held_out[1], np.ones(held_out[1].shape[0])), workers)
            most = self.max_newton_steps if by_newton else self._schedule(n_samples)[1]

            def report(number: int, training_loss: float) -> float:
                self._keep_weights(whitening, weights, bias)
                held_out_loss = None if evaluate is None else evaluate()
                if progress is not None:
                    progress(number, most, training_loss, held_out_loss)
                return training_loss if held_out_loss is None else held_out_loss

            record = LossHistory(report)
            if by_newton:
                self._newton(samples, features, workers, whitening, weights, bias, record, kept)
            else:
                objective = LogisticObjective(
                    samples, features, workers, whitening, loss=self.whole_loss, alpha=alpha, exact=False
                )
                self._descend(objective, weights, bias, random, record, kept)
            self._keep_weights(whitening, weights, bias)
            self.training_loss_curve_, self.loss_curve_ = record.training, record.watched
            self.n_iter_ = len(record.training)
            kept.remove()
        return self

    def _starts_from_last_fit(self, classes: np.ndarray, groups: np.ndarray | None) -> bool:
        return (
            self.warm_start
            and hasattr(self, "classes_")
            and np.array_equal(self.classes_, classes)
            and np.array_equal(np.asarray(getattr(self, "groups_", None)), np.asarray(groups))
        )

    def _checkpoint(self, path: Path | str | None, data: list[np.ndarray | None], again: bool) -> Checkpoint:
        """Return the checkpoint, bound to parameters, data, and initial weights."""
        if path is None:
            return Checkpoint()
        data = [*data, self.dual_coef_, self.intercept_] if again else data
        return Checkpoint(Path(path), digest_of(self.get_params(deep=False), data))

    def _kernel_of(self, all_samples: np.ndarray, present: np.ndarray, weight: np.ndarray) -> Kernel:
        """Return the kernel with resolved parameters; `weight` is that of the samples present."""
        kernel = make_kernel(self.kernel, self.sigma)
        if kernel.centers_are_points:
            return kernel.resolved(all_samples if present.all() else all_samples[present], weight)
        # Its parameters belong to the samples, including absent ones.
        return kernel.resolved(all_samples).at(np.flatnonzero(present))

    def _first_weights(
        self, whitening: Whitening, alpha: float, training: FitContext, again: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return initial whitened weights and biases: those of the last fit, or zeros and the classes' log priors."""
        if again:
            weights = whitening.inverse @ self.dual_coef_
            weights[alpha * whitening.penalty >= 1.0] = 0.0  # near the minimum, if the ridge was smaller before
            return weights, self.intercept_ + whitening.mean @ self.dual_coef_
        weights = np.zeros((whitening.transform.shape[1], self.dual_coef_.shape[1]))
        prior = np.bincount(training.codes, training.weight, self.classes_.shape[0]) / training.weight.sum()
        return weights, bias_of_priors(prior, self.loss, self.groups_)

    def _schedule(self, n_samples: int) -> tuple[int, int]:
        """Return the number of batches in a pass, and of passes, for the descent."""
        return descent_schedule(n_samples, self.batch_size, self.max_iter, self.min_steps)

    def _descend(
        self,
        objective: LogisticObjective,
        weights: np.ndarray,
        bias: np.ndarray,
        random: np.random.RandomState,
        record: LossHistory,
        checkpoint: Checkpoint,
    ) -> None:
        """Fit by mini-batch descent, in place."""
        n_batches, n_passes = self._schedule(objective.samples.n)
        fit_logistic_weights(
            objective,
            weights,
            bias,
            learning_rate=self.learning_rate,
            n_passes=n_passes,
            n_batches=n_batches,
            random=random,
            record=record,
            checkpoint=checkpoint,
        )

    def _newton(
        self,
        samples: Samples,
        features: Features,
        workers: Workers,
        whitening: Whitening,
        weights: np.ndarray,
        bias: np.ndarray,
        record: LossHistory,
        checkpoint: Checkpoint,
    ) -> None:
        """Fit by Newton's method, in place; warn if it does not converge."""
        converged = fit_irls_weights(
            samples,
            features,
            workers,
            whitening,
            weights,
            bias,
            loss=self.loss,
            alpha=self.alpha_,
            tol=self.tol,
            max_steps=self.max_newton_steps,
            record=record,
            checkpoint=checkpoint,
        )
        if not converged:
            warnings.warn(
                f"the gradient is above tol = {self.tol} after {self.max_newton_steps} Newton steps. "
                "Use a larger max_newton_steps or alpha",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _held_out(
        self, X_val: np.ndarray, y_val: np.ndarray | None, classes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        X_val = checked_samples(self, X_val, reset=False)
        labels = np.asarray(y_val)
        if labels.shape != (X_val.shape[0],):
            raise ValueError(
                f"y_val has shape {labels.shape}. Expected one label for each of {X_val.shape[0]} rows of X_val"
            )
        codes = np.searchsorted(classes, labels).clip(max=classes.shape[0] - 1)
        unknown = classes[codes] != labels
        if unknown.any():
            raise ValueError(f"y_val has labels {np.unique(labels[unknown])[:5]}. Expected labels that occur in y")
        return X_val, codes

    def _choose_dictionary(self, kernel: Kernel, training: FitContext, n_outputs: int) -> None:
        """Choose the centers and store an expansion with zero weights."""
        X = training.X
        if self.selection == "random":
            chosen, rows = random_dictionary(kernel, X, self.n_centers, training.random)
        else:
            enough = min(_SAMPLES_A_CENTER * self.n_centers, _MAX_SELECTION_SAMPLES)
            chosen, rows = selected_dictionary(
                kernel,
                training,
                n_centers=self.n_centers,
                n_candidates=self.n_candidates,
                n_samples=enough if self.selection_samples == "auto" else int(self.selection_samples),
            )
        if self.n_extra_centers:
            chosen, rows = with_more_centers(kernel, chosen, X, rows, self.n_extra_centers, training.random)
        self._keep_expansion(chosen, X[rows], np.zeros((rows.shape[0], n_outputs)), np.zeros(n_outputs))

    def kernel_values(self, X: np.ndarray, dtype: np.dtype | type | None = None) -> np.ndarray:
        """Return K(X, centers) of shape (n, m), computed in the float type of X and returned in it by default.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        dtype : float type, optional
            Type of the result.
        """
        K = np.empty((X.shape[0], self.basis_centers_.shape[0]), dtype=X.dtype if dtype is None else dtype)
        for rows, block in self.kernel_.columns(self.basis_centers_, X.dtype).blocks(X, BLOCK_ROWS):
            K[rows] = block
        return K

    def _held_to_memory(self, workers: Workers, X: np.ndarray, n_classes: int, again: bool) -> Workers:
        """Return the workers, limited to the tasks that `max_memory` allows at once."""
        n = X.shape[0]
        m = self.basis_centers_.shape[0] if again else min(self.n_centers + self.n_extra_centers, n)
        choosing = self.selection == "orols" and not again
        size = FitSize(
            n_samples=n,
            n_candidates=min(self.n_candidates, n) if choosing else 0,
            n_chosen=min(self.n_centers, n),
            n_centers=m,
            n_classes=n_classes,
            itemsize=X.dtype.itemsize,
            cached=n * m <= _CACHED_KERNEL,
        )
        return within_memory(self.max_memory, size, workers)

    def _evaluation(self, samples: Samples, workers: Workers) -> Callable[[], float]:
        """Return a function that computes the held-out cross-entropy of the current weights."""
        source, features = workers.share(samples.source), workers.share(Features(self.kernel_, self.basis_centers_))
        dtype = samples.source.dtype

        def evaluate() -> float:
            weights = workers.share(Weights(self.dual_coef_.astype(dtype), self.intercept_.astype(dtype)))
            parts = workers.map(cross_entropy, samples.blocks(), source, features, weights, self.whole_loss)
            return sum(parts) / samples.n

        return evaluate

    def _keep_weights(self, whitening: Whitening, weights: np.ndarray, bias: np.ndarray) -> None:
        W = whitening.transform @ weights.astype(np.float64)
        dtype = self.basis_centers_.dtype
        self.dual_coef_, self.intercept_ = W.astype(dtype), (bias - whitening.mean @ W).astype(dtype)

    @property
    def whole_loss(self) -> str | Factored:
        """Return the loss over all outputs, including those of groups."""
        groups = getattr(self, "groups_", None)
        return self.loss if groups is None else Factored(self.loss, groups)

    def _groups_of(self, classes: np.ndarray) -> np.ndarray | None:
        """Return the group number of each class."""
        if self.groups is None:
            return None
        named, groups = np.unique(np.asarray(self.groups), return_inverse=True)
        if groups.shape != classes.shape or named.shape[0] < 2:
            raise ValueError(
                f"groups has shape {np.asarray(self.groups).shape} and {named.shape[0]} different values. "
                f"Expected one group for each of {classes.shape[0]} classes, and at least two groups"
            )
        if self.solver == "irls":
            raise ValueError("solver = 'irls' does not support groups. Use solver = 'descent'")
        return groups

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return outputs of shape (n_samples, n_classes); for two classes their difference, shape (n_samples,).

        With groups of classes, returns log posteriors instead of outputs.
        """
        outputs = self._class_outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class with the largest output."""
        best = self._class_outputs(X).argmax(axis=1)
        return self.classes_[best]

    def _class_outputs(self, X: np.ndarray) -> np.ndarray:
        outputs = self._outputs(self._checked(X))
        return outputs if isinstance(self.whole_loss, str) else log_posteriors(outputs, self.whole_loss)

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Return natural log posteriors, shape (n_samples, n_classes), float32 if X is float32."""
        return log_posteriors(self._outputs(self._checked(X)), self.whole_loss)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return posteriors, shape (n_samples, n_classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))
