"""Several acoustic models as one: each scores its own columns of the frames, and the scores are weighted and added.

A weighted sum of log-likelihoods is a product of powers of likelihoods: the multi-stream HMM (Young et al., The HTK
Book, section 7.1; Bourlard and Dupont 1996).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.phone_hmm import AcousticModel
from asr.util.errors import ConfigError

_BLOCK = 8192  # frames: 80 s


@dataclass(frozen=True)
class Stream:
    """An acoustic model, the columns `start` up to `end` of the frames that it scores, and the weight of its scores."""

    model: AcousticModel
    start: int
    end: int
    weight: float

    def frames(self, frames: np.ndarray) -> np.ndarray:
        """Its columns of frames, float32 (n_frames, n_features)."""
        return frames[:, self.start : self.end]


class CompositeAcousticModel:
    """The weighted sum of the scores of streams.

    Parameters
    ----------
    streams : sequence of Stream
        Of models over the same states. Columns may belong to several streams or to none, and weights be any numbers of
        which one at least is above zero; what weights a sum has matters to the search as a scale does.

    Raises
    ------
    ConfigError
        If there is no stream, one has no columns, or a weight is no finite number from 0, or all are 0.
    """

    def __init__(self, streams: Sequence[Stream]) -> None:
        weights = np.array([stream.weight for stream in streams], np.float64)
        if not len(weights) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
            raise ConfigError(
                f"the weights of streams are {weights.tolist()}, and must be numbers from 0, one above it"
            )
        for stream in streams:
            if not 0 <= stream.start < stream.end:
                raise ConfigError(f"a stream has the columns {stream.start} to {stream.end}, which are none")
        self.streams = tuple(streams)

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """State scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        first, *others = self.streams
        scores = first.model.log_likelihood(first.frames(frames))
        scores *= np.float32(first.weight)
        for start in range(0, len(frames) if others else 0, _BLOCK):  # scores of one stream at a time are in memory
            part = slice(start, start + _BLOCK)
            for stream in others:
                scores[part] += np.float32(stream.weight) * stream.model.log_likelihood(stream.frames(frames[part]))
        return scores

    @property
    def log_priors(self) -> np.ndarray:
        """Of the states, float32 (n_states,), as the hybrid among the streams knows them; ConfigError without one."""
        return self._hybrid.log_priors

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        """log P(s|x), float32 (n_frames, n_states): what the scores say once the priors of the hybrid are put back.

        Raises ConfigError when no stream is a hybrid.
        """
        hybrid = self._hybrid
        posteriors = self.log_likelihood(frames)
        posteriors += np.float32(hybrid.prior_exponent) * hybrid.log_priors
        posteriors -= np.logaddexp.reduce(posteriors, axis=1, keepdims=True)
        return posteriors

    @property
    def _hybrid(self) -> HybridAcousticModel:
        found = hybrid_stream(self)
        if found is None:
            raise ConfigError("posteriors are defined for hybrids, which know the priors of states")
        return found[1]

    def with_model(self, number: int, model: AcousticModel) -> "CompositeAcousticModel":
        """The same with another model in the stream of that number."""
        streams = list(self.streams)
        streams[number] = replace(streams[number], model=model)
        return CompositeAcousticModel(streams)


def share_of_second(acoustic: AcousticModel) -> float:
    """The weight of the second of two streams, as a share of both; ConfigError for a model of other than two."""
    if not isinstance(acoustic, CompositeAcousticModel) or len(acoustic.streams) != 2:
        n_streams = len(acoustic.streams) if isinstance(acoustic, CompositeAcousticModel) else 1
        raise ConfigError(
            f"the model has {n_streams} stream{'' if n_streams == 1 else 's'}; only of two can the weights be chosen "
            "(hybrid.mixtures in the settings of training adds a second)"
        )
    first, second = acoustic.streams
    return second.weight / (first.weight + second.weight)


def with_share_of_second(acoustic: AcousticModel, share: float) -> CompositeAcousticModel:
    """The same two streams with weights of the same sum, of which the second has that share; errors as there."""
    share_of_second(acoustic)
    assert isinstance(acoustic, CompositeAcousticModel)
    first, second = acoustic.streams
    total = round(first.weight + second.weight, 12)  # 1 where it was meant to be
    return CompositeAcousticModel([replace(first, weight=total * (1.0 - share)), replace(second, weight=total * share)])


def flattened(composite: CompositeAcousticModel) -> list[Stream]:
    """Its streams, those of composites among them in their place: the same scores, up to rounding."""
    streams = []
    for stream in composite.streams:
        if not isinstance(stream.model, CompositeAcousticModel):
            streams.append(stream)
            continue
        for inner in flattened(stream.model):
            end = min(stream.start + inner.end, stream.end)
            streams.append(Stream(inner.model, stream.start + inner.start, end, stream.weight * inner.weight))
    return streams


def beside(
    hybrid: HybridAcousticModel, second: AcousticModel, n_second: int, n_features: int, weight: float
) -> CompositeAcousticModel:
    """A hybrid over the first columns of frames, and a model with that weight over the last `n_second`."""
    n_first = n_features - n_second
    return CompositeAcousticModel(
        [Stream(hybrid, 0, n_first, 1.0 - weight), Stream(second, n_first, n_features, weight)]
    )


def hybrid_stream(acoustic: AcousticModel) -> tuple[int, HybridAcousticModel] | None:
    """The number and model of the first stream that is a hybrid; an acoustic model of one stream has the number 0."""
    models = (
        [stream.model for stream in acoustic.streams] if isinstance(acoustic, CompositeAcousticModel) else [acoustic]
    )
    for number, model in enumerate(models):
        if isinstance(model, HybridAcousticModel):
            return number, model
    return None
