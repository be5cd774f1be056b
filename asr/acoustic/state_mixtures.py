"""Mixtures grown on a given alignment, without realigning."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.gmm import GaussianMixtures, single_gaussians
from discriminants.parallel.workers import SerialWorkers, Workers

MIN_FRAMES = 20.0
"""Default minimum number of frames of a Gaussian."""
VARIANCE_PRIOR = 20.0
"""Default strength of variance smoothing, in frames."""


def mixtures_of_states(
    frames: np.ndarray,
    states: np.ndarray,
    n_states: int,
    n_components: int,
    *,
    iterations: int = 4,
    variance_floor: float = 0.01,
    min_gaussian_count: float = MIN_FRAMES,
    variance_smoothing: float = VARIANCE_PRIOR,
    silence: Sequence[int] = (),
    silence_gaussian_ratio: int = 1,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> GaussianMixtures:
    """Grow mixtures on a given alignment, without realigning.

    Parameters
    ----------
    frames : float32 (n_frames, n_features)
    states : int32 (n_frames,)
        State of every frame; -1 leaves a frame out.
    n_components : int
        A power of two.
    iterations : int
        Re-estimations at each number of components.
    variance_floor : float
        Smallest variance, as a fraction of the variance over all frames.
    min_gaussian_count : float
        Gaussians with fewer frames are dropped, except the only one of a state.
    variance_smoothing : float
        Strength of variance smoothing, in frames; see `GaussianMixtures.update`.
    silence, silence_gaussian_ratio
        States of silence, and the factor on their number of components.
    """
    mixtures, floor = equal_gaussians(frames, n_states, variance_floor)
    order = np.argsort(states, kind="stable")
    starts = np.searchsorted(states[order], np.arange(n_states + 1))

    def frames_of_state(state: int) -> tuple[np.ndarray, None]:
        return frames[order[starts[state] : starts[state + 1]]], None

    with ThreadPoolExecutor(n_threads(workers)) as pool, threadpool_limits(1):

        def updated(mixtures: GaussianMixtures) -> GaussianMixtures:
            return mixtures.update(
                frames_of_state,
                variance_floor=floor,
                minimum_count=min_gaussian_count,
                variance_smoothing=variance_smoothing,
                map_states=pool.map,
            )

        mixtures = updated(mixtures)
        n_first = silence_gaussian_ratio.bit_length() - 1 if silence else 0
        for number in range(n_first + n_components.bit_length() - 1):
            mixtures = mixtures.split(states=silence if number < n_first else None)
            for _ in range(iterations):
                mixtures = updated(mixtures)
    return mixtures


def equal_gaussians(frames: np.ndarray, n_states: int, variance_floor: float) -> tuple[GaussianMixtures, np.ndarray]:
    """Return one Gaussian of all frames for every state, and the smallest variances."""
    mean = frames.mean(axis=0, dtype=np.float64)
    variance = np.square(frames - mean.astype(np.float32)).mean(axis=0, dtype=np.float64)
    variance[variance == 0.0] = 1.0  # a constant feature does not distinguish states
    return single_gaussians(mean, variance, n_states), variance_floor * variance


def n_threads(workers: Workers) -> int:
    """Return the number of threads for estimating Gaussians."""
    return min(workers.n_workers, os.cpu_count() or 1)
