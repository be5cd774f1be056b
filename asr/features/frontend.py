"""The front end: differences, normalization, splicing and LDA of static features."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from asr.features.cmvn import Moments, Normalizers, SpeakerFrames, SpeakerPrior, fit_prior, normalize
from asr.features.config import FeatureConfig
from asr.features.deltas import add_deltas, splice, splice_padded
from asr.features.frame_table import FrameTable
from asr.features.lda import LdaStatistics
from asr.features.streaming import StreamingFrontEnd
from asr.util.errors import FeatureError, ModelFormatError
from discriminants.parallel.threads import workers_of_this_process

_MAX_ROWS = 8192  # frames spliced at a time (80 s)
_LARGEST = 1e30  # limit on learned values, so that products stay finite


class FrontEnd:
    """The front end's settings and the statistics that `fit` learns."""

    static_dimension_: int  # columns of the static features
    mean_: np.ndarray | None  # float32 (n,), of static features and differences; only with normalization per corpus
    deviation_: np.ndarray | None  # like mean_
    prior_: SpeakerPrior | None  # only with normalization per speaker and a prior
    lda_: np.ndarray | None  # float32 (spliced, lda_dimension), frames @ lda_ - lda_offset_; None without LDA
    lda_offset_: np.ndarray | None  # float32 (lda_dimension,)

    def __init__(self, config: FeatureConfig):
        self.config = config

    def fit(self, static: FrameTable, labels: np.ndarray | None = None) -> Self:
        """Learn the corpus statistics of `static` and, from integer `labels` (n_frames,), the LDA.

        Frames with label -1 are not used for the LDA. Raises FeatureError if LDA needs labels that are missing, have
        another length or too few classes.
        """
        self.static_dimension_ = static.n_features
        self.mean_ = self.deviation_ = self.lda_ = self.lda_offset_ = self.prior_ = None
        if self.config.normalize == "corpus":
            moments = Moments(self._dimension)
            for number in range(len(static)):
                moments.add(self._with_deltas(static.utterance(number)))
            self.mean_, self.deviation_ = moments.normalizer()
        normalizers: Normalizers = {}
        if self.config.normalize == "speaker":
            speakers = SpeakerFrames(static, self.config, self._with_deltas)
            with threadpool_limits(1):
                self.prior_ = fit_prior(speakers) if self._has_prior else None
                normalizers = self._normalizers(speakers)
        if self.config.lda_dimension is not None:
            self._fit_lda(static, _checked("lda_dimension", labels, static), self.config.lda_dimension, normalizers)
        return self

    def transform(self, static: FrameTable) -> FrameTable:
        """Return the frames (n_frames, n_features) of every utterance.

        With normalization per speaker, mean and deviation come from this table's utterances of each speaker,
        interpolated with those of training by `speaker_prior`. Raises FeatureError if the number of columns differs
        from `fit`.
        """
        if static.n_features != self.static_dimension_:
            raise FeatureError(
                f"The features have {static.n_features} columns. Expected {self.static_dimension_}, as in the "
                f"training of the front end{' with pitch' if self.config.pitch else ''}."
            )
        normalizers: Normalizers = {}
        if self.config.normalize == "speaker":
            normalizers = self._normalizers(SpeakerFrames(static, self.config, self._with_deltas))

        result = np.empty((static.n_frames, self.n_features_), np.float32)

        def transform_into_result(item: tuple[FrameTable, int]) -> None:
            batch, start = item
            for block in self._spliced_blocks(batch, normalizers):
                result[start : start + len(block)] = self.project(block)
                start += len(block)

        batches = static.batches()
        starts = np.cumsum([0, *(batch.n_frames for batch in batches)])[:-1].tolist()
        # One BLAS thread per batch: BLAS threads would wait for each other in every small product.
        for _ in workers_of_this_process().map(transform_into_result, zip(batches, starts, strict=True)):
            pass
        return FrameTable(static.ids, static.speakers, result, static.offsets)

    def project(self, spliced: np.ndarray) -> np.ndarray:
        """Apply the LDA, if any, to spliced frames (T, n), and append the frames themselves if configured."""
        frames: np.ndarray = spliced if self.lda_ is None else spliced @ self.lda_ - self.lda_offset_
        if self.n_unspliced_:
            first = self.config.context * self._dimension
            frames = np.hstack([frames, spliced[:, first : first + self.n_unspliced_]])
        return frames

    def turn(self, matrix: np.ndarray) -> None:
        """Multiply frames x after LDA by a square matrix, float64 (n, n): matrix @ x."""
        assert self.lda_ is not None and self.lda_offset_ is not None
        self.lda_ = (self.lda_ @ matrix.T).astype(np.float32)
        self.lda_offset_ = (matrix @ self.lda_offset_).astype(np.float32)

    @property
    def n_features_(self) -> int:
        """Columns of the transformed frames."""
        own = self._spliced_dimension if self.lda_ is None else self.lda_.shape[1]
        return own + self.n_unspliced_

    @property
    def n_unspliced_(self) -> int:
        """Number of last columns that are neither spliced nor projected."""
        return self._dimension if self.config.append_static else 0

    def stream(self) -> StreamingFrontEnd:
        """Return the same front end for streaming.

        Raises FeatureError with normalization per speaker or utterance, or with a dynamic range, which need the whole
        recording.
        """
        if self.config.dynamic_range_db:
            raise FeatureError(
                "dynamic_range_db needs the whole recording, because it is relative to the louder frames. Use "
                "dynamic_range_db = 0 for streaming."
            )
        if self.config.normalize not in ("corpus", "none"):
            raise FeatureError(
                f"Normalization per {self.config.normalize} needs the whole {self.config.normalize}. Use "
                "normalize = 'corpus' or 'none' for streaming."
            )
        if self.static_dimension_ != self.config.static_dimension:
            raise FeatureError(
                f"The front end was trained on {self.static_dimension_} static columns, but audio "
                f"has {self.config.static_dimension}."
            )
        return StreamingFrontEnd(self.config, self._pointwise, self.project)

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the learned arrays by name, and the settings as a JSON value."""
        learnt = {
            "mean": self.mean_,
            "deviation": self.deviation_,
            "lda": self.lda_,
            "lda_offset": self.lda_offset_,
        }
        arrays = {name: array for name, array in learnt.items() if array is not None}
        if self.prior_ is not None:
            arrays |= self.prior_.to_arrays()
        return arrays, {
            "config": self.config.model_dump(mode="json"),
            "static_dimension": self.static_dimension_,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> "FrontEnd":
        """Rebuild the front end from `to_arrays`; ModelFormatError if arrays and settings disagree."""
        try:
            # Old front ends have neither the setting nor a prior.
            front_end = cls(FeatureConfig.model_validate({"speaker_prior": 0.0} | metadata["config"]))
            front_end.static_dimension_ = metadata["static_dimension"]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFormatError(f"The front end's settings cannot be read ({error}).") from error
        if type(front_end.static_dimension_) is not int or front_end.static_dimension_ < 1:
            raise ModelFormatError(f"The front end has {front_end.static_dimension_!r} static features.")
        config = front_end.config
        expected: dict[str, tuple[int, ...]] = {}
        if front_end._has_prior:
            expected = SpeakerPrior.shapes(
                front_end._dimension, max(1, len(np.atleast_1d(arrays.get("prior_weights", ()))))
            )
        if config.normalize == "corpus":
            expected = {"mean": (front_end._dimension,), "deviation": (front_end._dimension,)}
        if config.lda_dimension is not None:
            # At most the configured number; few classes allow fewer.
            found_dimension = min((config.lda_dimension, *arrays["lda"].shape[-1:])) if "lda" in arrays else 0
            expected["lda"] = (front_end._spliced_dimension, found_dimension)
            expected["lda_offset"] = (found_dimension,)
        found = {name: tuple(array.shape) for name, array in arrays.items()}
        if found != expected:
            raise ModelFormatError(f"The front end's arrays have shapes {found}, but its settings need {expected}.")
        for name, array in arrays.items():
            if array.dtype != np.float32 or not (np.abs(array) <= _LARGEST).all():
                raise ModelFormatError(
                    f"The front end's {name} has values that are not finite float32 numbers, or are above {_LARGEST:g}."
                )
        for name in ("deviation", *SpeakerPrior.POSITIVE):
            if name in arrays and not (arrays[name] > 0).all():
                raise ModelFormatError(f"The front end's {name} has values that are not above zero.")
        front_end.mean_, front_end.deviation_ = arrays.get("mean"), arrays.get("deviation")
        front_end.prior_ = SpeakerPrior.from_arrays(arrays) if front_end._has_prior else None
        front_end.lda_, front_end.lda_offset_ = arrays.get("lda"), arrays.get("lda_offset")
        return front_end

    @property
    def _dimension(self) -> int:
        return self.static_dimension_ * (self.config.delta_order + 1)

    @property
    def _spliced_dimension(self) -> int:
        return self._dimension * (2 * self.config.context + 1)

    def _with_deltas(self, static: np.ndarray) -> np.ndarray:
        return add_deltas(static, self.config.delta_window, self.config.delta_order)

    def _pointwise(self, frames: np.ndarray) -> np.ndarray:
        return (
            frames if self.mean_ is None or self.deviation_ is None else normalize(frames, self.mean_, self.deviation_)
        )

    def _normalized(self, frames: np.ndarray, speaker: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        if self.config.normalize == "utterance":
            moments = Moments(frames.shape[1])
            moments.add(frames)
            return normalize(frames, *moments.normalizer())
        return self._pointwise(frames) if speaker is None else normalize(frames, *speaker)

    def _spliced_blocks(self, batch: FrameTable, normalizers: Normalizers) -> Iterator[np.ndarray]:
        """Yield the frames of a batch with differences, normalized and spliced: (n, n_spliced).

        A batch is one block, but long utterances are divided, because splicing multiplies their memory.
        """
        context = self.config.context
        normalized = [
            self._normalized(self._with_deltas(batch.utterance(number)), normalizers.get(speaker))
            for number, speaker in enumerate(batch.speakers)
        ]
        if batch.n_frames <= _MAX_ROWS or not context:
            yield np.concatenate([splice(frames, context) for frames in normalized])
            return
        for frames in normalized:
            padded = np.pad(np.asarray(frames, np.float32), ((context, context), (0, 0)), mode="edge")
            for first in range(0, len(frames), _MAX_ROWS):
                yield splice_padded(padded[first : first + _MAX_ROWS + 2 * context], context)

    def _normalizers(self, speakers: SpeakerFrames) -> Normalizers:
        if self.prior_ is not None:
            return self.prior_.normalizers(speakers, self.config)
        return {speaker: own.normalizer() for speaker, own in speakers.moments.items()}

    @property
    def _has_prior(self) -> bool:
        return self.config.normalize == "speaker" and self.config.speaker_prior > 0

    def _fit_lda(self, static: FrameTable, labels: np.ndarray, dimension: int, normalizers: Normalizers) -> None:
        def accumulated(item: tuple[FrameTable, np.ndarray]) -> LdaStatistics:
            batch, own_labels = item
            part = LdaStatistics(size, n_classes)
            first = 0
            for block in self._spliced_blocks(batch, normalizers):
                part.add(block, own_labels[first : first + len(block)])
                first += len(block)
            return part

        size, n_classes = self._spliced_dimension, int(labels.max(initial=-1)) + 1
        statistics = LdaStatistics(size, n_classes)
        for part in workers_of_this_process().map(accumulated, _with_rows(static, labels)):
            statistics.merge(part)
        self.lda_, self.lda_offset_ = statistics.solve(min(dimension, statistics.greatest_dimension))


def _checked(setting: str, labels: np.ndarray | None, static: FrameTable) -> np.ndarray:
    """Return the labels after a check that every frame has one."""
    if labels is None:
        raise FeatureError(f"{setting} needs a state label for every frame.")
    labels = np.asarray(labels)
    if labels.shape != (static.n_frames,) or labels.dtype.kind not in "iu" or (labels.size and labels.min() < -1):
        raise FeatureError(
            f"{setting} needs {static.n_frames} integer labels of at least -1, not {labels.dtype} of shape "
            f"{labels.shape}."
        )
    return labels


def _with_rows(static: FrameTable, values: np.ndarray) -> list[tuple[FrameTable, np.ndarray]]:
    """Pair the batches of a table with their frames' values."""
    batches = static.batches()
    ends = np.cumsum([batch.n_frames for batch in batches])
    return list(zip(batches, np.split(values, ends[:-1]), strict=True))
