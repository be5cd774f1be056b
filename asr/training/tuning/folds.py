"""Choice of held-out training speech: one random split, or folds."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from asr.training.dataset import Dataset
from asr.validation.corpus_size import MIN_SPEAKERS


def hold_out(dataset: Dataset, fraction: float, seed: int) -> tuple[Dataset, Dataset]:
    """Split data by speaker into a training and a held-out part, with a seed.

    With a single speaker, utterances are split instead.
    """
    units = _units(dataset, 2)
    n_held_out = min(max(1, round(fraction * len(units))), len(units) - 1)
    drawn = [units[i] for i in np.random.default_rng(seed).permutation(len(units))[:n_held_out]]
    return _divided(dataset, drawn, 2)


def folds(dataset: Dataset, fraction: float, words: int, seed: int) -> list[tuple[Dataset, Dataset]]:
    """Return folds as pairs of training and held-out data.

    Speakers (utterances, with fewer than four speakers) are assigned to round(1 / `fraction`) folds with about equal
    numbers of words, so no fold removes most of the training data. Only as many folds are returned as `words` requires.

    Parameters
    ----------
    fraction : float
        Fraction of the speakers or utterances per fold, at most 0.5.
    words : int
        Sufficient number of held-out words.
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
    """Assign each unit to the fold with the fewest words, units with the most words first (ties in random order)."""
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
