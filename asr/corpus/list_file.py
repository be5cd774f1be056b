"""Lines of Kaldi's list files: a key, white space, and the rest of the line; their values."""

import os
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from asr.util.errors import CorpusError, Issue, report
from asr.util.text_lines import read_text_lines
from discriminants.util.paths import exists, is_dir, is_file

_MAX_DIGITS = 18  # of an offset: no file is that long
_LATEST = 1e9  # seconds: no recording is that long


class Entry(NamedTuple):
    """Line of a list file."""

    line: int
    value: str


@dataclass(frozen=True)
class ListFile:
    """Lines of a list file by key, in file order.

    `damaged` has the keys of lines with unknown values, by line number. `n_lines` counts lines that are not blank.
    """

    path: Path
    entries: dict[str, Entry]
    damaged: dict[int, str]
    n_lines: int

    @property
    def keys(self) -> Set[str]:
        """All keys, including those of damaged lines."""
        return self.entries.keys() | set(self.damaged.values()) if self.damaged else self.entries.keys()


def read_list(path: Path, *, allow_empty: bool = False) -> dict[str, Entry]:
    """Read `path` into a mapping from key to line number and value, in file order, without blank lines.

    Raises CorpusError, with file and line, for invalid text (see `asr.util.text_lines`), a key without a value (unless
    `allow_empty`) and a repeated key.
    """
    return read_list_file(path, allow_empty=allow_empty).entries


def read_list_file(path: Path, *, allow_empty: bool = False, issues: list[Issue] | None = None) -> ListFile:
    """Read `path` like `read_list`; with `issues`, they are collected instead of raised."""
    n_before = len(issues or ())
    lines = read_text_lines(path, CorpusError, issues)
    unreadable = {issue.line for issue in (issues or ())[n_before:]}
    entries: dict[str, Entry] = {}
    damaged: dict[int, str] = {}
    n_lines = 0
    for number, line in enumerate(lines, 1):
        fields = line.split(maxsplit=1)
        if not fields:
            continue
        n_lines += 1
        key, value = fields[0], fields[1].strip() if len(fields) > 1 else ""
        if number in unreadable:
            damaged[number] = key
        elif not value and not allow_empty:
            damaged[number] = key
            message = f"'{key}' has no value; write its value after it, or remove the line"
            report(Issue("key-alone", message, path=path, line=number), CorpusError, issues)
        elif key in entries:
            message = f"'{key}' is already on line {entries[key].line}; keys must be unique, so remove or rename one"
            report(Issue("duplicate-id", message, path=path, line=number), CorpusError, issues)
        else:
            entries[key] = Entry(number, value)
    return ListFile(path, entries, damaged, n_lines)


def has_list(path: Path, issues: list[Issue] | None = None) -> bool:
    """Return whether the optional list `path` exists as a regular file.

    A folder, a pipe or a broken link is an issue, which raises CorpusError without `issues`.
    """
    if is_file(path):
        return True
    if os.path.lexists(path):
        message = f"{_kind(path)}. Expected a text file; remove it if the list is not needed"
        report(Issue("unreadable", message, path=path), CorpusError, issues)
    return False


def _kind(path: Path) -> str:
    if not exists(path):
        return "is a link to a file that does not exist"
    return "is a directory" if is_dir(path) else "is not a regular file"


def refuse_pipe(path: Path, line: int, key: str, value: str, issues: list[Issue] | None = None) -> bool:
    """Report a shell command ('cmd |', '| cmd') or standard input ('-') instead of a file; return whether it is one.

    Raises CorpusError without `issues`.
    """
    if not (value.endswith("|") or value.startswith("|") or value == "-"):
        return False
    message = (
        f"the entry of '{key}' is a pipe ('{value}'), and commands in data directories are never run; store the "
        "command's output as a file and list that file"
    )
    report(Issue("pipe", message, path=path, line=line), CorpusError, issues)
    return True


def parse_segment(
    path: Path, key: str, entry: Entry, issues: list[Issue] | None = None
) -> tuple[str, float, float | None] | None:
    """Return recording, start and end (None for the recording's end) in seconds from a line of `path`.

    An invalid segment is collected in `issues` and None returned; without `issues` it raises CorpusError.
    """
    fields = entry.value.split()
    try:
        recording, start, end = fields[0], float(fields[1]), float(fields[2])
    except (IndexError, ValueError):
        recording, start, end = "", float("nan"), float("nan")
    to_the_end = end == -1  # Kaldi's mark for the end of the recording
    if len(fields) != 3 or not (0 <= start <= _LATEST and (start < end <= _LATEST or to_the_end)):
        message = (
            f"'{key} {entry.value}' is not a segment. Expected UTTERANCE RECORDING START END with 0 <= START < END in "
            "seconds"
        )
        report(Issue("bad-segment", message, path=path, line=entry.line), CorpusError, issues)
        return None
    return recording, start, None if to_the_end else end


def parse_matrix_place(path: Path, key: str, entry: Entry, issues: list[Issue] | None = None) -> tuple[str, int] | None:
    """Return archive and first byte from a line of the feats.scp at `path`.

    A pipe, a range of a matrix, or an offset beyond any file size is collected in `issues` and None returned; without
    `issues` it raises CorpusError.
    """
    line, value = entry
    if refuse_pipe(path, line, key, value, issues):
        return None
    name, colon, digits = value.rpartition(":")
    if not (colon and digits.isascii() and digits.isdigit()):
        name, digits = value, "0"
    fault = ""
    if value.endswith("]"):
        fault = f"'{value}' selects a range of a matrix, which is not supported; store the range as a matrix"
    elif len(digits) > _MAX_DIGITS:
        fault = f"the offset '{digits}' has {len(digits)} digits. Expected at most {_MAX_DIGITS}"
    if fault:
        report(Issue("malformed", fault, path=path, line=line), CorpusError, issues)
        return None
    return name, int(digits)


def parse_speaker(path: Path, key: str, entry: Entry, issues: list[Issue] | None = None) -> str | None:
    """Return the speaker from a line of utt2spk; several words are an issue."""
    if len(entry.value.split()) == 1:
        return entry.value
    message = f"'{key} {entry.value}' has several words after the utterance. Expected one speaker"
    report(Issue("malformed", message, path=path, line=entry.line), CorpusError, issues)
    return None


def parse_gender(path: Path, key: str, entry: Entry, issues: list[Issue] | None = None) -> str | None:
    """Return the gender from a line of spk2gender; other values than m and f are an issue."""
    gender = entry.value.lower()
    if gender in ("m", "f"):
        return gender
    message = f"the gender of speaker '{key}' is '{entry.value}'. Expected 'm' or 'f'"
    report(Issue("bad-gender", message, path=path, line=entry.line), CorpusError, issues)
    return None
