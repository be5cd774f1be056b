"""Reading a grammar file of either kind, told by its content."""

from collections.abc import Iterable
from pathlib import Path

from asr.errors import GrammarError
from asr.grammar.arpa_automaton import arpa_grammar
from asr.grammar.arpa_file import parse_arpa
from asr.grammar.automaton import Grammar
from asr.grammar.word_pair import parse_word_pair, word_pair
from asr.text_lines import read_text_lines


def read_grammar(path: Path | str, *, vocabulary: Iterable[str] | None = None) -> Grammar:
    r"""Read an ARPA n-gram model or a word-pair file, told by its content.

    A file with a line `\data\` is an ARPA model; one whose first line but for `*` comments begins with `>` is
    a word-pair file.

    Words outside `vocabulary` are left out, and listed in the grammar's `left_out`.

    Raises
    ------
    GrammarError
        When the file is neither, is malformed, or shares no sentence with the vocabulary.
    """
    lines = [line.strip() for line in read_text_lines(path, GrammarError)]
    if "\\data\\" in lines:
        return arpa_grammar(parse_arpa(lines, str(path)), vocabulary)
    content = (number for number, line in enumerate(lines) if line and not line.startswith("*"))
    first = next(content, None)
    if first is not None and lines[first].startswith(">"):
        return word_pair(parse_word_pair(lines, str(path)), vocabulary)
    found = "it is empty" if first is None else f"line {first + 1} is {lines[first]!r}"
    raise GrammarError(
        f"{path} is neither an ARPA model (no line '\\data\\') nor a word-pair file (no '>WORD' line): {found}."
    )
