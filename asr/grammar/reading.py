"""Reading a grammar file of any kind, told by its content."""

from collections.abc import Iterable
from pathlib import Path

from asr.errors import GrammarError
from asr.grammar.arpa_automaton import arpa_grammar
from asr.grammar.arpa_file import parse_arpa
from asr.grammar.automaton import Grammar
from asr.grammar.sentences import parse_sentences, sentence_list
from asr.grammar.word_pair import parse_word_pair, word_pair
from asr.text_lines import read_text_lines


def read_grammar(path: Path | str, *, vocabulary: Iterable[str] | None = None) -> Grammar:
    r"""Read an ARPA n-gram model, a word-pair file or a list of sentences, told by its content.

    A file with a line `\data\` is an ARPA model; one whose first line but for `*` comments begins with `>` is
    a word-pair file. Any other, if a vocabulary is given and has all words of one of its lines, is a list of
    sentences (see `asr.grammar.sentences`).

    Words outside `vocabulary` are left out, and listed in the grammar's `left_out`.

    Raises
    ------
    GrammarError
        When the file is none of these, is malformed, or shares no sentence with the vocabulary.
    """
    lines = [line.strip() for line in read_text_lines(path, GrammarError)]
    if "\\data\\" in lines:
        return arpa_grammar(parse_arpa(lines, str(path)), vocabulary)
    content = (number for number, line in enumerate(lines) if line and not line.startswith("*"))
    first = next(content, None)
    if first is not None and lines[first].startswith(">"):
        return word_pair(parse_word_pair(lines, str(path)), vocabulary)
    if first is not None and vocabulary is not None:
        known = set(vocabulary)
        sentences = parse_sentences(lines)
        if any(known.issuperset(sentence) for sentence in sentences):
            return sentence_list(sentences, known)
    found = "it is empty" if first is None else f"line {first + 1} is {lines[first]!r}"
    raise GrammarError(
        f"{path} is neither an ARPA model (no line '\\data\\') nor a word-pair file (no '>WORD' line), and has no "
        f"sentence of words of the lexicon: {found}."
    )
