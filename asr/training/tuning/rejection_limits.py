"""Minimum likelihood ratios of accepted utterances, fitted to commands and other recordings."""

import numpy as np


def best_limits(commands: np.ndarray, others: np.ndarray, most_lost: float) -> tuple[float | None, float | None]:
    """Return the limits that accept fewest others and lose at most `most_lost` commands; None for one not needed.

    Utterances below either limit are rejected. Among pairs that accept equally few, the one that loses the fewest
    commands is chosen. Each limit is midway between the nearest accepted command and the nearest rejected other
    recording.

    Parameters
    ----------
    commands : float64 (n, 2)
        Ratios of recognized commands, n at least 1.
    others : float64 (m, 2)
        Ratios of other recordings in which commands were recognized.
    most_lost : float
        Maximum number of lost commands.
    """
    most = min(int(most_lost), len(commands) - 1)
    best: tuple[int, int, float, float] | None = None
    for first in np.sort(commands[:, 0])[: most + 1]:
        kept = commands[commands[:, 0] >= first]
        n_lost = len(commands) - len(kept)
        passing = others[others[:, 0] >= first, 1]
        for more, second in enumerate(np.sort(kept[:, 1])[: max(0, most - n_lost) + 1]):
            found = int((passing >= second).sum()), n_lost + more, float(first), float(second)
            if n_lost + more <= most and (best is None or found[:2] < best[:2]):
                best = found
    assert best is not None  # the smallest limits lose no command
    limits: list[float | None] = list(best[2:])
    for axis in (0, 1):
        passes = [_passes(ratios[:, 1 - axis], limits[1 - axis]) for ratios in (commands, others)]
        kept, rest = commands[passes[0], axis], others[passes[1], axis]
        limit = limits[axis]
        assert limit is not None
        rejected = rest[rest < limit]
        limits[axis] = float((rejected.max() + kept[kept >= limit].min()) / 2) if len(rejected) else None
    return limits[0], limits[1]


def _passes(ratios: np.ndarray, limit: float | None) -> np.ndarray:
    return np.full(len(ratios), True) if limit is None else ratios >= limit
