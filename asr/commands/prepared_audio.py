"""The recordings of `asr prepare`: checks of lengths, channels and overlapping segments, and files of one channel."""

import math
from bisect import bisect, insort
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from asr.corpus.audio import LOWEST_RATE, MAX_OVERSHOOT, AudioHeader, read_header, write_channel
from asr.corpus.feature_file import SPHINX_SUFFIX, read_features
from asr.corpus.formats.source import SourceUtterance
from asr.util.counted_text import count
from asr.util.errors import CorpusError
from discriminants.util.paths import exists

MAX_OVERLAP = 0.1
"""Seconds that two segments of a speaker in one recording may share."""
_FRAME = 0.01  # seconds of a frame of Sphinx's features


class Recordings:
    """The recordings in use; each is opened once.

    `channel` is the channel to use, from 1, or None for the mean of all.
    """

    def __init__(self, channel: int | None = None) -> None:
        self.channel = channel
        self._headers: dict[Path, AudioHeader] = {}
        self._used: dict[tuple[Path, str | None], list[tuple[float, float, str]]] = {}

    def use(self, entry: SourceUtterance) -> float:
        """Return the seconds of an entry; CorpusError if its audio, its times or the channel cannot be used."""
        if entry.audio.suffix.lower() == SPHINX_SUFFIX:
            if self.channel is not None:
                raise CorpusError("a file of features has no channels. Expected audio", code="bad-channel")
            return len(read_features(entry.audio)) * _FRAME
        audio = entry.audio.absolute()
        length = self._checked(audio, entry)
        start, end = entry.start or 0.0, length if entry.end is None else min(entry.end, length)
        used = self._used.setdefault((audio, entry.speaker), [])
        at = bisect(used, (start, end, ""))
        for other_start, other_end, place in used[max(at - 1, 0) : at + 1]:
            shared = min(end, other_end) - max(start, other_start)
            if shared > MAX_OVERLAP or (shared > 0 and (start, end) == (other_start, other_end)):
                same = (start, end) == (other_start, other_end)
                code, what = ("duplicate-audio", "is also") if same else ("overlap", f"shares {shared:.3f} s with")
                raise CorpusError(f"from {start:g} to {end:g} s, which {what} at {place}.", code=code)
        insort(used, (start, end, entry.place))
        return end - start

    def remarks(self) -> Iterator[str]:
        """Yield notes on several sampling rates, and on several channels without a choice."""
        rates = Counter(header.rate for header in self._headers.values())
        if len(rates) > 1:
            yield "sampling rates: " + ", ".join(f"{rate} Hz ({number:,})" for rate, number in sorted(rates.items()))
        several = sum(header.n_channels > 1 for header in self._headers.values())
        if several and self.channel is None:
            yield (
                f"several channels: {count(several, 'recording')}; their mean is used. Use --channel N (channel=) for "
                "one channel"
            )

    def written(self, audio: Iterable[Path], folder: Path) -> dict[Path, Path]:
        """Write the channel of each recording with several as FLAC into `folder`; return the file to use for each."""
        files: dict[Path, Path] = {}
        for path in dict.fromkeys(audio):
            files[path] = path
            if self.channel is not None and self._headers[path].n_channels > 1:
                names = (path.stem, *(f"{path.stem}-{number}" for number in range(2, len(files) + 2)))
                taken = set(files.values())
                files[path] = next(file for name in names if (file := folder / f"{name}.flac") not in taken)
                if not exists(folder):
                    folder.mkdir(parents=True)
                write_channel(path, self.channel, files[path])
        return files

    def _checked(self, audio: Path, entry: SourceUtterance) -> float:
        """Return the seconds of the recording, after checks of channel and times."""
        whole = entry.start is None and entry.end is None
        start, end = entry.start or 0.0, math.inf if entry.end is None else entry.end
        if not (0 <= start < math.inf and start < end):
            raise CorpusError(
                f"from {start} to {end} s. Expected a start of at least 0 and a later end.", code="bad-time"
            )
        if whole or audio not in self._headers:  # a divided recording may be too long for an utterance
            header, _ = read_header(audio, rate=LOWEST_RATE, end=None if whole else 0.01)
            self._headers[audio] = header
        header = self._headers[audio]
        if (self.channel or 1) > header.n_channels:
            raise CorpusError(
                f"{audio} has {count(header.n_channels, 'channel')}. Expected at least {self.channel}.",
                code="bad-channel",
            )
        length = header.n_samples / header.rate
        if start >= length or (entry.end is not None and end > length + MAX_OVERSHOOT):
            raise CorpusError(f"from {start} to {end} s, but the recording has {length:.3f} s.", code="bad-segment")
        return length
