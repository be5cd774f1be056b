"""Reading of grammar files in any supported format, detected from the content."""

from collections.abc import Iterable
from pathlib import Path

from asr.grammar.arpa_automaton import arpa_grammar
from asr.grammar.arpa_file import parse_arpa
from asr.grammar.automaton import Grammar
from asr.grammar.filler import FILLER_WORD
from asr.grammar.hparse import hparse_grammar, is_hparse
from asr.grammar.openfst_magic import is_openfst
from asr.grammar.sentences import parse_sentences, sentence_list
from asr.grammar.slf import is_slf, parse_slf, slf_grammar
from asr.grammar.word_pair import parse_word_pair, word_pair
from asr.util.counted_text import some
from asr.util.errors import GrammarError
from asr.util.text_lines import read_text_lines


def read_grammar(path: Path | str, *, vocabulary: Iterable[str] | None = None) -> Grammar:
    r"""Read a grammar file; its content determines the format.

    - OpenFst's magic number: a transducer such as Kaldi's `G.fst` (see `asr.grammar.openfst_automaton`).
    - A line `\data\`: an ARPA n-gram model.
    - A header field of HTK's lattices first, such as `VERSION=1.0`: a word network (see `asr.grammar.slf`).
    - A first line, after `*` comments, that begins with `>`: a word-pair file.
    - `$name =` or `(` first: an HParse grammar (see `asr.grammar.hparse`).
    - Otherwise, if the vocabulary has all words of a line: a list of sentences (see `asr.grammar.sentences`).

    Words outside `vocabulary` are left out, and listed in the grammar's `left_out`. Raises GrammarError if the file has
    none of these formats, is malformed, or has no sentence over the vocabulary.

    Parameters
    ----------
    path : path
        Grammar file, plain or gzip-compressed.
    vocabulary : iterable of str, optional
        Words that may be recognized; all words of the file by default.

    Returns
    -------
    Grammar
        The automaton.

    Examples
    --------
    >>> from pathlib import Path
    >>> from asr.grammar import read_grammar
    >>> _ = Path("commands.txt").write_text("$state = ON | OFF; ( LIGHT $state )")
    >>> read_grammar("commands.txt").words
    ('LIGHT', 'OFF', 'ON')
    """
    if is_openfst(path):
        from asr.grammar.openfst_automaton import openfst_grammar  # imported here, because NumPy takes time to load

        return openfst_grammar(path, vocabulary=vocabulary)
    lines = [line.strip() for line in read_text_lines(path, GrammarError)]
    if "\\data\\" in lines:
        return arpa_grammar(parse_arpa(lines, str(path)), vocabulary)
    if is_slf(lines):
        return slf_grammar(parse_slf(lines, str(path)), vocabulary)
    content = (number for number, line in enumerate(lines) if line and not line.startswith("*"))
    first = next(content, None)
    if first is not None and lines[first].startswith(">"):
        return word_pair(parse_word_pair(lines, str(path)), vocabulary)
    if is_hparse(lines):
        return hparse_grammar(lines, str(path), vocabulary)
    if first is not None and vocabulary is not None:
        known = {*vocabulary, FILLER_WORD}
        sentences = parse_sentences(lines)
        if any(known.issuperset(sentence) for sentence in sentences):
            return sentence_list(sentences, known)
    if first is not None and lines[first].startswith("("):
        return hparse_grammar(lines, str(path), vocabulary)  # or report its error
    if first is not None and lines[first].startswith("#JSGF"):
        raise GrammarError(
            f"{path} is a JSGF grammar, which is not supported. Use HParse syntax ($name = a | b; ( $name )), or "
            "list the sentences, one per line"
        )
    found = "it is empty" if first is None else f"line {first + 1} is {lines[first]!r}"
    if first is not None and vocabulary is not None:
        unknown = [word for word in lines[first].split() if word not in {*vocabulary, FILLER_WORD}]
        found += f", and the lexicon has no pronunciation for {some(unknown)}"
    raise GrammarError(
        f"{path} is not a grammar: {found}. Expected an ARPA model (line '\\data\\'), a word-pair file (lines "
        "'>WORD'), a word network ('VERSION=1.0'), an HParse grammar ('$name =' or '(' first), or sentences with "
        "words of the lexicon."
    )
