"""What recognition and alignment give back: words and phones with their times in seconds."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from asr.alignment.frame_times import FrameTimes
from asr.decode.path_segments import Segment
from asr.grammar.filler import FILLER_WORD, without_filler
from asr.recognition.speech_ratios import SpeechRatios
from asr.util.errors import Fault


@dataclass(frozen=True, slots=True)
class Word:
    """A word from `start` to `end`, in seconds from the beginning of the audio.

    `confidence`, from 0 to 1, is how probable it is that the word was said; None unless it was asked for.
    Speech outside the grammar has the word "[unk]", and `is_filler` is true. The likelihood ratios are those of
    `Result`, of the word's frames.
    """

    word: str
    start: float
    end: float
    confidence: float | None = None
    phone_llr: float | None = None
    silence_llr: float | None = None

    @property
    def is_filler(self) -> bool:
        """Whether this is speech outside the grammar and not a word."""
        return self.word == FILLER_WORD

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary, without what was not asked for."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Phone:
    """A phone, silence (SIL) or short pause (SP) from `start` to `end`, in seconds from the beginning of the audio."""

    phone: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Result:
    """What was recognized in one piece of audio.

    Attributes
    ----------
    words : tuple of Word
        In order of time; none where nothing was said.
    seconds : float
        Duration of the audio; 0 where it could not be read.
    source : str
        What was recognized: the path that was given, the name of a file object, or "array".
    error : Fault or None
        Why there are no words, as a `code` for programs and a `reason` in a sentence; None where all went well.
    warnings : tuple of Fault
        In which ways the audio is not what a recognizer expects, as codes and reasons: "silent", all samples are 0,
        in which there are no words; "opposite-phase", channels that cancel; "channels-differ", two that hold
        different sounds; "band-limited", speech of a lower rate.
    phone_llr, silence_llr : float
        Log-likelihood ratios of the words, in nats a frame of speech: against any string of phones, near 0 for words
        that were said and lower for other speech; and against silence, low for noise. None unless they were asked for,
        or without words.
    """

    words: tuple[Word, ...]
    seconds: float
    source: str
    error: Fault | None = None
    warnings: tuple[Fault, ...] = ()
    phone_llr: float | None = None
    silence_llr: float | None = None

    @property
    def text(self) -> str:
        """The words, with a space between; empty where all speech was outside the grammar."""
        return " ".join(without_filler(word.word for word in self.words))

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, text and numbers, for `json.dumps`."""
        return {
            "text": self.text,
            "words": [word.to_dict() for word in self.words],
            "seconds": self.seconds,
            "source": self.source,
            "error": None if self.error is None else self.error._asdict(),
            "warnings": [warning._asdict() for warning in self.warnings],
            **({} if self.phone_llr is None else {"phone_llr": self.phone_llr, "silence_llr": self.silence_llr}),
        }


@dataclass(frozen=True, slots=True)
class Alignment:
    """When the words and phones of a known transcript were spoken.

    Attributes
    ----------
    words : tuple of Word
    phones : tuple of Phone
        Those of the pronunciations spoken, with silence and pauses: together they fill the audio.
    seconds : float
        Duration of the audio.
    source : str
        As in `Result`.
    warnings : tuple of Fault
        As in `Result`.
    """

    words: tuple[Word, ...]
    phones: tuple[Phone, ...]
    seconds: float
    source: str
    warnings: tuple[Fault, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, text and numbers, for `json.dumps`."""
        return {
            "words": [word.to_dict() for word in self.words],
            "phones": [asdict(phone) for phone in self.phones],
            "seconds": self.seconds,
            "source": self.source,
            "warnings": [warning._asdict() for warning in self.warnings],
        }


def timed_words(segments: Iterable[Segment], times: FrameTimes, ratios: SpeechRatios | None = None) -> tuple[Word, ...]:
    """Words with their times in seconds, and their likelihood ratios if there are some."""
    return tuple(
        Word(
            part.label,
            times.border(part.start),
            times.border(part.end),
            part.confidence,
            *(() if ratios is None else ratios.between(part.start, part.end)),
        )
        for part in segments
    )


def timed_phones(segments: Iterable[Segment], times: FrameTimes) -> tuple[Phone, ...]:
    """Phones with their times in seconds."""
    return tuple(Phone(part.label, times.border(part.start), times.border(part.end)) for part in segments)
