"""Results of recognition and alignment: words and phones with times in seconds."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from asr.alignment.frame_times import FrameTimes
from asr.decode.path_segments import Segment
from asr.grammar.filler import FILLER_WORD, without_filler
from asr.util.display import html_table
from asr.util.errors import ConfigError, Issue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from asr.api.sound import Audio
    from asr.api.utterances import AlignedFrames
    from asr.recognition.speech_ratios import SpeechRatios


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its times.

    Speech outside the grammar is the word "[unk]", with `is_filler` true.

    Attributes
    ----------
    word : str
        The word, as in the lexicon.
    start, end : float
        Times in seconds from the beginning of the audio.
    confidence : float or None
        Probability, from 0 to 1, that the word is correct; None unless requested.
    phone_llr, silence_llr : float or None
        Likelihood ratios of `Result`, for the word's frames.
    trust : float or None
        Of an aligned word, from 0 to 1: whether the word was said between these times. None for recognized words.

    Examples
    --------
    >>> from asr import Word
    >>> Word("ONE", 0.25, 0.5).to_dict()
    {'word': 'ONE', 'start': 0.25, 'end': 0.5}
    """

    word: str
    start: float
    end: float
    confidence: float | None = None
    phone_llr: float | None = None
    silence_llr: float | None = None
    trust: float | None = None

    @property
    def is_filler(self) -> bool:
        """Whether this is speech outside the grammar."""
        return self.word == FILLER_WORD

    def to_dict(self) -> dict[str, Any]:
        """Return the word as a dictionary, without fields that were not requested."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Phone:
    """A phone, silence (SIL) or short pause (SP), with its times.

    Attributes
    ----------
    phone : str
        The phone, as in the lexicon, or SIL or SP.
    start, end : float
        Times in seconds from the beginning of the audio.
    trust : float or None
        Whether the phone was said between these times, from 0 to 1.

    Examples
    --------
    >>> from asr import Phone
    >>> Phone("AH", 0.25, 0.5).end
    0.5
    """

    phone: str
    start: float
    end: float
    trust: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the phone as a dictionary, without unknown trust."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Result:
    """Result for one piece of audio.

    Attributes
    ----------
    words : tuple of Word
        In order of time; may be empty.
    seconds : float
        Duration of the audio; 0 if it could not be read.
    source : str
        The given path, the name of a file object, or "array".
    error : Issue or None
        Reason for a failure, as a `code` and a `message`; None on success.
    warnings : tuple of Issue
        Unusual properties of the audio: "silent", all samples are 0, so the result is empty; "opposite-phase", channels
        cancel; "channels-differ", two channels have different content; "band-limited", speech of a lower rate.
    phone_llr, silence_llr : float
        Log-likelihood ratios of the words, in nats per frame of speech. Against any string of phones: near 0 for spoken
        words and lower for other speech. Against silence: low for noise. None without words or unless requested.
    calibrated : bool or None
        Whether the confidences of the words are calibrated on held-out speech; otherwise they are often too high. None
        without confidences.

    Examples
    --------
    >>> from asr import Recognizer
    >>> recognizer = Recognizer.load("model.safetensors")
    >>> result = recognizer.recognize("speech.flac")
    >>> result.text
    'WISE TWO SEVEN ONE'
    >>> result.seconds > result.words[-1].end > 0
    True
    """

    words: tuple[Word, ...]
    seconds: float
    source: str
    error: Issue | None = None
    warnings: tuple[Issue, ...] = ()
    phone_llr: float | None = None
    silence_llr: float | None = None
    calibrated: bool | None = None

    @property
    def text(self) -> str:
        """Words separated by spaces; empty if all speech was outside the grammar."""
        return " ".join(without_filler(word.word for word in self.words))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as dictionaries, lists, text and numbers, for `json.dumps`."""
        return {
            "text": self.text,
            "words": [word.to_dict() for word in self.words],
            "seconds": self.seconds,
            "source": self.source,
            "error": None if self.error is None else _issue_dict(self.error),
            "warnings": [_issue_dict(warning) for warning in self.warnings],
            **({} if self.phone_llr is None else {"phone_llr": self.phone_llr, "silence_llr": self.silence_llr}),
            **({} if self.calibrated is None else {"calibrated": self.calibrated}),
        }

    def _repr_html_(self) -> str:
        """Return a table of the words, for notebooks."""
        issues = (*(() if self.error is None else (self.error,)), *self.warnings)
        return _html(f"{self.source}, {self.seconds:.2f} s", self.words, [issue.message for issue in issues])


@dataclass(frozen=True, slots=True)
class Alignment:
    """Times of the words and phones of a known transcript.

    Attributes
    ----------
    words : tuple of Word
    phones : tuple of Phone
        Phones of the aligned pronunciations, silence and pauses; together they fill the audio.
    seconds : float
        Duration of the audio.
    source : str
        As in `Result`.
    warnings : tuple of Issue
        As in `Result`.
    trust : float or None
        Whether the transcript is right, from 0 to 1. It depends on the whole and on the word that fits worst. `asr
        align` compares with other utterances too, so its trust differs.
    frames : AlignedFrames or None
        Posteriors and states of the frames, for `plot`.

    Examples
    --------
    >>> from asr import Recognizer
    >>> recognizer = Recognizer.load("model.safetensors")
    >>> alignment = recognizer.align("speech.flac", "WISE TWO SEVEN ONE")
    >>> [word.word for word in alignment.words]
    ['WISE', 'TWO', 'SEVEN', 'ONE']
    """

    words: tuple[Word, ...]
    phones: tuple[Phone, ...]
    seconds: float
    source: str
    warnings: tuple[Issue, ...] = ()
    trust: float | None = None
    frames: "AlignedFrames | None" = field(default=None, repr=False, compare=False)

    def plot(self, audio: "Audio | None" = None, *, figsize: tuple[float, float] = (9.0, 6.5)) -> "dict[str, Axes]":
        """Draw waveform, spectrogram, state posteriors, states, phones and words with matplotlib.

        A posterior is that of a state if all states are equally likely. Only the states of the alignment are drawn; the
        line connects them. Returns the axes "waveform", "spectrogram", "states", "phones" and "words" of a new figure.

        Raises ConfigError if the audio of the alignment was a file object and `audio` is missing.

        Parameters
        ----------
        audio : path, binary file object, or (array, rate), optional
            The audio; by default it is read again.
        figsize : (float, float)
            Width and height of the figure in inches.
        """
        from asr.report.alignment_plot import draw_alignment

        if self.frames is None:
            raise ConfigError("this alignment has no frames to draw. Use Recognizer.align")
        tiers = {
            "phones": [(phone.phone, phone.start, phone.end) for phone in self.phones],
            "words": [(word.word, word.start, word.end) for word in self.words],
        }
        shown = self.frames
        return draw_alignment(
            shown.samples(audio), shown.rate, shown.borders, shown.posteriors, shown.rows, shown.phones, tiers, figsize
        )

    def _repr_html_(self) -> str:
        """Return a table of the words, for notebooks."""
        return _html(f"{self.source}, {self.seconds:.2f} s", self.words, [issue.message for issue in self.warnings])

    def to_dict(self) -> dict[str, Any]:
        """Return the alignment as dictionaries, lists, text and numbers, for `json.dumps`."""
        return {
            "words": [word.to_dict() for word in self.words],
            "phones": [phone.to_dict() for phone in self.phones],
            "seconds": self.seconds,
            "source": self.source,
            "warnings": [_issue_dict(warning) for warning in self.warnings],
            **({} if self.trust is None else {"trust": self.trust}),
        }


def _html(title: str, words: Iterable[Word], notes: Iterable[str]) -> str:
    """Return a table of words, with the columns of their scores that are known."""
    columns = {"Confidence": "confidence", "Trust": "trust", "Phone LLR": "phone_llr", "Silence LLR": "silence_llr"}
    words = list(words)
    known = {title: name for title, name in columns.items() if any(getattr(word, name) is not None for word in words)}
    rows = [(word.word, word.start, word.end, *(getattr(word, name) for name in known.values())) for word in words]
    return html_table(title, ("Word", "Start s", "End s", *known), rows, notes)


def _issue_dict(issue: Issue) -> dict[str, str]:
    return {"code": issue.code, "reason": issue.message}


def timed_words(
    segments: Iterable[Segment], times: FrameTimes, ratios: "SpeechRatios | None" = None
) -> tuple[Word, ...]:
    """Return words with times in seconds, and likelihood ratios if given."""
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
    """Return phones with times in seconds."""
    return tuple(Phone(part.label, times.border(part.start), times.border(part.end)) for part in segments)
