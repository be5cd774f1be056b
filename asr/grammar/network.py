"""Word networks of any format as automata, with epsilons, sentence marks and unknown words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from asr.grammar.arpa import UNKNOWN_WORDS
from asr.grammar.automaton import Arc, Grammar, build_grammar
from asr.grammar.determinization import determinize
from asr.grammar.filler import FILLER_WORD
from asr.util.errors import GrammarError

NULL = "!NULL"
SENTENCE_MARKS = frozenset({"!ENTER", "!EXIT", "SENT-START", "SENT-END", "<s>", "</s>"})
"""Names of the silence around a sentence in HBuild and HTK's tutorial; words only if the vocabulary has them."""
_SHOWN = 10


def network_grammar(
    source: str, arcs: Iterable[Arc], *, start: int, end: int, vocabulary: Iterable[str] | None = None
) -> Grammar:
    """Build the automaton of a network; a sentence has the cost of its best path, as in HVite.

    Raises GrammarError if no sentence with words remains, there is a cycle of epsilons, or the automaton would be too
    large.

    Parameters
    ----------
    source : str
        Origin of the network, for errors.
    arcs : iterable of Arc
        Words None and `!NULL` are epsilons.
    start, end : int
    vocabulary : iterable of str, optional
        Paths with other words are left out. The marks of `SENTENCE_MARKS` are epsilons unless they are in the
        vocabulary, because silence around a sentence is possible anyway.
    """
    known = None if vocabulary is None else {*vocabulary, FILLER_WORD}

    def spoken(word: str | None) -> str | None:
        return None if word == NULL or (word in SENTENCE_MARKS and (known is None or word not in known)) else word

    arcs = [arc if arc.word is None or spoken(arc.word) else replace(arc, word=None) for arc in arcs]
    words = {arc.word for arc in arcs if arc.word is not None}
    allowed = [arc for arc in arcs if arc.word is None or known is None or arc.word in known]
    arcs, final_costs, n_states = determinize(source, allowed, start=start, end=end)
    kept = {arc.word for arc in arcs if arc.word is not None}
    if not kept or not final_costs:
        lacking = (
            ""
            if known is None or words <= known
            else f". Words that are missing in the vocabulary: {some(sorted(words - known))}"
        )
        raise GrammarError(f"{source} has no sentence of one or more words{lacking}.")
    return build_grammar("network", kept, arcs, final_costs=final_costs, n_states=n_states, left_out=words - kept)


def some(items: Sequence[object]) -> str:
    """Format the first items, with "..." if there are more."""
    return " ".join(map(str, items[:_SHOWN])) + " ..." * (len(items) > _SHOWN)


_OF_AUTOMATA = re.compile(r"#\d+", re.ASCII)


def meaning(name: str) -> str:
    """Return the meaning of a special name in some grammar format; empty for ordinary words.

    >>> meaning("<s>"), meaning("ONE")
    ('the beginning or end of a sentence', '')
    """
    if name in SENTENCE_MARKS:
        return "the beginning or end of a sentence"
    if name in (NULL, "<eps>"):
        return "no word"
    if name == FILLER_WORD:
        return "speech outside the grammar"
    if name in UNKNOWN_WORDS:
        return "any unknown word"
    return "a symbol of automata" if _OF_AUTOMATA.fullmatch(name) else ""
