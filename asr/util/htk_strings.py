"""The quoting and escaping of names in HTK's text files (HTK Book 3.4, section 4.6)."""

import re

from asr.util.unicode_text import nfc

_NUMBER = re.compile(r"\d|[-+\d][-+.eE\d]*\d", re.ASCII)


def read_htk_string(line: str, position: int, stop: str = "") -> tuple[str, int]:
    r"""Read one name of `line` from `position`; return it and the position after it.

    A name in single or double quotes ends at the same quote, any other at white space or before a character of `stop`.
    A backslash escapes the next character (`\'`, `\\`), or three octal digits that give one byte (`\303\251` is the
    UTF-8 of an accented letter).

    Raises ValueError for a quote that is not closed, a backslash at the end, an octal number above 377, or bytes that
    are not UTF-8.
    """
    quote = line[position] if position < len(line) and line[position] in "'\"" else ""
    position += len(quote)
    name = bytearray()
    while position < len(line):
        character = line[position]
        if quote:
            if character == quote:
                return _decode(name), position + 1
        elif character.isspace() or character in stop:
            return _decode(name), position
        if character != "\\":
            name += character.encode()
            position += 1
        elif _is_octal(line[position + 1 : position + 4]):
            value = int(line[position + 1 : position + 4], 8)
            if value > 0xFF:
                raise ValueError(f"the octal escape {line[position : position + 4]!r} is above \\377")
            name.append(value)
            position += 4
        elif position + 1 < len(line):
            name += line[position + 1].encode()
            position += 2
        else:
            raise ValueError("a backslash ends the line")
    if quote:
        raise ValueError(f"the quote {quote} is not closed")
    return _decode(name), position


def write_htk_string(name: str) -> str:
    r"""Write `name` for `read_htk_string`, in double quotes if HTK would misread it.

    Quotes are needed if it is empty, begins with a quote, has white space or a backslash, or reads as a number, the end
    of a transcription (`.`) or the beginning of an alternative (`///`).

    >>> write_htk_string("DON'T"), write_htk_string("7"), write_htk_string("'TIS")
    ("DON'T", '"7"', '"\'TIS"')
    """
    plain = name.split() == [name] and name[0] not in "'\"" and "\\" not in name
    if plain and name not in (".", "///") and not is_htk_number(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def is_htk_number(name: str) -> bool:
    """Return whether HTK reads an unquoted name as a number, by its digits and signs."""
    return _NUMBER.fullmatch(name) is not None


def _is_octal(digits: str) -> bool:
    return len(digits) == 3 and all(digit in "01234567" for digit in digits)


def _decode(name: bytearray) -> str:
    try:
        return nfc(name.decode())
    except UnicodeDecodeError:
        raise ValueError(f"the escaped bytes {bytes(name)!r} are not UTF-8") from None
