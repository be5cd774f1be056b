"""Transcripts as arguments of functions."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from asr.scoring.files import read_transcripts
from asr.scoring.references import References, read_hypotheses, read_references
from asr.util.unicode_text import nfc

Transcripts: TypeAlias = str | os.PathLike[str] | Mapping[str, str | Sequence[str]] | Iterable[str | Sequence[str]]
"""Transcripts: the path of a file, words or text by utterance, or a list with one text per utterance."""


def is_list(transcripts: Transcripts) -> bool:
    """Return whether these are texts without the ids of utterances."""
    return not isinstance(transcripts, str | os.PathLike | Mapping)


def given_transcripts(given: Transcripts) -> dict[str, tuple[str, ...]]:
    """Return words by utterance; a list is numbered from 0."""
    if isinstance(given, str | os.PathLike):
        return read_transcripts(Path(given))
    by_utterance = given if isinstance(given, Mapping) else {str(number): text for number, text in enumerate(given)}
    return {
        nfc(name): tuple(map(nfc, said.split() if isinstance(said, str) else said))
        for name, said in by_utterance.items()
    }


def given_references(given: Transcripts) -> References:
    """Return references, with the speakers and segments of an STM file; texts in Python have no alternatives."""
    if isinstance(given, str | os.PathLike):
        return read_references(Path(given))
    return References(given_transcripts(given))


def given_hypotheses(given: Transcripts, references: References) -> dict[str, tuple[str, ...]]:
    """Return recognized words by utterance, or by segment of the references."""
    if isinstance(given, str | os.PathLike):
        return read_hypotheses(Path(given), references)
    return given_transcripts(given)


def name_of(given: Transcripts, otherwise: str) -> str:
    """Return the name of transcripts in messages."""
    return str(given) if isinstance(given, str | os.PathLike) else otherwise
