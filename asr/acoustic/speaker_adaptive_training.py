"""Speaker adaptation: first-pass mixtures, and mixtures of transformed frames."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from pydantic import Field

from asr.acoustic.acoustic_arrays import Arrays, check_array, gmm_arrays, mixtures_from, prefixed, without_prefix
from asr.acoustic.constrained_transforms import RowStatistics
from asr.acoustic.fmllr import FmllrSettings, SpeakerMaps, expected_statistics, fit_speakers, mapped_table
from asr.acoustic.fmllr_prior import FmllrPrior, fit_fmllr_prior
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.model_metadata import MapKind, SpeakerParts
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.acoustic.search_settings import SearchSettings
from asr.acoustic.vtln import maps_of_other_lengths, require_cepstra, warps_of_frames, why_not_warped
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.hmm.topology import Topology
from discriminants.logistic.affine_transform import AffineTransform
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.blas_threads import one_blas_thread

_MAX_IN_FILES = 100
"""Maximum number of directions of a prior in a file."""


class SpeakerSettings(FmllrSettings):
    """Settings of speaker-adaptive training."""

    maps: Literal["auto", "none", MapKind] = "auto"
    """`fmllr`: speaker-adaptive training of the mixtures, and a hybrid of transformed frames. `vtln`: the same with
    frequency warps (vocal-tract length). "auto" uses "fmllr" if there are at least four speakers, half of them with at
    least ten seconds, and most utterances last at least a second."""
    rounds: int = Field(1, ge=1, le=100)
    """Number of times that the training speakers' transforms are estimated and the mixtures grown again."""


@dataclass(frozen=True)
class SpeakerAdaptation:
    """Models and settings for estimating a speaker's transform.

    Raises FeatureError if `maps` is "vtln" and the frames cannot be warped.
    """

    front_end: FrontEnd  # of the untransformed frames
    first: PhoneHmm  # speaker-independent mixtures for the first pass
    mapped: GaussianMixtures  # of the same states, for transformed frames
    search: SearchSettings  # of the first pass
    settings: FmllrSettings
    maps: MapKind = "fmllr"
    prior: FmllrPrior | None = None  # learned from the training speakers

    def __post_init__(self) -> None:
        if self.maps == "vtln":
            require_cepstra(self.front_end)

    @property
    def second(self) -> PhoneHmm:
        """The mixtures of transformed frames, with the self-loops of `first`."""
        return PhoneHmm(self.first.topology, self.mapped, self.first.self_loops)

    @cached_property
    def expected(self) -> RowStatistics:
        """Expected statistics of one frame under the mixtures of transformed frames."""
        with one_blas_thread():
            return expected_statistics(self.mapped)

    @property
    def digest(self) -> str:
        """Hexadecimal digest of everything that the transforms depend on."""
        arrays, metadata = adaptation_to_arrays(self, self.first.acoustic_model)
        found = blake2b(json.dumps(metadata, sort_keys=True).encode(), digest_size=16)
        for name in sorted(arrays):
            found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        return found.hexdigest()

    def of_states(
        self,
        static: FrameTable,
        states: np.ndarray,
        *,
        workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    ) -> dict[str, AffineTransform]:
        """Estimate the transform of every speaker from static features and their states; -1 leaves a frame out."""
        return self.fit(self.front_end.transform(static), states, workers=workers)

    def fit(
        self,
        frames: FrameTable,
        states: np.ndarray,
        *,
        start: SpeakerMaps | None = None,
        workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    ) -> dict[str, AffineTransform]:
        """Do the same as `of_states`, for the front end's frames; `start` has the initial transforms."""
        mixtures, settings, among, expected = self.mapped, self.settings, None, None
        if self.maps == "vtln":
            mixtures, among = mixtures.collapsed(), warps_of_frames(self.front_end)
            settings = settings.model_copy(update={"iterations": 1})  # posteriors of a single Gaussian do not change
        else:
            expected = self.expected
        return fit_speakers(
            mixtures,
            frames,
            states,
            settings,
            start=start,
            among=among,
            expected=expected,
            prior=self.prior,
            silence=self.first.topology.silence_states,
            workers=workers,
        )

    def with_prior(
        self,
        static: FrameTable,
        states: np.ndarray,
        *,
        workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    ) -> "SpeakerAdaptation":
        """Return a copy with a prior learned from the speakers of static features and their states.

        If the frames can be warped, each speaker also counts with a longer and a shorter vocal tract. With too few
        speakers no prior is learned; "vtln" needs none.
        """
        if self.maps == "vtln":
            return self
        plain = replace(self, prior=None)
        maps = plain.of_states(static, states, workers=workers)
        transforms = [np.column_stack([one.matrix, one.offset]) for one in maps.values()]
        with one_blas_thread():
            others = [] if why_not_warped(self.front_end) else maps_of_other_lengths(self.front_end, transforms)
            return replace(plain, prior=fit_fmllr_prior(transforms, plain.expected, others))

    def frames(self, static: FrameTable, maps: SpeakerMaps) -> FrameTable:
        """Transform the frames of static features; frames of a speaker without a transform stay."""
        return mapped_table(self.front_end.transform(static), maps)


def of_mapped_frames(config: FeatureConfig) -> FeatureConfig:
    """Return settings of a front end for transformed frames, which already have differences and normalization."""
    return config.model_copy(update={"delta_order": 0, "normalize": "none"})


def as_they_are(config: FeatureConfig) -> FeatureConfig:
    """Return settings of a front end that does not change transformed frames."""
    alone = {"context": 0, "lda_dimension": None, "append_static": False}
    return of_mapped_frames(config).model_copy(update=alone)


def adaptation_to_arrays(adaptation: SpeakerAdaptation, acoustic: AcousticModel) -> tuple[Arrays, dict[str, Any]]:
    """Return arrays and metadata for a model file next to this acoustic model.

    The mixtures of transformed frames are left out if they are the acoustic model.
    """
    front_end, front_metadata = adaptation.front_end.to_arrays()
    arrays = {"self_loops": adaptation.first.self_loops, **prefixed("front_end", front_end)}
    assert isinstance(adaptation.first.acoustic_model, GaussianMixtures)
    arrays |= prefixed("first", gmm_arrays(adaptation.first.acoustic_model))
    if adaptation.mapped is not acoustic:
        arrays |= prefixed("mapped", gmm_arrays(adaptation.mapped))
    if adaptation.prior is not None:
        arrays |= {"prior.mean": adaptation.prior.mean, "prior.directions": adaptation.prior.directions}
    return arrays, {
        "front_end": front_metadata,
        "search": adaptation.search.model_dump(),
        "settings": adaptation.settings.model_dump(),
        **({} if adaptation.maps == "fmllr" else {"maps": adaptation.maps}),
    }


def adaptation_from_arrays(
    arrays: Mapping[str, np.ndarray], parts: SpeakerParts, topology: Topology, acoustic: AcousticModel
) -> SpeakerAdaptation:
    """Rebuild the result of `adaptation_to_arrays`; inconsistent parts raise errors such as ValueError."""
    front_end = FrontEnd.from_arrays(without_prefix("front_end", arrays), parts.front_end)
    self_loops = arrays["self_loops"]
    check_array("self_loops", self_loops, (topology.n_units,), between=(0.0, 1.0))
    first = mixtures_from(without_prefix("first", arrays), topology.n_states, front_end.n_features_)
    own = without_prefix("mapped", arrays)
    if own:
        mapped = mixtures_from(own, topology.n_states, front_end.n_features_)
    elif isinstance(acoustic, GaussianMixtures) and acoustic.means.shape[2] == front_end.n_features_:
        mapped = acoustic
    else:
        raise ValueError("the mixtures of the speaker-transformed frames are missing")
    return SpeakerAdaptation(
        front_end,
        PhoneHmm(topology, first, self_loops),
        mapped,
        SearchSettings(**parts.search),
        FmllrSettings(**parts.settings),
        parts.maps,
        _prior(without_prefix("prior", arrays), front_end.n_features_),
    )


def _prior(arrays: Mapping[str, np.ndarray], n_features: int) -> FmllrPrior | None:
    if not arrays:
        return None
    shape, n_directions = (n_features, n_features + 1), len(arrays["directions"])
    if not 1 <= n_directions <= _MAX_IN_FILES:
        raise ValueError(
            f"the prior of the speaker transforms has {n_directions} directions. Expected 1 to {_MAX_IN_FILES}"
        )
    check_array("prior.mean", arrays["mean"], shape)
    check_array("prior.directions", arrays["directions"], (n_directions, *shape))
    if not np.linalg.slogdet(arrays["mean"][:, :-1].astype(np.float64))[0]:
        raise ValueError("prior.mean is a transform that cannot be inverted")
    return FmllrPrior(arrays["mean"], arrays["directions"])
