"""Confusion networks as text: one line per bin, with its times in seconds and its words."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from asr.alignment.ctm import read_number
from asr.corpus.identifiers import fault_in_key
from asr.lattices.confusion_network import Bin
from asr.util.errors import CorpusError, printable
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word

HEADER = "utterance\tstart\tend\twords"
NOTHING = "<eps>"
_LEAST = 5e-5  # smaller probabilities round to 0
_MOST = 1.01  # limit on the sum of a bin's probabilities, each rounded to four digits


def write_confusions(path: Path | str, networks: Mapping[str, Iterable[Bin]]) -> None:
    """Write networks by utterance, with times in seconds.

    Words whose probability rounds to 0 and utterances without bins are left out.
    """
    rows = [HEADER]
    for name, places in networks.items():
        for place in places:
            message = [(word, probability) for word, probability in place.words if probability >= _LEAST]
            words = " ".join(f"{word or NOTHING}:{probability:.4f}" for word, probability in message or place.words[:1])
            rows.append(f"{name}\t{place.begin:.3f}\t{place.end:.3f}\t{words}")
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")


def read_confusions(path: Path | str) -> dict[str, list[Bin]]:
    """Read the file of `write_confusions` without words of probability 0; CorpusError names file, line and value."""
    header, *lines = read_text_lines(path, CorpusError) or [""]
    if header.rstrip("\r") != HEADER:
        raise CorpusError(
            f"{path}:1: {printable(header, 80)!r} is not a header of confusion networks. Expected {HEADER!r}"
        )
    networks: dict[str, list[Bin]] = {}
    for number, line in enumerate(lines, 2):
        where = f"{path}:{number}"
        fields = line.rstrip("\r").split("\t")
        if len(fields) != 4:
            raise CorpusError(
                f"{where}: {printable(line, 80)!r} does not have four fields separated by tabs. Expected {HEADER!r}"
            )
        name, begin, end, words = fields
        fault = fault_in_key(name)
        if fault is not None:
            raise CorpusError(f"{where}: the utterance {name!r} {fault}")
        start, stop = read_number(where, begin), read_number(where, end)
        if start > stop:
            raise CorpusError(f"{where}: the place ends at {end}, before its start at {begin}")
        found = _words(where, words)
        places = networks.setdefault(name, [])
        if any(word for word, _ in found):
            places.append(Bin(found, start, stop))
    return networks


def _words(where: str, text: str) -> tuple[tuple[str, float], ...]:
    found: dict[str, float] = {}
    for part in text.split():
        word, _, probability = part.rpartition(":")
        if not word:
            raise CorpusError(
                f"{where}: {printable(part, 80)!r} is not a word with its probability. Expected for example 'YES:0.9'"
            )
        fault = fault_in_word(word)
        if fault is not None:
            raise CorpusError(f"{where}: the word {printable(word, 80)!r} {fault}")
        share = read_number(where, probability, 1.0)
        if word in found:
            raise CorpusError(f"{where}: {printable(word, 80)!r} appears twice. Expected a word once at a place")
        found[word] = share
    if not found or sum(found.values()) > _MOST:
        raise CorpusError(f"{where}: the probabilities sum to {sum(found.values()):.4g}. Expected about 1")
    return tuple((("" if word == NOTHING else word), share) for word, share in found.items() if share > 0)
