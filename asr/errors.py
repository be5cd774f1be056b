"""The errors a user can meet: each message names file, line and value at fault, and says what would be right."""


class AsrError(Exception):
    """Base of every error raised on purpose; the command line prints its message and exits with status 1."""


def reason_of(error: Exception) -> str:
    """What to say of an utterance that `error` put an end to: its message, with its kind if it is no AsrError."""
    return str(error) if isinstance(error, AsrError) else f"{type(error).__name__}: {error}"


class ConfigError(AsrError):
    """A configuration value is unknown, missing or out of range."""


class CorpusError(AsrError):
    """A data directory, archive or audio file is malformed or missing."""


class FeatureError(AsrError):
    """Features cannot be computed from this input."""


class LexiconError(AsrError):
    """A pronunciation dictionary is malformed, or a word or phone is not in it."""


class GrammarError(AsrError):
    """A grammar or language model is malformed or does not fit the vocabulary."""


class AlignmentError(AsrError):
    """An utterance cannot be aligned to its transcript."""


class DecodeError(AsrError):
    """A decoding graph cannot be built or searched."""


class ModelFormatError(AsrError):
    """A model file is truncated, of another format, or disagrees with its own header."""


class RunError(AsrError):
    """A work directory belongs to another configuration or holds what is not a run."""
