"""Checks of an alignment by its durations and by evidence for pauses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from asr.alignment.forced_alignment import path_of_states
from asr.alignment.pauses import pause_evidence
from asr.decode.path_segments import Segment, phone_segments, word_segments
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology

LONG_PHONE = 0.3  # seconds; vowels at the end of a sentence come close
LONG_WORD = 3.0  # factor on the duration expected from the median phone of the corpus ...
MIN_LONG_WORD = 0.5  # ... and minimum duration in seconds
LONG_PAUSE = 0.3  # seconds of pause-like sound within a word
TOLERATED = 5.0  # per cent of the phones or words that may be too long; spelled letters have 3 in correct alignments

SILENCE_MARGIN = 10.0  # per cent of the frames by which silence may differ from the pause-like frames


@dataclass(frozen=True)
class AlignmentCheck:
    """Figures of an alignment, in per cent."""

    silence: float  # frames aligned with silence or short pause
    pauses: float  # pause-like frames (`asr.alignment.pauses`)
    long_phones: float  # phones of words that last longer than 0.3 s
    long_words: float  # words over 0.5 s and three times the duration expected from the median phone
    worst: str  # utterance with the most time in such words; empty without any
    worst_phones: str = ""  # utterance with the most time in such phones
    worst_phone: str = ""  # phone with the most of that time
    paused_words: float = 0.0  # words with over 0.3 s of pause-like sound
    worst_paused: str = ""  # utterance with the most time in such pauses

    def __str__(self) -> str:
        return (
            f"{self.silence:.1f} % of the frames are aligned to silence ({self.pauses:.1f} % sound like a "
            f"pause); {self.long_phones:.1f} % of the phones last longer than {LONG_PHONE:g} "
            f"s, {self.long_words:.1f} % of the words are too long for their phones, {self.paused_words:.1f} % "
            f"contain over {LONG_PAUSE:g} s that sound like a pause"
        )

    def as_dict(self) -> dict[str, float | str]:
        """Return the figures by name."""
        return asdict(self)

    def complaints(self) -> list[str]:
        """Return a sentence for every problem."""
        found = []
        if self.silence < self.pauses - SILENCE_MARGIN:
            found.append(
                f"only {self.silence:.0f} % of the frames are aligned to silence, but {self.pauses:.0f} % sound "
                "like a pause: phones may include the rest"
            )
        if self.silence > self.pauses + 2 * SILENCE_MARGIN:
            found.append(
                f"{self.silence:.0f} % of the frames are aligned to silence, but only {self.pauses:.0f} % sound "
                "like a pause: silence may include speech. Check that the transcripts are complete and the "
                "pronunciations correct"
            )
        if self.long_phones > TOLERATED:
            found.append(
                f"{self.long_phones:.1f} % of the phones last longer than {LONG_PHONE:g} s, "
                f"especially {self.worst_phone}, and in {self.worst_phones}: they may include silence, or words "
                "that are missing in the transcripts"
            )
        if self.long_words > TOLERATED:
            found.append(
                f"{self.long_words:.1f} % of the words are much too long for their phones, especially "
                f"in {self.worst}: they may include noise or a pause, or the transcript may be wrong"
            )
        if self.paused_words > TOLERATED:
            found.append(
                f"{self.paused_words:.1f} % of the words contain over {LONG_PAUSE:g} s that sound like a pause, "
                f"especially in {self.worst_paused}: their times are probably wrong"
            )
        return found


def check_alignment(
    states: np.ndarray,
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    frame_shift: float = 0.01,
) -> AlignmentCheck:
    """Check an alignment.

    `states`, int32 (n_frames,): state of every frame of the table; -1 if an utterance was not aligned. `graphs`: the
    transcript graphs that were aligned. `frame_shift`: seconds between frames.
    """
    segments = {
        name: segments_of_states(own, graphs[name], topology)
        for name in table.ids
        if len(own := states[table.rows(name)]) and own[0] >= 0
    }
    return check_segments(states, table, segments, topology, frame_shift)


def check_segments(
    states: np.ndarray,
    table: FrameTable,
    segments: Mapping[str, tuple[Sequence[Segment], Sequence[Segment]]],
    topology: Topology,
    frame_shift: float = 0.01,
) -> AlignmentCheck:
    """Check an alignment, given the phones and words of every aligned utterance in `segments`."""
    aligned = states >= 0
    silence = aligned & (states < len(topology.silence_states))
    paused = aligned & (pause_evidence(table, frame_shift) < 0)
    phones: list[int] = []
    drawn_out: list[tuple[int, str, str]] = []  # frames of a long phone, utterance, phone
    words: list[tuple[int, int, str]] = []  # frames, phones, utterance
    pauses: list[tuple[int, str]] = []  # frames of a word that sound like a pause, utterance
    for name, (of_phones, of_words) in segments.items():
        spoken = [segment for segment in of_phones if segment.label not in (SILENCE, SHORT_PAUSE)]
        lengths = [segment.end - segment.start for segment in spoken]
        phones += lengths
        drawn_out += [
            (length, name, segment.label)
            for length, segment in zip(lengths, spoken, strict=True)
            if length * frame_shift > LONG_PHONE
        ]
        starts = np.array([segment.start for segment in spoken])
        own = paused[table.rows(name)]
        for word in of_words:
            n_phones = int(((starts >= word.start) & (starts < word.end)).sum())
            if n_phones:  # marks of silence have none
                words.append((word.end - word.start, n_phones, name))
                pauses.append((int(own[word.start : word.end].sum()), name))
    n_frames = max(1, int(aligned.sum()))
    long_words, worst = _long_words(words, frame_shift)
    with_pauses = [(length, name) for length, name in pauses if length * frame_shift > LONG_PAUSE]
    return AlignmentCheck(
        silence=100.0 * int(silence.sum()) / n_frames,
        pauses=100.0 * int(paused.sum()) / n_frames,
        long_phones=100.0 * float(np.mean(np.array(phones) * frame_shift > LONG_PHONE)) if phones else 0.0,
        long_words=long_words,
        worst=worst,
        worst_phones=_most(_summed((length, name) for length, name, _ in drawn_out)),
        worst_phone=_most(_summed((length, phone) for length, _, phone in drawn_out)),
        paused_words=100.0 * len(with_pauses) / len(pauses) if pauses else 0.0,
        worst_paused=_most(_summed(with_pauses)),
    )


def segments_of_states(
    states: np.ndarray, graph: StateGraph, topology: Topology
) -> tuple[list[Segment], list[Segment]]:
    """Return the phones and the words of an utterance, given its transcript's graph and states, int32 (n_frames,)."""
    path = path_of_states(states, graph, topology)
    return phone_segments(path, graph, topology), word_segments(path, graph, topology)


def _long_words(words: list[tuple[int, int, str]], frame_shift: float) -> tuple[float, str]:
    """Return the percentage of words that are too long, and the utterance with the most time in them."""
    if not words:
        return 0.0, ""
    frames, n_phones = (np.array(column, np.float64) for column in list(zip(*words, strict=True))[:2])
    usual = np.median(frames / n_phones)
    long = (frames > LONG_WORD * usual * n_phones) & (frames * frame_shift > MIN_LONG_WORD)
    time = _summed((frames[number], words[number][2]) for number in np.flatnonzero(long).tolist())
    return 100.0 * float(long.mean()), _most(time)


def _summed(times: Iterable[tuple[float, str]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for length, name in times:
        total[name] = total.get(name, 0.0) + length
    return total


def _most(time: Mapping[str, float]) -> str:
    """Return the name with the largest value; empty if all are zero."""
    longest = max(time, key=lambda name: (time[name], name), default="")
    return longest if time.get(longest) else ""
