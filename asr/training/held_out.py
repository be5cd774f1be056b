"""Which training speech is held out: in one draw, or in folds that take turns."""

from collections.abc import Callable, Sequence

import numpy as np

from asr.recognition.material import Material
from asr.validation.amount import FEWEST_SPEAKERS


def hold_out(material: Material, fraction: float, seed: int) -> tuple[Material, Material]:
    """Divide training material into speakers to train on and speakers held out, by a seeded draw.

    With a single speaker, utterances are drawn instead.
    """
    units = _units(material, 2)
    n_held_out = min(max(1, round(fraction * len(units))), len(units) - 1)
    drawn = [units[i] for i in np.random.default_rng(seed).permutation(len(units))[:n_held_out]]
    return _divided(material, drawn, 2)


def folds(material: Material, fraction: float, words: int, seed: int) -> list[tuple[Material, Material]]:
    """Parts of the material held out in turn, each beside what is left to train on.

    The speakers (utterances, where there are fewer than four speakers) are dealt in a drawn order to as many folds as
    `fraction` goes into one. As many of the folds are taken as it needs for `words` held-out words, or all.

    Parameters
    ----------
    fraction : float
        Part of the speakers, or utterances, in a fold; at most a half counts.
    words : int
        Held-out words that are enough.
    """
    units = _units(material, FEWEST_SPEAKERS)
    n_folds = min(len(units), max(2, round(1.0 / fraction)))
    order = [units[i] for i in np.random.default_rng(seed).permutation(len(units))]
    found: list[tuple[Material, Material]] = []
    heard = 0
    for number in range(n_folds):
        if heard >= words:
            break
        fold = _divided(material, order[number::n_folds], FEWEST_SPEAKERS)
        heard += sum(map(len, fold[1].references.values()))
        found.append(fold)
    return found


def _unit(material: Material, fewest: int) -> Callable[[str, str], str]:
    if len(material.speakers) >= fewest:
        return lambda name, speaker: speaker
    return lambda name, speaker: name


def _units(material: Material, fewest: int) -> list[str]:
    unit = _unit(material, fewest)
    pairs = zip(material.static.ids, material.static.speakers, strict=True)
    return sorted({unit(name, speaker) for name, speaker in pairs})


def _divided(material: Material, held_out: Sequence[str], fewest: int) -> tuple[Material, Material]:
    unit, drawn = _unit(material, fewest), set(held_out)
    return (
        material.where(lambda name, speaker: unit(name, speaker) not in drawn),
        material.where(lambda name, speaker: unit(name, speaker) in drawn),
    )
