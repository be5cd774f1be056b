"""Labels of a recording as CSV, JSON and labels of Audacity."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from asr.alignment.recording_labels import RecordingLabels
from asr.util.files import atomic_write


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
