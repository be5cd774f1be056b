"""Lexicons for whole-word models, such as digits, in which every word has its own phones."""

from asr.lexicon.lexicon import Lexicon, Pronunciation


def with_own_phones(lexicon: Lexicon) -> Lexicon:
    """Return the lexicon with phones that no two words share: `AH` at position 1 of `ONE` is `AH_ONE_1`.

    Positions start at 0; variants of a word share equal phones at the same position. Models trained with it are word
    models, which recognize only words of the training data.

    Parameters
    ----------
    lexicon : Lexicon
        The lexicon.

    Returns
    -------
    Lexicon
        The same words with other phones.

    Examples
    --------
    >>> from asr.lexicon import Lexicon, with_own_phones
    >>> lexicon = Lexicon({"ONE": (("W", "AH", "N"),)})
    >>> with_own_phones(lexicon)["ONE"]
    (('W_ONE_0', 'AH_ONE_1', 'N_ONE_2'),)
    """

    def own(word: str, variant: Pronunciation) -> Pronunciation:
        return tuple(f"{phone}_{word}_{place}" for place, phone in enumerate(variant))

    return Lexicon(
        {word: tuple(own(word, one) for one in variants) for word, variants in lexicon.pronunciations.items()},
        lexicon.source,
        probabilities={(word, own(word, one)): p for (word, one), p in lexicon.probabilities.items()},
    )
