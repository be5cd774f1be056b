"""Tables (CSV, TSV) with a row for each file or segment."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from asr.corpus.formats.source import AudioFinder, Found, LeftOut, ReadOptions, SourceUtterance, read_annotation
from asr.util.errors import CorpusError
from asr.util.unicode_text import nfc

FIELDS: Mapping[str, tuple[str, ...]] = {
    "file": ("file", "path", "audio", "filename", "file_name", "wav", "wav_filename", "audio_file", "audio_filepath",
             "audio_path", "filepath", "recording"),
    "text": ("text", "sentence", "transcript", "transcription", "words", "normalized_text", "utterance"),
    "speaker": ("speaker", "client_id", "speaker_id", "speaker_name", "spk"),
    "start": ("start", "begin", "start_time", "offset", "onset"),
    "end": ("end", "stop", "end_time", "offset_end"),
    "duration": ("duration",),
    "name": ("id", "utterance_id", "utt_id"),
}  # fmt: skip
"""Usual names of the columns of each field; letter case does not count."""
_DELIMITERS = "\t;,|"


def read_table(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield one utterance per row.

    The first line names the columns (`FIELDS`, or `options.columns`); the columns of file and text are required. Quotes
    are characters like others in tables with tabs or with `|`.

    Raises
    ------
    CorpusError
        If the table cannot be read or a column is missing.
    """
    header, rows = read_rows(source)
    columns = _columns(source, header, options.columns)
    finder = AudioFinder(source.parent, options.audio)
    for place, row in rows:
        yield row if isinstance(row, LeftOut) else _utterance(place, row, columns, finder)


def read_rows(source: Path) -> tuple[list[str], Iterator[tuple[str, list[str] | LeftOut]]]:
    """Return the cells of the first line, and the place and cells of each further row with text; faults are LeftOut.

    Raises CorpusError if the file cannot be read or is empty.
    """
    lines = read_annotation(source).splitlines()
    if not lines:
        raise CorpusError(f"{source}: an empty file. Expected a line with the names of the columns.")
    delimiter = max(_DELIMITERS, key=lines[0].count)
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter in "\t|" else csv.QUOTE_MINIMAL

    def cells(line: str) -> list[str]:
        return next(csv.reader([line], delimiter=delimiter, quoting=quoting, strict=True))

    try:
        header = cells(lines[0])
    except csv.Error as error:
        raise CorpusError(f"{source}:1: {error}.") from error

    def rows() -> Iterator[tuple[str, list[str] | LeftOut]]:
        for number, line in enumerate(lines[1:], 2):
            place = f"{source}:{number}"
            try:
                row = cells(line) if line.strip() else []
            except csv.Error as error:
                reason = f"a quotation mark is not closed, or has text after it ({error})"
                yield place, LeftOut(place, "open-quote", reason)
                continue
            if any(row[len(header) :]):
                reason = f"{len(row)} columns. Expected {len(header)}, as in line 1"
                yield place, LeftOut(place, "bad-line", reason)
            elif any(row):
                yield place, row

    return header, rows()


def _columns(source: Path, header: list[str], given: Mapping[str, str]) -> dict[str, int]:
    """Return the column number of each field that the table has."""
    names = [nfc(name.strip()).casefold() for name in header]
    columns: dict[str, int] = {}
    for field in given:
        if field not in FIELDS:
            raise CorpusError(f"--columns (columns=): '{field}' is not a field. Expected one of {', '.join(FIELDS)}.")
    for field, usual in FIELDS.items():
        wanted = (given[field].strip().casefold(),) if field in given else usual
        found = next((names.index(name) for name in wanted if name in names), None)
        if found is not None:
            columns[field] = found
    missing = [field for field in FIELDS if field not in columns and (field in given or field in ("file", "text"))]
    if len(header) == 1:
        raise CorpusError(
            f"{source}:1: one column, '{header[0][:80]}'. Expected columns for file and text, with commas, semicolons, "
            "tabs or | between them."
        )
    if missing:
        lacking = " and ".join(f"{field} ('{given[field]}')" if field in given else field for field in missing)
        kept = {field: name for field, name in given.items() if field not in missing}
        use = ",".join(f"{field}={kept.get(field, 'NAME')}" for field in dict.fromkeys((*kept, *missing, "speaker")))
        raise CorpusError(
            f"{source}:1: no column for {lacking} among {', '.join(header)}. Use --columns {use} (columns=)."
        )
    return columns


def _utterance(place: str, row: list[str], columns: Mapping[str, int], finder: AudioFinder) -> Found:
    value = {field: row[column].strip() if column < len(row) else "" for field, column in columns.items()}
    if not value["file"]:
        return LeftOut(place, "no-audio", "the row names no file")
    if not value["text"]:
        return LeftOut(place, "no-words", "the row has no transcript")
    audio = finder.named(value["file"], place)
    if isinstance(audio, LeftOut):
        return audio
    try:
        start, end, duration = (
            float(value[field]) if value.get(field) else None for field in ("start", "end", "duration")
        )
    except ValueError as error:
        return LeftOut(place, "bad-time", f"{error}. Expected seconds")
    if end is None and duration is not None and start is not None:
        end = start + duration
    return SourceUtterance(
        audio, value["text"], place, value.get("speaker") or None, start, end, value.get("name") or None
    )
