"""Common Voice: clips/*.mp3 and the tables train.tsv, dev.tsv and test.tsv (or validated.tsv alone).

Ardila et al. (2020), "Common Voice: A Massively-Multilingual Speech Corpus".
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from asr.corpus.formats.source import Found, ReadOptions, SourceUtterance
from asr.corpus.formats.table import read_table
from asr.util.errors import CorpusError
from discriminants.util.paths import is_file

SPEAKER_LENGTH = 12  # characters of the hexadecimal client_id, of 128, which are unique in practice


def read_common_voice(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the rows of the tables; each table is a part."""
    tables = [source / f"{part}.tsv" for part in ("train", "dev", "test")]
    present = [table for table in tables if is_file(table)] or [source / "validated.tsv"]
    if not is_file(present[0]):
        raise CorpusError(f"{source}: no train.tsv, dev.tsv, test.tsv or validated.tsv.", code="missing-file")
    for table in present:
        part = None if table.stem == "validated" else table.stem
        for found in read_table(table, replace(options, audio=options.audio or source / "clips")):
            if isinstance(found, SourceUtterance):
                found = replace(found, speaker=(found.speaker or "")[:SPEAKER_LENGTH] or None, part=part)
            yield found
