"""NIST SPHERE files of 16-bit samples, and a check of the number of samples against the header.

The format is NIST SPHERE 2.x (1990s): `NIST_1A`, the size of the header, then `name -type value` lines up to
`end_head`. Samples are read by `asr.corpus.audio`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from asr.corpus.audio import read_header
from asr.corpus.opening import open_for_reading
from asr.util.errors import CorpusError, printable

_MAGIC = b"NIST_1A\n"
_HEADER_BYTES = 1024
_MAX_HEADER_LENGTH = 1 << 16
_NEEDED = ("sample_count", "sample_n_bytes", "channel_count")
_MAX_DIGITS = 12


def sphere_bytes(
    samples: np.ndarray, rate: int, fields: Mapping[str, str] | None = None, *, big_endian: bool = False
) -> bytes:
    """Encode mono samples, int16 (n,), as an uncompressed SPHERE file; `fields` are further text fields of the header.

    Raises CorpusError if the header would exceed 1024 bytes.
    """
    texts = {"database_id": "RM1", "database_version": "1.0", **(fields or {}), "sample_coding": "pcm"}
    numbers = {
        "channel_count": 1,
        "sample_count": len(samples),
        "sample_rate": rate,
        "sample_n_bytes": 2,
        "sample_sig_bits": 16,
    }
    lines = [f"{name} -s{len(value)} {value}\n" for name, value in texts.items()]
    lines += [f"{name} -i {value}\n" for name, value in numbers.items()]
    lines += [f"sample_byte_format -s2 {'10' if big_endian else '01'}\n", "end_head\n"]
    header = _MAGIC + b"%7d\n" % _HEADER_BYTES + "".join(lines).encode("ascii")
    if len(header) > _HEADER_BYTES:
        raise CorpusError(f"The SPHERE header has {len(header)} bytes. Expected at most {_HEADER_BYTES}.")
    return header.ljust(_HEADER_BYTES) + np.asarray(samples).astype(">i2" if big_endian else "<i2").tobytes()


def check_sphere(path: Path, rate: int) -> None:
    """Raise CorpusError unless `path` is uncompressed SPHERE at `rate` Hz with as many samples as its header specifies.

    Only the header is read. System errors are raised as OSError.
    """
    with open_for_reading(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        head = file.read(_MAX_HEADER_LENGTH)
    length = re.match(rb"NIST_1A\n *(\d{1,6})\n", head)
    if length is None:
        raise CorpusError(
            f"{path} begins with {head[:8]!r}. Expected 'NIST_1A' and the size of the header, as in SPHERE files."
        )
    n_header = int(length[1])
    if not len(_MAGIC) < n_header <= min(size, _MAX_HEADER_LENGTH):
        raise CorpusError(
            f"{path} has {size} bytes, but its header should have {n_header}. Copy the file again.", code="truncated"
        )
    found = dict(re.findall(rb"^(\w+) -i +(\d{1,%d})\s*$" % _MAX_DIGITS, head[:n_header].split(b"end_head")[0], re.M))
    missing = [name for name in _NEEDED if name.encode() not in found]
    if missing:
        raise CorpusError(
            f"{path}: the header has no number for {', '.join(missing)}. The file is damaged or not a SPHERE file."
        )
    header, _ = read_header(path, rate=rate)  # refuses compressed files
    if header.rate != rate:
        raise CorpusError(
            f"{path} has a sampling rate of {header.rate} Hz. Expected {rate}, as in Resource Management.",
            code="low-rate",
        )
    count, width, channels = (int(found[name.encode()]) for name in _NEEDED)
    promised = n_header + count * width * channels
    if size < promised:
        raise CorpusError(
            f"{printable(str(path), 300)}: {promised - size} bytes are missing at the end, according to the "
            "header. Copy the file again.",
            code="truncated",
        )
