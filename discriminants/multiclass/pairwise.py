"""One classifier for every pair of classes, with three ways to combine them."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from discriminants.multiclass.labels import class_codes
from discriminants.multiclass.one_vs_rest import winners
from discriminants.util.estimator import estimator, parameter
from discriminants.util.inputs import refuse_sparse
from discriminants.util.weights import CLASS_WEIGHTS, weights_of, with_positive_weight

_SMALLEST = np.finfo(np.float64).tiny


def pairwise_log_odds(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return log(first / second) of the two probabilities of a pair, finite even if one is zero."""
    first, second = (np.maximum(np.asarray(p, dtype=np.float64), _SMALLEST) for p in (first, second))
    return np.log(first) - np.log(second)


def couple(pairs: Iterable[tuple[int, int, np.ndarray]], n_samples: int, n_classes: int) -> np.ndarray:
    """Return natural log posteriors (n_samples, n_classes) by pairwise coupling (Price et al. 1995; Andelic 2007, 4.8).

    P(i | x) = 1 / (sum over j != i of 1/nu_ij - (T - 2)), nu_ij = P(i | x, i or j), T the number of classes, then
    normalized over the classes. Because 1/nu_ij = 1 + nu_ji/nu_ij, the denominator is 1 + the sum of the odds against
    i. This form loses no digits and is summed in logarithms here. `pairs` yields (i, j, log(nu_ij / nu_ji)) for each
    pair once.
    """
    log_denominators = np.zeros((n_classes, n_samples))
    for i, j, log_odds in pairs:
        np.logaddexp(log_denominators[i], -log_odds, out=log_denominators[i])
        np.logaddexp(log_denominators[j], log_odds, out=log_denominators[j])
    best = log_denominators.min(axis=0)
    scores = best - log_denominators
    return np.ascontiguousarray((scores - np.log(np.exp(scores).sum(axis=0))).T)


def _has_posteriors(self: "PairwiseClassifier") -> bool:
    return hasattr(self.estimators_[0] if hasattr(self, "estimators_") else self.estimator, "predict_proba")


def _has_scores(self: "PairwiseClassifier") -> bool:
    return self._combination() == "voting"


@estimator
class PairwiseClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """One-vs-one classification with any binary classifier, one estimator per pair of classes.

    There are n_classes (n_classes - 1) / 2 estimators, each trained on the samples of its two classes.

    Parameters
    ----------
    estimator : classifier with `decision_function` or `predict_proba`
        Cloned for every pair; its labels are 0 (the class earlier in `classes_`) and 1.
    combine : {"auto", "voting", "coupling", "dag"}
        Combination of the pairs. "auto" is "coupling" if the estimator has `predict_proba`, else "voting". "voting"
        predicts the class that wins most pairs. Ties are broken by the sum of the decision values (of the probabilities
        less 0.5 if the estimator has no `decision_function`), and then by the order of `classes_`. "coupling" predicts
        the largest posterior of `predict_proba`. "dag" is the decision directed acyclic graph of Platt et al. 2000:
        starting from all classes in order, the first and the last remaining class are compared and the loser is
        removed. This takes n_classes - 1 evaluations per sample instead of all pairs, and each estimator is evaluated
        only on the samples that reach it.
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied by the sample weights. The estimator needs `sample_weight` in its `fit`.
    n_jobs : int, optional
        Number of pairs trained in parallel, as in joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of fitted classifiers
        Estimators in the order of the pairs (0, 1), (0, 2), ..., (n_classes - 2, n_classes - 1) of class numbers.
    pair_samples_ : list of ndarray, or None
        Training rows of each pair, if the estimator takes kernel values; otherwise None.
    n_features_in_ : int

    References
    ----------
    D. Price, S. Knerr, L. Personnaz, G. Dreyfus, Pairwise neural network classifiers with probabilistic outputs,
    NIPS 7, 1995.
    J. Platt, N. Cristianini, J. Shawe-Taylor, Large margin DAGs for multiclass classification, NIPS 12, 2000.

    See Also
    --------
    OneVsOneKernelClassifier : faster, for kernel classifiers whose pairs share centers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from discriminants import PairwiseClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PairwiseClassifier(SVC(), combine="dag").fit(X, y).predict(X[:3])
    array([0, 0, 0])
    """

    estimator: Any = parameter(
        HasMethods(["fit", "decision_function"]), HasMethods(["fit", "predict_proba"]), kw_only=False
    )
    combine: str = parameter({"auto", "voting", "coupling", "dag"}, default="auto", kw_only=False)
    class_weight: Any = parameter(*CLASS_WEIGHTS, default=None)
    n_jobs: int | None = parameter(Integral, None, default=None)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.pairwise = inner.pairwise
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags

    @property
    def _takes_weights(self) -> bool:
        return bool(has_fit_parameter(self.estimator, "sample_weight"))

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Train an estimator for each pair of classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Sparse, or with missing values, if the estimator supports them.

        Raises
        ------
        ValueError
            For fewer than two classes, coupling with an estimator without `predict_proba`, or values that the estimator
            rejects, including NaN and infinity.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, **self._accepted(X))
        X, y, weight = with_positive_weight(self, X, y, weights_of(self, X, y, sample_weight))
        self.classes_, codes = class_codes(y)
        n_classes = self.classes_.shape[0]
        if self.combine == "coupling" and not hasattr(self.estimator, "predict_proba"):
            raise ValueError(f"combine = 'coupling' needs an estimator with predict_proba, got {self.estimator!r}")
        pairwise = get_tags(self.estimator).input_tags.pairwise
        members = [np.flatnonzero(codes == c) for c in range(n_classes)]
        rows = [np.sort(np.concatenate([members[i], members[j]])) for i, j in combinations(range(n_classes), 2)]
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_pair)(
                clone(self.estimator),
                X[np.ix_(samples, samples)] if pairwise else X[samples],
                (codes[samples] == codes[samples].max()).astype(np.intp),
                {} if weight is None else {"sample_weight": weight[samples]},
            )
            for samples in rows
        )
        self.pair_samples_ = rows if pairwise else None
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class, by `combine`."""
        X = self._checked(X)
        match self._combination():
            case "voting":
                numbers = winners(self._votes(X))
            case "coupling":
                numbers = self._coupled(X).argmax(axis=1)
            case _:
                numbers = self._walk(X)
        return self.classes_[numbers]

    @available_if(_has_scores)
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return votes plus the sum of the decision values scaled to (-1/3, 1/3); only for "voting".

        Shape (n_samples, n_classes), or for two classes (n_samples,): the decision values themselves, positive for the
        second class.
        """
        scores = self._votes(self._checked(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_has_posteriors)
    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Return natural log posteriors by pairwise coupling for any `combine`, shape (n_samples, n_classes)."""
        X = self._checked(X)
        log_proba = self._coupled(X).astype(np.float32 if X.dtype == np.float32 else np.float64)
        return np.where(np.exp(log_proba) < 1, log_proba, 0)  # the log of a posterior that rounds to one is zero

    @available_if(_has_posteriors)
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return posteriors by pairwise coupling for any `combine`, shape (n_samples, n_classes); rows sum to one.

        `discriminants.multiclass.pairwise.couple` has the formula.
        """
        return np.exp(self.predict_log_proba(X))

    def _combination(self) -> str:
        if self.combine != "auto":
            return self.combine
        return "coupling" if _has_posteriors(self) else "voting"

    def _accepted(self, X: Any) -> dict[str, Any]:
        """Return the options of `validate_data` for inputs that the estimator supports; TypeError for sparse others."""
        inner = get_tags(self.estimator).input_tags
        if not inner.sparse:
            refuse_sparse(self.estimator, X)
        return {"accept_sparse": "csr" if inner.sparse else False, "ensure_all_finite": not inner.allow_nan}

    def _checked(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._accepted(X))

    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.classes_.shape[0]), 2))

    def _columns(self, X: np.ndarray, pair: int) -> np.ndarray:
        """Return the part of X for the estimator of a pair."""
        return X if self.pair_samples_ is None else X[:, self.pair_samples_[pair]]

    def _decisions(self, X: np.ndarray, pair: int) -> np.ndarray:
        """Return decision values, positive for the second class of the pair."""
        estimator = self.estimators_[pair]
        if hasattr(estimator, "decision_function"):
            return np.asarray(estimator.decision_function(self._columns(X, pair)), dtype=np.float64)
        return np.asarray(estimator.predict_proba(self._columns(X, pair))[:, 1], dtype=np.float64) - 0.5

    def _votes(self, X: np.ndarray) -> np.ndarray:
        """Return scores (n_samples, n_classes), or (n_samples, 1) for two classes."""
        pairs = self._pairs()
        if len(pairs) == 1:
            return self._decisions(X, 0)[:, None]
        votes, sums = np.zeros((2, X.shape[0], self.classes_.shape[0]))
        for pair, (i, j) in enumerate(pairs):
            decisions = self._decisions(X, pair)
            second = decisions > 0
            votes[:, i] += ~second
            votes[:, j] += second
            sums[:, i] -= decisions
            sums[:, j] += decisions
        return votes + sums / (3 * (np.abs(sums) + 1))

    def _coupled(self, X: np.ndarray) -> np.ndarray:
        return couple(self._log_odds(X), X.shape[0], self.classes_.shape[0])

    def _log_odds(self, X: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        for pair, (i, j) in enumerate(self._pairs()):
            posteriors = self.estimators_[pair].predict_proba(self._columns(X, pair))
            yield i, j, pairwise_log_odds(posteriors[:, 0], posteriors[:, 1])

    def _walk(self, X: np.ndarray) -> np.ndarray:
        """Return class numbers from the decision graph; a node is the pair of the first and last remaining class."""
        number = {pair: k for k, pair in enumerate(self._pairs())}
        n_classes = self.classes_.shape[0]
        first = np.zeros(X.shape[0], dtype=np.intp)
        for struck_out in range(n_classes - 1):
            left = n_classes - struck_out
            before = first.copy()
            for node in np.unique(before):
                rows = np.flatnonzero(before == node)
                first[rows] += self._decisions(X[rows], number[node, node + left - 1]) > 0
        return first


def _fit_pair(estimator: Any, X: np.ndarray, y: np.ndarray, weights: dict[str, np.ndarray]) -> Any:
    return estimator.fit(X, y, **weights)
