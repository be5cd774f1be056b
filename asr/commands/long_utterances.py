"""Alignment of long utterances as passages between anchors (`asr.recognition.anchored_transcripts`)."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from asr.acoustic.model_file import SpeechModel
from asr.alignment.frame_times import FrameTimes
from asr.alignment.interval_trust import IntervalTrust
from asr.alignment.passages import Passage, passages
from asr.alignment.recording_labels import UtteranceAlignment
from asr.decode.path_segments import Segment
from asr.features.frame_table import FrameTable
from asr.features.pieces import Pieces, divided_at
from asr.lexicon import Lexicon
from asr.recognition.anchored_transcripts import NORMALIZED, Anchoring
from asr.recognition.long_recordings import shifted
from asr.recognition.unknown_words import unknown_phone
from asr.runs.progress import counted
from asr.util.counted_text import count
from asr.util.errors import Issue, printable
from asr.util.files import atomic_write
from discriminants.parallel.workers import Workers

log = logging.getLogger(__name__)

MAX_ALIGNED_SECONDS = 300.0
"""Duration in seconds above which an utterance is aligned as passages between anchors."""
MIN_RECOGNIZED = 3  # recognized words in audio without a transcript, above which it is speech
UNUSUAL = 4.0  # robust standard deviations below the median fit, for a passage without anchors to be wrong

Status = Literal["aligned", "wrong", "untranscribed", "pause"]


@dataclass(frozen=True)
class PassageWords:
    """A passage of an utterance, its words, and the number of recognized words in it."""

    passage: Passage
    words: tuple[str, ...]
    n_recognized: int


@dataclass
class LongUtterances:
    """A corpus whose long utterances are divided into passages."""

    pieces: Pieces
    words: dict[str, tuple[str, ...]]  # transcripts of passages and of short utterances
    found: dict[str, PassageWords]  # by passage
    phone: str  # label of passages without an alignment
    status: dict[str, Status] = field(default_factory=dict)  # by passage, from `joined`

    @property
    def static(self) -> FrameTable:
        """Static features of passages and short utterances."""
        return self.pieces.table

    def joined(
        self, aligned: Mapping[str, UtteranceAlignment], faults: Sequence[Issue]
    ) -> tuple[dict[str, UtteranceAlignment], list[Issue]]:
        """Return the alignments and faults of whole utterances from those of passages and short utterances.

        The trust of an utterance is the mean over its aligned passages. An utterance fails if none is aligned.
        """
        if not self.pieces.parts:
            return dict(aligned), list(faults)
        whole = {name: aligned[name] for name in self.pieces.whole.ids if name in aligned}
        left = [fault for fault in faults if not set(fault.utterances) & self.found.keys()]
        for name, parts in self.pieces.parts.items():
            self.status |= self._statuses([piece for piece, _ in parts], aligned)
            good = [(piece, first) for piece, first in parts if self.status[piece] == "aligned"]
            if not good:
                reason = "no passage of its transcript matches its audio"
                left.append(Issue("not-aligned", reason, utterances=(name,)))
                continue
            whole[name] = self._one(parts, aligned)
        return {name: whole[name] for name in self.pieces.whole.ids if name in whole}, left

    @property
    def speakers(self) -> dict[str, str]:
        """Speaker of each passage and of each short utterance."""
        whole = self.pieces.whole
        of = dict(zip(whole.ids, whole.speakers, strict=True))
        return of | {piece: of[name] for name, parts in self.pieces.parts.items() for piece, _ in parts}

    def undivided(self, table: FrameTable) -> FrameTable:
        """Return a table of passages as one of whole utterances, with the same frames."""
        whole = self.pieces.whole
        return FrameTable(whole.ids, whole.speakers, table.frames, whole.offsets)

    def scored(self, fits: Mapping[str, UtteranceAlignment]) -> dict[str, UtteranceAlignment]:
        """Return the alignments of short utterances and aligned passages."""
        return {name: fit for name, fit in fits.items() if name not in self.found or self.status[name] == "aligned"}

    def write(self, path: Path, times: Mapping[str, FrameTimes]) -> None:
        """Write utterance, start and end in seconds, status, number of words and words of the passages.

        An earlier file is removed if the corpus has no long utterances.
        """
        if not self.pieces.parts:
            path.unlink(missing_ok=True)
            return
        rows = ["utterance\tstart\tend\tstatus\twords\ttranscript\n"]
        bad = 0.0
        for name, parts in self.pieces.parts.items():
            border = times[name].border
            for piece, _ in parts:
                one = self.found[piece]
                start, end = border(one.passage.start), border(one.passage.end)
                text = printable(" ".join(one.words))
                rows.append(f"{name}\t{start:.3f}\t{end:.3f}\t{self.status[piece]}\t{len(one.words)}\t{text}\n")
                bad += end - start if self.status[piece] in ("wrong", "untranscribed") else 0.0
        with atomic_write(path) as temporary:
            temporary.write_text("".join(rows), encoding="utf-8")
        line = (
            f"{count(len(self.pieces.parts), 'long utterance')} aligned as {count(len(self.found), 'passage')}; "
            f"{bad:.0f} s do not match their transcripts; listed in {path}"
        )
        log.log(logging.WARNING if bad else logging.INFO, "%s", printable(line))

    def _statuses(self, names: Sequence[str], aligned: Mapping[str, UtteranceAlignment]) -> dict[str, Status]:
        fits = {name: aligned[name].mean_word_fit for name in names if name in aligned and self.found[name].words}
        usual = [fits[name] for name in fits if self.found[name].passage.anchored]
        middle = float(np.median(usual)) if usual else 0.0
        spread = 1.4826 * float(np.median(np.abs(np.array(usual) - middle))) if usual else np.inf

        def status(name: str) -> Status:
            one = self.found[name]
            if not one.words:
                return "untranscribed" if one.n_recognized > MIN_RECOGNIZED else "pause"
            if name not in fits:
                return "wrong"
            return "aligned" if one.passage.anchored or fits[name] >= middle - UNUSUAL * spread else "wrong"

        return {name: status(name) for name in names}

    def _one(self, parts: Sequence[tuple[str, int]], aligned: Mapping[str, UtteranceAlignment]) -> UtteranceAlignment:
        words: list[Segment] = []
        phones: list[Segment] = []
        fits: list[float] = []
        word_trusts: list[float] = []
        phone_trusts: list[float] = []
        transcripts: list[float] = []
        states = []
        n_silent = 0
        for piece, first in parts:
            rows = self.static.rows(piece)
            n_frames = rows.stop - rows.start
            if self.status[piece] in ("wrong", "untranscribed") or piece not in aligned:
                phones.append(Segment(self.phone, first, first + n_frames))
                phone_trusts.append(0.0)
                states.append(np.full(n_frames, -1, np.int32))
                continue
            own = aligned[piece]
            words += [shifted(word, first) for word in own.words]
            phones += [shifted(phone, first) for phone in own.phones]
            fits += own.word_fits
            word_trusts += own.trust.words
            phone_trusts += own.trust.phones
            transcripts.append(own.trust.transcript)
            states.append(own.states)
            n_silent += own.n_silent
        trust = IntervalTrust(float(np.mean(transcripts)), tuple(word_trusts), tuple(phone_trusts))
        return UtteranceAlignment(words, phones, np.concatenate(states), None, trust, fits, n_silent)


def divide_long_utterances(
    model: SpeechModel,
    static: FrameTable,
    words: Mapping[str, tuple[str, ...]],
    lexicon: Lexicon,
    unknown: Collection[str],
    workers: Workers,
) -> LongUtterances:
    """Divide the utterances of more than `MAX_ALIGNED_SECONDS` into passages, with progress.

    `unknown` words have the pronunciation of `spn` and cannot be anchors.
    """
    config = model.front_end.config
    shift = config.shift_samples / config.sample_rate
    phone = unknown_phone(model.lexicon.phones)
    rows = {name: static.rows(name) for name in static.ids}
    names = [name for name in static.ids if (rows[name].stop - rows[name].start) * shift > MAX_ALIGNED_SECONDS]
    if not names:
        return LongUtterances(Pieces(static, static, {}), dict(words), {}, phone)
    of_name: dict[str, list[Passage]] = {}
    recognized: dict[str, list[Segment]] = {}
    with counted(len(names), "long utterances: anchors") as finished:
        for number, name in enumerate(names, 1):
            anchoring = Anchoring(model, static, name, lexicon, workers)
            anchors, recognized[name] = anchoring.anchors(words[name], unknown)
            of_name[name] = _in_time(passages(anchors, len(words[name]), len(anchoring.frames), shift))
            finished(number)
    pieces = divided_at(static, lambda name: [one.start for one in of_name.get(name, ())[1:]], shift)
    pieces = replace(pieces, table=_normalized_apart(pieces, round(NORMALIZED[0] / shift)))
    transcripts = {name: words[name] for name in static.ids if name not in pieces.parts}
    found: dict[str, PassageWords] = {}
    for name, parts in pieces.parts.items():
        for (piece, _), one in zip(parts, of_name[name], strict=True):
            n_recognized = sum(one.start <= word.start < one.end for word in recognized[name])
            found[piece] = PassageWords(one, words[name][one.first : one.last], n_recognized)
            transcripts[piece] = found[piece].words
    return LongUtterances(pieces, transcripts, found, phone)


def _normalized_apart(pieces: Pieces, n_frames: int) -> FrameTable:
    """Return the passages with a speaker for every `n_frames` or more, as speakers may change in a long recording."""
    speakers = dict(zip(pieces.table.ids, pieces.table.speakers, strict=True))
    for parts in pieces.parts.values():
        own, begin = parts[0], 0
        for piece, first in parts:
            if first - begin >= n_frames:
                own, begin = (piece, first), first
            speakers[piece] = own[0]
    return replace(pieces.table, speakers=tuple(speakers[name] for name in pieces.table.ids))


def _in_time(found: Sequence[Passage]) -> list[Passage]:
    """Return the passages with words without frames joined to the next one, or to the last."""
    kept: list[Passage] = []
    first: int | None = None
    for one in found:
        if one.end == one.start:
            first = one.first if first is None else first
            continue
        kept.append(one if first is None else replace(one, first=first, anchored=False))
        first = None
    if first is not None and kept:
        kept[-1] = replace(kept[-1], last=found[-1].last, anchored=False)
    return kept
