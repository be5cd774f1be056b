"""`scores.tsv` and `suspects.tsv`: transcript scores, and suspicious transcripts."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from asr.alignment.suspects import MIN_BEATEN, MIN_UTTERANCES, Suspect, TranscriptCheck
from asr.util.counted_text import count
from asr.util.errors import printable
from asr.util.files import atomic_write

log = logging.getLogger(__name__)

SCORES, SUSPECTS = "scores.tsv", "suspects.tsv"


def write_scores(path: Path, check: TranscriptCheck) -> None:
    """Write utterance, score and trust (`-` if unknown), separated by tabs, after a header."""
    rows = (
        (name, f"{score:.4f}", f"{check.trust[name]:.4f}" if name in check.trust else "-")
        for name, score in sorted(check.scores.items())
    )
    _write(path, ("utterance", "score", "trust"), rows)


def write_suspects(path: Path, suspects: Iterable[Suspect], transcripts: Mapping[str, Sequence[str]]) -> None:
    """Write kind, name, score (`-` if unknown), reason and transcript of every suspect.

    The header is also written for an empty list.
    """
    rows = (
        (
            suspect.kind,
            printable(suspect.name),
            "-" if suspect.score != suspect.score else f"{suspect.score:.4f}",
            printable(suspect.reason),
            printable(" ".join(transcripts[suspect.name])) if suspect.kind in ("utterance", "listed") else "",
        )
        for suspect in suspects
    )
    _write(path, ("kind", "name", "score", "reason", "transcript"), rows)


def log_suspects(check: TranscriptCheck, path: Path, *, level: int = logging.INFO) -> None:
    """Log the fit of all transcripts at the given level; warn in one line if some may not match the audio.

    Another warning reports unusual training of the mixtures. `path` is the list of suspects.
    """
    log.log(level, "%s; %s suspects, listed with the least trusted in %s", check, len(check.suspects) or "no", path)
    if not check.suspects and len(check.scores) < MIN_UTTERANCES and check.beaten < MIN_BEATEN:
        log.warning(
            "the transcripts may not match the audio; %s utterances are too few to find suspects", len(check.scores)
        )
    kinds = Counter(suspect.kind for suspect in check.suspects)
    parts = ["all transcripts"] if kinds["corpus"] else []
    parts += [f"the transcripts of {count(kinds['speaker'], 'speaker')}"] if kinds["speaker"] else []
    parts += [f"{kinds['utterance']:,} of {count(len(check.scores), 'transcript')}"] if kinds["utterance"] else []
    if parts:
        log.warning("%s may not match the audio; listed in %s", " and ".join(parts), path)
    if kinds["stage"]:
        log.warning("the alignment or the training of the mixtures looks unusual; see 'stage' in %s", path)


def _write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text("".join("\t".join(row) + "\n" for row in (header, *rows)), encoding="utf-8")
