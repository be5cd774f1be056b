"""References and hypotheses of `asr score`: transcripts, and files with times (NIST STM and CTM)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asr.alignment.ctm import CtmRow, read_ctm, read_number
from asr.corpus.identifiers import fault_in_key
from asr.scoring.alternatives import Reference, mapped, parse_reference
from asr.scoring.files import read_utterances, timed_format
from asr.scoring.wer import ScoreReport, score_utterances
from asr.util.counted_text import count, some
from asr.util.errors import CorpusError, printable
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word

IGNORED = "IGNORE_TIME_SEGMENT_IN_SCORING"
_STM_FIELDS = "'recording channel speaker start end [<label>] words'"


@dataclass(frozen=True, slots=True)
class StmSegment:
    """A segment of an STM file, times in seconds; segments left out of scoring have no reference."""

    id: str
    recording: str
    channel: str
    speaker: str
    start: float
    end: float
    reference: Reference | None


@dataclass(frozen=True)
class References:
    """References by utterance, and their speakers and segments if the file has them.

    Attributes
    ----------
    words : mapping
        Reference of each utterance.
    speakers : mapping, optional
        Speaker of each utterance; only for STM files.
    segments : tuple of StmSegment
        All segments of an STM file.
    """

    words: Mapping[str, Reference]
    speakers: Mapping[str, str] | None = None
    segments: tuple[StmSegment, ...] = ()

    def changed(self, change: Callable[[str], str]) -> "References":
        """Return the references with changed words, see `asr.scoring.alternatives.mapped`."""
        words = {name: mapped(reference, change) for name, reference in self.words.items()}
        return References(words, self.speakers, self.segments)

    @property
    def notes(self) -> list[str]:
        """Sentences on the segments left out."""
        ignored = [f"{one.recording} at {one.start:g} s" for one in self.segments if one.reference is None]
        if not ignored:
            return []
        return [f"{count(len(ignored), 'segment')} marked {IGNORED}; not scored: {some(ignored)}"]


def read_references(path: Path | str) -> References:
    """Read a reference file: Kaldi text, trn or STM with alternatives, MLF, or CTM.

    The format is recognized by the ending (`.stm`, `.ctm`) or by the content, as in
    `asr.scoring.files.read_transcripts`. Segments of STM files are named `SPEAKER-000`, `SPEAKER-001` and so on, as in
    sclite. Raises CorpusError, with file and line, for malformed files.
    """
    path = Path(path)
    format = timed_format(path)
    if format == "stm":
        segments = read_stm(path)
        scored = {one.id: one for one in segments if one.reference is not None}
        words = {name: one.reference for name, one in scored.items() if one.reference is not None}
        return References(words, {name: one.speaker for name, one in scored.items()}, segments)
    if format == "ctm":
        return References(_words_of_ctm(path))
    transcripts, lines_of_trn = read_utterances(path)
    parsed = {name: parse_reference(transcripts[name], f"{path}:{line}") for name, line in lines_of_trn.items()}
    return References(parsed or transcripts)


def read_hypotheses(path: Path | str, references: References) -> dict[str, tuple[str, ...]]:
    """Read recognized words by utterance: Kaldi text, trn, MLF or CTM; against an STM file, only CTM.

    Words of a CTM file belong to the segment of an STM file that contains their middle, see `assign_words`. Optional
    words of trn files, such as `(uh)`, count as words. Raises CorpusError, with file and line, for malformed files.
    """
    path = Path(path)
    format = timed_format(path)
    if format == "stm":
        raise CorpusError(f"{path} is an STM file. Expected recognized words, such as hyp.txt or hyp.ctm of asr decode")
    if references.segments:
        if format != "ctm":
            raise CorpusError(f"{path} has no times. Expected a CTM file, because the references are an STM file")
        return assign_words(path, references.segments, read_ctm(path))
    if format == "ctm":
        return _words_of_ctm(path)
    transcripts, lines_of_trn = read_utterances(path)
    for name, line in lines_of_trn.items():
        if "{" in transcripts[name]:
            raise CorpusError(f"{path}:{line}: alternatives in recognized words. Expected one transcript")
        transcripts[name] = tuple(
            word[1:-1] if word[0] == "(" and word[-1] == ")" and len(word) > 2 else word for word in transcripts[name]
        )
    return transcripts


def read_stm(path: Path | str) -> tuple[StmSegment, ...]:
    """Read the segments of an STM file in file order; blank lines and comments (`;;`) are skipped.

    Raises CorpusError with file, line and value for missing fields, times that are not numbers, segments that end
    before they start, invalid names, and faults of `asr.scoring.alternatives.parse_reference`.
    """
    segments: list[StmSegment] = []
    numbers: defaultdict[str, int] = defaultdict(int)
    for line_number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        where = f"{path}:{line_number}"
        if len(fields) < 5:
            raise CorpusError(f"{where}: {printable(line, 80)!r} has {len(fields)} fields. Expected {_STM_FIELDS}")
        for role, name in zip(("recording", "channel", "speaker"), fields, strict=False):
            fault = fault_in_key(name)
            if fault is not None:
                raise CorpusError(f"{where}: the {role} {printable(name, 80)!r} {fault}")
        start, end = (read_number(where, text) for text in fields[3:5])
        if start > end:
            raise CorpusError(f"{where}: the segment ends at {end:g} s, before its start at {start:g} s")
        words = fields[5:]
        if words and words[0].startswith("<") and words[0].endswith(">"):
            words = words[1:]
        for word in words:
            fault = fault_in_word(word)
            if fault is not None:
                raise CorpusError(f"{where}: the word {printable(word, 80)!r} {fault}")
        recording, channel, speaker = fields[:3]
        ignored = [word.upper() for word in words] == [IGNORED]
        reference = None if ignored else parse_reference(words, where)
        name = f"{speaker}-{numbers[speaker]:03d}"
        numbers[speaker] += not ignored
        segments.append(StmSegment("" if ignored else name, recording, channel, speaker, start, end, reference))
    if not any(segment.reference is not None for segment in segments):
        raise CorpusError(f"{path} has no segments to score. Expected lines with {_STM_FIELDS}")
    return tuple(segments)


def assign_words(path: Path, segments: Iterable[StmSegment], rows: Sequence[CtmRow]) -> dict[str, tuple[str, ...]]:
    """Assign the words of a CTM file to segments by their middle, as NIST's sclite does.

    In each channel, a word belongs to the next segment that ends after the middle of the word, so words in a gap belong
    to the segment after it, and words after the last segment to the last. Words in segments left out are dropped.

    Returns words by segment, empty if a segment of a recognized recording has none; words of other recordings by
    `RECORDING CHANNEL`. Raises CorpusError if a recording has other channels in both files.
    """
    by_channel: defaultdict[tuple[str, str], list[CtmRow]] = defaultdict(list)
    for row in rows:
        by_channel[row.utterance, row.channel].append(row)
    places: defaultdict[tuple[str, str], list[StmSegment]] = defaultdict(list)
    for segment in segments:
        places[segment.recording, segment.channel].append(segment)
    channels = dict(places.keys())
    words: defaultdict[str, list[str]] = defaultdict(list)
    for (recording, channel), spoken in by_channel.items():
        here = sorted(places[recording, channel], key=lambda segment: segment.start)
        if not here and recording in channels:
            raise CorpusError(
                f"{path}: recording {printable(recording)} has channel {printable(channel)}, but the references have "
                f"{printable(channels[recording])}. Expected the same channel names"
            )
        words.update({segment.id: [] for segment in here if segment.reference is not None})
        number = 0
        for row in sorted(spoken, key=lambda row: row.start):
            while number + 1 < len(here) and row.start + row.duration / 2 >= here[number].end:
                number += 1
            if not here:
                words[f"{recording} {channel}"].append(row.label)
            elif here[number].reference is not None:
                words[here[number].id].append(row.label)
    return {name: tuple(labels) for name, labels in words.items()}


def _words_of_ctm(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the words of each utterance of a CTM file in the order of their times."""
    channels: dict[str, str] = {}
    words: defaultdict[str, list[CtmRow]] = defaultdict(list)
    for row in read_ctm(path):
        if channels.setdefault(row.utterance, row.channel) != row.channel:
            raise CorpusError(
                f"{path}: {printable(row.utterance)} has several channels. Expected one, or an STM file as reference"
            )
        words[row.utterance].append(row)
    return {name: tuple(row.label for row in sorted(rows, key=lambda row: row.start)) for name, rows in words.items()}


def without_case(
    references: Mapping[str, Reference], hypotheses: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Reference], dict[str, Sequence[str]]]:
    """Return references and hypotheses with case-folded words (Unicode)."""
    folded: dict[str, Reference] = {name: mapped(words, str.casefold) for name, words in references.items()}
    return folded, {name: tuple(map(str.casefold, words)) for name, words in hypotheses.items()}


def case_hint(report: ScoreReport, references: Mapping[str, Reference], hypotheses: Mapping[str, Sequence[str]]) -> str:
    """Return a hint if at least half of the errors vanish without letter case; otherwise ""."""
    said = {word for words in references.values() for word in words}
    folded = {word.casefold() for word in said}
    strange = {word for words in hypotheses.values() for word in words} - said
    if not any(word.casefold() in folded for word in strange):
        return ""
    left = score_utterances(*without_case(references, hypotheses)).errors
    if 2 * left > report.errors:
        return ""
    return (
        f"{report.errors - left:,} of the {report.errors:,} errors are differences in letter case. Use "
        "--ignore-case (ignore_case=True) to ignore them"
    )
