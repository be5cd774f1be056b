"""What the least-squares discriminants share: one output a class against the rest, targets +-1, one selection
loop.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from discriminants.column_state import ColumnState
from discriminants.gram import GramSystem, accumulate_gram
from discriminants.gram_state import GramState
from discriminants.kernels import GaussianKernel, KernelColumns, resolve_sigma
from discriminants.posteriors import POSTERIORS, unit_length_outputs
from discriminants.selection import RULES, SelectionState, forward_selection


class OneVsRestKernelLeastSquares(ClassifierMixin, BaseEstimator):
    """Base of `NPDClassifier` and `OROLSClassifier`; a subclass says what happens after each chosen column.

    With `n_candidates=None` every sample is a candidate and the chosen columns themselves are kept: the form
    of the source, O(N m) memory. Otherwise candidates are drawn at random and selection works on their Gram
    matrix: O(P^2) memory for any N.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_centers": [Interval(Integral, 1, None, closed="left")],
        "sigma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "dictionary": [StrOptions({"shared", "private"})],
        "rule": [StrOptions(set(RULES)), callable],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "posterior": [StrOptions(set(POSTERIORS))],
        "random_state": ["random_state"],
    }

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Choose the centres, solve for the weights, and fit the posterior model on the training outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Raises
        ------
        ValueError
            For NaN or infinite input, fewer than two classes, or parameters out of range.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.shape[0] < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, got one class: {self.classes_}"
            )
        self.sigma_ = resolve_sigma(self.sigma, X)
        kernel = GaussianKernel(self.sigma_)
        targets = one_vs_rest_targets(codes, self.classes_.shape[0])
        candidates = self._candidates(X)
        n_centers = min(self.n_centers, candidates.shape[0])
        rule = RULES[self.rule] if isinstance(self.rule, str) else self.rule

        outputs = [slice(None)] if self.dictionary == "shared" else [slice(s, s + 1) for s in range(targets.shape[1])]
        make_state = self._state_maker(kernel, X, targets, candidates)
        states = []
        for columns in outputs:
            state = make_state(columns, n_centers)
            self._begin(state)
            forward_selection(state, rule, n_centers, self._after_column)
            if not state.order:
                raise ValueError(
                    "no centre could be chosen: every kernel column is constant over the samples "
                    f"(sigma = {self.sigma_:g}; are all rows of X equal, or sigma far too large?)"
                )
            states.append(state)
        self._keep(X, candidates, states)
        self.posterior_ = POSTERIORS[self.posterior]().fit(self._unit_outputs(X), codes)
        return self

    def _begin(self, state: SelectionState) -> None:
        """Called before the first column of every dictionary."""

    def _after_column(self, state: SelectionState) -> bool:
        """Called after every accepted column; True ends the selection."""
        raise NotImplementedError

    def _needs_residual(self) -> bool:
        """Whether the Gram form has to carry the residual at the candidates (a rule of the user's own may ask
        for it).
        """
        return self.rule != "error_reduction"

    def _candidates(self, X: np.ndarray) -> np.ndarray:
        """Rows of X that may become centres, each distinct point once, ascending."""
        rows = np.arange(X.shape[0])
        if self.n_candidates is None:
            return rows
        if self.n_candidates < X.shape[0]:
            rows = np.sort(check_random_state(self.random_state).choice(rows, self.n_candidates, replace=False))
        _, first = np.unique(X[rows], axis=0, return_index=True)
        return rows[np.sort(first)]

    def _state_maker(
        self, kernel: GaussianKernel, X: np.ndarray, targets: np.ndarray, candidates: np.ndarray
    ) -> Callable[[slice, int], ColumnState | GramState]:
        """A function (columns of the targets, n_centers) -> fresh selection state."""
        if self.n_candidates is None:
            columns = _EpsilonColumns(kernel, X, self.epsilon)
            return lambda which, n_centers: ColumnState(columns, targets[:, which], n_centers)
        gram: GramSystem = accumulate_gram(
            kernel, X, targets, X[candidates], diagonal=(candidates, self.epsilon) if self.epsilon else None
        )
        kernel_matrix = None
        if self._needs_residual():
            wide = X[candidates].astype(np.float64)
            kernel_matrix = kernel(wide, wide)
            kernel_matrix[np.diag_indices_from(kernel_matrix)] += self.epsilon

        def make(which: slice, n_centers: int) -> GramState:
            points = None if kernel_matrix is None else (kernel_matrix, targets[candidates][:, which])
            return GramState(gram, n_centers, targets=which, points=points)

        return make

    def _keep(self, X: np.ndarray, candidates: np.ndarray, states: list[Any]) -> None:
        """Store centres and weights; private dictionaries become one list of centres with zeros where a class
        has none.
        """
        chosen = [candidates[state.order] for state in states]
        union = chosen[0] if len(chosen) == 1 else np.unique(np.concatenate(chosen))
        weights = [state.system.weights(state.lam) for state in states]
        self.center_indices_ = union
        self.basis_centers_ = X[union].copy()
        self.dual_coef_ = np.zeros((union.shape[0], sum(w.shape[1] for w in weights)), dtype=X.dtype)
        column = 0
        for rows, w in zip(chosen, weights, strict=True):
            where = slice(None) if len(chosen) == 1 else np.searchsorted(union, rows)
            self.dual_coef_[where, column : column + w.shape[1]] = w[1:]
            column += w.shape[1]
        self.intercept_ = np.concatenate([w[0] for w in weights]).astype(X.dtype)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Outputs f(x) = sum_n alpha_n k(x, x_n) + b (4.6), shape (n_samples, n_classes), or (n_samples,) for
        two classes.
        """
        outputs = self._outputs(self._checked(X))
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class with the largest output."""
        outputs = self.decision_function(X)
        return self.classes_[(outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)]

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Natural log posteriors by the posterior model, shape (n_samples, n_classes)."""
        X = self._checked(X)
        return self.posterior_.predict_log_proba(self._unit_outputs(X))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Posteriors, shape (n_samples, n_classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))

    def _checked(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        return GaussianKernel(self.sigma_).evaluate(X, self.basis_centers_, self.dual_coef_, self.intercept_)

    def _unit_outputs(self, X: np.ndarray) -> np.ndarray:
        return unit_length_outputs(self._outputs(X), self.dual_coef_)


class _EpsilonColumns:
    """Columns of K + epsilon I over all samples, computed when asked for."""

    def __init__(self, kernel: GaussianKernel, X: np.ndarray, epsilon: float) -> None:
        self._kernel, self._X, self._epsilon = kernel, X, epsilon

    def __call__(self, i: int) -> np.ndarray:
        column = KernelColumns(self._kernel, self._X[i : i + 1], np.float64).block(self._X)[:, 0]
        column[i] += self._epsilon
        return column


def one_vs_rest_targets(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """+1 for the class and -1 for the rest, int8 of shape (n_samples, n_classes), or (n_samples, 1) for two
    classes.
    """
    if n_classes == 2:
        return np.where(codes == 1, 1, -1).astype(np.int8)[:, None]
    targets = np.full((codes.shape[0], n_classes), -1, dtype=np.int8)
    targets[np.arange(codes.shape[0]), codes] = 1
    return targets
