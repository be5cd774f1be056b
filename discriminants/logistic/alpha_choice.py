"""Choice of the ridge of a kernel logistic classifier with alpha = "auto"."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from discriminants.kernels import make_kernel
from discriminants.util.sampling import are_few, spread_sample

OF_MANY_SAMPLES = 1e-7
"""Ridge for many samples; early stopping of the descent regularizes further."""
TIMES_SAMPLES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Candidate values for few samples, times their number, in order, until the loss rises; each fit is warm-started."""
_FOLDS = 5
# Number of centers and samples in the comparison: the best smoothness of outputs hardly depends on more.
_MAX_CENTERS, _MAX_SAMPLES = 200, 2000
_TOL = 1e-3  # of the gradient: accurate enough to compare


def chosen_alpha(classifier: Any, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> float:
    """Return the classifier's ridge, or the value for "auto", for samples of positive weight.

    With few samples it is the value of least cross-entropy on held-out folds, with the dictionary chosen separately in
    each fold. The value for many samples is used if samples cannot be separated from their kernel (precomputed values,
    one width per sample) or if a class has only one sample.
    """
    if classifier.alpha != "auto":
        return float(classifier.alpha)
    n_samples, n_classes = X.shape[0], int(codes.max()) + 1
    by_itself = make_kernel(classifier.kernel, classifier.sigma).centers_are_points
    if not by_itself or not are_few(n_samples, classifier.n_centers + classifier.n_extra_centers):
        return OF_MANY_SAMPLES
    drawn = spread_sample(codes, _MAX_SAMPLES)
    X, codes, weight = X[drawn], codes[drawn], weight[drawn]
    n_folds = min(_FOLDS, int(np.bincount(codes, minlength=n_classes).min()))
    if n_folds < 2:
        return OF_MANY_SAMPLES
    learner = clone(classifier).set_params(warm_start=True, random_state=0, tol=_TOL, n_extra_centers=0)
    learner.set_params(n_centers=min(classifier.n_centers, _MAX_CENTERS))
    if classifier.groups is None:
        learner.set_params(solver="irls")
    parts = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, codes))
    learners = [clone(learner) for _ in parts]
    best, least = TIMES_SAMPLES[0], np.inf
    for times in TIMES_SAMPLES:
        loss = 0.0
        for one, (train, held_out) in zip(learners, parts, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                one.set_params(alpha=times / train.shape[0]).fit(X[train], codes[train], weight[train])
            message = one.predict_log_proba(X[held_out])[np.arange(held_out.shape[0]), codes[held_out]]
            loss -= float(weight[held_out] @ message.astype(np.float64))
        if loss > least:
            break
        best, least = times, loss
    return best / n_samples
