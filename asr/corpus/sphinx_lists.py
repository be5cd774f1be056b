"""The lists of a CMU Sphinx corpus: which utterances there are (`.fileids`), and what was said (`.transcription`).

Format: https://cmusphinx.github.io/wiki/tutorialam ("Data preparation").
"""

import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from asr.corpus.identifiers import fault_in_key
from asr.util.errors import CorpusError, printable
from asr.util.text_lines import read_text_lines

_QUOTED = 100  # characters of a line in a message
_SILENCES = frozenset({"<s>", "</s>", "<sil>"})
_ID = re.compile(r"\((.+)\)")
_VARIANT = re.compile(r"(.+)\([0-9]+\)")


class FileId(NamedTuple):
    """A line of a `.fileids` list: the path of an utterance below the folder of the features, without extension."""

    line: int
    path: PurePosixPath


class Transcript(NamedTuple):
    """A line of a `.transcription` list: words, and an id that is a fileid or the last part of one."""

    line: int
    id: str
    words: tuple[str, ...]


def read_fileids(path: Path | str) -> tuple[FileId, ...]:
    """The utterances that the `.fileids` list `path` names, in its order, without blank lines.

    Raises CorpusError, naming file and line, for what is no text, a line of several words (the parts of files that
    Sphinx allows are not supported), an absolute path, one that leads out of its folder (`..`), and one that occurs
    twice.
    """
    found: dict[PurePosixPath, FileId] = {}
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields:
            continue
        name = PurePosixPath(fields[0])
        if len(fields) > 1:
            fault = "has white space; one path without it is needed on a line"
        elif name.is_absolute():
            fault = "is an absolute path; it must be below the folder of the features"
        elif ".." in name.parts:
            fault = "leads out of its folder by '..'; it must be below the folder of the features"
        elif not name.name:
            fault = "names no file"
        elif name in found:
            fault = f"already occurs on line {found[name].line}; every utterance is listed once"
        else:
            found[name] = FileId(number, name)
            continue
        quoted = printable(line.strip(), _QUOTED)
        raise CorpusError(f"{path}:{number}: '{quoted}' {fault}; right is 'speaker/sentence' without extension.")
    return tuple(found.values())


def read_transcription(path: Path | str) -> tuple[Transcript, ...]:
    """The transcripts of the `.transcription` list `path`, in its order, without blank lines.

    The marks of beginning, end and silence (`<s>`, `</s>`, `<sil>`, in either letter case) are dropped, and so are
    those of pronunciation variants: `READ(2)` is `READ`. Ids may occur several times, as the last parts of fileids
    do: utterances of several speakers have the same sentence's.

    Raises CorpusError, naming file and line, for what is no text, a line that does not end in an id in brackets, and
    an id that no list could hold.
    """
    transcripts = []
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields:
            continue
        mark = _ID.fullmatch(fields[-1])
        fault = "is no id in brackets" if mark is None else fault_in_key(mark.group(1))
        if mark is None or fault is not None:
            quoted = printable(fields[-1], _QUOTED)
            raise CorpusError(f"{path}:{number}: '{quoted}' at the end of the line {fault}; right is 'WORD WORD (id)'.")
        words = (_without_variant(word) for word in fields[:-1] if word.lower() not in _SILENCES)
        transcripts.append(Transcript(number, mark.group(1), tuple(words)))
    return tuple(transcripts)


def _without_variant(word: str) -> str:
    mark = _VARIANT.fullmatch(word)
    return word if mark is None else mark.group(1)
