"""Splicing: every frame together with its neighbors."""

import numpy as np


def splice(frames: np.ndarray, context: int) -> np.ndarray:
    """Splice frames (T, D) to float32 (T, D * (2 context + 1)): columns are frames t - context, ..., t + context.

    At either end the first or last frame is repeated.
    """
    frames = np.ascontiguousarray(frames, dtype=np.float32)
    if not context or not len(frames):
        return frames if len(frames) else np.empty((0, frames.shape[1] * (2 * context + 1)), np.float32)
    return splice_padded(np.pad(frames, ((context, context), (0, 0)), mode="edge"), context)


def splice_padded(padded: np.ndarray, context: int) -> np.ndarray:
    """Splice the inner rows of `padded` (T + 2 context, D): (T, D * (2 context + 1))."""
    length = len(padded) - 2 * context
    return np.concatenate([padded[k : k + length] for k in range(2 * context + 1)], axis=1)
