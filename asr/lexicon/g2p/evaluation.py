"""Errors of pronunciations of held-out words of a dictionary."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from asr.lexicon.g2p.model import GraphemeToPhoneme
from asr.lexicon.lexicon import Lexicon
from asr.util.errors import LexiconError

MIN_WORDS = 20
"""Words from which a part of them is held out."""


@dataclass(frozen=True)
class ConversionErrors:
    """Errors of the best pronunciations of words.

    Attributes
    ----------
    words, wrong_words : int
        Number of words, and of those that differ from all pronunciations of the dictionary. Words that cannot be
        converted are wrong, and all their phones count as deleted.
    phones, wrong_phones : int
        Number of phones, and of substituted, deleted and inserted ones, in the pronunciation of the dictionary with the
        fewest errors.

    Examples
    --------
    >>> from asr.lexicon import ConversionErrors
    >>> ConversionErrors(words=20, wrong_words=3, phones=100, wrong_phones=5).word_error_rate
    15.0
    """

    words: int
    wrong_words: int
    phones: int
    wrong_phones: int

    @property
    def word_error_rate(self) -> float:
        """Wrong words per 100 words."""
        return 100.0 * self.wrong_words / self.words

    @property
    def phone_error_rate(self) -> float:
        """Wrong phones per 100 phones."""
        return 100.0 * self.wrong_phones / self.phones


def conversion_errors(converter: GraphemeToPhoneme, lexicon: Lexicon) -> ConversionErrors:
    """Compare the best pronunciation of every word with those of a dictionary.

    Parameters
    ----------
    converter : GraphemeToPhoneme
        The converter.
    lexicon : Lexicon
        Words and their correct pronunciations.

    Returns
    -------
    ConversionErrors
        The errors.

    Examples
    --------
    >>> from asr.lexicon import GraphemeToPhoneme, Lexicon, conversion_errors
    >>> lexicon = Lexicon({"bat": (("B", "A", "T"),), "tab": (("T", "A", "B"),)})
    >>> conversion_errors(GraphemeToPhoneme.train(lexicon), lexicon).wrong_words
    0
    """
    import kaldialign

    wrong_words = n_phones = wrong_phones = 0
    for word in lexicon.words:
        try:
            best = list(converter.pronounce(word)[0][0])
        except LexiconError:
            best = []
        errors, length = min(
            (kaldialign.edit_distance(list(variant), best)["total"], len(variant)) for variant in lexicon[word]
        )
        wrong_words += errors > 0
        n_phones += length
        wrong_phones += errors
    return ConversionErrors(len(lexicon), wrong_words, n_phones, wrong_phones)


def held_out_errors(
    lexicon: Lexicon,
    *,
    folds: int = 10,
    used: int = 1,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> ConversionErrors:
    """Return the errors on words that are held out of the training, by cross-validation.

    Parameters
    ----------
    lexicon : Lexicon
        Dictionary of at least 20 words. All pronunciations of a word are in the same fold.
    folds : int
        Number of parts of the dictionary. One is held out of each training.
    used : int
        Number of trainings, at most `folds`. The default of 1 holds out one part.
    seed : int
        Seed of the random division of the words.
    progress : callable, optional
        As in `GraphemeToPhoneme.train`, over all trainings.
    **options
        Options of `GraphemeToPhoneme.train`.

    Returns
    -------
    ConversionErrors
        Sum over all trainings.

    Raises
    ------
    LexiconError
        If the dictionary has too few words, or `folds` or `used` is out of range.

    Examples
    --------
    >>> from asr.lexicon import Lexicon, held_out_errors
    >>> words = [a + b + c for a in "bdt" for b in "ae" for c in "bdtn"]
    >>> lexicon = Lexicon({word: (tuple(word.upper()),) for word in words})
    >>> held_out_errors(lexicon, used=10, order=3).wrong_words
    0
    """
    from asr.lexicon.g2p.alignment import N_ITERATIONS

    if not 2 <= folds <= len(lexicon) or not 1 <= used <= folds or len(lexicon) < MIN_WORDS:
        raise LexiconError(
            f"{lexicon.source}: {used} of {folds} folds of {len(lexicon)} words. Expected at least {MIN_WORDS} words, "
            "2 folds, and at most as many trainings as folds"
        )
    order = np.random.default_rng(seed).permutation(len(lexicon))
    parts = []
    for fold in range(used):
        held_out = {lexicon.words[number] for number in order[fold::folds]}
        training = lexicon.subset(word for word in lexicon.words if word not in held_out)
        done = fold * N_ITERATIONS

        def advance(iteration: int, done: int = done) -> None:
            if progress is not None:
                progress(done + iteration)

        converter = GraphemeToPhoneme.train(training, progress=advance, **options)
        parts.append(conversion_errors(converter, lexicon.subset(held_out)))
    return ConversionErrors(
        *(sum(getattr(part, name) for part in parts) for name in ("words", "wrong_words", "phones", "wrong_phones"))
    )
