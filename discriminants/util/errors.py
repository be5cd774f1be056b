"""What can go wrong here beyond a wrong argument (which is a `ValueError`, as everywhere in scikit-learn)."""

_MAX_MESSAGE_LENGTH = 1000


class DiscriminantError(Exception):
    """Base of the errors that this package raises on purpose.

    A message may quote what a file holds, so it is made fit for a terminal: one line, in which what cannot be printed
    is escaped, and the middle is left out where it is long.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_printable(message))


class ModelFormatError(DiscriminantError, ValueError):
    """A model file that is truncated or of another format, or content that is damaged or cannot be written."""


def _printable(text: str) -> str:
    if len(text) > _MAX_MESSAGE_LENGTH:
        half = _MAX_MESSAGE_LENGTH // 2
        text = f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"
    text = " ".join(text.splitlines())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
