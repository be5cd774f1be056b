"""JSON with a value replaced by one of another type or size, left out, or doubled; written back as any writer may."""

import copy
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from tests.fuzz.mutators.text_mutators import spoil_text

_DEEP = "\ue000deep"  # replaces arrays inside arrays, which no writer writes
_DEPTH = 50_000

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 255, 10**6, 2**31 - 1, 2**31, 2**32, 2**53, 2**63, -(2**63), 10**30, 10**5000,
    0.5, -0.5, 1e9, 1e38, 1e39, 1e308, -1e308, 1e-308, float("nan"), float("inf"), -float("inf"),
    "", "x", "0", "1e9", "nan", "../x", "/abs", "a\0b", "\x1b[2J", "\u202e", "\ud800", "x" * 300, "x" * 20_000, "a b",
    "a\nb", [], [0], [[]], [None], ["x"], [1, 2, 3], [1e308] * 3, {}, {"x": 1}, {"": None}, [[[[[]]]]], _DEEP,
)  # fmt: skip


def spoil_json(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One value of a JSON text spoilt; a text that is none is spoilt as text."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return spoil_text(random, content, others)
    try:
        return written(spoilt_value(random, value))
    except (ValueError, RecursionError):
        return spoil_text(random, content, others)


def spoilt_value(random: Random, value: Any, values: Sequence[Any] = VALUES) -> Any:
    """A copy of a JSON value with one part of it replaced, removed, doubled, renamed or moved."""
    value = copy.deepcopy(value)
    places = list(_places(value))
    if not places:
        return random.choice(values)
    holder, key = random.choice(places)
    way = random.random()
    if way < 0.65:
        holder[key] = copy.deepcopy(random.choice(values))
    elif way < 0.75:
        del holder[key]
    elif way < 0.85:
        other_holder, other_key = random.choice(places)
        holder[key], other_holder[other_key] = copy.deepcopy(other_holder[other_key]), copy.deepcopy(holder[key])
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[random.choice(("x", "", f"{key}x", "__class__", "../x"))] = copy.deepcopy(holder[key])
    return value


def written(value: Any) -> bytes:
    """JSON text of a value: NaN as JavaScript writes it, numbers of any length, nesting of any depth."""
    with any_number_of_digits():
        text = json.dumps(value)
    marked = json.dumps(_DEEP)
    if marked in text:
        text = text.replace(marked, "[" * _DEPTH + "]" * _DEPTH, 1)
    return text.encode("utf-8", "surrogatepass")


@contextmanager
def any_number_of_digits() -> Iterator[None]:
    """Python writes at most 4,300 digits by itself; somebody else may write more."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (list or dict, index or key) in a value."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from _places(inner)
