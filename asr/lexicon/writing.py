"""Writing of pronunciation dictionaries in Kaldi's format."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from asr.corpus.list_file import read_list
from asr.lexicon.formats import MODEL_PAUSES, NumberColumns, is_comment
from asr.lexicon.lexicon import SILENCE, Lexicon
from asr.lexicon.reading import other_format
from asr.util.errors import LexiconError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word
from discriminants.util.paths import is_dir


def write_lexicon(
    lexicon: Lexicon, path: Path | str, probabilities: Mapping[str, Sequence[float]] | None = None
) -> None:
    """Write `lexicon` as a Kaldi lexicon.txt: `WORD phone phone ...`, words sorted, one variant per line.

    `read_lexicon(path, format="kaldi", strip_stress=False)` reads an equal lexicon. Raises LexiconError if a word would
    read as a comment, a first phone as a probability, or the lines as CSV or YAML, or if a phone is reserved for
    silence.

    Parameters
    ----------
    lexicon : Lexicon
        The lexicon.
    path : path
        File to write.
    probabilities : mapping from a word to floats, optional
        Probability of each variant, in Kaldi's lexiconp.txt format: `WORD probability phone phone ...`. Other words
        have those of the lexicon. By default, they are written if the lexicon has any below 1.

    Examples
    --------
    >>> from asr.lexicon import Lexicon, write_lexicon
    >>> lexicon = Lexicon({"ONE": (("W", "AH", "N"),)})
    >>> write_lexicon(lexicon, "written.txt")
    """
    reserved = sorted(
        MODEL_PAUSES.intersection((*lexicon.phones, SILENCE) if lexicon.marks_silence else lexicon.phones)
    )
    if reserved:
        raise LexiconError(f"The phone {reserved[0]!r} would read as silence in {path}; rename it.")
    comment = next((word for word in lexicon.words if is_comment(word)), None)
    if comment is not None:
        raise LexiconError(f"The word {comment!r} would read as a comment in {path}; rename it.")
    lines = [" ".join((word, *variant)) for word in lexicon.words for variant in lexicon[word]]
    columns = NumberColumns.of_lines(lines)
    number = next((v[0] for word in lexicon.words for v in lexicon[word] if columns.count(v)), None)
    if number is not None:
        raise LexiconError(f"The phone {number!r} would read as a probability in {path}; rename it.")
    other = other_format(list(enumerate(lines)))
    if other is not None:
        raise LexiconError(
            f"{lines[other[0]]!r} and nearly all lines would read as CSV or YAML in {path}; rename the words with , ; "
            "or :"
        )
    if probabilities is not None or lexicon.probabilities:
        numbers = {word: [repr(lexicon.probability(word, one)) for one in lexicon[word]] for word in lexicon.words}
        for word, given in (probabilities or {}).items():
            numbers[word] = [f"{min(max(p, 1e-6), 1.0):.6f}" for p in given]
        lines = [
            " ".join((word, number, *variant))
            for word in lexicon.words
            for variant, number in zip(lexicon[word], numbers[word], strict=False)
        ]
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)


_HEADER = ["word", "count"]


def read_words(path: Path) -> Counter[str]:
    """Return the words with their counts, in the order of the file.

    A directory has a `text` with transcripts. A file has one word per line. A first line `word`, `count`, as in
    `unknown-words.tsv`, is a header; then the second column is the count.

    Raises LexiconError, with file and line, for a line with several words or invisible characters, and if there are no
    words. Raises CorpusError for a `text` that cannot be read.
    """
    words: Counter[str] = Counter()
    if is_dir(path):
        for entry in read_list(path / "text", allow_empty=True).values():
            words.update(entry.value.split())
    else:
        lines = read_text_lines(path, LexiconError)
        table = bool(lines) and lines[0].split() == _HEADER
        for number, line in enumerate(lines[table:], 1 + table):
            fields = line.split()
            if not fields:
                continue
            if len(fields) != 1 + table or (table and not (fields[1].isascii() and fields[1].isdigit())):
                expected = (
                    "a word, a tab and a count" if table else "one word per line; for transcripts, use their folder"
                )
                raise LexiconError(f"{path}:{number}: {line.strip()!r}. Expected {expected}")
            words[fields[0]] += int(fields[1][:9]) if table else 1
    for word in words:
        fault = fault_in_word(word)
        if fault is not None:
            raise LexiconError(f"{path}: {word!r} cannot be a word; it {fault}")
    if not words:
        raise LexiconError(f"{path} has no words. Expected a word per line, or a folder with transcripts")
    return words
