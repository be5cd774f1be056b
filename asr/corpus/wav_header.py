"""Check of a WAV file's header against the file's size: libsndfile reads whatever is there without a message."""

from typing import BinaryIO

_UNKNOWN = 0x7FFFF000
"""Sizes from here on mean that the writer, a pipe, did not know the length."""
_MAX_CHUNKS = 1000
_MAX_PADDING = 1 << 16
"""Zeros behind the last chunk are accepted up to this many bytes."""
_TAGS = (b"TAG", b"ID3", b"APE")


def check_wav_size(file: BinaryIO) -> str | None:
    """Return what is wrong with the size of the samples in a RIFF WAVE header.

    None for a file whose header is right, for another format, and for an unknown length.
    """
    end = file.seek(0, 2)
    file.seek(0)
    riff = file.read(12)
    if riff[:4] != b"RIFF" or riff[8:12] != b"WAVE":
        return None
    place = 12
    for _ in range(_MAX_CHUNKS):
        file.seek(place)
        header = file.read(8)
        if len(header) < 8:
            return None
        size = int.from_bytes(header[4:], "little")
        if header[:4] == b"data":
            return None if size >= _UNKNOWN else _check_data(file, place + 8, size, end)
        place += 8 + size + size % 2
    return None


def _check_data(file: BinaryIO, start: int, size: int, end: int) -> str | None:
    """Compare the size that the header gives for the samples with the bytes that follow."""
    if start + size > end:
        return f"breaks off {start + size - end} bytes before the end that its header gives"
    if any(_is_chunk(file, start + size + pad, end) for pad in (0, 1)):
        return None
    return (
        f"has a header that gives {size} bytes of samples, but {end - start} bytes follow, and what lies behind the "
        "samples is not a chunk of a WAV file"
    )


def _is_chunk(file: BinaryIO, place: int, end: int) -> bool:
    """Whether the end of the file, padding, a tag or another chunk lies at this place."""
    left = end - place
    if left < 8:
        return True
    file.seek(place)
    name = file.read(4)
    size = int.from_bytes(file.read(4), "little")
    if name.startswith(_TAGS) or (all(0x20 <= byte < 0x7F for byte in name) and size <= left - 8):
        return True
    if left > _MAX_PADDING:
        return False
    file.seek(place)
    return not any(file.read(left))
