"""Errors other than invalid arguments, which raise `ValueError` as in scikit-learn."""

_MAX_MESSAGE_LENGTH = 1000


class DiscriminantError(Exception):
    """Base class of the errors that this package raises on purpose.

    A message may quote the content of a file, so it is made printable: one line, with unprintable characters escaped
    and the middle of long text omitted.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_printable(message))


class ModelFormatError(DiscriminantError, ValueError):
    """A model file that is truncated, damaged or of another format, or content that cannot be written."""


class MissingModelError(ModelFormatError, FileNotFoundError):
    """A model file that does not exist; also a FileNotFoundError."""


class UntrustedClassError(ModelFormatError):
    """A model file that names a class outside the trusted modules and classes."""


def _printable(text: str) -> str:
    if len(text) > _MAX_MESSAGE_LENGTH:
        half = _MAX_MESSAGE_LENGTH // 2
        text = f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"
    text = " ".join(text.splitlines())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
