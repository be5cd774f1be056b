"""fMLLR: an affine transform of a speaker's frames that maximizes their likelihood under the mixtures.

Gales (1998), "Maximum likelihood linear transformations for HMM-based speech recognition", section 4 ("constrained
model-space transforms").
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pydantic import Field
from scipy.special import softmax

from asr.acoustic.constrained_transforms import RowStatistics, best_of, best_transform
from asr.acoustic.fmllr_prior import FmllrPrior, expected_under
from asr.acoustic.gmm import GaussianMixtures
from asr.features.frame_table import FrameTable
from asr.util.config_base import Settings
from discriminants.logistic.affine_transform import AffineTransform, identity_map
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.blas_threads import one_blas_thread

_BLOCK_FRAMES = 1024
MAX_SILENCE = 0.25
"""Maximum ratio of silence frames to speech frames in the statistics; background noise is rarely speaker-specific."""

SpeakerMaps = Mapping[str, AffineTransform]
"""Transforms by speaker name."""


class FmllrSettings(Settings):
    """Settings for estimating a speaker's transform."""

    prior: float = Field(50.0, ge=0, le=1e9)
    """Weight of the identity, in frames, for transforms without a learned prior."""
    fmllr_basis_prior: float = Field(2000.0, ge=0, le=1e9)
    """Weight of the prior, in frames, if the transforms of at least three training speakers are known. It pulls the
    rows toward the maximum a posteriori transform."""
    iterations: int = Field(2, ge=1, le=1000)
    """Number of times that the Gaussian posteriors are recomputed."""


def fmllr_statistics(
    mixtures: GaussianMixtures, frames: np.ndarray, states: np.ndarray, frame_map: AffineTransform
) -> RowStatistics:
    """Accumulate the statistics of a transform, with Gaussian posteriors computed under `frame_map`.

    `frames`, float32 (n_frames, n_features): untransformed frames. `states`, int32 (n_frames,): -1 leaves a frame out.
    `frame_map`: current transform.
    """
    n_features = frames.shape[1]
    upper = np.triu_indices(n_features + 1)
    count, first = 0, np.zeros((n_features, n_features + 1))
    second = np.zeros((n_features, len(upper[0])))
    for block, precisions, means in _soft_gaussians(mixtures, frames, states, frame_map):
        extended = np.hstack([block, np.ones((len(block), 1))])
        count += len(block)
        first += means.T @ extended
        second += precisions.T @ (extended[:, upper[0]] * extended[:, upper[1]])
    full = np.empty((n_features, n_features + 1, n_features + 1))
    full[:, upper[0], upper[1]] = full[:, upper[1], upper[0]] = second
    return RowStatistics(count, first, full)


def expected_statistics(mixtures: GaussianMixtures) -> RowStatistics:
    """Return the expected statistics of one frame over equally likely states; the best transform is the identity.

    For frames drawn from the Gaussians, E[x x'] = diag(sigma^2) + mu mu'.
    """
    weights = softmax(mixtures.log_weights, axis=1).ravel() / len(mixtures.log_weights)
    n_features = mixtures.means.shape[2]
    means, variances = mixtures.means.reshape(-1, n_features), mixtures.variances.reshape(-1, n_features)
    extended = np.hstack([means, np.ones((len(means), 1))])
    precisions = weights[:, None] / variances
    first = (precisions * means).T @ extended
    second = np.stack([(extended * column[:, None]).T @ extended for column in precisions.T])
    own = np.arange(n_features)
    second[:, own, own] += precisions.T @ variances
    return RowStatistics(1.0, first, second)


def fit_fmllr(
    mixtures: GaussianMixtures,
    frames: np.ndarray,
    states: np.ndarray,
    settings: FmllrSettings = FmllrSettings(),  # noqa: B008 (frozen)
    *,
    start: AffineTransform | None = None,
    expected: RowStatistics | None = None,
    among: np.ndarray | None = None,
    prior: FmllrPrior | None = None,
) -> AffineTransform:
    """Estimate the transform of one speaker.

    Without frames, or if the statistics do not determine it, the result is the identity, or the mean of `prior`. If the
    prior outweighs the frames, the posteriors are recomputed under the maximum a posteriori transform, and the rows are
    optimized once, at the end.

    Parameters
    ----------
    frames, states
        As in `fmllr_statistics`.
    start : AffineTransform, optional
        Initial transform.
    expected : RowStatistics, optional
        Result of `expected_statistics`, if already known.
    among : float64 (m, n_features, n_features), optional
        Candidate matrices; the best one is used with the best scale and offset of each row.
    prior : FmllrPrior, optional
        Prior learned from other speakers.
    """
    n_features = frames.shape[1]
    usual = identity_map(n_features) if prior is None else _as_map(prior.mean.astype(np.float64))
    frame_map = usual if start is None else start
    one_frame = expected_statistics(mixtures) if expected is None else expected
    coordinates = None
    for left in reversed(range(settings.iterations)):
        statistics = fmllr_statistics(mixtures, frames, states, frame_map)
        try:
            if prior is None:
                near = np.column_stack([frame_map.matrix, frame_map.offset])
                statistics += one_frame * settings.prior
            else:
                coordinates = prior.map_estimate(statistics, coordinates)
                near = prior.at(coordinates)
                if left and statistics.count < settings.fmllr_basis_prior:
                    frame_map = _as_map(near)  # optimizing rows would change little here and is slow
                    continue
                statistics += expected_under(one_frame, near) * settings.fmllr_basis_prior
            np.linalg.cholesky(statistics.second)
            found = best_transform(statistics, near) if among is None else best_of(statistics, among)
        except np.linalg.LinAlgError:
            return usual
        if not np.isfinite(found).all():
            return usual
        frame_map = _as_map(found)
    return frame_map


def _as_map(transform: np.ndarray) -> AffineTransform:
    return AffineTransform(transform[:, :-1], transform[:, -1])


def fit_speakers(
    mixtures: GaussianMixtures,
    table: FrameTable,
    states: np.ndarray,
    settings: FmllrSettings = FmllrSettings(),  # noqa: B008 (frozen)
    *,
    start: SpeakerMaps | None = None,
    among: np.ndarray | None = None,
    expected: RowStatistics | None = None,
    prior: FmllrPrior | None = None,
    silence: Sequence[int] = (),
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> dict[str, AffineTransform]:
    """Estimate the transform of every speaker of a table.

    `states`, int32 (n_frames,): -1 leaves a frame out. `start`: initial transforms; the identity by default. `among`,
    `expected`, `prior`: as in `fit_fmllr`. `silence`: states of silence; most of their frames are left out if silence
    is long compared with speech.
    """
    rows: dict[str, list[np.ndarray]] = {}
    for number, speaker in enumerate(table.speakers):
        rows.setdefault(speaker, []).append(np.arange(table.offsets[number], table.offsets[number + 1]))
    own = {speaker: np.concatenate(parts) for speaker, parts in rows.items()}
    items = (
        (table.frames[rows], mostly_speech(states[rows], silence), None if start is None else start.get(speaker))
        for speaker, rows in own.items()
    )
    if expected is None:
        with one_blas_thread():
            expected = expected_statistics(mixtures)
    workers = in_threads(workers)
    maps = workers.map(_fit_speaker, items, workers.share((mixtures, settings, expected, among, prior)))
    return dict(zip(own, maps, strict=True))


def mostly_speech(states: np.ndarray, silence: Sequence[int]) -> np.ndarray:
    """Set states of silence beyond `MAX_SILENCE` of the speech, evenly spaced, to -1; int32 (n_frames,)."""
    silent = np.flatnonzero(np.isin(states, silence))
    n_kept = int(MAX_SILENCE * (np.count_nonzero(states >= 0) - len(silent)))
    if len(silent) <= n_kept:
        return states
    kept = silent[(np.arange(n_kept) * len(silent)) // max(n_kept, 1)]
    left = np.array(states)
    left[silent] = -1
    left[kept] = states[kept]
    return left


def _fit_speaker(
    item: tuple[np.ndarray, np.ndarray, AffineTransform | None],
    constants: tuple[GaussianMixtures, FmllrSettings, RowStatistics, np.ndarray | None, FmllrPrior | None],
) -> AffineTransform:
    frames, states, start = item
    mixtures, settings, expected, among, prior = constants
    return fit_fmllr(mixtures, frames, states, settings, start=start, expected=expected, among=among, prior=prior)


def mapped_table(table: FrameTable, maps: SpeakerMaps) -> FrameTable:
    """Transform every speaker's frames; frames of speakers without a transform stay."""
    frames = np.array(table.frames, np.float32)
    for number, speaker in enumerate(table.speakers):
        if speaker in maps:
            frames[table.rows(number)] = maps[speaker](table.utterance(number))
    return FrameTable(table.ids, table.speakers, frames, table.offsets)


def _soft_gaussians(
    mixtures: GaussianMixtures, frames: np.ndarray, states: np.ndarray, frame_map: AffineTransform
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield blocks of frames, float64 (n, d), with the mean precision, and precision times mean, of their Gaussians."""
    used = np.flatnonzero((states >= 0) & np.isfinite(frames).all(axis=1))
    used = used[np.argsort(states[used], kind="stable")]
    for start in range(0, len(used), _BLOCK_FRAMES):
        rows = used[start : start + _BLOCK_FRAMES]
        block = frames[rows].astype(np.float64)
        mapped = frame_map(block)
        precisions, means = np.empty_like(block), np.empty_like(block)
        present, starts = np.unique(states[rows], return_index=True)
        for state, part in zip(present, np.split(np.arange(len(rows)), starts[1:]), strict=True):
            precisions[part], means[part] = mixtures.mean_gaussians(state, mapped[part])
        yield block, precisions, means
