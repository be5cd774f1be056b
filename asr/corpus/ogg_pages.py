"""Whether an Ogg file is whole: libsndfile reads the pages that are left of one that was cut, and says nothing."""

from typing import BinaryIO

_MARK = b"OggS\0"  # and the version, of which there is one
_LONGEST_PAGE = 65_307  # bytes: 27 of the header, 255 lengths, and as many segments of 255
_HEADER_BYTES = 27
_FLAGS, _N_SEGMENTS = 5, 26  # places in the header
_END_OF_STREAM = 0x04


def lacks_its_end(file: BinaryIO) -> bool:
    """Whether a file that begins as Ogg does not end with a whole page that is marked as the last of its stream.

    Every stream ends with such a page, so streams behind one another (chained) or mixed do as well.
    """
    file.seek(0)
    if file.read(len(_MARK)) != _MARK:
        return False
    size = file.seek(0, 2)
    file.seek(max(0, size - _LONGEST_PAGE))
    tail = file.read(_LONGEST_PAGE)
    page = tail[tail.rfind(_MARK) :] if _MARK in tail else b""
    if len(page) < _HEADER_BYTES or not page[_FLAGS] & _END_OF_STREAM:
        return True
    lengths = page[_HEADER_BYTES : _HEADER_BYTES + page[_N_SEGMENTS]]
    return len(page) < _HEADER_BYTES + page[_N_SEGMENTS] + sum(lengths)
