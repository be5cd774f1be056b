"""What looks wrong in an alignment, told from the alignment alone and from what sounds like a pause."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from asr.alignment.forced_alignment import path_of_states
from asr.alignment.pauses import low_evidence
from asr.decode.path_segments import Segment, phone_segments, word_segments
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology

LONG_PHONE = 0.3  # seconds; vowels drawn out at the end of a sentence come near it
LONG_WORD = 3.0  # times as long as the median word of so many phones in this corpus ...
MIN_LONG_WORD = 0.5  # ... and at least so many seconds
LONG_PAUSE = 0.3  # seconds within one word that sound like a pause
TOLERATED = 5.0  # per cent of the phones or words that may be too long; spelled letters have 3 without a fault

SILENCE_MARGIN = 10.0  # per cent of the frames by which silence may differ from what sounds like a pause


@dataclass(frozen=True)
class AlignmentCheck:
    """Figures of an alignment, in per cent.

    Attributes
    ----------
    silence : float
        Frames aligned with silence or short pause.
    pauses : float
        Frames that sound like a pause (`asr.alignment.pauses`).
    long_phones : float
        Phones of words that last longer than 0.3 s.
    long_words : float
        Words that last over 0.5 s and three times as long as the corpus's median phone lets expect.
    worst : str
        The utterance with the most time in such words; empty if there are none.
    worst_phones : str
        The one with the most time in such phones.
    worst_phone : str
        The phone that has the most of that time.
    paused_words : float
        Words that hold over 0.3 s of what sounds like a pause.
    worst_paused : str
        The utterance with the most time in such pauses.
    """

    silence: float
    pauses: float
    long_phones: float
    long_words: float
    worst: str
    worst_phones: str = ""
    worst_phone: str = ""
    paused_words: float = 0.0
    worst_paused: str = ""

    def __str__(self) -> str:
        return (
            f"silence has {self.silence:.1f} % of the frames ({self.pauses:.1f} % sound like a pause); "
            f"{self.long_phones:.1f} % of the phones last longer than {LONG_PHONE:g} s, "
            f"{self.long_words:.1f} % of the words are too long for their phones, "
            f"{self.paused_words:.1f} % hold over {LONG_PAUSE:g} s of what sounds like a pause"
        )

    def as_dict(self) -> dict[str, float | str]:
        """The figures by name."""
        return asdict(self)

    def complaints(self) -> list[str]:
        """A sentence for everything that looks wrong."""
        found = []
        if self.silence < self.pauses - SILENCE_MARGIN:
            found.append(
                f"silence has only {self.silence:.0f} % of the frames, but {self.pauses:.0f} % sound like a pause: "
                "phones may have swallowed the rest"
            )
        if self.silence > self.pauses + 2 * SILENCE_MARGIN:
            found.append(
                f"silence has {self.silence:.0f} % of the frames, but only {self.pauses:.0f} % sound like a pause: it "
                "may have swallowed speech; do the transcripts name all that is said, and the lexicon as it is said?"
            )
        if self.long_phones > TOLERATED:
            found.append(
                f"{self.long_phones:.1f} % of the phones last longer than {LONG_PHONE:g} s, most of all "
                f"{self.worst_phone} and in {self.worst_phones}: they may hold silence, or words that the transcripts "
                "leave out"
            )
        if self.long_words > TOLERATED:
            found.append(
                f"{self.long_words:.1f} % of the words last much too long for their phones, most of all in "
                f"{self.worst}: listen whether they hold noise or a pause, and whether its transcript is right"
            )
        if self.paused_words > TOLERATED:
            found.append(
                f"{self.paused_words:.1f} % of the words hold over {LONG_PAUSE:g} s of what sounds like a pause, most "
                f"of all in {self.worst_paused}: their times are probably wrong there"
            )
        return found


def check_alignment(
    states: np.ndarray,
    table: FrameTable,
    graphs: Mapping[str, StateGraph],
    topology: Topology,
    frame_shift: float = 0.01,
) -> AlignmentCheck:
    """Look at an alignment.

    Parameters
    ----------
    states : int32 (n_frames,)
        State of every frame of the table; -1 where an utterance was not aligned.
    graphs : mapping of utterance id to StateGraph
        The transcript graphs that were aligned.
    frame_shift : float
        Seconds from one frame to the next.
    """
    segments = {
        name: _segments(own, graphs[name], topology)
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
    """Look at an alignment whose phones and words, `segments` of every aligned utterance, are known."""
    aligned = states >= 0
    silence = aligned & (states < len(topology.silence_states))
    paused = aligned & (low_evidence(table, frame_shift) < 0)
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
            words.append((word.end - word.start, int(((starts >= word.start) & (starts < word.end)).sum()), name))
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


def _segments(states: np.ndarray, graph: StateGraph, topology: Topology) -> tuple[list[Segment], list[Segment]]:
    """Phones and words of an utterance's states."""
    path = path_of_states(states, graph, topology)
    return phone_segments(path, graph, topology), word_segments(path, graph, topology)


def _long_words(words: list[tuple[int, int, str]], frame_shift: float) -> tuple[float, str]:
    """Per cent of the words that are too long, and the utterance where they last longest."""
    if not words:
        return 0.0, ""
    frames, n_phones = (np.array(column, np.float64) for column in list(zip(*words, strict=True))[:2])
    usual = np.median(frames / n_phones)
    long = (frames > LONG_WORD * usual * n_phones) & (frames * frame_shift > MIN_LONG_WORD)
    time = _summed((frames[number], words[number][2]) for number in np.flatnonzero(long).tolist())
    return 100.0 * float(long.mean()), _most(time)


def _summed(times: Iterable[tuple[float, str]]) -> dict[str, float]:
    """Time by name."""
    total: dict[str, float] = {}
    for length, name in times:
        total[name] = total.get(name, 0.0) + length
    return total


def _most(time: Mapping[str, float]) -> str:
    """The name with the most; empty where none has any."""
    longest = max(time, key=lambda name: (time[name], name), default="")
    return longest if time.get(longest) else ""
