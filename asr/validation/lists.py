"""Fault-tolerant reading of lists: all unusable lines are reported, and the others kept."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from asr.corpus.list_file import Entry
from asr.util.counted_text import count
from asr.util.errors import CorpusError, Issue
from asr.util.file_kinds import fault_in_kind, is_binary
from asr.util.text_lines import GZIP_MAGIC, MAX_TEXT, read_text_lines
from asr.util.unicode_text import nfc
from asr.validation.findings import stopping, warning, without_place
from discriminants.util.paths import is_file


class Line(NamedTuple):
    """A non-blank line: number from 1, key, and value."""

    number: int
    key: str
    value: str


@dataclass(frozen=True)
class TextFile:
    """Non-blank lines of a text file with numbers from 1, and faults.

    `damaged` are the first words of unreadable lines, which exist but have unknown values.
    """

    path: Path
    lines: tuple[tuple[int, str], ...]
    faults: tuple[Issue, ...] = ()
    damaged: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ListFile:
    """List of a data directory: readable lines, and the faults and keys of the others."""

    path: Path
    lines: tuple[Line, ...]
    faults: tuple[Issue, ...] = ()
    damaged: frozenset[str] = frozenset()

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Line and value of each key's first occurrence, in file order."""
        found: dict[str, Entry] = {}
        for number, key, value in self.lines:
            found.setdefault(key, Entry(number, value))
        return found

    @property
    def keys(self) -> Set[str]:
        """All keys, including those of damaged lines."""
        return self.entries.keys() | self.damaged


def read_text_past_faults(path: Path) -> TextFile:
    """Read a UTF-8 file, with findings for invalid lines or for the whole file."""
    try:
        return TextFile(path, tuple((n, line) for n, line in enumerate(read_text_lines(path, CorpusError), 1) if line))
    except CorpusError as error:
        whole = TextFile(path, (), (stopping("unreadable", path, None, without_place(error, path)),))
    try:
        if not is_file(path) or path.stat().st_size > MAX_TEXT:
            return whole
        content = path.read_bytes()
    except OSError:
        return whole
    if content.startswith(GZIP_MAGIC) or fault_in_kind(content) is not None or is_binary(content):
        return whole
    lines, faults, damaged = [], [], set()
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = nfc(raw.decode("utf-8"))
        except UnicodeDecodeError as problem:
            reason = (
                f"the byte 0x{raw[problem.start]:02x} is not UTF-8 text; convert the file (for instance iconv -f "
                "latin1 -t utf-8)"
            )
            faults.append(stopping("not-utf8", path, number, reason))
            damaged.update(raw.decode("utf-8", "replace").split(maxsplit=1)[:1])
            continue
        if "\0" in line:
            faults.append(stopping("zero-byte", path, number, "holds a zero byte; a text file is needed"))
            damaged.update(line.split(maxsplit=1)[:1])
        elif line:
            lines.append((number, line))
    # Other faults, such as the size, concern the whole file.
    return TextFile(path, tuple(lines), tuple(faults), frozenset(damaged)) if faults else whole


def read_list_past_faults(path: Path) -> ListFile:
    """Read each line as key and value; the value may be empty."""
    text = read_text_past_faults(path)
    lines = []
    for number, line in text.lines:
        fields = line.split(maxsplit=1)
        if fields:
            lines.append(Line(number, fields[0], fields[1].strip() if len(fields) > 1 else ""))
    return ListFile(path, tuple(lines), text.faults, text.damaged)


def check_format(given: ListFile, *, allow_empty: bool = False, optional: bool = False) -> Iterator[Issue]:
    """Report format errors of a list, independent of its values.

    `allow_empty` allows keys without values. `optional` marks lists that may be missing.
    """
    yield from given.faults
    if not given.lines and not given.faults:
        message = "has no lines; give one for every key, 'KEY VALUE'"
        yield (warning if optional else stopping)("empty-list", given.path, None, message)
    if not allow_empty:
        yield from check_values(given)
    yield from check_unique(given)
    yield from check_order(given)


def check_values(given: ListFile) -> Iterator[Issue]:
    """Report keys without values."""
    for number, key, value in given.lines:
        if not value:
            message = f"'{key}' stands alone; write its value after it, or remove the line"
            yield stopping("key-alone", given.path, number, message)


def check_unique(given: ListFile) -> Iterator[Issue]:
    """Report repeated keys."""
    for number, key, _ in given.lines:
        first = given.entries[key].line
        if number != first:
            message = f"'{key}' already occurs on line {first}; keys must be unique, so remove or rename one"
            yield stopping("duplicate-id", given.path, number, message)


def check_order(given: ListFile) -> Iterator[Issue]:
    """Report the first key out of byte order, which Kaldi requires."""
    keys = [line.key.encode() for line in given.lines]
    late = [number for number in range(1, len(keys)) if keys[number] < keys[number - 1]]
    if late:
        line, before = given.lines[late[0]], given.lines[late[0] - 1]
        message = (
            f"'{line.key}' comes after '{before.key}'; nothing here minds, but Kaldi wants lists sorted as "
            f"'LC_ALL=C sort' does ({count(len(late), 'line')} out of order)"
        )
        yield warning("unsorted", given.path, line.number, message)
