"""Peer methods: support and relevance vector machines, and the dense kernel Fisher discriminant."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR

from discriminants.fisher.kfd import KFDClassifier
from recipes.benchmarks.model_choice import Search, grid

KFD_SUBSET = 2000  # samples for the choice; the fit uses all
_CACHE_MB = 500
# mu K, the norm in the kernel space: the best mu then hardly depends on the number of samples. One value
# found on a subset is used for all samples, and the fit takes one Cholesky factorization.
_KFD_PENALTY = "kernel"


def svc_search(sigmas: Sequence[float], costs: Sequence[float], n_samples: int | None = None) -> Search:
    """Search C-SVM with one-vs-one voting, scikit-learn's own scheme: gamma = 1/(2 sigma^2) and C."""
    return Search("svm", SVC(cache_size=_CACHE_MB), grid(gamma=_gammas(sigmas), C=costs), n_samples=n_samples)


def svr_search(
    sigmas: Sequence[float],
    costs: Sequence[float],
    tubes: Sequence[float],
    spread: float,
    n_samples: int | None = None,
) -> Search:
    """Search support vector regression: gamma, C and the half width epsilon of its tube.

    Parameters
    ----------
    costs, tubes : sequence of float
        Values in multiples of `spread`.
    spread : float
        Standard deviation of the training targets.
    """
    scaled = np.multiply(costs, spread).tolist(), np.multiply(tubes, spread).tolist()
    settings = grid(gamma=_gammas(sigmas), C=scaled[0], epsilon=scaled[1])
    return Search("svm", SVR(cache_size=_CACHE_MB), settings, n_samples=n_samples)


def rvm_search(learner: Any, sigmas: Sequence[float]) -> Search:
    """Search the relevance vector machine: only the width."""
    return Search("rvm", learner(), grid(sigma=sigmas))


def kfd_search(sigmas: Sequence[float], regularizations: Sequence[float], **options: Any) -> Search:
    """Search the dense kernel Fisher discriminant: width and regularization."""
    estimator = KFDClassifier(penalty=_KFD_PENALTY, **options)
    return Search("kfd", estimator, grid(sigma=sigmas, regularization=regularizations), n_samples=KFD_SUBSET)


def _gammas(sigmas: Sequence[float]) -> list[float]:
    return [0.5 / sigma**2 for sigma in sigmas]
