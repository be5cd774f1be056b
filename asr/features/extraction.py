"""Static features of a whole corpus, without utterances whose extreme features would distort its statistics."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from asr.corpus.audio import at_rate, read_audio, read_native
from asr.corpus.audio_stats import Channels, Measured
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.feature_file import read_features
from asr.features.augmentation import Augmentation
from asr.features.config import FeatureConfig
from asr.features.extractor import Extractor, factory_of, own_features, use_factory
from asr.features.frame_table import FrameTable
from asr.features.mfcc import mfcc
from asr.features.pitch import pitch_features
from asr.util.errors import FeatureError, Issue, attempt
from discriminants.parallel.workers import LocalWorkers, SerialWorkers, Workers

_BATCH = 32  # utterances per worker call
FARTHEST = 100.0
"""Factor on the usual distance; digital silence, the most extreme valid input, has about 10."""
_MIN_DISTANCE = 10.0
_FEWEST = 5


class Extracted(NamedTuple):
    """Static features of a corpus, the utterances left out, and measurements of the audio of the others."""

    static: FrameTable
    problems: list[Issue]
    measured: dict[str, Measured]


def extract_static(
    corpus: DataDirectory,
    config: FeatureConfig,
    *,
    augmentation: Augmentation | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    progress: Callable[[int], None] | None = None,
) -> tuple[FrameTable, list[Issue]]:
    """Return the static features of every utterance with audio, or the archived matrix unchanged, and the problems.

    An `augmentation` is applied to the audio first; the utterances keep their names. The result does not depend on the
    workers. `progress` is called with the number of utterances finished. An utterance is left out and listed if it
    cannot be read, is shorter than one window, has another number of columns than most utterances, or has extreme
    values (`find_outlier_utterances`). Raises FeatureError if none is left.
    """
    found = _extract(corpus, config, augmentation, False, workers, progress)
    return found.static, found.problems


def extract_measured(
    corpus: DataDirectory,
    config: FeatureConfig,
    *,
    n_columns: int | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    progress: Callable[[int], None] | None = None,
) -> Extracted:
    """Return static features as `extract_static` does, and measurements of the audio.

    With `n_columns`, utterances with another number of columns are left out.
    """
    return _extract(corpus, config, None, True, workers, progress, n_columns)


def _extract(
    corpus: DataDirectory,
    config: FeatureConfig,
    augmentation: Augmentation | None,
    measure: bool,
    workers: Workers,
    progress: Callable[[int], None] | None,
    n_columns: int | None = None,
) -> Extracted:
    utterances = [_absolute(utterance) for utterance in corpus.utterances]
    batches = [utterances[first : first + _BATCH] for first in range(0, len(utterances), _BATCH)]
    if isinstance(workers, LocalWorkers) and len(batches) < 2:
        workers = SerialWorkers()  # not worth starting another process
    results: list[tuple[np.ndarray, Measured | None] | Issue] = []
    factory = None if config.extractor is None else factory_of(config)
    constants = workers.share((config, augmentation, measure, factory))
    for batch in workers.map(_batch_features, batches, constants):
        results += batch
        if progress is not None:
            progress(len(results))
    kept: list[tuple[Utterance, np.ndarray]] = []
    problems = []
    measured: dict[str, Measured] = {}
    if n_columns is None:
        widths = Counter(result[0].shape[1] for result in results if not isinstance(result, Issue))
        n_columns = max(widths, key=widths.__getitem__, default=0)  # the first of equally frequent ones
    for utterance, result in zip(utterances, results, strict=True):
        if isinstance(result, Issue):
            problems.append(result.for_utterance(utterance.id))
            continue
        matrix, found = result
        if found is not None:
            measured[utterance.id] = found
        if matrix.shape[1] != n_columns:
            reason = f"has {matrix.shape[1]} features per frame. Expected {n_columns}"
            problems.append(Issue("other-dimension", reason, utterances=(utterance.id,)))
        else:
            kept.append((utterance, matrix))
    if len(kept) >= _FEWEST:
        faults = find_outlier_utterances([matrix for _, matrix in kept])
        problems += [fault.for_utterance(kept[number][0].id) for number, fault in faults.items()]
        kept = [pair for number, pair in enumerate(kept) if number not in faults]
    if not kept:
        if len(problems) == 1:
            reason = problems[0].message
            named = str(utterances[0].audio) in reason
            message = reason if named else f"{corpus.path}: {problems[0].utterance!r}: {reason}"
            raise FeatureError(message, lost=problems)
        why = f". The first: {problems[0].utterance!r}: {problems[0].message}" if problems else ""
        raise FeatureError(
            f"{corpus.path}: none of the {len(utterances)} utterances has usable features{why}.", lost=problems
        )
    table = FrameTable.from_utterances(
        [u.id for u, _ in kept], [u.speaker for u, _ in kept], [matrix for _, matrix in kept]
    )
    return Extracted(table, problems, measured)


def _absolute(utterance: Utterance) -> Utterance:
    """Make paths absolute, for workers with another working directory."""
    audio, archive = (None if path is None else path.absolute() for path in (utterance.audio, utterance.archive))
    return replace(utterance, audio=audio, archive=archive)


def static_features(
    utterance: Utterance, config: FeatureConfig, augmentation: Augmentation | None = None
) -> np.ndarray:
    """Return static features of one utterance: float32 (T, n), T at least 1.

    Raises CorpusError if its file cannot be read or has a lower rate than the settings allow. Raises FeatureError if it
    is shorter than one window, or if features without audio are to be augmented.
    """
    if utterance.archive is not None:
        if augmentation is not None:
            raise FeatureError(f"{utterance.archive} contains features, but the settings speeds and noise need audio.")
        return read_features(utterance.archive, utterance.offset)
    signal = read_audio(
        utterance.source, rate=config.sample_rate, start=utterance.start, end=utterance.end, upsample=config.upsample
    )
    if augmentation is not None:
        signal = augmentation.apply(signal, utterance.id, config.sample_rate)
    return signal_features(signal, config, source=utterance.source)


def measured_features(
    source: Path, config: FeatureConfig, *, start: float | None = None, end: float | None = None
) -> tuple[np.ndarray, Measured]:
    """Return static features, float32 (T, n), and measurements of an audio file or a part of it in seconds.

    Raises as `static_features`.
    """
    channels = Channels()
    samples, native = read_native(source, rate=config.sample_rate, start=start, end=end, observe=channels.add)
    return measured_sample_features(samples, native, channels, config, source=source)


def measured_sample_features(
    samples: np.ndarray, native: int, channels: Channels, config: FeatureConfig, *, source: Path | str
) -> tuple[np.ndarray, Measured]:
    """Do the same for samples (n,), the mean of the channels, at `native` Hz; the samples are overwritten."""
    found = channels.measured(samples, native)
    signal = at_rate(samples, native, config.sample_rate, source=source, upsample=config.upsample)
    return signal_features(signal, config, source=source), found


def signal_features(signal: np.ndarray, config: FeatureConfig, *, source: Path | str) -> np.ndarray:
    """Return static features, float32 (T, n), of samples (n_samples,) at the rate of `config`, on the 16-bit scale.

    Raises FeatureError, with `source`, if they are shorter than one window.
    """
    features = mfcc(signal, config) if config.extractor is None else own_features(signal, config, source=source)
    if config.pitch:
        features = np.hstack([features, pitch_features(signal, config)])
    if not len(features):
        milliseconds = 1000 * len(signal) / config.sample_rate
        raise FeatureError(
            f"{source}: {milliseconds:.1f} ms of audio are shorter than one window of {config.window_ms:g} ms.",
            code="too-short",
        )
    return features


def _batch_features(
    batch: Sequence[Utterance],
    constants: tuple[FeatureConfig, Augmentation | None, bool, Callable[[], Extractor] | None],
) -> list[tuple[np.ndarray, Measured | None] | Issue]:
    config, augmentation, measure, factory = constants
    if factory is not None:
        use_factory(config, factory)
    return [attempt(_features, utterance, config, augmentation, measure) for utterance in batch]


def _features(
    utterance: Utterance, config: FeatureConfig, augmentation: Augmentation | None, measure: bool
) -> tuple[np.ndarray, Measured | None]:
    if measure and utterance.archive is None:
        return measured_features(utterance.source, config, start=utterance.start, end=utterance.end)
    return static_features(utterance, config, augmentation), None


def find_outlier_utterances(matrices: Sequence[np.ndarray]) -> dict[int, Issue]:
    """Return faults with code "out-of-range", by number, of matrices (T_i, D), T_i at least 1, with extreme values.

    The center of a column is the median over utterances of their medians. Its usual distance is the median over
    utterances of their largest distance from it. A value at more than 100 times this distance is a fault, because it
    would move the mean, variance and Gaussians of a whole corpus. With fewer than five utterances none is a fault.
    """
    if len(matrices) < _FEWEST:
        return {}
    centres = np.median([np.median(matrix, axis=0) for matrix in matrices], axis=0)
    distances = np.array([np.abs(matrix - centres).max(axis=0) for matrix in matrices])
    limits = FARTHEST * np.maximum(np.median(distances, axis=0), _MIN_DISTANCE)
    suspects = np.flatnonzero((distances > limits).any(axis=1))
    return {number: _fault(matrices[number], centres, limits) for number in suspects.tolist()}


def _fault(matrix: np.ndarray, centres: np.ndarray, limits: np.ndarray) -> Issue:
    row, column = np.unravel_index(np.argmax(np.abs(matrix - centres) / limits), matrix.shape)
    return Issue(
        "out-of-range",
        f"feature {column} of frame {row} is {matrix[row, column]:g}, far from other utterances, which are "
        f"within {limits[column]:g}",
    )
