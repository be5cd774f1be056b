"""An n-gram model as an automaton with one state per history and `#0` arcs for back-off (Mohri et al. 2008)."""

from collections.abc import Iterable

from asr.grammar.arpa import END, LN10, START, UNKNOWN_WORDS, ArpaModel, Ngram
from asr.grammar.automaton import Grammar, distinct_words, grammar_of_columns
from asr.util.errors import GrammarError
from asr.util.unicode_text import nfc

MAX_INSERTED = 2
"""Maximum number of inserted histories per listed n-gram; pruned models usually keep the histories of n-grams."""
ORDER_NAMES = {1: "unigram", 2: "bigram", 3: "trigram"}


def arpa_grammar(model: ArpaModel, words: Iterable[str] | None = None) -> Grammar:
    """Build the automaton of a back-off model, exact if `#0` is read as a failure transition.

    The sentence start is the start state, `</s>` the final cost. A missing history of an n-gram (in a pruned model) is
    inserted with its back-off probability. Raises GrammarError if model and vocabulary share no word, the model cannot
    end a sentence, or it lacks most histories.

    Parameters
    ----------
    model : ArpaModel
        The model.
    words : iterable of str, optional
        The vocabulary. The default is all words of the model. Other words of the model are dropped without
        renormalizing, and listed in `left_out`; words that the model lacks are not in the grammar. `<unk>` is a word
        only if it is named here.

    Returns
    -------
    Grammar
        The automaton.

    Examples
    --------
    >>> from asr.grammar import arpa_grammar, estimate_ngram
    >>> model = estimate_ngram([["ONE", "TWO"], ["TWO"]], 2)
    >>> arpa_grammar(model, ["ONE"]).left_out
    ('TWO',)
    """
    unigrams = {word for (word,) in model.log_probabilities[0]}
    if END not in unigrams:
        raise GrammarError(f"{model.source} has no unigram {END!r}, so no sentence can end. Add it.")
    wanted = set(model.words) if words is None else set(words)
    vocabulary = unigrams & wanted - {START, END}
    if not vocabulary:
        raise GrammarError(
            f"{model.source} and the vocabulary have no word in common. The model "
            f"has {_examples(set(model.words))}, the vocabulary {_examples(wanted)}; letter case matters."
        )

    ngrams = _with_prefixes(model, vocabulary)
    states: dict[Ngram, int] = {(): 0}
    sources = [states.setdefault(ngram[:-1], len(states)) for ngram in ngrams]
    for history, weight in model.back_offs.items():
        if weight and history in ngrams and history[-1] != END:
            states.setdefault(history, len(states))

    def state_of(history: Ngram) -> int:
        """Return the state of the longest suffix of `history` that has one; a longer one has no weight either."""
        while history not in states:
            history = history[1:]
        return states[history]

    words = distinct_words(vocabulary)
    number = {word: label for label, word in enumerate(words, 1)}
    labels = {word: number[nfc(word)] for word in vocabulary}
    final_costs, order, state_at = {}, model.order, states.get
    columns = starts, read, logs, ends = list[int](), list[int](), list[float](), list[int]()
    for source, (ngram, log_probability) in zip(sources, ngrams.items(), strict=True):
        word = ngram[-1]
        if word == END:
            final_costs[source] = -LN10 * log_probability
        elif word != START:
            history = ngram if len(ngram) < order else ngram[1:]
            target = state_at(history)
            starts.append(source)
            read.append(labels[word])
            logs.append(log_probability)
            ends.append(state_of(history[1:]) if target is None else target)
    for history, state in states.items():
        if history:
            starts.append(state)
            read.append(len(words) + 1)
            logs.append(model.back_offs.get(history, 0.0))
            ends.append(state_of(history[1:]))
    start = state_of((START,)) if model.order > 1 else 0
    return grammar_of_columns(
        ORDER_NAMES.get(model.order, f"{model.order}-gram"),
        words,
        *columns,
        scale=-LN10,
        final_costs=final_costs,
        n_states=len(states),
        start=start,
        left_out=unigrams - vocabulary - {START, END} - UNKNOWN_WORDS,
    )


def _with_prefixes(model: ArpaModel, vocabulary: set[str]) -> dict[Ngram, float]:
    """Return the n-grams over `vocabulary`, with missing histories of their prefixes inserted.

    `<s>` may only begin an n-gram and `</s>` only end one.
    """
    first, last = vocabulary | {START}, vocabulary | {END}
    ngrams = {
        ngram: log_probability
        for section in model.log_probabilities
        for ngram, log_probability in section.items()
        if (ngram[0] in first and ngram[-1] in last and vocabulary.issuperset(ngram[1:-1]))
        or ngram in ((START,), (END,))
    }
    listed = list(ngrams)
    most = len(listed) + MAX_INSERTED * len(listed) + 1000
    for ngram in listed:
        for length in range(2, len(ngram)):
            if ngram[:length] not in ngrams:
                ngrams[ngram[:length]] = model.log10_probability(ngram[: length - 1], ngram[length - 1])
        if len(ngrams) > most:
            raise GrammarError(
                f"{model.source} lists {len(listed)} n-grams, but more than {most - len(listed)} of their "
                f"histories are missing, such as {' '.join(ngram[:-1])!r}. Expected all histories in the model."
            )
    return ngrams


def _examples(words: set[str]) -> str:
    return " ".join(sorted(words)[:3]) + (" ..." if len(words) > 3 else "") if words else "none"
