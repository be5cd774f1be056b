"""Files of labels in the formats that other programs read, one for each recording."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from asr.alignment.recording_labels import AlignedUtterance, labelled_recordings
from asr.util.errors import ConfigError, Issue, attempt, printable

log = logging.getLogger(__name__)

LABEL_FORMATS: Mapping[str, tuple[str, str]] = {
    "textgrid": (".TextGrid", "textgrid.write_labels"),
    "elan": (".eaf", "elan.write_labels"),
    "csv": (".csv", "label_tables.write_csv"),
    "json": (".json", "label_tables.write_json"),
    "audacity": (".txt", "label_tables.write_audacity"),
}
"""Ending of the files of each format, and its writer as module and function of `asr.alignment`."""


def label_formats(names: str | Sequence[str], *, mlf: bool = False) -> tuple[str, ...]:
    """Return the names of formats, given as one text with commas or as several; ConfigError for an unknown one.

    `mlf`: whether the name "mlf", one file for all recordings, is known too.
    """
    texts = [names] if isinstance(names, str) else names
    found = tuple(dict.fromkeys(part.strip() for text in texts for part in text.split(",") if part.strip()))
    known = (*LABEL_FORMATS, *(["mlf"] if mlf else []))
    for name in found:
        if name not in known:
            raise ConfigError(f"--format (formats=): {name!r}. Expected one of {', '.join(known)}.")
    return found


def write_label_files(
    out: Path,
    formats: Sequence[str],
    aligned: Iterable[AlignedUtterance],
    sources: Callable[[], Mapping[str, Path]] = dict,
) -> None:
    """Write `out/FORMAT/RECORDING.ENDING` for each format (but "mlf") and recording, with the times of the recording.

    A file has the name of its audio file. If the audio files are in several folders, the files are in folders of the
    same names, so that `asr prepare` finds the audio. Files of an earlier run are removed. `sources` returns the
    annotation files of the utterances, whose tiers are kept in files of the same format.
    """
    formats = [name for name in formats if name in LABEL_FORMATS]
    if not formats:
        return
    recordings = list(labelled_recordings(aligned, sources()))
    for name in formats:
        ending, writer = LABEL_FORMATS[name]
        module, _, function = writer.rpartition(".")
        write = getattr(import_module(f"asr.alignment.{module}"), function)
        for path in sorted((out / name).rglob(f"*{ending}")):
            path.unlink()  # an earlier alignment
        for recording in recordings:
            path = out / name / f"{recording.name}{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            found = attempt(write, path, recording)
            if isinstance(found, Issue):
                log.warning("%s", printable(f"{path}: not written: {found.message}"))
