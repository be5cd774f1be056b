"""A back-off n-gram model, as in the ARPA format."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from asr.util.errors import GrammarError

Ngram = tuple[str, ...]

START, END = "<s>", "</s>"
UNKNOWN_WORDS = frozenset({"<unk>", "<UNK>"})
LOG10_ZERO = -99.0
"""The format's log probability of zero; no weight has a larger absolute value."""
MAX_ORDER = 20
LN10 = math.log(10.0)


@dataclass(frozen=True)
class ArpaModel:
    """Log probabilities and back-off weights of n-grams (Katz 1987; file format by D. Paul).

    Attributes
    ----------
    log_probabilities : tuple of mappings
        For k = 1, 2, ...: k-gram (history, then word) to log10 probability.
    back_offs : mapping
        History to log10 back-off weight; 0 for others.
    source : str
        Origin, for messages.

    Examples
    --------
    >>> from asr.grammar import estimate_ngram
    >>> model = estimate_ngram([["ONE", "TWO"], ["TWO"]], 2)
    >>> round(model.log10_sentence(["TWO"]), 2) < 0
    True
    """

    log_probabilities: tuple[Mapping[Ngram, float], ...]
    back_offs: Mapping[Ngram, float]
    source: str = "the n-gram model"

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.log_probabilities)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The unigrams except the sentence marks and `<unk>`, sorted."""
        return tuple(sorted({word for (word,) in self.log_probabilities[0]} - {START, END} - UNKNOWN_WORDS))

    def log10_probability(self, history: Sequence[str], word: str) -> float:
        """Return log10 p(word | history): the listed value, or the back-off weight plus the value for a shorter
        history.

        Raises GrammarError for a word without unigram.

        Parameters
        ----------
        history : sequence of str
            Words before; only the last order - 1 are used.
        word : str
            The word.
        """
        context = tuple(history)[max(0, len(history) - self.order + 1) :]
        total = 0.0
        while True:
            ngram = (*context, word)
            if ngram in self.log_probabilities[len(context)]:
                return total + self.log_probabilities[len(context)][ngram]
            if not context:
                raise GrammarError(f"{self.source} has no unigram {word!r}.")
            total += self.back_offs.get(context, 0.0)
            context = context[1:]

    def log10_sentence(self, words: Iterable[str]) -> float:
        """Return the log10 probability of the sentence `words` with its end, after `<s>`."""
        history, total = [START], 0.0
        for word in (*words, END):
            total += self.log10_probability(history, word)
            history.append(word)
        return total
