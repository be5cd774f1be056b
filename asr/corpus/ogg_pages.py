"""Detection of truncated Ogg files, which libsndfile reads without an error."""

from typing import BinaryIO

_MARK = b"OggS\0"  # with the only version
_MAX_PAGE_LENGTH = 65_307  # bytes: a header of 27, 255 lengths, and 255 segments of 255
_HEADER_BYTES = 27
_N_SEGMENTS = 26  # offset in the header


def breaks_off(file: BinaryIO) -> bool:
    """Whether an Ogg file ends within a page.

    An end-of-stream flag is not required, because not all live recorders write it.
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
    begun = page[end:]  # the start of another page, or other data such as a tag
    return len(page) < end or (bool(begun) and _MARK.startswith(begun))
