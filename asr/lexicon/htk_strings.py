"""The quoting and escaping of names in HTK's text files (HTK Book 3.4, section 4.6)."""


def read_htk_string(line: str, position: int, stop: str = "") -> tuple[str, int]:
    r"""Read one name of `line` from `position` on; return it and the position after it.

    A name in single or double quotes ends at the same quote, any other at white space or before a character
    of `stop`. A backslash takes the next character as it is (`\'`, `\\`), or stands before three octal digits
    that give one byte (`\303\251` is the UTF-8 of an accented letter).

    Raises
    ------
    ValueError
        For a quote without its partner, a backslash at the end, an octal number past 377, or bytes that are
        not UTF-8.
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


def _is_octal(digits: str) -> bool:
    return len(digits) == 3 and all(digit in "01234567" for digit in digits)


def _decode(name: bytearray) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise ValueError(f"the escaped bytes {bytes(name)!r} are not UTF-8") from None
