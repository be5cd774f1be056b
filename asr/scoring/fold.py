"""Maps of symbols to fewer classes for scoring, such as Kaldi's `phones.60-48-39.map`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from asr.util.errors import CorpusError, printable
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word
from discriminants.util.paths import is_file


def read_fold(source: Path | str) -> dict[str, str]:
    """Read the class of each symbol from `FILE` with one or two columns, or from `FILE:COLUMN`.

    Each line maps the symbols before the column to the one in it; a line without that column deletes its symbols ("").
    Symbols that are not listed keep their name.

    Raises CorpusError for a column outside the file, a file with more than two columns and no column given, and a
    symbol with two classes.
    """
    text = str(source)
    name, _, number = text.rpartition(":")
    is_column = name and len(number) < 4 and number.isascii() and number.isdigit() and not is_file(Path(text))
    path = Path(name if is_column else text)
    rows = [(place, line.split()) for place, line in enumerate(read_text_lines(path, CorpusError), 1) if line.split()]
    widest = max((len(fields) for _, fields in rows), default=0)
    if not is_column and widest > 2:
        raise CorpusError(f"{path} has {widest} columns. Use FILE:COLUMN, for example {path.name}:{widest}")
    column = int(number) if is_column else 2
    if not 2 <= column <= widest:
        raise CorpusError(f"{path} has no column {column} to map to. Expected a column from 2 to {widest}")
    classes: dict[str, tuple[str, int]] = {}
    for place, fields in rows:
        target = fields[column - 1] if len(fields) >= column else ""
        for symbol in fields[: column - 1]:
            _check(f"{path}:{place}", symbol)
            known, first = classes.setdefault(symbol, (target, place))
            if known != target:
                raise CorpusError(
                    f"{path}:{place}: {printable(symbol, 80)!r} maps to {printable(target or 'nothing', 80)!r}, but to "
                    f"{printable(known or 'nothing', 80)!r} on line {first}. Expected one class for a symbol"
                )
        if target:
            _check(f"{path}:{place}", target)
    return {symbol: target for symbol, (target, _) in classes.items()}


def folded(classes: Mapping[str, str], word: str) -> str:
    """Return the class of a word; words without one keep their name."""
    return classes.get(word, word)


def folded_transcripts(
    classes: Mapping[str, str], transcripts: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the classes of all words by utterance; words whose class is "" are left out."""
    return {
        name: tuple(found for found in (folded(classes, word) for word in words) if found)
        for name, words in transcripts.items()
    }


def _check(where: str, symbol: str) -> None:
    fault = fault_in_word(symbol)
    if fault is not None:
        raise CorpusError(f"{where}: the symbol {printable(symbol, 80)!r} {fault}")
