"""Drawing of an alignment: sound, state posteriors and labels over time."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from asr.report.clip import spectrogram
from asr.util.errors import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FONT = 8.0
_POINTS_PER_CHARACTER = 0.65 * _FONT
_MAX_TICKS = 16
_HEIGHTS = {"waveform": 1.0, "spectrogram": 1.8, "states": 2.6, "phones": 0.45, "words": 0.45}

_Label = tuple[str, float, float]  # text, start and end in seconds


def draw_alignment(
    samples: np.ndarray,
    rate: int,
    borders: Sequence[float],
    posteriors: np.ndarray,
    rows: np.ndarray,
    phones: Sequence[str],
    tiers: Mapping[str, Sequence[_Label]],
    figsize: tuple[float, float],
) -> "dict[str, Axes]":
    """Draw waveform, spectrogram, posteriors, states, phones and words, and return their axes by name.

    Parameters
    ----------
    samples : float32 (n,)
        At `rate` Hz, any scale.
    borders : sequence of n_frames + 1 times in seconds
    posteriors : float32 (n_frames, n_rows)
        Posteriors of the states of the alignment.
    rows : int (n_frames,)
        Column of the state of each frame.
    phones : sequence of str
        Phone of each column.
    tiers : mapping
        Labels of the "phones" and "words".
    figsize : (float, float)
        Inches.
    """
    import matplotlib.pyplot as plt

    _, found = plt.subplots(
        len(_HEIGHTS), 1, sharex=True, height_ratios=list(_HEIGHTS.values()), figsize=figsize, layout="constrained"
    )
    axes: dict[str, Axes] = dict(zip(_HEIGHTS, found, strict=True))
    seconds = borders[-1]
    axes["waveform"].plot(np.arange(len(samples)) / rate, samples, color="0.3", linewidth=0.4)
    axes["waveform"].set(yticks=[], xlim=(0.0, seconds))
    axes["spectrogram"].imshow(
        spectrogram(samples, rate), extent=(0.0, seconds, 0.0, rate / 2000), cmap="gray", vmin=0, vmax=255,
        aspect="auto",
    )  # fmt: skip
    axes["spectrogram"].set_ylabel("kHz")
    edges = np.arange(len(phones) + 1) - 0.5
    axes["states"].pcolormesh(borders, edges, posteriors.T, vmin=0.0, vmax=1.0, cmap="Blues")
    axes["states"].stairs(rows.astype(float), borders, baseline=None, color="tab:red", linewidth=1.0)
    axes["states"].set_ylim(len(phones) - 0.5, -0.5)
    axes["states"].set_ylabel("states")
    _name_rows(axes["states"], phones)
    for name, labels in tiers.items():
        _draw_labels(axes[name], labels, 72 * 0.9 * figsize[0] / seconds)
    for name in ("waveform", *tiers):
        axes[name].set_ylabel(name, rotation=0, ha="right", va="center")
    axes["words"].set_xlabel("seconds")
    return axes


def _name_rows(axes: "Axes", phones: Sequence[str]) -> None:
    """Name the rows of each phone, or some of them if there are many phones."""
    centers, names = [], []
    for name, numbers in groupby(range(len(phones)), key=lambda row: phones[row]):
        of_phone = list(numbers)
        centers.append((of_phone[0] + of_phone[-1]) / 2)
        names.append(printable(name))
    step = -(-len(names) // _MAX_TICKS)
    axes.set_yticks(centers[::step], names[::step], fontsize=_FONT - 1, parse_math=False)


def _draw_labels(axes: "Axes", labels: Sequence[_Label], points_per_second: float) -> None:
    """Write labels between their borders, upright if they are too wide; those without space are left out."""
    for text, start, end in labels:
        axes.axvspan(start, end, facecolor="#eef3f8", edgecolor="0.5", linewidth=0.6)
        shown, room = printable(text), (end - start) * points_per_second
        upright = room < _POINTS_PER_CHARACTER * len(shown)
        if upright and (room < 1.1 * _FONT or len(shown) > 3):
            continue
        axes.text(
            (start + end) / 2, 0.5, shown, ha="center", va="center", fontsize=_FONT - upright,
            rotation=90 * upright, parse_math=False,
        )  # fmt: skip
    axes.set(ylim=(0.0, 1.0), yticks=[])
