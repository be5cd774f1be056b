"""One-vs-rest outputs with separate thresholds, fitted to outputs of training or of held-out samples."""

from typing import Any

import numpy as np
from sklearn.base import clone

from discriminants.fisher.thresholds import THRESHOLDS
from discriminants.kernels import PrecomputedKernel, make_kernel
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.util.estimator import estimator, field, parameter

_FOLDS = 5
_MIN_LEFT_OUT = 10  # samples of a class; with fewer, each one changes its class's outputs too much


@estimator
class ThresholdedClassifier(OneVsRestClassifier):
    """Base of the Fisher discriminants, with thresholds fitted after the directions.

    The bias of least squares separates classes badly if they are unequal or not normal (Mika 2002, sections 5.2.1 and
    5.3.2).

    Parameters
    ----------
    threshold : {"least_squares", "least_error", "soft_margin", "bayes", "fisher_targets"}
        Threshold at which an output is zero: the bias of least squares; least errors, then widest gap; the support
        vector machine on the one output; normal densities and class frequencies, a bias correction for few or
        unbalanced samples; or the mean target, which makes the targets those of Fisher's discriminant
        (`discriminants.fisher.thresholds`). At all but the first, two classes are equally probable, except with
        posterior "gaussian".
    calibrate_on : {"training", "held_out"}
        Outputs to which the threshold and the posterior model are fitted. "training": outputs of the training samples.
        They separate the classes better than those of new samples, so posteriors are overconfident and thresholds too
        near the smaller class. "held_out": outputs of samples held out in five folds. "leave_one_out": the output of
        each sample by the model of all others, in closed form. "leave_label_out": the same, but the sample's kernel
        column stays. "auto": "leave_one_out" if the solver is "direct", but "training" for classes of fewer than ten
        samples, because one sample is too large a part of them.
    """

    kernel: Any = "gaussian"
    sigma: Any = "scale"
    threshold: str = parameter({"least_squares", *THRESHOLDS}, default="least_squares")
    calibrate_on: str = parameter({"training", "held_out"}, default="training")
    solver: str = field(default="direct", init=False)  # a parameter of some subclasses

    def _calibrate(self, X: np.ndarray, codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> None:
        if self.calibrate_on == "held_out":
            outputs = self._held_out_outputs(X, codes, targets, weight)
        else:
            outputs = self._small_classes_kept(self._calibration_outputs(X, targets), X, codes)
        self._fit_calibration(outputs, codes, targets, weight)

    def _leaves_one_out(self) -> bool:
        """Whether closed-form leave-one-out outputs are requested and supported by the solver."""
        asked = self.calibrate_on in ("leave_one_out", "leave_label_out")
        return asked or (self.calibrate_on == "auto" and self.solver == "direct")

    def _small_classes_kept(self, outputs: np.ndarray, X: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return leave-one-out outputs, but with "auto" training outputs for classes too small for it."""
        small = np.bincount(codes)[codes] < _MIN_LEFT_OUT
        if self.calibrate_on != "auto" or not small.any():
            return outputs
        outputs = outputs.copy()
        outputs[small] = self._outputs(X[small])
        return outputs

    def _fit_calibration(
        self, outputs: np.ndarray, codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None
    ) -> None:
        """Fit thresholds and posterior model to these outputs, weighted by `weight`."""
        if self.threshold != "least_squares":
            shift = np.array([self._shift(outputs[:, s], targets[:, s], weight) for s in range(targets.shape[1])])
            self.intercept_ = (self.intercept_ - shift).astype(self.intercept_.dtype)
            outputs = outputs - shift
        self._fit_posterior(outputs, codes, weight)

    def _sets_thresholds(self) -> bool:
        return self.threshold != "least_squares"

    def _posteriors_decide(self) -> bool:
        """False if thresholds were requested."""
        return not self._sets_thresholds() and super()._posteriors_decide()

    def _shift(self, output: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> float:
        """Return the threshold of one output, from the samples that have a target for it."""
        message = target != 0
        counts = None if weight is None else weight[message]
        return float(THRESHOLDS[self.threshold](output[message], target[message] > 0, counts))

    def _calibration_outputs(self, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return (leave-one-out) outputs of the training samples, shape (n_samples, n_outputs)."""
        return self._outputs(X)

    def _fit_weighted(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> Any:
        """Call `_fit_targets`; a subclass with a `fit` of its own replaces this method."""
        self._fit_targets(X, targets, weight)

    def _held_out_outputs(
        self, X: np.ndarray, codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """Return outputs of every sample by a model of the other four fifths, with the kernel of this one.

        With weights, `codes` and the outputs are those of the samples with nonzero weight.
        """
        rows = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
        fold = np.full(X.shape[0], -1)
        fold[rows] = stratified_folds(codes, _FOLDS)
        kernel = make_kernel(self.kernel, self.sigma).resolved(X, weight)
        by_number = isinstance(kernel, PrecomputedKernel)
        outputs = np.empty(targets.shape)
        for number in np.unique(fold[rows]):
            held_out, train = np.flatnonzero(fold == number), np.flatnonzero((fold != number) & (fold >= 0))
            model = clone(self).set_params(kernel=kernel.at(train), sigma="scale")
            own = None if weight is None else weight[train]
            model._fit_weighted(X[train][:, train] if by_number else X[train], targets[train], own)
            outputs[held_out] = model._outputs(X[held_out][:, train] if by_number else X[held_out])
        return outputs[rows]


def stratified_folds(codes: np.ndarray, n_folds: int, seed: int = 0) -> np.ndarray:
    """Return the fold of every sample, int (n_samples,), with each class spread as evenly as possible.

    Raises ValueError if a class has only one sample.
    """
    counts = np.bincount(codes)
    if counts[counts > 0].min() < 2:
        n_alone = int((counts == 1).sum())
        raise ValueError(
            "holding out samples needs at least two samples of every class, "
            f"got {n_alone} of {(counts > 0).sum()} classes with one. "
            "Use more samples, leave the class out, or use KFDClassifier with calibrate_on = 'training'"
        )
    order = np.random.default_rng(seed).permutation(codes.shape[0])
    by_class = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(codes.shape[0], dtype=np.intp)
    fold[by_class] = np.arange(codes.shape[0]) % n_folds
    return fold
