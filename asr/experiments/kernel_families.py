"""Families of kernel machines as acoustic models: one-vs-rest classifiers of the states.

All are hybrids on the same spliced frames, without copies, compared with the mixtures that align for them. KFD, KSOD
and the Bayesian LS-SVM use each frame as a center and are fitted to a small number of frames, given in their names; the
others use all frames, with equal numbers of centers.
"""

from typing import Any

from asr.acoustic.hybrid_training import HybridSettings
from asr.experiments.specifications import HybridSpecification, MixtureSpecification
from asr.features.config import FeatureConfig

CHOICES = {
    "fisher": "the Fisher family (KFD, sparse greedy KFD, KSOD), OROLS and kernel logistic regression",
    "least-squares": "least-squares SVMs (fixed-size, Bayesian) and kernel logistic regression",
}
"""Names and descriptions on the command line of a recipe."""
COMPONENTS = 8
CENTERS = 1000
KFD_FRAMES, KSOD_FRAMES, BAYESIAN_FRAMES = 4000, 1500, 1500
_CHOSEN = {"n_centers": CENTERS, "n_candidates": 2 * CENTERS}
_LOGISTIC = ("kernel-logistic", {**_CHOSEN, "loss": "ovr", "max_iter": 4}, 0)
_HYBRIDS: dict[str, dict[str, tuple[str, dict[str, Any], int]]] = {
    "fisher": {
        f"kfd-{KFD_FRAMES}": ("kfd", {"regularization": 0.1, "calibrate_on": "leave_label_out"}, KFD_FRAMES),
        "sparse-greedy-kfd": ("sparse-greedy-kfd", {**_CHOSEN, "regularization": 0.1, "tol": 0.0}, 0),
        f"ksod-{KSOD_FRAMES}": ("ksod", {"regularization": 1e-3}, KSOD_FRAMES),
        "orols": ("orols", dict(_CHOSEN), 0),
        "logistic": _LOGISTIC,
    },
    "least-squares": {
        "fixed-size-lssvm": ("fixed-size-lssvm", {"n_centers": CENTERS}, 0),
        f"bayesian-lssvm-{BAYESIAN_FRAMES}": ("bayesian-lssvm", {}, BAYESIAN_FRAMES),
        "logistic": _LOGISTIC,
    },
}


def kernel_family(
    name: str, features: FeatureConfig, spliced: FeatureConfig
) -> tuple[tuple[MixtureSpecification, ...], tuple[HybridSpecification, ...]]:
    """Return mixtures of 8 components, and the hybrids of a family.

    Parameters
    ----------
    name : str
        One of `CHOICES`: KFD, sparse greedy KFD, KSOD, OROLS and logistic regression; or fixed-size LS-SVM, Bayesian
        LS-SVM and logistic regression.
    features : FeatureConfig
        Features of the mixtures.
    spliced : FeatureConfig
        Features of the hybrids.
    """
    hybrids = tuple(
        HybridSpecification(
            system,
            HybridSettings(classifier=classifier, parameters=parameters, vtlp_warps=(), max_frames=most),
            spliced,
        )
        for system, (classifier, parameters, most) in _HYBRIDS[name].items()
    )
    return (MixtureSpecification("gmm", features, (COMPONENTS,)),), hybrids
