"""One line of a pronunciation dictionary, in each of the formats that are read.
 Every parser takes a line (not blank) and returns the word and its phones, or None for a line that defines no
word; it raises ValueError, with what is wrong as the message, for a line that does not fit the format.
"""

import re

from asr.lexicon.htk_strings import read_htk_string
from asr.lexicon.lexicon import Pronunciation

Entry = tuple[str, Pronunciation]

VARIANT_MARK = re.compile(r"(.+)\(\d+\)", re.DOTALL)
PROBABILITY = re.compile(r"0?\.\d+|[01]\.\d*|\d(\.\d*)?[eE]-?\d+", re.ASCII)
MODEL_PAUSES = frozenset({"SIL", "SP"})
"""Phones of the models of silence (`asr.hmm.topology`), which stand in no word."""
HTK_PAUSES = frozenset({"sil", "sp"})


def is_probability(field: str) -> bool:
    """Whether `field` is a number in (0, 1] with a point or an exponent: a bare `1` may be a phone."""
    return bool(PROBABILITY.fullmatch(field)) and 0.0 < float(field) <= 1.0


def is_comment(line: str) -> bool:
    """Whether `line` is a comment of a Kaldi dictionary."""
    return line.lstrip().startswith(("#", ";;;"))


def parse_kaldi(line: str) -> Entry | None:
    """`WORD phone phone ...`; lines that begin with `#` or `;;;` are comments."""
    if is_comment(line):
        return None
    word, *phones = line.split()
    return word, tuple(phones)


def parse_kaldi_with_probability(line: str) -> Entry | None:
    """`WORD probability phone phone ...` of a lexiconp.txt; the probability is checked and left out."""
    entry = parse_kaldi(line)
    if entry is None:
        return None
    word, fields = entry
    return word, fields[1:]


def parse_cmu(line: str) -> Entry | None:
    """`WORD(2)  PH1 PH0`; `;;;` begins a comment line, a field with `#` in front ends the phones."""
    if line.lstrip().startswith(";;;"):
        return None
    word, *phones = line.split()
    comment = next((i for i, phone in enumerate(phones) if phone.startswith("#")), len(phones))
    variant = VARIANT_MARK.fullmatch(word)
    return (variant.group(1) if variant else word), tuple(phones[:comment])


def parse_htk(line: str) -> Entry | None:
    """`WORD [OUTSYM] probability phone phone ... sp` (HTK Book 3.4, section 12.7), names quoted or escaped.

    The output symbol and the probability are checked and left out. A closing `sp` or `sil` is dropped, since
    a pause may follow every word anyway; a word that is nothing but a pause and prints nothing (`SENT-END []
    sil`) defines no word.
    """
    word, position = read_htk_string(line, _skip_space(line, 0))
    position = _skip_space(line, position)
    silent = False
    if line.startswith("[", position):
        output, position = read_htk_string(line, position + 1, stop="]")
        if not line.startswith("]", position):
            raise ValueError(f"the output symbol [{output} is not closed; write [{output}]")
        silent = output == ""
        position = _skip_space(line, position + 1)
    fields = []
    while position < len(line):
        field, position = read_htk_string(line, position)
        fields.append(field)
        position = _skip_space(line, position)
    if fields and _is_number(fields[0]):
        if not 0.0 < float(fields[0]) <= 1.0:
            raise ValueError(f"the probability {fields[0]!r} is not above 0 and at most 1")
        del fields[0]
    if silent and fields and HTK_PAUSES.issuperset(fields):
        return None
    while len(fields) > 1 and fields[-1] in HTK_PAUSES:
        fields.pop()
    return word, tuple(fields)


def _skip_space(line: str, position: int) -> int:
    while position < len(line) and line[position].isspace():
        position += 1
    return position


def _is_number(field: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", field, re.ASCII) is not None
