"""Whether an Ogg file is whole: libsndfile reads the pages that are left of one that was cut, and says nothing."""

from typing import BinaryIO

_MARK = b"OggS\0"  # and the version, of which there is one
_MAX_PAGE_LENGTH = 65_307  # bytes: 27 of the header, 255 lengths, and as many segments of 255
_HEADER_BYTES = 27
_N_SEGMENTS = 26  # place in the header


def breaks_off(file: BinaryIO) -> bool:
    """Whether a file that begins as Ogg ends within a page.

    That its last page is marked as the end of the stream is not asked for: not all that record live write such a page.
    """
    file.seek(0)
    if file.read(len(_MARK)) != _MARK:
        return False
    size = file.seek(0, 2)
    file.seek(max(0, size - _MAX_PAGE_LENGTH - len(_MARK)))
    tail = file.read(_MAX_PAGE_LENGTH + len(_MARK))
    page = tail[tail.rfind(_MARK) :] if _MARK in tail else b""
    if len(page) < _HEADER_BYTES:
        return True
    end = _HEADER_BYTES + page[_N_SEGMENTS]
    end += sum(page[_HEADER_BYTES:end])
    begun = page[end:]  # of another page, or what is no page, such as a tag
    return len(page) < end or (bool(begun) and _MARK.startswith(begun))
