"""Grammars in the language of HTK's HParse (HTK Book 3.4, section 12.3).

    $name  = ANNA | BORIS [ SMITH ];
    $digit = ONE | TWO | THREE;
    ( SENT-START ( CALL $name | DIAL <$digit> ) SENT-END )

`|` separates alternatives, `[ ]` is optional, `< >` is repeated one or more times, `{ }` zero or more times, `( )`
groups. `$name = ...;` names an expression for later use; the last expression is the grammar. Comments are between `/*`
and `*/`. Words with these characters are quoted or have a backslash before each.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, NoReturn

from asr.grammar.automaton import Arc, Grammar
from asr.grammar.filler import FILLER_VARIABLE, FILLER_WORD, SPELLING, is_misspelt_filler
from asr.grammar.network import network_grammar
from asr.util.errors import GrammarError
from asr.util.htk_strings import read_htk_string

MAX_ARCS = 200_000
"""Maximum number of arcs of a network, in which each use of a variable is a copy."""
MIN_ARCS = 40_000
"""Number of arcs that any file may make; a longer file may make `ARCS_A_SIGN` per word and sign."""
ARCS_A_SIGN = 40
DEEPEST = 50  # levels of nested brackets and variables
_BEGINNING = re.compile(r"\$[^\s=]+\s*=|/\*|\(\s.*\)$|\(\s*$")
_NOT_SIGNS = re.compile(r"\\.|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+|/\*.*?\*/", re.DOTALL)
_SIGNS = "()[]{}<>|;="
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Token(NamedTuple):
    """A sign, a word or a variable (`$name`), and its line."""

    kind: str
    text: str
    line: int


class Node(NamedTuple):
    """An expression: "word" (`text`), "sequence" or "alternatives" of parts, or a bracket `[`, `{`, `<` around one.

    `empty` is whether it accepts the empty word sequence.
    """

    kind: str
    parts: tuple["Node", ...] = ()
    text: str = ""
    empty: bool = False


def _joined(kind: str, parts: list[Node]) -> Node:
    """Return a sequence or alternatives, or the only part."""
    if len(parts) == 1:
        return parts[0]
    return Node(kind, tuple(parts), empty=(any if kind == "alternatives" else all)(part.empty for part in parts))


def is_hparse(lines: Iterable[str]) -> bool:
    """Return whether the lines begin with a definition or a comment, or are one expression in brackets.

    A list of sentences may begin with a word in brackets, `(noise) ONE`. So the first bracket must close at the end of
    the file, or the first line must have `|` or a variable.
    """
    given = list(lines)
    first = next((line.strip() for line in given if line.strip()), "")
    if not first.startswith("("):
        return _BEGINNING.match(first) is not None
    if _BEGINNING.match(first) or re.search(r"\s\|\s|\s\$\S", first):
        return True
    text = _NOT_SIGNS.sub("", "\n".join(given)).strip()
    depth = 0
    for position, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return position == len(text) - 1 and ("|" in text or len(text.split()) > 1)
    return False


def hparse_grammar(lines: Iterable[str], source: str, vocabulary: Iterable[str] | None = None) -> Grammar:
    """Build the automaton of an HParse grammar; all paths have cost 0, as in HVite.

    `source` is used in errors; `vocabulary` is as in `network_grammar`. Raises GrammarError with file and line for a
    syntax error, an undefined variable, repetition of an expression that may be empty, the unsupported loops in context
    (`<< >>`) and output names (`%`), and too many arcs (over 200,000, or far more than the file has words). Raises it
    without a line as `network_grammar` does.
    """
    tokens = list(_tokens("\n".join(lines), source))
    network = _Network(source, min(MAX_ARCS, max(MIN_ARCS, ARCS_A_SIGN * len(tokens))))
    network.add(_Parser(tokens, source).grammar(), 0, 1)
    return network_grammar(source, network.arcs, start=0, end=1, vocabulary=vocabulary)


def _tokens(text: str, source: str) -> Iterator[Token]:
    position, line = 0, 1
    while position < len(text):
        if space := _SPACE.match(text, position):
            line += space[0].count("\n")
            position = space.end()
            continue
        where = f"{source}, line {line}"
        if text.startswith("/*", position):
            raise GrammarError(f"{where}: the comment /* is not closed. Expected */.")
        if text.startswith(("<<", ">>"), position):
            raise GrammarError(
                f"{where}: loops in context, << >>, are not supported, because they are for triphone models. Use "
                "a space between < and < for nested repetition."
            )
        if text[position] in _SIGNS:
            yield Token(text[position], text[position], line)
            position += 1
            continue
        variable = text[position] == "$"
        try:
            word, after = read_htk_string(text, position + variable, stop=f"{_SIGNS}%")
        except ValueError as problem:
            raise GrammarError(f"{where}: {problem}.") from None
        if text.startswith("%", after):
            raise GrammarError(f"{where}: output names (%) are not supported. Use {word[:80]!r} alone.")
        if not word or word.split() != [word]:
            raise GrammarError(f"{where}: {text[position:after][:80]!r} is not a word.")
        yield Token("variable" if variable else "word", word, line)
        position = after


class _Parser:
    """Recursive descent parser; variables are expressions that were parsed before."""

    def __init__(self, tokens: list[Token], source: str) -> None:
        self._tokens = tokens
        self._at = 0
        self._source = source
        self._variables: dict[str, tuple[Node, int]] = {}  # with nesting depth
        self._defined: Token | None = None  # the variable that is being defined

    def grammar(self) -> Node:
        """Parse the last expression, with its variables replaced."""
        while self._next() == "variable" and self._next(1) == "=":
            self._defined = self._take()
            self._take()
            node, depth = self._expression(0)
            if self._next() != ";":
                self._fail(f"';' after ${self._defined.text} = ...")
            self._take()
            self._variables[self._defined.text] = node, depth
        self._defined = None
        if self._next() != "(":
            self._fail("'(' around the grammar, after all definitions $name = ...;")
        node, _ = self._factor(0)
        if self._at < len(self._tokens):
            self._fail("the end of the grammar after the ')' of its first bracket")
        return node

    def _expression(self, depth: int) -> tuple[Node, int]:
        """Parse alternatives of sequences; return them and their nesting depth."""
        ways, deepest = [], depth
        while True:
            parts = []
            while self._next() in ("word", "variable", *_CLOSING):
                part, below = self._factor(depth)
                parts.append(part)
                deepest = max(deepest, below)
            if not parts:
                self._fail("a word, a $variable or a bracket")
            ways.append(_joined("sequence", parts))
            if self._next() != "|":
                break
            self._take()
        return _joined("alternatives", ways), deepest

    def _factor(self, depth: int) -> tuple[Node, int]:
        token = self._take()
        if token.kind == "word":
            return Node("word", text=token.text), depth
        if token.kind == "variable":
            if token.text not in self._variables:
                name, within = token.text[:80], self._defined
                unfinished = within is not None and (within.text == token.text or self._next() == "=")
                if token.text == FILLER_VARIABLE and not unfinished:
                    return Node("word", text=FILLER_WORD), depth
                if within is not None and unfinished:
                    raise GrammarError(
                        f"{self._source}, line {token.line}: the definition of ${within.text[:80]} on "
                        f"line {within.line} has no ';' before ${name}. Expected ';' at its end."
                    )
                hint = f"; {SPELLING}" if is_misspelt_filler(f"${name}") else f". Expected ${name} = ...; before"
                raise GrammarError(f"{self._source}, line {token.line}: ${name} is not defined{hint}.")
            node, below = self._variables[token.text]
            self._check_depth(depth + 1 + below, token.line)
            return node, depth + 1 + below
        self._check_depth(depth + 1, token.line)
        inner, below = self._expression(depth + 1)
        closing = _CLOSING[token.kind]
        if self._next() != closing:
            self._fail(f"'{closing}' for the '{token.kind}' of line {token.line}")
        self._take()
        if token.kind == "(":
            return inner, below
        if token.kind in "{<" and inner.empty:
            raise GrammarError(
                f"{self._source}, line {token.line}: the expression repeated by {token.kind} {closing} may be "
                "empty, so it could repeat without end. Remove the [ ] or { } inside it."
            )
        return Node(token.kind, (inner,), empty=token.kind != "<"), below

    def _check_depth(self, depth: int, line: int) -> None:
        if depth > DEEPEST:
            raise GrammarError(
                f"{self._source}, line {line}: brackets and variables are nested more than {DEEPEST} deep."
            )

    def _next(self, ahead: int = 0) -> str:
        return self._tokens[self._at + ahead].kind if self._at + ahead < len(self._tokens) else ""

    def _take(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _line(self) -> int:
        return self._tokens[min(self._at, len(self._tokens) - 1)].line if self._tokens else 1

    def _fail(self, wanted: str) -> NoReturn:
        found = repr(self._tokens[self._at].text[:80]) if self._at < len(self._tokens) else "the end"
        raise GrammarError(f"{self._source}, line {self._line()}: found {found}. Expected {wanted}.")


class _Network:
    def __init__(self, source: str, most_arcs: int) -> None:
        self.arcs: list[Arc] = []
        self._source = source
        self._most_arcs = most_arcs
        self._n_states = 2

    def add(self, node: Node, start: int, end: int) -> None:
        """Add the arcs of `node` between two states."""
        if len(self.arcs) > self._most_arcs:
            raise GrammarError(
                f"{self._source}: the network has more than {self._most_arcs:,} arcs, because a variable is "
                "copied at each use. Use large variables less often."
            )
        match node.kind:
            case "word":
                self.arcs.append(Arc(start, node.text, 0.0, end))
            case "sequence":
                for part in node.parts[:-1]:
                    between = self._state()
                    self.add(part, start, between)
                    start = between
                self.add(node.parts[-1], start, end)
            case "alternatives":
                for part in node.parts:
                    self.add(part, start, end)
            case "[":
                self._leave_out(start, end)
                self.add(node.parts[0], start, end)
            case _:  # { } and < >
                first, last = self._state(), self._state()
                self._leave_out(start, first)
                self.add(node.parts[0], first, last)
                self._leave_out(last, first)
                self._leave_out(last, end)
                if node.kind == "{":
                    self._leave_out(start, end)

    def _state(self) -> int:
        self._n_states += 1
        return self._n_states - 1

    def _leave_out(self, start: int, end: int) -> None:
        self.arcs.append(Arc(start, None, 0.0, end))
