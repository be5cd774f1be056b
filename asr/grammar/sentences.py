"""A list of sentences as a grammar, with probabilities by frequency in the list."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from asr.grammar.automaton import Arc, Grammar, build_grammar
from asr.grammar.filler import FILLER_WORD
from asr.util.errors import GrammarError
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import nfc

MAX_SENTENCE_LENGTH = 1000
"""Words."""


def read_sentences(path: Path | str) -> list[tuple[str, ...]]:
    """Read the sentences of a text file, one per line; blank lines and lines that begin with `#` are skipped.

    Raises GrammarError if the file cannot be read or has no sentence.
    """
    sentences = parse_sentences(read_text_lines(path, GrammarError))
    if not sentences:
        raise GrammarError(f"{path} has no sentences. Expected one per line.")
    return sentences


def parse_sentences(lines: Iterable[str]) -> list[tuple[str, ...]]:
    """Parse lines of text as `read_sentences` does; the result may be empty."""
    divided = (line.split() for line in lines)
    return [tuple(words) for words in divided if words and not words[0].startswith("#")]


def sentence_list(sentences: Iterable[Sequence[str]], words: Iterable[str] | None = None) -> Grammar:
    """Build the grammar of a list of sentences, as a prefix tree with relative frequencies as probabilities.

    Raises GrammarError if no sentence is left, or one has no words or more than 1000.

    Parameters
    ----------
    sentences : iterable of sequences of words
        A sentence listed n times counts n times.
    words : iterable of str, optional
        The vocabulary; the filler `[unk]` is always in it. Sentences with other words are left out, and those words are
        listed in `left_out`.
    """
    counts = Counter(tuple(map(nfc, sentence)) for sentence in sentences)
    longest = max(map(len, counts), default=0)
    if longest > MAX_SENTENCE_LENGTH:
        raise GrammarError(f"A sentence of the grammar has {longest} words. Expected at most {MAX_SENTENCE_LENGTH}.")
    unknown: set[str] = set()
    if words is not None:
        known = {*words, FILLER_WORD}
        unknown = {word for sentence in counts for word in sentence} - known
        counts = Counter({sentence: n for sentence, n in counts.items() if not unknown.intersection(sentence)})
    if not counts or () in counts:
        why = f". Words that are missing in the vocabulary: {' '.join(sorted(unknown)[:10])}" if unknown else ""
        raise GrammarError(f"A grammar of sentences needs at least one sentence of at least one word{why}.")
    # A tree, because a table of prefixes grows with the square of a sentence's length.
    children: list[dict[str, int]] = [{}]
    mass, ends = [0], Counter[int]()
    for sentence, n in sorted(counts.items()):
        state = 0
        mass[0] += n
        for word in sentence:
            if word not in children[state]:
                children[state][word] = len(children)
                children.append({})
                mass.append(0)
            state = children[state][word]
            mass[state] += n
        ends[state] += n
    arcs = [
        Arc(state, word, math.log(mass[state] / mass[target]), target)
        for state, following in enumerate(children)
        for word, target in following.items()
    ]
    final_costs = {state: math.log(mass[state] / n) for state, n in ends.items()}
    vocabulary = {word for sentence in counts for word in sentence}
    return build_grammar(
        "sentences",
        vocabulary,
        arcs,
        final_costs=final_costs,
        n_states=len(children),
        left_out=unknown,
    )
