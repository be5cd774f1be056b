"""Several classes by any two-class learner: one estimator for each task of an output code."""

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from discriminants.multiclass.labels import class_codes
from discriminants.multiclass.one_vs_rest import winners
from discriminants.multiclass.output_codes import class_scores, output_code
from discriminants.util.estimator import estimator, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.weights import weights_of, with_positive_weight


@estimator
class CodedClassifier(ClassifierMixin, BaseEstimator):
    """Several classes by two-class tasks, each with an estimator of its own (Suykens et al. 2002, section 3.2).

    `LSSVMClassifier` has one penalty and one width for all tasks. Here the estimator is cloned for each task, so that
    one that chooses settings, such as `ShrinkingGridSearchCV`, gives each task its own (section 3.4.2).

    Parameters
    ----------
    estimator : classifier with `decision_function`
        Cloned for every task; its labels are 0 and 1.
    coding, decoding, random_state
        Those of `LSSVMClassifier`.
    n_jobs : int, optional
        Number of tasks trained in parallel, as in joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    code_ : ndarray of int8 of shape (n_classes, n_tasks)
        Sign of each class in each task, 0 if the task does not use it.
    estimators_ : list of fitted classifiers
    n_features_in_ : int

    See Also
    --------
    PairwiseClassifier : one-vs-one with posteriors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from discriminants import CodedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> CodedClassifier(SVC(), coding="minimum-output").fit(X, y).predict(X[:3])
    array([0, 0, 0])
    """

    estimator: Any = parameter(HasMethods(["fit", "decision_function"]), kw_only=False)
    coding: str = parameter({"one-vs-rest", "one-vs-one", "minimum-output", "error-correcting"}, default="one-vs-rest")
    decoding: str = parameter({"loss", "hamming"}, default="loss")
    n_jobs: int | None = parameter(int, None, default=None)
    random_state: Any = parameter("random_state", default=None)

    @property
    def _takes_weights(self) -> bool:
        return bool(has_fit_parameter(self.estimator, "sample_weight"))

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Train an estimator for each task.

        Raises
        ------
        ValueError
            For fewer than two classes, values that the estimator rejects, or weights that it does not support.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        X, y, weight = with_positive_weight(self, X, y, weights_of(self, X, y, sample_weight))
        self.classes_, codes = class_codes(y)
        self.code_ = output_code(self.coding, self.classes_.shape[0], self.random_state)
        sides = self.code_[codes].T
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_task)(
                clone(self.estimator),
                X[side != 0],
                (side[side != 0] > 0).astype(np.intp),
                {} if weight is None else {"sample_weight": weight[side != 0]},
            )
            for side in sides
        )
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the agreement with each class's codeword, shape (n_samples, n_classes); for two classes (n_samples,).

        The highest is predicted (`discriminants.multiclass.output_codes.class_scores`); the output of two classes is
        positive for the second.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class whose codeword agrees best with the outputs."""
        winning = winners(self._scores(X))
        return self.classes_[winning]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        X = checked_samples(self, X, reset=False)
        outputs = [np.asarray(each.decision_function(X), dtype=np.float64) for each in self.estimators_]
        return class_scores(np.column_stack(outputs), self.code_, self.decoding)


def _fit_task(estimator: Any, X: np.ndarray, y: np.ndarray, weights: dict[str, np.ndarray]) -> Any:
    return estimator.fit(X, y, **weights)
