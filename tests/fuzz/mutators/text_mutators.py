"""Lines, words and numbers of a text file changed; a gzip file is unpacked before and packed again after."""

import gzip
import re
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from random import Random

from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.nasty import MARKS, NAMES, NUMBERS, SPACES

_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[^\s]+")
_GAP = re.compile(rb"\s+")
_GZIP = b"\x1f\x8b"
_MAX_UNPACKED = 4 << 20  # bytes: a corrupt file may unpack to gigabytes


def spoil_text(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One of: a number, word, gap or line replaced, exchanged, doubled, left out, made long, or marked."""
    if content.startswith(_GZIP):
        try:
            with gzip.open(BytesIO(content)) as unpacked:
                text = unpacked.read(_MAX_UNPACKED)
        except (OSError, EOFError, zlib.error):
            return spoil_bytes(random, content, others)
        return gzip.compress(spoil_text(random, text, ()), mtime=0)
    return random.choice(_WAYS)(random, content)


def _replaced(random: Random, content: bytes, pattern: re.Pattern[bytes], choices: Sequence[bytes]) -> bytes:
    found = list(pattern.finditer(content))
    if not found:
        return content + random.choice(choices)
    match = random.choice(found)
    return content[: match.start()] + random.choice(choices) + content[match.end() :]


def _number(random: Random, content: bytes) -> bytes:
    return _replaced(random, content, _NUMBER, NUMBERS)


def _word(random: Random, content: bytes) -> bytes:
    return _replaced(random, content, _WORD, NAMES)


def _gap(random: Random, content: bytes) -> bytes:
    return _replaced(random, content, _GAP, SPACES)


def _other_word(random: Random, content: bytes) -> bytes:
    return _replaced(random, content, _WORD, _WORD.findall(content) or NAMES)


def _no_word(random: Random, content: bytes) -> bytes:
    return _replaced(random, content, _WORD, (b"",))


def _mark(random: Random, content: bytes) -> bytes:
    place = random.choice((0, random.randrange(len(content) + 1)))
    return content[:place] + random.choice(MARKS) + content[place:]


def _lines(random: Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    number = random.randrange(len(lines))
    way = random.randrange(6)
    if way == 0:
        del lines[number]
    elif way == 1:
        lines.insert(number, lines[number])
    elif way == 2:
        random.shuffle(lines)
    elif way == 3:
        other = random.randrange(len(lines))
        lines[number], lines[other] = lines[other], lines[number]
    elif way == 4:
        lines[number] = b""
    else:
        lines[number : number + 2] = [b" ".join(lines[number : number + 2])]
    return b"\n".join(lines)


def _many_lines(random: Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    number = random.randrange(len(lines))
    times = random.choice((10, 100, 1000))
    copies = [b"%s%d" % (lines[number], copy) if random.random() < 0.9 else lines[number] for copy in range(times)]
    return b"\n".join(lines[:number] + copies + lines[number:])


def _long(random: Random, content: bytes) -> bytes:
    """A word or a line of up to 600 kB; seldom, for it takes long."""
    if random.random() < 0.9:
        return _word(random, content)
    match = random.choice(list(_WORD.finditer(content)) or [re.match(b"", content)])
    assert match is not None
    piece = random.choice((match.group() or b"x", (match.group() or b"x") + b" ", b"x", b"A B ", b"(", b"1"))
    times = random.choice((3_000, 30_000, 600_000)) // len(piece)
    return content[: match.start()] + piece * times + content[match.end() :]


def _ends(random: Random, content: bytes) -> bytes:
    """Line ends of other systems, and none at the end."""
    return random.choice((content.replace(b"\n", b"\r\n"), content.replace(b"\n", b"\r"), content.rstrip(b"\n")))


_WAYS: tuple[Callable[[Random, bytes], bytes], ...] = (
    _number, _number, _number, _number, _word, _word, _word, _other_word, _other_word, _no_word, _gap, _mark,
    _lines, _lines, _lines, _many_lines, _long, _ends,
)  # fmt: skip
TEXT = (spoil_text, spoil_text, spoil_text, spoil_bytes)
