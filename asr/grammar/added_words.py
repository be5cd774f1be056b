"""Words added to an n-gram model after its estimation."""

from collections.abc import Iterable
from dataclasses import replace

from asr.grammar.arpa import LOG10_ZERO, UNKNOWN_WORDS, ArpaModel


def with_added_words(model: ArpaModel, words: Iterable[str]) -> ArpaModel:
    """Add a unigram for each new word, with the probability of `<unk>` or else of the rarest word.

    Such a word is reached from every history by back-off. The model is not renormalized: the sum of the probabilities
    grows by those of the added words.
    """
    unigrams = dict(model.log_probabilities[0])
    marked = [unigrams[mark,] for mark in sorted(UNKNOWN_WORDS) if (mark,) in unigrams]
    listed = [unigrams[word,] for word in model.words]
    rarest = min((value for value in marked or listed if value > LOG10_ZERO), default=LOG10_ZERO)
    new = {(word,): rarest for word in words if (word,) not in unigrams}
    return replace(model, log_probabilities=(unigrams | new, *model.log_probabilities[1:]))
