"""`scores.tsv` and `suspects.tsv`: transcript scores, and suspicious transcripts."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from asr.alignment.suspects import MIN_BEATEN, MIN_UTTERANCES, Suspect, TranscriptCheck
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


def tell(check: TranscriptCheck, path: Path) -> None:
    """Log the number of suspects, what to do, the file that lists them, and the first."""
    if not check.suspects and len(check.scores) < MIN_UTTERANCES:
        doubtful = check.beaten < MIN_BEATEN
        doubt = ". Check that the transcripts match the audio" if doubtful else ""
        few = f"{_counted(len(check.scores), 'utterance')}, at least {MIN_UTTERANCES} needed"
        log.log(
            logging.WARNING if doubtful else logging.INFO,
            "%s; too few utterances to find suspects: %s%s",
            check,
            few,
            doubt,
        )
        return
    if not check.suspects:
        log.info("%s; no suspects; %s lists the %d least trusted", check, path, len(check.listed))
        return
    kinds = Counter(suspect.kind for suspect in check.suspects)
    checked = _counted(len(check.scores), "utterance")
    whose = [f"all {checked}"] if kinds["corpus"] else []
    whose += [_counted(kinds["speaker"], "speaker")] if kinds["speaker"] else []
    whose += [f"{kinds['utterance']:,} of {checked}"] if kinds["utterance"] else []
    sentences = []
    if whose:
        sentences.append(
            f"the transcripts of {' and '.join(whose)} do not seem to match the audio. Listen to them, and "
            "correct or remove wrong transcripts. Noise or long pauses can also be the cause"
        )
    if kinds["stage"]:
        sentences.append(f"{_counted(kinds['stage'], 'remark')} about training")
    first = check.suspects[0]
    log.warning(
        "%s. List: %s; the first: %s %s: %s. All transcripts: %s",
        "; ".join(sentences),
        path,
        first.kind,
        first.name,
        first.reason,
        check,
    )


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text("".join("\t".join(row) + "\n" for row in (header, *rows)), encoding="utf-8")
