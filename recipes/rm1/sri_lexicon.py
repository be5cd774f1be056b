"""SRI's lexicon of Resource Management (`pcdsril.txt`), with phones folded as in Kaldi's `egs/rm/s5` and HTK's demo."""

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path

from asr.lexicon import Lexicon
from asr.util.errors import LexiconError, printable
from asr.util.text_lines import read_text_lines

_FOLDED = {"zh": "sh", "eng": "ng", "hv": "hh", "em": "m", "axr": "er"}
_DROPPED = frozenset({"q"})  # the glottal stop
_CLOSURES = {"tcl": "td", "dcl": "dd", "kcl": "kd", "pcl": "pd", "bcl": "b", "gcl": "g"}  # without a release
_PHONE = re.compile(r"[a-z]+")


def read_sri_lexicon(path: Path | str) -> Lexicon:
    """Read words in capitals and their folded phones.

    An entry is a line that starts with a small letter: the word, then its phones, some ending in `+1`. Other lines are
    skipped. Raises LexiconError, naming file and line, for a word without phones and for invalid phones.
    """
    variants: dict[str, list[tuple[str, ...]]] = {}
    for number, line in enumerate(read_text_lines(path, LexiconError), 1):
        if not re.match("[a-z]", line):
            continue
        word, *phones = line.split()
        spoken = [phone.replace("+1", "") for phone in phones]
        wrong = next((phone for phone, bare in zip(phones, spoken, strict=True) if not _PHONE.fullmatch(bare)), None)
        if wrong is not None:
            raise LexiconError(
                f"{path}, line {number}: '{printable(wrong, 40)}' of the word '{printable(word, 40)}' is not a "
                "phone. Expected lower-case letters, optionally followed by +1."
            )
        folded = fold_phones(spoken)
        if not folded:
            raise LexiconError(f"{path}, line {number}: the word '{printable(word, 40)}' has no phones.")
        variants.setdefault(word.upper(), []).append(folded)
    return Lexicon({word: tuple(spoken) for word, spoken in variants.items()}, str(path))


def fold_phones(phones: Sequence[str]) -> tuple[str, ...]:
    """Fold SRI's phones to the modeled ones: `tcl t` is t, a lone `tcl` td, and t before s with it ts."""
    folded: list[str] = []
    released = ""
    for phone, following in pairwise(chain(phones, [""])):
        if phone in _DROPPED or (phone == "s" and released == "t"):
            released = ""
            continue
        if phone in _CLOSURES:
            if following != phone[0]:
                folded.append(_CLOSURES[phone])
        elif phone == "t" and following == "s":
            folded.append("ts")
        else:
            folded.append(_FOLDED.get(phone, phone))
        released = phone
    return tuple(folded)
