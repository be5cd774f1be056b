"""Neighboring frames: differences over time (the slope of a regression line through them), and splicing."""

import numpy as np


def add_deltas(static: np.ndarray, window: int = 2, order: int = 2) -> np.ndarray:
    """Append differences up to `order` to static features (T, D): float32 (T, D * (order + 1)).

    d_t = sum_k k (c_{t+k} - c_{t-k}) / (2 sum_k k^2), k = 1..window (The HTK Book, eq. 5.16). At either end the first
    or last frame is repeated, separately for each order.
    """
    frames = np.ascontiguousarray(static, dtype=np.float32)
    for _ in range(order if len(frames) else 0):
        frames = append_slope(np.pad(frames, ((window, window), (0, 0)), mode="edge"), window, static.shape[1])
    if not len(frames):
        return np.empty((0, static.shape[1] * (order + 1)), np.float32)
    return frames


def append_slope(padded: np.ndarray, window: int, dimension: int) -> np.ndarray:
    """Append the slope of the last `dimension` columns to the inner rows of (T + 2 window, n): (T, n + dimension)."""
    length = len(padded) - 2 * window
    last = padded[:, -dimension:]
    slope = np.zeros((length, dimension), np.float32)
    for k in range(1, window + 1):
        slope += np.float32(k) * (last[window + k : window + k + length] - last[window - k : window - k + length])
    slope /= np.float32(2 * sum(k * k for k in range(1, window + 1)))
    return np.concatenate([padded[window : window + length], slope], axis=1)


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
