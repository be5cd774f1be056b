"""Numbers in binary headers set to extreme values, little-endian."""

import struct
from collections.abc import Sequence
from random import Random

_INTEGERS = {
    2: (0, 1, 2, 0x7FFF, 0x8000, 0xFFFF),
    4: (0, 1, 2, 3, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFFE, 0x0001_0000, 0x4000_0000, 192_000, 65),
    8: (0, 1, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, 0xFFFF_FFFF_FFFF_FFFF, 1 << 32, 1 << 40),
}
_FLOATS = (float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 1e4, 1e10, 1e20, 1e30, 1e38, -1e38, 3.4e38, 1e-40)
_HEADER = 128


def spoil_fields(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One number of the header, or one float anywhere, set to an extreme value."""
    if random.random() < 0.3:
        width = random.choice((4, 8))
        packed = struct.pack("<f" if width == 4 else "<d", random.choice(_FLOATS))
        reach = len(content)
    else:
        width = random.choice((2, 4, 4, 8))
        value = random.choice((*_INTEGERS[width], random.getrandbits(8 * width), random.randrange(40)))
        packed, reach = value.to_bytes(width, "little"), min(len(content), _HEADER)
    if reach < width:
        return content + packed
    start = random.randrange(reach - width + 1)
    if random.random() < 0.7:
        start -= start % 2
    return content[:start] + packed + content[start + width :]
