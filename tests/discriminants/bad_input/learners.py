"""Every learner with small settings, and what a test asks of one that is given something wrong."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from discriminants import (
    BayesianLSSVMClassifier,
    BayesianLSSVMRegressor,
    CodedClassifier,
    FixedSizeLSSVMClassifier,
    FixedSizeLSSVMRegressor,
    HeteroscedasticLSSVMRegressor,
    InvariantKFDClassifier,
    KFDClassifier,
    KRLSClassifier,
    KRLSRegressor,
    KSODClassifier,
    LinearDiscriminant,
    LPMachineClassifier,
    LPMachineRegressor,
    LSSVMClassifier,
    LSSVMRegressor,
    NPDClassifier,
    NPDRegressor,
    OLSClassifier,
    OLSRegressor,
    OROLSClassifier,
    OROLSRegressor,
    PairwiseClassifier,
    PrunedLSSVMClassifier,
    PrunedLSSVMRegressor,
    RobustKFDClassifier,
    RVMClassifier,
    RVMRegressor,
    SparseGreedyKFDClassifier,
    SparseKernelLogisticClassifier,
    SparseKFDClassifier,
    SparseKFDRegressor,
    WeightedLSSVMRegressor,
)

Data = tuple[np.ndarray, np.ndarray, np.ndarray]

SELECTING: dict[str, Any] = {
    "NPD": NPDClassifier(12),
    "NPD, columns": NPDClassifier(12, n_candidates=None, rule="largest_residual", posterior="platt"),
    "NPD, private, BIC": NPDClassifier(12, dictionary="private", criterion="bic"),
    "OROLS": OROLSClassifier(12, posterior="multinomial"),
    "OROLS, evidence, CV": OROLSClassifier(12, reestimation="evidence", criterion="cv", cv=2),
    "OLS": OLSClassifier(12),
    "NPD regression": NPDRegressor(12),
    "NPD regression, columns": NPDRegressor(12, n_candidates=None, rule="largest_residual"),
    "NPD regression, private, MDL": NPDRegressor(12, dictionary="private", criterion="mdl"),
    "OROLS regression": OROLSRegressor(12),
    "OROLS regression, evidence, CV": OROLSRegressor(12, reestimation="evidence", criterion="cv", cv=2),
    "OLS regression": OLSRegressor(12),
}
KERNEL_LEARNERS: dict[str, Any] = {
    **SELECTING,
    "KRLS": KRLSClassifier(),
    "KRLS, two passes": KRLSClassifier(form="two_pass"),
    "KRLS regression": KRLSRegressor(),
    "KRLS regression, two passes": KRLSRegressor(form="two_pass"),
    "KFD": KFDClassifier(),
    "KFD, kernel penalty": KFDClassifier(penalty="kernel"),
    "KFD, soft margin": KFDClassifier(threshold="soft_margin"),
    "KFD, descent": KFDClassifier(penalty="kernel", solver="coordinate_descent", significant_figures=6),
    "greedy KFD": SparseGreedyKFDClassifier(12, random_state=0),
    "greedy KFD, products": SparseGreedyKFDClassifier(12, penalty="kernel", n_candidates=45, random_state=0),
    "KFD, some centres": InvariantKFDClassifier(30, random_state=0),
    "robust KFD": RobustKFDClassifier(regularization=0.01, tol=1e-6),
    "sparse KFD": SparseKFDClassifier(regularization=0.01),
    "sparse KFD, absolute": SparseKFDClassifier(regularization=0.01, loss="absolute"),
    "sparse KFD regression": SparseKFDRegressor(regularization=0.014),
    "LSSVM": LSSVMClassifier(),
    "LSSVM, pairs": LSSVMClassifier(coding="one-vs-one", decoding="hamming", regularization=[0.01, 0.1]),
    "LSSVM, iterated": LSSVMClassifier(coding="minimum-output", solver="conjugate_gradient", tol=1e-9),
    "LSSVM regression": LSSVMRegressor(regularization=[0.01, 0.1], choose_by="gcv"),
    "LSSVM regression, iterated": LSSVMRegressor(solver="conjugate_gradient", tol=1e-10),
    "weighted LSSVM": WeightedLSSVMRegressor(regularization=0.01, loss="huber", max_reweightings=3),
    "Bayesian LSSVM regression": BayesianLSSVMRegressor(tune_width=False),
    "LSSVM, pruned": PrunedLSSVMClassifier(share=0.3),
    "LSSVM regression, pruned": PrunedLSSVMRegressor(regularization=0.01, share=0.3),
    "LP machine": LPMachineClassifier(regularization=0.01),
    "LP machine regression": LPMachineRegressor(regularization=0.01, epsilon=0.0),
    "RVM": RVMClassifier(),
    "RVM regression": RVMRegressor(),
    "KSOD": KSODClassifier(random_state=0),
    "KSOD, folds": KSODClassifier(penalty="kernel", validation=3),
    "fixed size": FixedSizeLSSVMClassifier(30, random_state=0),
    "fixed size, left out": FixedSizeLSSVMClassifier(
        30, chooser="cholesky", regularization="leave_one_out", random_state=0
    ),
    "fixed size regression": FixedSizeLSSVMRegressor(30, random_state=0),
    "fixed size regression, left out": FixedSizeLSSVMRegressor(
        30, chooser="cholesky", regularization="leave_one_out", random_state=0
    ),
    "logistic": SparseKernelLogisticClassifier(12, learning_rate=0.03, min_steps=150),
    "logistic, Newton": SparseKernelLogisticClassifier(12, selection="random", solver="irls", random_state=0),
}
LEARNERS: dict[str, Any] = {
    **KERNEL_LEARNERS,
    "Bayesian LSSVM": BayesianLSSVMClassifier(),  # does not support precomputed kernels
    "Bayesian LSSVM, moderated": BayesianLSSVMClassifier(tune_width=False, posterior="moderated"),
    "Bayesian LSSVM regression, tuned": BayesianLSSVMRegressor(kernel="ard_gaussian", select_inputs=True),
    "Bayesian LSSVM regression, its noise": HeteroscedasticLSSVMRegressor(tune_width=False, max_rounds=2),
    "linear": LinearDiscriminant(),
    "pairs": PairwiseClassifier(NPDClassifier(12)),
    "coded": CodedClassifier(NPDClassifier(12)),
    "pairs, coupled": PairwiseClassifier(KFDClassifier(), "coupling"),
}
# Learners that hold out samples and need two of every class for this.
HOLDING_OUT = ["OROLS, evidence, CV", "KSOD", "KSOD, folds"]
CLASSIFIERS = [name for name, learner in LEARNERS.items() if is_classifier(learner)]
REGRESSORS = [name for name in LEARNERS if name not in CLASSIFIERS]


def fitted(name: str, X: Any, y: Any, **parameters: Any) -> Any:
    return clone(LEARNERS[name]).set_params(**parameters).fit(X, y)


def targets(name: str, data: Data) -> np.ndarray:
    return data[1] if name in CLASSIFIERS else data[2]


def refuses(name: str, X: Any, y: Any, message: str, **parameters: Any) -> None:
    """A ValueError whose text says what is wrong, and no warning before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            fitted(name, X, y, **parameters)


def check_sound(learner: Any, X: np.ndarray) -> None:
    """Everything learnt and everything predicted is finite."""
    for attribute in ("dual_coef_", "intercept_", "coef_"):
        assert np.isfinite(getattr(learner, attribute, 0.0)).all()
    if not is_classifier(learner):
        assert np.isfinite(learner.predict(X)).all()
        return
    assert np.isin(learner.predict(X), learner.classes_).all()
    if hasattr(learner, "predict_proba"):
        proba = learner.predict_proba(X)
        assert (proba >= 0).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-4)
    if hasattr(learner, "decision_function"):
        assert np.isfinite(learner.decision_function(X)).all()
