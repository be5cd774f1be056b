"""Words that an n-gram model did not know when it was estimated."""

from collections.abc import Iterable
from dataclasses import replace

from asr.grammar.arpa import LOG10_ZERO, UNKNOWN_WORDS, ArpaModel


def with_added_words(model: ArpaModel, words: Iterable[str]) -> ArpaModel:
    """The model with a unigram for each of `words` that has none, as likely as its rarest word (or `<unk>`).

    After every history such a word is reached by backing off. Nothing is renormalized: the sum of the probabilities
    grows by those of the words added.
    """
    unigrams = dict(model.log_probabilities[0])
    marked = [unigrams[mark,] for mark in sorted(UNKNOWN_WORDS) if (mark,) in unigrams]
    listed = [unigrams[word,] for word in model.words]
    rarest = min((value for value in marked or listed if value > LOG10_ZERO), default=LOG10_ZERO)
    new = {(word,): rarest for word in words if (word,) not in unigrams}
    return replace(model, log_probabilities=(unigrams | new, *model.log_probabilities[1:]))
