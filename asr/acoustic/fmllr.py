"""fMLLR: an affine map of a speaker's frames under which the mixtures make them most likely.

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
"""Frames of silence that count in a map for each frame of speech: what lies between words is seldom the speaker's."""

SpeakerMaps = Mapping[str, AffineTransform]
"""By name of the speaker."""


class FmllrSettings(Settings):
    """How the map of a speaker is estimated."""

    prior: float = Field(50.0, ge=0, le=1e9)
    """Frames that the mixtures themselves count beside a speaker's own; they hold the map to the identity. For maps
    whose prior is not learnt."""
    fmllr_basis_prior: float = Field(2000.0, ge=0, le=1e9)
    """Frames that count beside a speaker's own where the maps of three training speakers are known; they hold the map
    to the likeliest of those that differ as these do, which is found first."""
    iterations: int = Field(2, ge=1, le=1000)
    """How often the posteriors of the Gaussians are computed anew."""


def fmllr_statistics(
    mixtures: GaussianMixtures, frames: np.ndarray, states: np.ndarray, frame_map: AffineTransform
) -> RowStatistics:
    """What frames say of a map, with posteriors of the Gaussians as they are under another map.

    Parameters
    ----------
    frames : float32 (n_frames, n_features)
        As they are before any map.
    states : int32 (n_frames,)
        -1 leaves a frame out.
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
    """What the mixtures expect of one frame, all states being alike; the best map for it is the identity.

    With frames of the Gaussians themselves, E[x x'] = diag(sigma^2) + mu mu'.
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
    """The map of one speaker, whose frames belong to these states; parameters as of `fmllr_statistics`.

    Without frames, and where the statistics do not determine it, it is the identity, or with `prior` its mean. Where
    the prior counts more than the frames, the posteriors follow from the likeliest map of those that it foretells, and
    rows are found once, at the end.
    `expected` are the statistics that `expected_statistics` finds, where they are known already. With `among`, float64
    (m, n_features, n_features), the matrix is one of these, with the scale and the offset of its rows that are best for
    it.
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
                    frame_map = _as_map(near)  # what rows add is little beside it, and dear
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
    """The map of every speaker of a table of frames.

    Parameters
    ----------
    states : int32 (n_frames,)
        -1 leaves a frame out.
    start : mapping of speaker to AffineTransform, optional
        Where to begin; the identity unless given.
    among : float64 (m, n_features, n_features), optional
        The matrices to choose from; any is allowed unless given.
    expected : RowStatistics, optional
        From `expected_statistics`, where they are known already.
    prior : FmllrPrior, optional
        What is known of speakers' maps.
    silence : sequence of int, optional
        States of silence, most frames of which are left out where they are many beside those of speech.
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
    """States of frames, int32 (n_frames,), with -1 for silence beyond `MAX_SILENCE` of the speech, evenly spaced."""
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
    """The table with every speaker's frames mapped; those of speakers without a map stay."""
    frames = np.array(table.frames, np.float32)
    for number, speaker in enumerate(table.speakers):
        if speaker in maps:
            frames[table.rows(number)] = maps[speaker](table.utterance(number))
    return FrameTable(table.ids, table.speakers, frames, table.offsets)


def _soft_gaussians(
    mixtures: GaussianMixtures, frames: np.ndarray, states: np.ndarray, frame_map: AffineTransform
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Blocks of frames, float64, each with the mean precision of its Gaussians, and of precision times mean, (n, d)."""
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
