"""Estimation of a back-off n-gram model from text, with interpolated Witten-Bell or Kneser-Ney smoothing."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from asr.grammar.arpa import END, LOG10_ZERO, MAX_ORDER, START, ArpaModel, Ngram
from asr.grammar.automaton import Arc, Grammar, build_grammar, distinct_words
from asr.util.errors import GrammarError
from asr.util.kneser_ney import modified_discounts
from asr.util.unicode_text import nfc

UNKNOWN = "<unk>"
Counts = dict[Ngram, int]
Discount = Callable[[int], float]


def estimate_ngram(
    sentences: Iterable[Iterable[str]],
    order: int,
    *,
    smoothing: Literal["witten-bell", "kneser-ney"] = "kneser-ney",
    vocabulary: Iterable[str] | None = None,
) -> ArpaModel:
    """Estimate an n-gram model, normalized over the vocabulary and `</s>` after every history.

    Parameters
    ----------
    sentences : iterable of word sequences
        Without sentence marks.
    order : int
        1 for a unigram, 2 for a bigram, ...
    smoothing : {"kneser-ney", "witten-bell"}
        Interpolated Kneser-Ney, modified by Chen and Goodman (1999: three discounts per order). If the counts of counts
        do not give three valid discounts, there is one, n1 / (n1 + 2 n2), or 0.5 if n1 or n2 is 0. Or interpolated
        Witten-Bell (1991, method C). The lowest order is interpolated with the uniform distribution. On the transcripts
        of AN4 and speechocean762 Kneser-Ney has the lower test perplexity at every order.
    vocabulary : iterable of str, optional
        Words with probability, seen or not. The default is the words of the text. Other words of the text count as
        `<unk>`, which then joins the vocabulary.

    Returns
    -------
    ArpaModel
        The model.

    Raises
    ------
    GrammarError
        Without sentences or words, and for an order below 1 or above 20, an unknown smoothing, or a sentence mark among
        the words.

    Examples
    --------
    >>> from asr.grammar import estimate_ngram
    >>> model = estimate_ngram([["ONE", "TWO"], ["TWO"]], 2)
    >>> model.order, model.words
    (2, ('ONE', 'TWO'))
    """
    if not 1 <= order <= MAX_ORDER:
        raise GrammarError(f"The order of an n-gram model is {order}. Expected 1 to {MAX_ORDER}.")
    if smoothing not in ("witten-bell", "kneser-ney"):
        raise GrammarError(f"The smoothing {smoothing!r} is unknown. Expected 'witten-bell' or 'kneser-ney'.")
    text, words = _text_and_vocabulary(sentences, vocabulary)
    raw = _count(text, order)
    uniform = 1.0 / (len(words) + 1)
    probabilities: list[dict[Ngram, float]] = []
    back_offs: dict[Ngram, float] = {}
    for length in range(1, order + 1):
        counts = raw[length - 1]
        discount: Discount | None = None
        if smoothing == "kneser-ney":
            counts = counts if length == order else _continuation_counts(counts, raw[length])
            discount = _modified_discount(counts)
        totals, left_over = _masses(counts, discount)
        section: dict[Ngram, float] = {}
        for ngram in counts if length > 1 else sorted((word,) for word in words | {END}):
            history, count = ngram[:-1], counts.get(ngram, 0)
            lower = probabilities[-1][ngram[1:]] if length > 1 else uniform
            kept = count - discount(count) if discount else count
            section[ngram] = (kept + left_over[history] * lower) / totals[history]
            if length > 1:
                back_offs[history] = math.log10(left_over[history] / totals[history])
        probabilities.append(section)
    log_probabilities = [{ngram: min(math.log10(p), 0.0) for ngram, p in section.items()} for section in probabilities]
    log_probabilities[0][(START,)] = LOG10_ZERO
    return ArpaModel(tuple(log_probabilities), back_offs, f"the {order}-gram model of {len(text)} sentences")


def _text_and_vocabulary(
    sentences: Iterable[Iterable[str]], vocabulary: Iterable[str] | None
) -> tuple[list[Ngram], set[str]]:
    """Return the sentences with `<unk>` for words outside the vocabulary, and the extended vocabulary."""
    text = [tuple(map(nfc, sentence)) for sentence in sentences]
    if not text:
        raise GrammarError("An n-gram model needs at least one sentence.")
    words = set(distinct_words((word for sentence in text for word in sentence) if vocabulary is None else vocabulary))
    mark = next((mark for mark in (START, END) if mark in words or any(mark in sentence for sentence in text)), None)
    if mark is not None:
        raise GrammarError(f"{mark!r} is a sentence mark. Expected vocabulary and sentences without sentence marks.")
    text = [tuple(word if word in words else UNKNOWN for word in sentence) for sentence in text]
    words.update(word for sentence in text for word in sentence)
    return text, words


def _count(text: list[Ngram], order: int) -> list[Counts]:
    """Count the k-grams, k = 1 ... order, of sentences with `<s>` and `</s>`; `<s>` is not counted as a unigram."""
    counts: list[Counter[Ngram]] = [Counter() for _ in range(order)]
    for sentence in text:
        marked = (START, *sentence, END)
        for length in range(1, order + 1):
            begin = 1 if length == 1 else 0
            counts[length - 1].update(marked[i : i + length] for i in range(begin, len(marked) - length + 1))
    return [dict(count) for count in counts]


def _continuation_counts(counts: Counts, longer: Counts) -> Counts:
    """Count the different words before each n-gram; n-grams that begin with `<s>` keep their count."""
    preceded = Counter(ngram[1:] for ngram in longer)
    return {ngram: count if ngram[0] == START else preceded[ngram] for ngram, count in counts.items()}


def _masses(counts: Counts, discount: Discount | None) -> tuple[dict[Ngram, float], dict[Ngram, float]]:
    """Return the total count of each history, and the part of it for the shorter history.

    With a discount this part is the sum of the discounts. Without one (Witten-Bell) it is the number of different
    followers, which is added to the total.
    """
    totals: dict[Ngram, float] = {}
    left_over: dict[Ngram, float] = {}
    for ngram, count in counts.items():
        history = ngram[:-1]
        totals[history] = totals.get(history, 0.0) + count + (0.0 if discount else 1.0)
        left_over[history] = left_over.get(history, 0.0) + (discount(count) if discount else 1.0)
    return totals, left_over


def _modified_discount(counts: Counts) -> Discount:
    discounts = modified_discounts(*(sum(count == k for count in counts.values()) for k in (1, 2, 3, 4)))
    return lambda count: discounts[min(count, 3)]


BACK_OFF = 0.1
"""Probability that the next word does not follow the transcript. Smoothing for other text gives it too much."""


def transcript_ngram(words: Sequence[str], order: int = 3, back_off: float = BACK_OFF) -> Grammar:
    """Return the n-gram of a transcript: relative frequencies, with the same back-off probability for every history.

    A sentence may begin with any word, by its frequency, and end after any word at no cost. Raises GrammarError without
    words.
    """
    counts = [
        Counter(tuple(words[first : first + length]) for first in range(len(words) - length + 1))
        for length in range(1, order + 1)
    ]
    histories = dict.fromkeys(((), *(ngram for of_length in counts[:-1] for ngram in of_length)))
    number = {history: place for place, history in enumerate(histories)}
    totals: Counter[tuple[str, ...]] = Counter()
    for of_length in counts:
        for ngram, count in of_length.items():
            totals[ngram[:-1]] += count
    arcs = [Arc(number[history], None, -math.log(back_off), number[history[1:]]) for history in histories if history]
    for of_length in counts:
        for ngram, count in of_length.items():
            history = ngram[:-1]
            cost = math.log(totals[history] / count) - (math.log1p(-back_off) if history else 0.0)
            target = ngram if len(ngram) < order else ngram[1:]
            arcs.append(Arc(number[history], ngram[-1], cost, number[target]))
    finals = {place: 0.0 for place in number.values() if place}
    return build_grammar("transcript", words, arcs, final_costs=finals, n_states=len(number))
