"""Bytes changed without a thought for what they mean."""

from collections.abc import Callable, Sequence
from random import Random

EDGES = (0x00, 0x01, 0x0A, 0x20, 0x7F, 0x80, 0xFE, 0xFF)


def spoil_bytes(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One of: bits flipped, bytes set, cut, doubled, inserted, moved, joined with another input, emptied."""
    return random.choice(_WAYS)(random, content, others)


def _place(random: Random, content: bytes) -> int:
    """A position; headers, where most is decided, as often as all the rest."""
    return random.randrange(min(len(content), random.choice((64, len(content)))) or 1)


def _flip(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8)) if changed else 0):
        changed[_place(random, content)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _set(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    changed = bytearray(content)
    start = _place(random, content)
    length = min(random.choice((1, 1, 2, 4, 8, 32)), len(changed) - start)
    changed[start : start + length] = bytes([random.choice(EDGES)]) * max(0, length)
    return bytes(changed)


def _cut_end(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _cut(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    start = _place(random, content)
    return content[:start] + content[start + random.choice((1, 2, 4, 16, 256)) :]


def _double(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    start = _place(random, content)
    end = min(len(content), start + random.choice((1, 4, 16, 256, len(content))))
    return content[:end] + content[start:end] * random.choice((1, 1, 2, 30)) + content[end:]


def _insert(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    start = _place(random, content)
    return content[:start] + random.randbytes(random.choice((1, 2, 4, 16, 300))) + content[start:]


def _move(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    a, b = sorted((_place(random, content), _place(random, content)))
    return content[b:] + content[a:b] + content[:a]


def _splice(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else content
    return content[: _place(random, content)] + other[_place(random, other) :]


def _empty(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    return random.choice((b"", b"\0", b"\n", content[:1]))


_WAYS: tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...] = (
    _flip, _flip, _flip, _set, _set, _cut_end, _cut_end, _cut, _double, _insert, _move, _splice, _empty,
)  # fmt: skip
