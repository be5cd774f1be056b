"""Static features of a whole corpus."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from asr.corpus.audio import read_audio
from asr.corpus.data_directory import DataDirectory, Problem, Utterance
from asr.corpus.kaldi_ark import read_matrix
from asr.errors import CorpusError, FeatureError
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mfcc import mfcc

_BATCH = 32  # utterances handed to a worker at once


def extract_static(
    corpus: DataDirectory,
    config: FeatureConfig,
    *,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> tuple[FrameTable, list[Problem]]:
    """MFCC of every utterance with audio; the archived matrix, as it is, of every utterance with features.

    Works in `jobs` processes, with the same result for any number of them; `progress` is called with the
    number of utterances finished. An utterance that cannot be read, is shorter than one window, or has
    another number of columns than the first, is left out and listed. Raises FeatureError when none is left.
    """
    utterances = corpus.utterances
    batches = [utterances[first : first + _BATCH] for first in range(0, len(utterances), _BATCH)]
    results: list[np.ndarray | str] = []
    for batch in _run(batches, config, jobs):
        results += batch
        if progress is not None:
            progress(len(results))
    kept: list[tuple[Utterance, np.ndarray]] = []
    problems = []
    for utterance, result in zip(utterances, results, strict=True):
        if isinstance(result, str):
            problems.append(Problem(utterance.id, result))
        elif kept and result.shape[1] != kept[0][1].shape[1]:
            first = kept[0]
            problems.append(
                Problem(
                    utterance.id,
                    f"has {result.shape[1]} features, but '{first[0].id}' has {first[1].shape[1]}",
                )
            )
        else:
            kept.append((utterance, result))
    if not kept:
        why = f"; the first: '{problems[0].utterance_id}': {problems[0].reason}" if problems else ""
        raise FeatureError(f"{corpus.path}: none of its {len(utterances)} utterances gave features{why}.")
    table = FrameTable.from_utterances(
        [u.id for u, _ in kept], [u.speaker for u, _ in kept], [matrix for _, matrix in kept]
    )
    return table, problems


def static_features(utterance: Utterance, config: FeatureConfig) -> np.ndarray:
    """Static features of one utterance: float32 (T, n), T at least 1.

    Raises CorpusError when its file cannot be read and FeatureError when it is shorter than one window.
    """
    if utterance.archive is not None:
        return read_matrix(utterance.archive, utterance.offset)
    signal = read_audio(utterance.source, rate=config.sample_rate, start=utterance.start, end=utterance.end)
    features = mfcc(signal, config)
    if not len(features):
        milliseconds = 1000 * len(signal) / config.sample_rate
        raise FeatureError(
            f"{utterance.source}: {milliseconds:.1f} ms of audio are less than one window of {config.window_ms:g} ms."
        )
    return features


def _run(batches: Sequence[Sequence[Utterance]], config: FeatureConfig, jobs: int) -> Iterable[list[np.ndarray | str]]:
    if jobs == 1 or len(batches) < 2:
        return (_batch_features(batch, config) for batch in batches)
    from joblib import Parallel, delayed

    return Parallel(n_jobs=jobs, return_as="generator")(delayed(_batch_features)(batch, config) for batch in batches)


def _batch_features(batch: Sequence[Utterance], config: FeatureConfig) -> list[np.ndarray | str]:
    results: list[np.ndarray | str] = []
    for utterance in batch:
        try:
            results.append(static_features(utterance, config))
        except (CorpusError, FeatureError) as error:
            results.append(str(error))
    return results
