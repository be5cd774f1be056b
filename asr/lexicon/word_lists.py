"""Words to look up: a data directory, a list of words, or the unknown words of `asr align`."""

from collections import Counter
from pathlib import Path

from asr.corpus.list_file import read_list
from asr.util.errors import LexiconError
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word
from discriminants.util.paths import is_dir

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
