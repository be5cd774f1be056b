"""Unicode normalization, and characters that are not allowed in words.

Text is normalized to NFC on reading, so that words are equal on all systems.
"""

from pathlib import Path
from unicodedata import category, is_normalized, name, normalize

from discriminants.util.paths import exists

_JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiner, used within words of Persian, Hindi and other languages."""
_HYPHENS = "-\u2010\u2011"
_SINGLE_QUOTES = "'`\u2018\u2019\u201a\u201b\u2039\u203a"


def nfc(text: str) -> str:
    """Return the text in Unicode's normalization form C."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def fault_in_word(word: str) -> str | None:
    """Return why `word` cannot be a word or phone, as the end of a sentence; None if it can.

    White space, control characters and invisible format characters (zero-width space, direction marks) are refused, but
    not the zero-width joiners.
    """
    if word.split() != [word]:
        return "must be a name without white space"
    if word.isprintable():
        return None
    for character in word:
        if category(character) in ("Cc", "Cf", "Cs") and character not in _JOINERS:
            label = name(character, "control character").lower()
            return f"contains U+{ord(character):04X} ({label}), an invisible character. Remove it"
    return None


def without_punctuation(word: str) -> str:
    """Return the word without punctuation of any script at its ends.

    Apostrophes and hyphens are kept, except single quotes at both ends.
    """
    first, last = 0, len(word)
    while first < last and _is_mark(word[first]):
        first += 1
    while first < last and _is_mark(word[last - 1]):
        last -= 1
    inner = word[first:last]
    if len(inner) > 1 and inner[0] in _SINGLE_QUOTES and inner[-1] in _SINGLE_QUOTES:
        return without_punctuation(inner[1:-1])
    return "" if all(category(character)[0] == "P" for character in inner) else inner


def _is_mark(character: str) -> bool:
    return category(character)[0] == "P" and character not in _SINGLE_QUOTES + _HYPHENS


def existing_form(path: Path) -> Path:
    """Return the path in the Unicode form that exists on disk, or `path` itself if none does.

    Lists are read as NFC, but some systems store file names decomposed (NFD).
    """
    if str(path).isascii():
        return path
    try:
        return path if exists(path) else _other_form(path)
    except OSError:  # an invalid file name, for example of more than 255 bytes
        return path


def _other_form(path: Path) -> Path:
    found = Path(path.anchor)
    for part in path.relative_to(path.anchor).parts:
        forms = [found / part, *(found / normalize(form, part) for form in ("NFC", "NFD"))]
        present = next((form for form in forms if exists(form)), None)
        if present is None:
            return path
        found = present
    return found
