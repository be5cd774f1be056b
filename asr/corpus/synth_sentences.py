"""Template grammars of sentences: reading, random sentences, and word-pair grammars.

The file holds rules `<NAME> = alternative | alternative`, continued on lines that begin with `|`. An alternative is a
sequence of words and `<NAMES>`; parts in square brackets are optional. Recursion is not allowed, so the language is
finite.

A word-pair grammar (Price, Fisher, Bernstein & Pallett 1988) allows every pair of adjacent words of the sentences;
`SENTENCE-END` is the start and end of a sentence.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from asr.util.errors import GrammarError
from asr.util.text_lines import read_text_lines

SENTENCE_END = "SENTENCE-END"
_START = "<SENTENCE>"
_RULE = re.compile(r"(<\w+>)\s*=(.*)")
_SYMBOL = re.compile(r"<\w+>|[A-Z][A-Z'.-]*")
_MAX_OPTIONS = 8  # per alternative, which expands to 2 ** 8 sequences
_DEEPEST = 100  # nesting depth of rules
_MAX_WORDS = 1000  # per sentence

Alternative = tuple[str, ...]


@dataclass(frozen=True)
class SentenceGrammar:
    """Rules by name; names are written `<NAME>`, all else in an alternative is a word."""

    rules: Mapping[str, tuple[Alternative, ...]]

    @property
    def words(self) -> tuple[str, ...]:
        """All words, sorted."""
        symbols = {symbol for alternatives in self.rules.values() for row in alternatives for symbol in row}
        return tuple(sorted(symbols - self.rules.keys()))

    def draw(self, rng: np.random.Generator) -> tuple[str, ...]:
        """Draw a sentence; the alternatives of a rule are equally likely."""
        return tuple(self._expand(_START, rng))

    def _expand(self, symbol: str, rng: np.random.Generator) -> Iterator[str]:
        alternatives = self.rules.get(symbol)
        if alternatives is None:
            yield symbol
            return
        for part in alternatives[rng.integers(len(alternatives))]:
            yield from self._expand(part, rng)

    def word_pairs(self) -> dict[str, tuple[str, ...]]:
        """Return the sorted successors of each word and of SENTENCE-END."""
        first = self._edge_words(0)
        last = self._edge_words(-1)
        successors: dict[str, set[str]] = {word: set() for word in (*self.words, SENTENCE_END)}
        for alternatives in self.rules.values():
            for row in alternatives:
                for left, right in pairwise(row):
                    for word in last.get(left, {left}):
                        successors[word] |= first.get(right, {right})
        for word in last[_START]:
            successors[word].add(SENTENCE_END)
        successors[SENTENCE_END] = first[_START]
        return {word: tuple(sorted(following)) for word, following in sorted(successors.items())}

    def _edge_words(self, edge: int) -> dict[str, set[str]]:
        """Return the possible first (edge 0) or last (edge -1) words of each rule."""
        found: dict[str, set[str]] = {}
        for name in _in_order(self.rules):
            symbols = {row[edge] for row in self.rules[name]}
            found[name] = set().union(*(found.get(symbol, {symbol}) for symbol in symbols))
        return found


def read_sentence_grammar(path: Path | str) -> SentenceGrammar:
    """Read a sentence grammar.

    Raises GrammarError, with file and line, for an invalid line, a missing, duplicate, unused or recursive rule, an
    alternative without words or with too many options, sentences of more than 1000 words, and more than 100 nested
    rules.
    """
    path = Path(path)
    rules: dict[str, list[Alternative]] = {}
    lines: dict[str, int] = {}
    name = ""
    for number, line in enumerate(read_text_lines(path, GrammarError), 1):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        where = f"{path}:{number}"
        match = _RULE.fullmatch(text)
        if match:
            name, text = match[1], match[2]
            if name in rules:
                raise GrammarError(f"{where}: rule {name} is defined a second time; add to line {lines[name]}")
            rules[name], lines[name] = [], number
        elif text.startswith("|") and name:
            text = text[1:]
        else:
            raise GrammarError(
                f"{where}: '{text}' is not a rule; write '<NAME> = words | words', or begin with '|' to go on"
            )
        for alternative in text.split("|"):
            rules[name].extend(_without_options(alternative, where))
    grammar = SentenceGrammar({name: tuple(alternatives) for name, alternatives in rules.items()})
    _check(grammar, path, lines)
    return grammar


def _without_options(alternative: str, where: str) -> Iterator[Alternative]:
    """Yield the expansions of an alternative's optional parts, the longest first."""
    pieces = re.findall(r"\[([^][]*)\]|([^][]+)", alternative)
    if "".join(f"[{option}]" if option else fixed for option, fixed in pieces) != alternative:
        raise GrammarError(f"{where}: '{alternative.strip()}' has an empty or unmatched bracket; write '[words]'")
    n_options = sum(bool(option) for option, _ in pieces)
    if n_options > _MAX_OPTIONS:
        raise GrammarError(f"{where}: an alternative has {n_options} options in brackets; {_MAX_OPTIONS} are the most")
    choices = [(tuple(option.split()), ()) if option else (tuple(fixed.split()),) for option, fixed in pieces]
    for choice in product(*choices):
        row = sum(choice, ())
        for symbol in row:
            if not _SYMBOL.fullmatch(symbol):
                raise GrammarError(f"{where}: '{symbol}' is neither a word in capitals nor a <NAME>")
        if not row:
            raise GrammarError(f"{where}: the alternative '{alternative.strip()}' may be empty; give it a word")
        yield row


def _check(grammar: SentenceGrammar, path: Path, lines: Mapping[str, int]) -> None:
    if _START not in grammar.rules:
        raise GrammarError(f"{path}: has no rule {_START}, from which sentences are drawn")
    used = {_START}
    for name, alternatives in grammar.rules.items():
        for symbol in (symbol for row in alternatives for symbol in row if symbol.startswith("<")):
            used.add(symbol)
            if symbol not in grammar.rules:
                raise GrammarError(f"{path}:{lines[name]}: rule {name} uses {symbol}, which no line defines")
    for name in grammar.rules.keys() - used:
        raise GrammarError(f"{path}:{lines[name]}: rule {name} is never used; remove it or use it in another rule")
    try:
        order = _in_order(grammar.rules)
    except CycleError as error:
        cycle = " -> ".join(reversed(error.args[1]))
        raise GrammarError(
            f"{path}:{lines[error.args[1][0]]}: the rules run in a circle, {cycle}; recursion is not allowed"
        ) from error
    longest: dict[str, int] = {}
    depths: dict[str, int] = {}
    for name in order:
        depths[name] = 1 + max(depths.get(symbol, 0) for row in grammar.rules[name] for symbol in row)
        if depths[name] > _DEEPEST:
            raise GrammarError(f"{path}:{lines[name]}: rule {name} leads through more than {_DEEPEST} others")
        longest[name] = max(sum(longest.get(symbol, 1) for symbol in row) for row in grammar.rules[name])
        if longest[name] > _MAX_WORDS:
            raise GrammarError(
                f"{path}:{lines[name]}: rule {name} makes {longest[name]} words; {_MAX_WORDS} are the most"
            )


def _in_order(rules: Mapping[str, tuple[Alternative, ...]]) -> list[str]:
    """Return the rule names in dependency order."""
    graph = {name: {symbol for row in rows for symbol in row if symbol in rules} for name, rows in rules.items()}
    return list(TopologicalSorter(graph).static_order())
