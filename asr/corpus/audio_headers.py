"""Check of the sample size in headers of WAV, AIFF or AU, because libsndfile accepts any size."""

from typing import BinaryIO, NamedTuple

_UNKNOWN = 0x7FFFF000
"""Sizes from here on mean that the writer, a pipe, did not know the length."""
_MAX_CHUNKS = 1000
_MAX_PADDING = 1 << 16
"""Maximum number of zeros after the last chunk."""
_TAGS = (b"TAG", b"ID3", b"APE")
_WITH_DS64 = (b"RF64", b"BW64")


class _Form(NamedTuple):
    """Format of a chunked file: content types, sample chunk, and byte order."""

    kinds: tuple[bytes, ...]
    samples: bytes
    order: str


_FORMS = {
    b"RIFF": _Form((b"WAVE",), b"data", "little"),
    b"RIFX": _Form((b"WAVE",), b"data", "big"),
    b"RF64": _Form((b"WAVE",), b"data", "little"),
    b"BW64": _Form((b"WAVE",), b"data", "little"),
    b"FORM": _Form((b"AIFF", b"AIFC"), b"SSND", "big"),
}


def check_header_size(file: BinaryIO) -> str | None:
    """Return the fault of the sample size in a header of WAV (RIFF, RIFX, RF64), AIFF or AU.

    Returns None if the size is right or unknown, and for other formats.
    """
    end = file.seek(0, 2)
    file.seek(0)
    head = file.read(12)
    if head[:4] == b".snd":
        start, size = (int.from_bytes(head[at : at + 4], "big") for at in (4, 8))
        return None if size >= _UNKNOWN else _check_samples(file, start, size, end, None)
    form = _FORMS.get(head[:4])
    if form is None or head[8:] not in form.kinds:
        return None
    place, long_size = 12, None
    for _ in range(_MAX_CHUNKS):
        file.seek(place)
        header = file.read(8)
        if len(header) < 8:
            return None
        size = _number(header[4:], form)
        if header[:4] == b"ds64" and head[:4] in _WITH_DS64:
            long_size = _number(file.read(16)[8:], form)
        if header[:4] == form.samples:
            if size == 0xFFFFFFFF and long_size is not None:
                size = long_size
            elif size >= _UNKNOWN:
                return None
            return _check_samples(file, place + 8, size, end, form)
        place += 8 + size + size % 2
    return None


def _number(content: bytes, form: _Form) -> int:
    return int.from_bytes(content, "little" if form.order == "little" else "big")


def _check_samples(file: BinaryIO, start: int, size: int, end: int, form: _Form | None) -> str | None:
    """Compare the header's sample size with the bytes that follow."""
    if start + size > end:
        return f"ends {start + size - end} bytes before the end in its header"
    if any(_may_follow(file, start + size + pad, end, form) for pad in (0, 1)):
        return None
    return (
        f"has {size} bytes of samples according to its header, but {end - start} bytes follow that are not "
        "another chunk"
    )


def _may_follow(file: BinaryIO, place: int, end: int, form: _Form | None) -> bool:
    """Whether the end of the file, padding, a tag or another chunk is at this position."""
    left = end - place
    if left < 8:
        return True
    file.seek(place)
    name, size = file.read(4), file.read(4)
    if name.startswith(_TAGS):
        return True
    if form is not None and all(0x20 <= byte < 0x7F for byte in name) and _number(size, form) <= left - 8:
        return True
    if left > _MAX_PADDING:
        return False
    file.seek(place)
    return not any(file.read(left))
