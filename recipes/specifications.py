"""Specifications of the systems of a comparison: mixtures and hybrids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from asr.acoustic.gmm_training import Transform
from asr.acoustic.hybrid_training import HybridSettings
from asr.features.config import FeatureConfig
from asr.recognition.input_network import AdaptationSettings
from recipes.results import Kind


@dataclass(frozen=True)
class MixtureSpecification:
    """Family of mixtures in a comparison: name prefix, features, and numbers of components.

    With `tied_states`, they have this many context-dependent states, and grow from the alignment and features of the
    last context-independent family, with `transform` if given (`TiedGmmSettings`). With `maps`, they have the states of
    the previous family, and its frames with speaker transforms.
    """

    name: str
    features: FeatureConfig
    components: tuple[int, ...]
    tied_states: int = 0
    transform: Transform = "none"
    maps: bool = False

    def system(self, n_components: int) -> str:
        """Return a name such as `gmm-8`."""
        return f"{self.name}-{n_components}"


@dataclass(frozen=True)
class HybridSpecification:
    """Hybrid in a comparison: name in tables, classifier and features.

    Hybrids with the same settings and features are trained once. A hybrid that only adds a second stream reuses the
    other's classifier.
    """

    name: str
    settings: HybridSettings
    features: FeatureConfig
    kind: Kind = "discriminant"
    adaptation: AdaptationSettings | None = None
    """Settings of speaker adaptation during recognition, if any."""
    aligner: str = ""
    """Family of mixtures that gives the states and speaker transforms; default: the last context-independent family
    without transforms.
    """
    tried: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Alternative classifier parameters by name (letters, digits, "-" and "_"). The system is the alternative with the
    fewest errors of held-out speakers, over all grammars.
    """

    def candidates(self) -> list["HybridSpecification"]:
        """Return a named specification for each alternative, or itself without any."""
        if not self.tried:
            return [self]
        return [
            replace(
                self,
                name=f"{self.name}-{name}",
                settings=self.settings.model_copy(update={"parameters": {**self.settings.parameters, **parameters}}),
                tried={},
            )
            for name, parameters in self.tried.items()
        ]


def one_stream_of(hybrid: HybridSpecification, before: Sequence[HybridSpecification]) -> str | None:
    """Return the name of an earlier hybrid that only lacks this one's second stream and shares its classifier."""
    return same_frames_and(hybrid.settings.one_stream, hybrid, before)


def same_frames_and(
    settings: HybridSettings, hybrid: HybridSpecification, before: Sequence[HybridSpecification]
) -> str | None:
    """Return the name of an earlier hybrid with these settings, and with the features and aligner of `hybrid`."""
    return next(
        (
            first.name
            for first in before
            if (first.features, first.aligner, first.settings) == (hybrid.features, hybrid.aligner, settings)
        ),
        None,
    )
