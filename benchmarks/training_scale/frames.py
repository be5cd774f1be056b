"""Synthetic frames with overlapping states, like those of phones."""

from pathlib import Path

import numpy as np

_BLOCK = 65_536
_COMPONENTS = 4
_SPREAD, _DECAY = 0.72, 0.97  # spread of the means in feature 1, in noise deviations, and its decay over features


def write_frames(folder: Path, n_frames: int, n_states: int, n_features: int, seed: int) -> tuple[Path, Path]:
    """Write frames (n_frames, n_features) float32 and states (n_frames,) int32 as two `.npy` files.

    Each state is a mixture of Gaussians whose means differ most in the first features, as after discriminant analysis.
    One state, the pause, has an eighth of the frames; the frequencies of the others are log-normal.
    """
    model = np.random.default_rng(0)
    scale = _SPREAD * _DECAY ** np.arange(n_features)
    centers = model.normal(size=(n_states, 1, n_features)) + model.normal(size=(n_states, _COMPONENTS, n_features))
    means = (centers * scale).astype(np.float32)
    shares = np.exp(model.normal(size=n_states))
    shares[0] = 0.0
    shares *= 0.875 / shares.sum()
    shares[0] = 0.125
    random = np.random.default_rng(seed + 1)
    states = random.choice(n_states, n_frames, p=shares).astype(np.int32)
    paths = folder / f"frames-{seed}-{n_frames}.npy", folder / f"states-{seed}-{n_frames}.npy"
    frames = np.lib.format.open_memmap(paths[0], mode="w+", dtype=np.float32, shape=(n_frames, n_features))
    for start in range(0, n_frames, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n_frames))
        n = rows.stop - rows.start
        component = random.integers(0, _COMPONENTS, n)
        noise = random.standard_normal((n, n_features), dtype=np.float32)
        frames[rows] = means[states[rows], component] + noise
    frames.flush()
    np.save(paths[1], states)
    return paths
