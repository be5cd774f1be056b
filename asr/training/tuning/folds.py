"""Choice of held-out training speech: one random split, or folds."""

from collections.abc import Collection, Mapping

import numpy as np

from asr.training.dataset import Dataset
from asr.validation.corpus_size import MIN_SPEAKERS


def hold_out(dataset: Dataset, fraction: float, seed: int) -> tuple[Dataset, Dataset]:
    """Split data by speaker into a training and a held-out part, with a seed.

    With a single speaker, utterances are split instead.
    """
    unit_of = units_of(dataset.utterance_speaker, 2)
    units = sorted(set(unit_of.values()))
    n_held_out = min(max(1, round(fraction * len(units))), len(units) - 1)
    drawn = np.random.default_rng(seed).permutation(len(units))[:n_held_out]
    return _divided(dataset, unit_of, {units[i] for i in drawn})


def folds(dataset: Dataset, fraction: float, words: int, seed: int) -> list[tuple[Dataset, Dataset]]:
    """Return folds as pairs of training and held-out data.

    Speakers (utterances, with fewer than four speakers) are assigned to round(1 / `fraction`) folds with about equal
    numbers of words, so no fold removes most of the training data. Folds are returned until they have enough words.

    Parameters
    ----------
    fraction : float
        Fraction of the speakers or utterances per fold, at most 0.5.
    words : int
        Sufficient number of held-out words.
    """
    unit_of = units_of(dataset.utterance_speaker)
    n_words = dict.fromkeys(sorted(set(unit_of.values())), 0)
    for name, unit in unit_of.items():
        n_words[unit] += len(dataset.references[name])
    n_folds = min(len(n_words), max(2, round(1.0 / fraction)))
    found: list[tuple[Dataset, Dataset]] = []
    n_held_out = 0
    for drawn in _dealt(n_words, n_folds, np.random.default_rng(seed)):
        if n_held_out >= words:
            break
        n_held_out += sum(n_words[unit] for unit in drawn)
        found.append(_divided(dataset, unit_of, drawn))
    return found


def _dealt(n_words: Mapping[str, int], n_folds: int, random: np.random.Generator) -> list[list[str]]:
    """Assign each unit to the fold with the fewest words, units with the most words first (ties in random order)."""
    units = list(n_words)
    drawn = [units[i] for i in random.permutation(len(units))]
    drawn.sort(key=lambda unit: n_words[unit].bit_length(), reverse=True)
    found: list[list[str]] = [[] for _ in range(n_folds)]
    for unit in drawn:
        min(found, key=lambda fold: (sum(n_words[one] for one in fold), len(fold))).append(unit)
    return [found[i] for i in random.permutation(n_folds)]


def units_of(speakers: Mapping[str, str], min_speakers: int = MIN_SPEAKERS) -> dict[str, str]:
    """Return the unit of each utterance that is held out as a whole: its speaker, or itself if speakers are few."""
    return dict(speakers if len(set(speakers.values())) >= min_speakers else zip(speakers, speakers, strict=True))


def _divided(dataset: Dataset, unit_of: Mapping[str, str], held_out: Collection[str]) -> tuple[Dataset, Dataset]:
    return (
        dataset.where(lambda name, _: unit_of[name] not in held_out),
        dataset.where(lambda name, _: unit_of[name] in held_out),
    )
