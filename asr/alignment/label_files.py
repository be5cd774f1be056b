"""Files of labels in the formats that other programs read, one for each recording."""

import csv
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from asr.alignment.recording_labels import AlignedUtterance, RecordingLabels, labelled_recordings
from asr.util.errors import ConfigError, CorpusError, Issue, attempt, printable
from asr.util.files import atomic_write
from asr.util.text_lines import read_text
from discriminants.util.paths import is_file

log = logging.getLogger(__name__)

PREPARED = "prepared.tsv"
"""Table of `asr prepare`: every file, row or segment of the source, with its utterance or the reason against it."""

LABEL_FORMATS: Mapping[str, tuple[str, str]] = {
    "textgrid": (".TextGrid", "textgrid.write_labels"),
    "elan": (".eaf", "elan.write_labels"),
    "csv": (".csv", "label_files.write_csv"),
    "json": (".json", "label_files.write_json"),
    "audacity": (".txt", "label_files.write_audacity"),
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


def source_files(data: Path) -> dict[str, Path]:
    """Return the TextGrid or ELAN file of each utterance of a directory that `prepare` wrote, if it still exists."""
    table = next((folder / PREPARED for folder in (data, data.parent) if is_file(folder / PREPARED)), None)
    if table is None:
        return {}
    found: dict[str, Path] = {}
    for line in read_text(table, CorpusError).splitlines()[1:]:
        place, name, code = [*line.split("\t"), "", ""][:3]
        path = re.match(r"(?i)(.*\.(?:textgrid|eaf)):", place)
        if path and code == "used" and is_file(Path(path[1])):
            found[name] = Path(path[1])
    return found


def write_csv(path: Path, recording: RecordingLabels) -> None:
    """Write a row for each label: tier, speaker, start and end in seconds, label and trust (empty if unknown).

    If the trusts are confidences, the last column states whether these are calibrated (`true` or `false`).
    """
    known = recording.calibrated is not None
    calibrated = (str(recording.calibrated).lower(),) if known else ()
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("tier", "speaker", "start", "end", "label", "trust", *(("calibrated",) if known else ())))
        for tier in recording.tiers:
            for start, end, text, trust in tier.labels:
                score = "" if trust is None else f"{trust:.4f}"
                rows.writerow((tier.kind, tier.speaker, f"{start:.4f}", f"{end:.4f}", text, score, *calibrated))


def write_json(path: Path, recording: RecordingLabels) -> None:
    """Write an object with the audio file, its seconds, and the tiers with their labels.

    If the trusts are confidences, `calibrated` states whether these are calibrated.
    """
    tiers = [
        {
            "tier": tier.kind,
            "speaker": tier.speaker,
            "labels": [
                {"start": start, "end": end, "label": text, "trust": None if trust is None else round(trust, 4)}
                for start, end, text, trust in tier.labels
            ],
        }
        for tier in recording.tiers
    ]
    found = {
        "audio": None if recording.audio is None else str(recording.audio),
        "seconds": recording.seconds,
        **({} if recording.calibrated is None else {"calibrated": recording.calibrated}),
        "tiers": tiers,
    }
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_audacity(path: Path, recording: RecordingLabels) -> None:
    """Write a line for each word: start and end in seconds, and the word. The format has no place for trusts.

    If the recording has several speakers, `SPEAKER: ` stands before the word.
    """
    with atomic_write(path) as temporary:
        temporary.write_text("".join(_audacity(recording)), encoding="utf-8")


def _audacity(recording: RecordingLabels) -> Iterator[str]:
    words = [tier for tier in recording.tiers if tier.kind == "words"]
    rows = [(label, f"{tier.speaker}: " if len(words) > 1 else "") for tier in words for label in tier.labels]
    for label, speaker in sorted(rows):
        yield f"{label.start:.4f}\t{label.end:.4f}\t{speaker}{label.text}\n"
