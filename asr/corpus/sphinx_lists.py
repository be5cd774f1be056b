"""Lists of a CMU Sphinx corpus: utterances (`.fileids`) and transcripts (`.transcription`).

Format: https://cmusphinx.github.io/wiki/tutorialam ("Data preparation").
"""

import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from asr.corpus.identifiers import fault_in_key
from asr.util.errors import CorpusError, Issue, printable, report
from asr.util.text_lines import read_text_lines

_QUOTED = 100  # characters of a line in a message
_SILENCES = frozenset({"<s>", "</s>", "<sil>"})
_ID = re.compile(r"\((.+)\)")
_VARIANT = re.compile(r"(.+)\([0-9]+\)")


class FileId(NamedTuple):
    """Line of a `.fileids` list: path of an utterance relative to the folder of features, without extension."""

    line: int
    path: PurePosixPath


class Transcript(NamedTuple):
    """Line of a `.transcription` list: words, and an id that is a fileid or the last part of one."""

    line: int
    id: str
    words: tuple[str, ...]


def read_fileids(path: Path | str, issues: list[Issue] | None = None) -> tuple[FileId, ...]:
    """Read the `.fileids` list `path`, in its order, without blank lines.

    Raises CorpusError, with file and line, for invalid text, a line of several words (Sphinx's parts of files are not
    supported), an absolute path, a path that leaves its folder (`..`), and a repeated path. With `issues`, such lines
    are collected and left out.
    """
    found: dict[PurePosixPath, FileId] = {}
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields:
            continue
        name = PurePosixPath(fields[0])
        if len(fields) > 1:
            fault = "has white space"
        elif name.is_absolute():
            fault = "is an absolute path, not one below the folder of the features"
        elif ".." in name.parts:
            fault = "leaves the folder of the features by '..'"
        elif not name.name:
            fault = "is not the path of a file"
        elif name in found:
            fault = f"is already on line {found[name].line}"
        else:
            found[name] = FileId(number, name)
            continue
        quoted = printable(line.strip(), _QUOTED)
        message = f"'{quoted}' {fault}. Expected 'speaker/sentence' without extension."
        report(Issue("bad-line", message, path=Path(path), line=number), CorpusError, issues)
    return tuple(found.values())


def read_transcription(path: Path | str, issues: list[Issue] | None = None) -> tuple[Transcript, ...]:
    """Read the `.transcription` list `path`, in its order, without blank lines.

    Marks of beginning, end and silence (`<s>`, `</s>`, `<sil>`, any letter case) and of pronunciation variants are
    removed: `READ(2)` is `READ`. Ids may be repeated, because several speakers may have the same sentence.

    Raises CorpusError, with file and line, for invalid text, a line without a final id in brackets, and an invalid id.
    With `issues`, such lines are collected and left out.
    """
    transcripts = []
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields:
            continue
        mark = _ID.fullmatch(fields[-1])
        fault = "is not an id in brackets" if mark is None else fault_in_key(mark.group(1))
        if mark is None or fault is not None:
            quoted = printable(fields[-1], _QUOTED)
            message = f"'{quoted}' at the end of the line {fault}. Expected 'WORD WORD (id)'."
            report(Issue("bad-line", message, path=Path(path), line=number), CorpusError, issues)
            continue
        words = (_without_variant(word) for word in fields[:-1] if word.lower() not in _SILENCES)
        transcripts.append(Transcript(number, mark.group(1), tuple(words)))
    return tuple(transcripts)


def _without_variant(word: str) -> str:
    mark = _VARIANT.fullmatch(word)
    return word if mark is None else mark.group(1)
