"""Errors and issues for users, and the rule for which of them skip an utterance instead of stopping the command.

Each message has file, line and value, and the expected value. Quoted content is made printable here: control characters
are escaped, and long text is shortened in the middle.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

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


Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Issue:
    """A problem of the input: code, message, and the place if it is known.

    Attributes
    ----------
    code : str
        Short name of the cause for programs, such as the one in `failed.tsv`.
    message : str
        Printable sentence without the place.
    severity : {"error", "warning"}
        "error": the input cannot be used; "warning": it can be used, but is probably unintended.
    path : path, optional
        File with the problem.
    line : int, optional
        Line of the file, from 1; None for the whole file.
    utterances : tuple of str
        Utterances that cannot be used because of it, sorted.
    setting : str
        Full name of the setting with the problem, such as "gmm.mixtures"; empty for other issues.
    stops : bool
        Whether it prevents training.

    Examples
    --------
    >>> from asr.validation import Issue
    >>> Issue("no-audio", "the file does not exist", path="data/wav.scp", line=3).place
    'data/wav.scp:3'
    """

    code: str
    message: str
    severity: Severity = "error"
    path: Path | None = None
    line: int | None = None
    utterances: tuple[str, ...] = ()
    setting: str = ""
    stops: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", sentence(self.message))

    @property
    def utterance(self) -> str:
        """The first utterance; empty without any."""
        return self.utterances[0] if self.utterances else ""

    @property
    def place(self) -> str:
        """Place as `DIR/wav.scp:17`; empty without a file."""
        name = "" if self.path is None else printable(str(self.path))
        return name if self.line is None else f"{name}:{self.line}"

    @property
    def remedy(self) -> str:
        """Text after the last semicolon of the message, or ""."""
        return self.message.rpartition("; ")[2] if "; " in self.message else ""

    @property
    def fact(self) -> str:
        """Message without the remedy."""
        return self.message.removesuffix(f"; {self.remedy}")

    def for_utterance(self, name: str) -> "Issue":
        """Return the issue as one of the utterance `name`."""
        return replace(self, utterances=(name,))

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.place}: {self.severity}: "
        return f"{place}{self.message} [{self.code}]"


def by_utterance(issues: Iterable[Issue]) -> list[Issue]:
    """Sort issues by utterance, code and message."""
    return sorted(issues, key=lambda issue: (issue.utterances, issue.code, issue.message))


class AsrError(Exception):
    """Base of all errors raised on purpose; the command line prints the message and exits with status 1.

    `code` is a short name of the cause for programs, and the reason code in `failed.tsv`. If no utterance is left,
    `lost` has all of them, as issues.
    """

    code: str = "error"
    lost: Sequence[Issue] = ()

    def __init__(self, message: str = "", *, code: str | None = None, lost: Sequence[Issue] = ()) -> None:
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


def report(issue: Issue, error: type[AsrError], issues: list[Issue] | None) -> None:
    """Add an issue of an input that cannot be read to `issues`, or raise it as `error` if `issues` is None."""
    if issues is None:
        raise error(f"{issue.place}: {issue.message}", code=issue.code)
    issues.append(replace(issue, stops=True))


def without_place(error: Exception, path: Path | str) -> str:
    """Return the message of an error without the file at its beginning."""
    return str(error).removeprefix(f"{path}: ").removeprefix(f"{path} ")


def attempt(
    function: Callable[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
) -> Result | Issue:
    """Return the result of `function` for one utterance, or the utterance's issue.

    This is the only place where an error skips an utterance. Only errors of corpus, features, lexicon, alignment and
    search are issues of the utterance. All others (memory, interrupts, a full disk, bugs) stop the command, which can
    be resumed; skipping an utterance for these would silently change the result.
    """
    try:
        return function(*arguments, **options)
    except (CorpusError, FeatureError, LexiconError, AlignmentError, DecodeError) as error:
        if out_of_memory(error) is not None:
            raise
        return Issue(error.code, str(error))
