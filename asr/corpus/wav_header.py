"""Whether a WAV file is whole: libsndfile reads what is left of one that was cut, and says nothing."""

from typing import BinaryIO

_UNKNOWN = 0x7FFFF000
"""Sizes from here on say that the writer, a pipe, did not know the length."""
_MOST_CHUNKS = 1000


def missing_bytes(file: BinaryIO) -> int:
    """How many bytes of samples a RIFF WAVE file lacks; 0 for a whole one, another format, or an unknown length."""
    end = file.seek(0, 2)
    file.seek(0)
    riff = file.read(12)
    if riff[:4] != b"RIFF" or riff[8:12] != b"WAVE":
        return 0
    place = 12
    for _ in range(_MOST_CHUNKS):
        file.seek(place)
        header = file.read(8)
        if len(header) < 8:
            return 0
        size = int.from_bytes(header[4:], "little")
        if header[:4] == b"data":
            return 0 if size >= _UNKNOWN else max(0, place + 8 + size - end)
        place += 8 + size + size % 2
    return 0
