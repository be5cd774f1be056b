"""Errors for users, and the rule for which of them skip an utterance instead of stopping the command.

Each message has file, line and value, and the expected value. Quoted content is made printable here: control characters
are escaped, and long text is shortened in the middle.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, ParamSpec, TypeVar

from asr.util.memory_errors import out_of_memory

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MAX_MESSAGE_LENGTH = 1000


def printable(text: str, limit: int = MAX_MESSAGE_LENGTH) -> str:
    r"""`text` as one line that a terminal shows as it is, of about `limit` characters at the most.

    Line ends become spaces; other characters that are not printable are escaped (`\x1b`); of a longer text the
    middle is left out.

    >>> printable("file.txt:3: '\x1b[2J' is not\na number")
    "file.txt:3: '\\x1b[2J' is not a number"
    """
    length, shown = len(text), text
    if length <= limit:
        shown = _escaped(text)
        length = len(shown)
    if length <= limit:
        return shown
    half = limit // 2
    start, end = _escaped(text[:half])[:half], _escaped(text[-half:])[-half:]
    return f"{start} [... {length - 2 * half} characters ...] {end}"


def sentence(text: str) -> str:
    """Return `text` like `printable`, without a final full stop, for use in another sentence."""
    shown = printable(text)
    return shown if shown.endswith("..") else shown.removesuffix(".")


def _escaped(text: str) -> str:
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character in "\n\r" else character.encode("unicode_escape").decode("ascii")


class AsrError(Exception):
    """Base of all errors raised on purpose; the command line prints the message and exits with status 1.

    `code` is a short name of the cause for programs, and the reason code in `failed.tsv`. If no utterance is left,
    `lost` has all of them, each with code and reason.
    """

    code: str = "error"
    lost: Sequence[tuple[str, str, str]] = ()

    def __init__(
        self, message: str = "", *, code: str | None = None, lost: Sequence[tuple[str, str, str]] = ()
    ) -> None:
        super().__init__(sentence(message))
        if code is not None:
            self.code = code
        if lost:
            self.lost = tuple(lost)


class ConfigError(AsrError):
    """A configuration value is unknown, missing or out of range."""

    code = "settings"


class ArgumentError(ConfigError, TypeError):
    """An argument has another type than the function accepts; also a TypeError."""

    code = "argument"


class CorpusError(AsrError):
    """A data directory, archive or audio file is malformed or missing."""

    code = "unreadable"


class FeatureError(AsrError):
    """Features cannot be computed from this input."""

    code = "no-features"


class LexiconError(AsrError):
    """A pronunciation dictionary is malformed, or a word or phone is not in it."""

    code = "lexicon"


class GrammarError(AsrError):
    """A grammar or language model is malformed or does not fit the vocabulary."""

    code = "grammar"


class AlignmentError(AsrError):
    """An utterance cannot be aligned to its transcript."""

    code = "not-aligned"


class DecodeError(AsrError):
    """A decoding graph cannot be built or searched."""

    code = "not-decoded"


MODEL_NEEDED = "Expected a model file of `asr train` (model.safetensors in its work directory)"


class ModelFormatError(AsrError):
    """A model file is truncated, has another format, or contradicts its own header."""

    code = "model"


class MissingModelError(ModelFormatError, FileNotFoundError):
    """A model file does not exist; also a FileNotFoundError."""

    code = "missing-file"


class MissingAudioError(CorpusError, FileNotFoundError):
    """An audio file does not exist; also a FileNotFoundError."""

    code = "missing-file"


class RunError(AsrError):
    """A work directory belongs to another configuration or has other content."""

    code = "run"


class AudioWarning(UserWarning):
    """Unusual audio was recognized; the words are probably wrong."""


class _Fault(NamedTuple):
    code: str
    reason: str


class Fault(_Fault):
    """Reason why an utterance is unusable: a short code for programs, and a printable sentence."""

    __slots__ = ()

    def __new__(cls, code: str, reason: str) -> "Fault":
        """Create it like any named tuple."""
        return super().__new__(cls, code, sentence(reason))

    def __str__(self) -> str:
        return f"{self.reason} [{self.code}]"


def attempt(
    function: Callable[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
) -> Result | Fault:
    """Return the result of `function` for one utterance, or the utterance's fault.

    This is the only place where an error skips an utterance. Only errors of corpus, features, lexicon, alignment and
    search are faults of the utterance. All others (memory, interrupts, a full disk, bugs) stop the command, which can
    be resumed; skipping an utterance for these would silently change the result.
    """
    try:
        return function(*arguments, **options)
    except (CorpusError, FeatureError, LexiconError, AlignmentError, DecodeError) as error:
        if out_of_memory(error) is not None:
            raise
        return Fault(error.code, str(error))
