"""Line format of Kaldi's list files: a key, white space, and the rest of the line."""

import os
from pathlib import Path
from typing import NamedTuple

from asr.util.errors import CorpusError
from asr.util.text_lines import read_text_lines
from discriminants.util.paths import exists, is_dir, is_file


class Entry(NamedTuple):
    """Line of a list file."""

    line: int
    value: str


def read_list(path: Path, *, allow_empty: bool = False) -> dict[str, Entry]:
    """Read `path` into a mapping from key to line number and value, in file order, without blank lines.

    Raises CorpusError, with file and line, for invalid text (see `asr.util.text_lines`), a key without a value (unless
    `allow_empty`) and a repeated key.
    """
    entries: dict[str, Entry] = {}
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split(maxsplit=1)
        if not fields:
            continue
        key, value = fields[0], fields[1].strip() if len(fields) > 1 else ""
        if not value and not allow_empty:
            raise CorpusError(f"{path}:{number}: '{key}' stands alone; a key must be followed by its value.")
        if key in entries:
            raise CorpusError(
                f"{path}:{number}: '{key}' already occurs on line {entries[key].line}; keys must be unique."
            )
        entries[key] = Entry(number, value)
    return entries


def has_list(path: Path) -> bool:
    """Return whether the optional list `path` exists.

    Raises CorpusError if it is not a regular file, such as a folder, a pipe, or a broken link.
    """
    if is_file(path):
        return True
    if os.path.lexists(path):
        raise CorpusError(f"{path}: {_kind(path)}. Expected a text file; remove it if the list is not needed.")
    return False


def _kind(path: Path) -> str:
    if not exists(path):
        return "is a link that leads nowhere"
    return "is a directory" if is_dir(path) else "is not a regular file"


def refuse_pipe(path: Path, line: int, key: str, value: str) -> None:
    """Raise CorpusError if `value` is a shell command ('cmd |', '| cmd') or standard input ('-')."""
    if value.endswith("|") or value.startswith("|") or value == "-":
        raise CorpusError(
            f"{path}:{line}: the entry of '{key}' is a pipe ('{value}'); a data directory is data and its "
            "commands are never run, so store the command's output as a file and name that file here."
        )
