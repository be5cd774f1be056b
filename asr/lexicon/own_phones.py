"""Lexicons in which every word has states of its own, as for digits, whose few phones recur in few words."""

from asr.lexicon.lexicon import Lexicon


def with_own_phones(lexicon: Lexicon) -> Lexicon:
    """The lexicon with phones that no two words share: `AH` at place 1 of `ONE` is `AH_ONE_1`.

    Places are counted from 0; variants of a word share a phone that they have at the same place. What is trained on
    such a lexicon are word models: a word can be recognized if it was said in training, and only then.
    """
    return Lexicon(
        {
            word: tuple(tuple(f"{phone}_{word}_{place}" for place, phone in enumerate(variant)) for variant in variants)
            for word, variants in lexicon.pronunciations.items()
        },
        lexicon.source,
    )
