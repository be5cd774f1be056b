"""The Fisher family as acoustic models: every state against the rest by discriminants that differ in one thing each.

All are hybrids on the same spliced frames, without copies, beside the mixtures that align for them. KFD and KSOD have
every frame as a centre and are fitted to few frames, whose number is in their names; the others see all frames and have
as many centres each.
"""

from typing import Any

from asr.acoustic.hybrid_training import HybridSettings
from asr.experiments.comparison import HybridSpecification, MixtureSpecification
from asr.features.config import FeatureConfig

CHOICE = {"fisher": "the Fisher family (KFD, sparse greedy KFD, KSOD) beside OROLS and kernel logistic regression"}
"""Name and description on the command line of a recipe."""
COMPONENTS = 8
CENTERS = 1000
KFD_FRAMES, KSOD_FRAMES = 4000, 1500
_CHOSEN = {"n_centers": CENTERS, "n_candidates": 2 * CENTERS}
_HYBRIDS: dict[str, tuple[str, dict[str, Any], int]] = {
    f"kfd-{KFD_FRAMES}": ("kfd", {"regularization": 0.1, "calibrate_on": "leave_one_out"}, KFD_FRAMES),
    "sparse-greedy-kfd": ("sparse-greedy-kfd", {**_CHOSEN, "regularization": 0.1, "tol": 0.0}, 0),
    f"ksod-{KSOD_FRAMES}": ("ksod", {"regularization": 1e-3}, KSOD_FRAMES),
    "orols": ("orols", dict(_CHOSEN), 0),
    "logistic": ("kernel-logistic", {**_CHOSEN, "loss": "ovr", "max_iter": 4}, 0),
}


def fisher_family(
    features: FeatureConfig, spliced: FeatureConfig
) -> tuple[tuple[MixtureSpecification, ...], tuple[HybridSpecification, ...]]:
    """Mixtures of 8 components, and the hybrids KFD, sparse greedy KFD, KSOD, OROLS and logistic regression.

    Parameters
    ----------
    features : FeatureConfig
        Frames of the mixtures.
    spliced : FeatureConfig
        Frames of the hybrids.
    """
    hybrids = tuple(
        HybridSpecification(
            name,
            HybridSettings(classifier=classifier, parameters=parameters, warps=(), max_frames=most),
            spliced,
        )
        for name, (classifier, parameters, most) in _HYBRIDS.items()
    )
    return (MixtureSpecification("gmm", features, (COMPONENTS,)),), hybrids
