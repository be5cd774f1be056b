"""Word-pair grammars: the possible successors of each word, all equally likely (Price et al. 1988, DARPA RM)."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from asr.grammar.automaton import Arc, Grammar, build_grammar
from asr.util.errors import GrammarError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines

SENTENCE_END = "SENTENCE-END"
Successors = dict[str, tuple[str, ...]]


def word_pair(successors: Mapping[str, Iterable[str]], vocabulary: Iterable[str] | None = None) -> Grammar:
    """Build the automaton of a word-pair grammar; words with the same successors share a state.

    Raises GrammarError if no sentence remains.

    Parameters
    ----------
    successors : mapping from a word to its successors
        The key "SENTENCE-END" has the first words of sentences; the successor "SENTENCE-END" ends one.
    vocabulary : iterable of str, optional
        Other words are left out, as are words that are then on no path from a sentence's start to its end. The
        remaining successors stay equally likely.

    Returns
    -------
    Grammar
        The automaton.

    Examples
    --------
    >>> from asr.grammar import score_sentence, word_pair
    >>> successors = {"SENTENCE-END": ["ONE"], "ONE": ["TWO"], "TWO": ["ONE", "SENTENCE-END"]}
    >>> round(score_sentence(word_pair(successors), ["ONE", "TWO"]), 3)
    -0.693
    """
    given = {word: set(following) for word, following in successors.items()}
    known = (set(given) | {word for following in given.values() for word in following}) - {SENTENCE_END}
    allowed = known if vocabulary is None else known & set(vocabulary)
    kept = _on_a_path(given, allowed | {SENTENCE_END})
    if kept <= {SENTENCE_END}:
        raise GrammarError(
            "The word-pair grammar has no sentence of one or more words"
            + ("" if vocabulary is None else " over the given vocabulary")
            + f". Expected a path from {SENTENCE_END} to {SENTENCE_END}."
        )

    sets = {word: frozenset(given[word] & kept) for word in sorted(kept)}
    states = {following: state for state, following in enumerate(dict.fromkeys([sets[SENTENCE_END], *sets.values()]))}
    arcs, final_costs = [], {}
    for following, state in states.items():
        cost = math.log(len(following))
        if SENTENCE_END in following:
            final_costs[state] = cost
        arcs += [Arc(state, word, cost, states[sets[word]]) for word in sorted(following - {SENTENCE_END})]
    words = kept - {SENTENCE_END}
    return build_grammar("wordpair", words, arcs, final_costs=final_costs, n_states=len(states), left_out=known - words)


def read_word_pair(path: Path | str) -> Successors:
    """Read a word-pair file: `>WORD` (or `>SENTENCE-END`), then its successors, one per line, without repetition.

    Lines that begin with `*` before the first `>` are comments; blank lines are skipped. Raises GrammarError with file,
    line and value for a successor before the first `>`, a line of several words, a word with two lists or an empty one,
    a successor without its own list, or a missing list for SENTENCE-END.

    Parameters
    ----------
    path : path
        Word-pair file.

    Returns
    -------
    dict of str to tuple of str
        The successors of each word, for `word_pair`.

    Examples
    --------
    >>> from asr.grammar import read_word_pair, write_word_pair
    >>> successors = {"SENTENCE-END": ["ONE"], "ONE": ["TWO"], "TWO": ["ONE", "SENTENCE-END"]}
    >>> write_word_pair(successors, "pairs.txt")
    >>> read_word_pair("pairs.txt")["ONE"]
    ('TWO',)
    """
    return parse_word_pair(read_text_lines(path, GrammarError), str(path))


def parse_word_pair(lines: Iterable[str], source: str) -> Successors:
    """Parse lines of text as `read_word_pair` does; `source` is used in errors."""
    lists: dict[str, dict[str, int]] = {}
    opened: dict[str, int] = {}
    current: dict[str, int] | None = None
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or (current is None and line.startswith("*")):
            continue
        name = line[1:].strip() if line.startswith(">") else line
        if name.split() != [name]:
            raise GrammarError(f"{source}, line {number}: {line!r}. Expected one word, or '>' and one word.")
        if line.startswith(">"):
            if name in lists:
                raise GrammarError(f"{source}, line {number}: {name!r} already has a list, on line {opened[name]}.")
            current = lists[name] = {}
            opened[name] = number
        elif current is None:
            raise GrammarError(f"{source}, line {number}: {line!r} is before the first '>WORD' line.")
        else:
            current.setdefault(name, number)

    if SENTENCE_END not in lists:
        raise GrammarError(f"{source} has no line '>{SENTENCE_END}', for the first words of sentences.")
    for word, following in lists.items():
        if not following:
            raise GrammarError(f"{source}, line {opened[word]}: {word!r} has no successors. Expected at least one.")
        for successor, number in following.items():
            if successor not in lists:
                raise GrammarError(
                    f"{source}, line {number}: {successor!r} follows {word!r} but has no line '>{successor}'."
                )
    return {word: tuple(following) for word, following in lists.items()}


def write_word_pair(successors: Mapping[str, Iterable[str]], path: Path | str, *, comment: str = "") -> None:
    """Write a word-pair file, words and successors sorted, with `comment` in `*` lines first.

    Raises GrammarError if a name is empty, has white space or begins with `>`.

    Parameters
    ----------
    successors : mapping from a word to its successors
        As in `word_pair`.
    path : path
        File to write.
    comment : str
        Text of the first lines.

    Examples
    --------
    >>> from asr.grammar import write_word_pair
    >>> successors = {"SENTENCE-END": ["ONE"], "ONE": ["TWO"], "TWO": ["ONE", "SENTENCE-END"]}
    >>> write_word_pair(successors, "pairs.txt")
    """
    lines = [f"* {line}" for line in comment.splitlines()]
    for word, following in sorted(successors.items()):
        lines.append(f">{word}")
        lines += sorted(set(following))
        for name in (word, *following):
            if name.split() != [name] or name.startswith(">"):
                raise GrammarError(
                    f"{name!r} cannot be written to a word-pair file. Expected a name without white space."
                )
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _on_a_path(successors: Mapping[str, set[str]], allowed: set[str]) -> set[str]:
    """Return the words of `allowed` on some path from the sentence start to its end."""
    forward = {word: successors.get(word, set()) & allowed for word in allowed}
    backward: dict[str, set[str]] = {word: set() for word in allowed}
    for word, following in forward.items():
        for successor in following:
            backward[successor].add(word)
    return _reachable(forward) & _reachable(backward)


def _reachable(edges: Mapping[str, set[str]]) -> set[str]:
    found, waiting = set[str](), [SENTENCE_END]
    while waiting:
        for neighbour in edges[waiting.pop()] - found:
            found.add(neighbour)
            waiting.append(neighbour)
    return found
