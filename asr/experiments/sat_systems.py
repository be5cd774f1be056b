"""Systems with speaker transforms (fMLLR, `asr.acoustic.fmllr`), with context-independent and with tied states.

Mixtures of each kind are compared with those of untransformed frames; hybrids are trained on the transformed ones.
"""

from asr.acoustic.hybrid_training import HybridSettings
from asr.experiments.specifications import HybridSpecification, MixtureSpecification
from asr.features.config import FeatureConfig

CHOICE = {"mapped": "mixtures and hybrids with speaker transforms, context-independent and tied"}
"""Name and description on the command line of a recipe."""
COMPONENTS = (8, 16)
TIED_COMPONENTS = (8,)


def mapped_systems(
    features: FeatureConfig, spliced: FeatureConfig, settings: HybridSettings, *, tied_states: int
) -> tuple[tuple[MixtureSpecification, ...], tuple[HybridSpecification, ...]]:
    """Return five families of mixtures, and two hybrids: `ovr-mapped` and, with tied states, `ovr-tied-mapped`.

    Parameters
    ----------
    features : FeatureConfig
        Features of the mixtures.
    spliced : FeatureConfig
        Features of the hybrids, which splice transformed frames.
    settings : HybridSettings
        Settings of both hybrids.
    """
    mixtures = (
        MixtureSpecification("gmm-speaker", features, COMPONENTS),
        MixtureSpecification("gmm-mapped", features, COMPONENTS, maps=True),
        MixtureSpecification(
            "gmm-tied-lda-mllt", features, TIED_COMPONENTS, tied_states=tied_states, transform="lda-mllt"
        ),
        MixtureSpecification("gmm-tied", features, TIED_COMPONENTS, tied_states=tied_states),
        MixtureSpecification("gmm-tied-mapped", features, TIED_COMPONENTS, maps=True),
    )
    hybrids = tuple(
        HybridSpecification(f"ovr-{kind}", settings, spliced, aligner=f"gmm-{kind}")
        for kind in ("mapped", "tied-mapped")
    )
    return mixtures, hybrids
