"""Mixtures grown on a given alignment, without realigning."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.gmm import GaussianMixtures, single_gaussians
from discriminants.parallel.workers import SerialWorkers, Workers

MIN_FRAMES = 20.0
"""Of a Gaussian."""
VARIANCE_PRIOR = 20.0
"""Frames, as which the variance of a state's frames counts in that of each of its Gaussians."""


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
    """Mixtures grown on a given alignment, without realigning.

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
        Of a Gaussian; one that accounts for fewer is dropped, unless it is its state's only one.
    variance_smoothing : float
        Frames, as which the variance of all of a state's counts in that of each of its Gaussians; see `update`.
    silence, silence_gaussian_ratio
        States that have so many times as many components, from the beginning.
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
    """One Gaussian of all frames for every state, and the smallest variances."""
    mean = frames.mean(axis=0, dtype=np.float64)
    variance = np.square(frames - mean.astype(np.float32)).mean(axis=0, dtype=np.float64)
    variance[variance == 0.0] = 1.0  # a constant feature tells no state from another
    return single_gaussians(mean, variance, n_states), variance_floor * variance


def n_threads(workers: Workers) -> int:
    """In which Gaussians are estimated."""
    return min(workers.n_workers, os.cpu_count() or 1)
