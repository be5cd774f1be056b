"""scikit-learn's own contract suite over every estimator."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from discriminants import NPDClassifier, OROLSClassifier, SparseKernelLogisticClassifier

_ESTIMATORS = [
    NPDClassifier(n_centers=20),
    NPDClassifier(n_centers=20, dictionary="private", rule="largest_residual", n_candidates=None),
    OROLSClassifier(n_centers=20),
    OROLSClassifier(n_centers=20, posterior="logistic", rule="largest_residual"),
    # Few centres: with as many as distinct points the last choice is a tie, which rounding decides.
    SparseKernelLogisticClassifier(n_centers=5, n_candidates=60, learning_rate=0.03),
    SparseKernelLogisticClassifier(n_centers=20, selection="random", loss="ovr", learning_rate=0.03),
]


def _expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, SparseKernelLogisticClassifier):
        return {}
    return {
        "check_classifiers_train": (
            "it wants the largest posterior to belong to the largest output; a posterior model fitted "
            "to each class's outputs (the Gaussian one is quadratic in them) need not keep their order; "
            "test_one_vs_rest.py checks the rest of it"
        )
    }


@parametrize_with_checks(_ESTIMATORS, expected_failed_checks=_expected_failures)
def test_the_estimator_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)
