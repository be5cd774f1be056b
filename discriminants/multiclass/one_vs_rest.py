"""Base of the least-squares classifiers, with one output per class against the rest and targets +-1."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from discriminants.multiclass.labels import class_codes, one_vs_rest_targets
from discriminants.posteriors.output_models import POSTERIORS, unit_length_outputs
from discriminants.util.estimator import estimator, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.inputs import checked_samples
from discriminants.util.weights import CLASS_WEIGHTS, weights_of, with_positive_weight


@estimator
class OneVsRestClassifier(ClassifierMixin, KernelExpansion):
    """Base of the least-squares classifiers; a subclass implements `_fit_targets(X, targets)`, which stores the
    expansion.

    Parameters
    ----------
    decide_by : {"posterior", "output"}
        `predict` returns the class with the largest posterior, or the class with the largest output. The source's
        threshold of two classes is output zero, where the posteriors may differ.
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied by the sample weights; labels that are left out have weight one. "balanced"
        gives all classes equal sums of weights. Posteriors are then those of the weighted samples.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m, n_outputs)
        One output for two classes, else one per class.
    classes_ : ndarray of shape (n_classes,)
    posterior_ : fitted output model
    """

    posterior: str = parameter(set(POSTERIORS), default="multinomial")
    decide_by: str = parameter({"posterior", "output"}, default="posterior")
    class_weight: Any = parameter(*CLASS_WEIGHTS, default=None)
    _takes_weights: ClassVar[bool] = False  # whether `_fit_targets` uses weights; otherwise it gets None

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit the outputs, then the posterior model on the outputs of the training samples.

        Raises
        ------
        ValueError
            For fewer than two classes, or weights that the learner does not support.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        X, y, weight = with_positive_weight(self, X, y, weights_of(self, X, y, sample_weight))
        self.classes_, codes = class_codes(y)
        targets = self._targets(codes)
        self._fit_targets(X, targets, weight)
        self._calibrate(X, codes, targets, weight)
        return self

    def _targets(self, codes: np.ndarray) -> np.ndarray:
        """Return targets (n_samples, n_outputs) of samples with these class numbers."""
        return one_vs_rest_targets(codes, self.classes_.shape[0])

    def _calibrate(self, X: np.ndarray, codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> None:
        """Fit the posterior model, after the expansion."""
        self._fit_posterior(self._outputs(X), codes, weight)

    def _fit_posterior(self, outputs: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Fit the posterior model to complete outputs; "auto" is then "multinomial"."""
        name = "multinomial" if self.posterior == "auto" else self.posterior
        even = {"even_at_zero": True} if self._sets_thresholds() and name != "gaussian" else {}
        self.posterior_ = POSTERIORS[name]().fit(self._posterior_inputs(outputs), codes, weight, **even)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Fit the expansion to `targets` (n_samples, n_outputs) for the checked X, with weights if they are given."""
        raise NotImplementedError

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return outputs of shape (n_samples, n_classes), or (n_samples,) for two classes, positive for the second."""
        scores = self._class_scores(self._outputs(self._checked(X)))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class with the largest posterior, or with `decide_by="output"` the largest output.

        A class between two others may have the largest output nowhere (Hastie et al. 2009, section 4.2). The
        multinomial layer can predict it from the outputs of the others.
        """
        outputs = self._outputs(self._checked(X))
        if self._posteriors_decide():
            return self.classes_[self.posterior_.predict_log_proba(self._posterior_inputs(outputs)).argmax(axis=1)]
        return self.classes_[winners(self._class_scores(outputs))]

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Return natural log posteriors by the posterior model, shape (n_samples, n_classes)."""
        X = self._checked(X)
        return self.posterior_.predict_log_proba(self._posterior_inputs(self._outputs(X)))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return posteriors, shape (n_samples, n_classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))

    def _sets_thresholds(self) -> bool:
        """Whether zero is the best threshold of an output, at which two classes are equally probable."""
        return False

    def _posteriors_decide(self) -> bool:
        return self.decide_by == "posterior"

    def _class_scores(self, outputs: np.ndarray) -> np.ndarray:
        """Return scores that compare the classes, (n_samples, n_classes), or (n_samples, 1) for two classes."""
        return outputs

    def _posterior_inputs(self, outputs: np.ndarray) -> np.ndarray:
        """Return inputs of the posterior model, with the shape of the class scores."""
        return unit_length_outputs(outputs, self.dual_coef_)


def winners(outputs: np.ndarray) -> np.ndarray:
    """Return class numbers with the largest of (n_samples, n_outputs) outputs; one output is for class 1 against 0."""
    return (outputs[:, 0] > 0).astype(np.intp) if outputs.shape[1] == 1 else outputs.argmax(axis=1)
