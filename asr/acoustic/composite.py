"""Several acoustic models as one: each scores its own columns of the frames; the weighted scores are added.

A weighted sum of log-likelihoods is a product of powers of likelihoods: the multi-stream HMM (Young et al., The HTK
Book, section 7.1; Bourlard and Dupont 1996).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.phone_hmm import AcousticModel
from asr.util.errors import ConfigError

_BLOCK = 8192  # frames (80 s)


@dataclass(frozen=True)
class Stream:
    """An acoustic model, the range of frame columns that it scores, and the weight of its scores."""

    model: AcousticModel
    start: int
    end: int
    weight: float

    def frames(self, frames: np.ndarray) -> np.ndarray:
        """Return the columns of this stream, float32 (n_frames, n_features)."""
        return frames[:, self.start : self.end]


class CompositeAcousticModel:
    """The weighted sum of the scores of streams.

    Raises ConfigError if `streams` is empty, a stream has no columns, a weight is negative or not finite, or all
    weights are 0.

    Parameters
    ----------
    streams : sequence of Stream
        Models over the same states. Columns may belong to several streams or to none. The sum of the weights acts as an
        acoustic scale in the search.
    """

    def __init__(self, streams: Sequence[Stream]) -> None:
        weights = np.array([stream.weight for stream in streams], np.float64)
        if not len(weights) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
            raise ConfigError(
                f"the weights of the streams are {weights.tolist()}. Expected numbers of at least 0, one above it"
            )
        for stream in streams:
            if not 0 <= stream.start < stream.end:
                raise ConfigError(f"the stream has no columns ({stream.start} to {stream.end})")
        self.streams = tuple(streams)

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return state scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        first, *others = self.streams
        scores = first.model.log_likelihood(first.frames(frames))
        scores *= np.float32(first.weight)
        for start in range(0, len(frames) if others else 0, _BLOCK):  # limits memory to the scores of one block
            part = slice(start, start + _BLOCK)
            for stream in others:
                scores[part] += np.float32(stream.weight) * stream.model.log_likelihood(stream.frames(frames[part]))
        return scores

    @property
    def log_priors(self) -> np.ndarray:
        """Log priors of the states, float32 (n_states,), of the hybrid among the streams; ConfigError without one."""
        return self._hybrid.log_priors

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        """Return log P(s|x), float32 (n_frames, n_states), by multiplying the priors of the hybrid back in.

        Raises ConfigError if no stream is a hybrid.
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
            raise ConfigError("posteriors need a hybrid, because mixtures have no state priors")
        return found[1]

    def with_model(self, number: int, model: AcousticModel) -> "CompositeAcousticModel":
        """Return a copy with another model in one stream."""
        streams = list(self.streams)
        streams[number] = replace(streams[number], model=model)
        return CompositeAcousticModel(streams)


def share_of_second(acoustic: AcousticModel) -> float:
    """Return the weight of the second of two streams as a fraction of both; ConfigError unless there are two."""
    if not isinstance(acoustic, CompositeAcousticModel) or len(acoustic.streams) != 2:
        n_streams = len(acoustic.streams) if isinstance(acoustic, CompositeAcousticModel) else 1
        raise ConfigError(
            f"the model has {n_streams} stream{('' if n_streams == 1 else 's')}, but weights can be chosen only "
            "for two. Use a model trained with hybrid.mixtures"
        )
    first, second = acoustic.streams
    return second.weight / (first.weight + second.weight)


def with_share_of_second(acoustic: AcousticModel, share: float) -> CompositeAcousticModel:
    """Return a copy whose second stream has this fraction of the total weight; errors as in `share_of_second`."""
    share_of_second(acoustic)
    assert isinstance(acoustic, CompositeAcousticModel)
    first, second = acoustic.streams
    total = round(first.weight + second.weight, 12)  # removes rounding errors of weights that add up to 1
    return CompositeAcousticModel([replace(first, weight=total * (1.0 - share)), replace(second, weight=total * share)])


def flattened(composite: CompositeAcousticModel) -> list[Stream]:
    """Return the streams with nested composites expanded; scores are equal up to rounding."""
    streams = []
    for stream in composite.streams:
        if not isinstance(stream.model, CompositeAcousticModel):
            streams.append(stream)
            continue
        for inner in flattened(stream.model):
            end = min(stream.start + inner.end, stream.end)
            streams.append(Stream(inner.model, stream.start + inner.start, end, stream.weight * inner.weight))
    return streams


def two_stream_model(
    hybrid: HybridAcousticModel, second: AcousticModel, n_second: int, n_features: int, weight: float
) -> CompositeAcousticModel:
    """Combine a hybrid over the first columns with a model over the last `n_second` columns, which has this weight."""
    n_first = n_features - n_second
    return CompositeAcousticModel(
        [Stream(hybrid, 0, n_first, 1.0 - weight), Stream(second, n_first, n_features, weight)]
    )


def hybrid_stream(acoustic: AcousticModel) -> tuple[int, HybridAcousticModel] | None:
    """Return the number (0 for a model without streams) and model of the first stream that is a hybrid."""
    models = (
        [stream.model for stream in acoustic.streams] if isinstance(acoustic, CompositeAcousticModel) else [acoustic]
    )
    for number, model in enumerate(models):
        if isinstance(model, HybridAcousticModel):
            return number, model
    return None
