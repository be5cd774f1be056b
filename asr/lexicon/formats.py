"""Parsers of a line of a pronunciation dictionary in each format.

Every parser takes a line (not blank) and returns the word, its phones and their probability (1 unless it is given), or
None for a line that defines no word. It raises ValueError, with the reason as the message, for a
malformed line.
"""

import re

from asr.lexicon.lexicon import SHORT_PAUSE, SILENCE, Pronunciation
from asr.lexicon.number_columns import NumberColumns, is_decimal
from asr.util.htk_strings import read_htk_string

Entry = tuple[str, Pronunciation, float]

VARIANT_MARK = re.compile(r"(.+)\(\d+\)", re.DOTALL)
MODEL_PAUSES = frozenset({SILENCE, SHORT_PAUSE})
"""Phones of the silence models (`asr.hmm.topology`), which words must not have."""
HTK_PAUSES = frozenset({"sil", "sp"})


def is_comment(line: str) -> bool:
    """Return whether `line` is a comment of a Kaldi dictionary."""
    return line.lstrip().startswith(("#", ";;;"))


def parse_kaldi(line: str, columns: NumberColumns) -> Entry | None:
    """Parse `WORD phone phone ...` with optional columns of numbers; `#` and `;;;` begin comment lines."""
    if is_comment(line):
        return None
    word, *fields = line.split()
    return word, *columns.divide(word, fields)


def parse_cmu(line: str, columns: NumberColumns) -> Entry | None:
    """Parse `WORD(2)  PH1 PH0` with optional columns of numbers.

    `;;;` begins a comment line; a field that begins with `#` ends the phones.
    """
    if line.lstrip().startswith(";;;"):
        return None
    word, *phones = line.split()
    comment = next((i for i, phone in enumerate(phones) if phone.startswith("#")), len(phones))
    variant = VARIANT_MARK.fullmatch(word)
    word = variant.group(1) if variant else word
    return word, *columns.divide(word, phones[:comment])


def parse_htk(line: str) -> Entry | None:
    """Parse `WORD [OUTSYM] probability phone phone ... sp` (HTK Book 3.4, section 12.7), names quoted or escaped.

    The output symbol is checked and ignored. A final `sp` or `sil` is dropped, because a pause may
    follow every word. An entry of only a pause without output (`SENT-END [] sil`) defines no word.
    """
    word, position = read_htk_string(line, _skip_space(line, 0))
    position = _skip_space(line, position)
    silent = False
    if line.startswith("[", position):
        output, position = read_htk_string(line, position + 1, stop="]")
        if not line.startswith("]", position):
            raise ValueError(f"the output symbol [{output} is not closed. Expected [{output}]")
        silent = output == ""
        position = _skip_space(line, position + 1)
    fields, probability = [], 1.0
    while position < len(line):
        field, position = read_htk_string(line, position)
        fields.append(field)
        position = _skip_space(line, position)
    if fields and _is_number(fields[0]):
        probability = float(fields[0])
        if not 0.0 < probability <= 1.0:
            raise ValueError(f"the probability is {fields[0]!r}. Expected a number above 0, at most 1")
        del fields[0]
        if fields and is_decimal(fields[0]):
            raise ValueError(f"the word {word!r} has two or more numbers before its phones. HTK has one probability")
    if silent and fields and HTK_PAUSES.issuperset(fields):
        return None
    while len(fields) > 1 and fields[-1] in HTK_PAUSES:
        fields.pop()
    return word, tuple(fields), probability


def _skip_space(line: str, position: int) -> int:
    while position < len(line) and line[position].isspace():
        position += 1
    return position


def _is_number(field: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", field, re.ASCII) is not None
