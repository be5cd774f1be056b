"""Which training speech is held out: in one draw, or in folds that take turns."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from asr.training.dataset import Dataset
from asr.validation.corpus_size import MIN_SPEAKERS


def hold_out(dataset: Dataset, fraction: float, seed: int) -> tuple[Dataset, Dataset]:
    """Divide training material into speakers to train on and speakers held out, by a seeded draw.

    With a single speaker, utterances are drawn instead.
    """
    units = _units(dataset, 2)
    n_held_out = min(max(1, round(fraction * len(units))), len(units) - 1)
    drawn = [units[i] for i in np.random.default_rng(seed).permutation(len(units))[:n_held_out]]
    return _divided(dataset, drawn, 2)


def folds(dataset: Dataset, fraction: float, words: int, seed: int) -> list[tuple[Dataset, Dataset]]:
    """Parts of the material held out in turn, each beside what is left to train on.

    The speakers (utterances, where there are fewer than four speakers) are dealt to as many folds as `fraction` goes
    into one, such that folds have about as many words each: otherwise the one with the speakers who said most could
    leave little to train on. As many of the folds are taken as it needs for `words` held-out words, or all.

    Parameters
    ----------
    fraction : float
        Part of the speakers, or utterances, in a fold; at most a half counts.
    words : int
        Held-out words that are enough.
    """
    unit = _unit(dataset, MIN_SPEAKERS)
    said = dict.fromkeys(_units(dataset, MIN_SPEAKERS), 0)
    for name, speaker in zip(dataset.static.ids, dataset.static.speakers, strict=True):
        said[unit(name, speaker)] += len(dataset.references[name])
    n_folds = min(len(said), max(2, round(1.0 / fraction)))
    found: list[tuple[Dataset, Dataset]] = []
    heard = 0
    for drawn in _dealt(said, n_folds, np.random.default_rng(seed)):
        if heard >= words:
            break
        fold = _divided(dataset, drawn, MIN_SPEAKERS)
        heard += sum(map(len, fold[1].references.values()))
        found.append(fold)
    return found


def _dealt(said: Mapping[str, int], n_folds: int, random: np.random.Generator) -> list[list[str]]:
    """Units and how many words they said, in drawn folds: those who said most come first, in drawn order where they
    said about as much, each to the fold with the fewest words.
    """
    units = list(said)
    drawn = [units[i] for i in random.permutation(len(units))]
    drawn.sort(key=lambda unit: said[unit].bit_length(), reverse=True)
    found: list[list[str]] = [[] for _ in range(n_folds)]
    for unit in drawn:
        min(found, key=lambda fold: (sum(said[one] for one in fold), len(fold))).append(unit)
    return [found[i] for i in random.permutation(n_folds)]


def _unit(dataset: Dataset, fewest: int) -> Callable[[str, str], str]:
    if len(dataset.speakers) >= fewest:
        return lambda name, speaker: speaker
    return lambda name, speaker: name


def _units(dataset: Dataset, fewest: int) -> list[str]:
    unit = _unit(dataset, fewest)
    pairs = zip(dataset.static.ids, dataset.static.speakers, strict=True)
    return sorted({unit(name, speaker) for name, speaker in pairs})


def _divided(dataset: Dataset, held_out: Sequence[str], fewest: int) -> tuple[Dataset, Dataset]:
    unit, drawn = _unit(dataset, fewest), set(held_out)
    return (
        dataset.where(lambda name, speaker: unit(name, speaker) not in drawn),
        dataset.where(lambda name, speaker: unit(name, speaker) in drawn),
    )
