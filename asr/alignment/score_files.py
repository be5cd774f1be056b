"""`scores.tsv` and `suspects.tsv`: transcript scores, and suspicious transcripts."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from asr.alignment.ctm import read_number
from asr.alignment.suspects import MIN_BEATEN, MIN_UTTERANCES, Suspect, TranscriptCheck
from asr.util.counted_text import count
from asr.util.errors import CorpusError, printable
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines

log = logging.getLogger(__name__)

SCORES, SUSPECTS = "scores.tsv", "suspects.tsv"
_SCORE_COLUMNS = ("utterance", "score", "trust")
_SUSPECT_COLUMNS = ("kind", "name", "score", "reason", "transcript")


def write_scores(path: Path, check: TranscriptCheck) -> None:
    """Write utterance, score and trust (`-` if unknown), separated by tabs, after a header."""
    rows = (
        (name, f"{score:.4f}", f"{check.trust[name]:.4f}" if name in check.trust else "-")
        for name, score in sorted(check.scores.items())
    )
    _write(path, _SCORE_COLUMNS, rows)


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
    _write(path, _SUSPECT_COLUMNS, rows)


def read_scores(path: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Read the file of `write_scores`: the scores and the known trusts, by utterance.

    Further columns are ignored. Raises CorpusError with file and line for a missing column or an invalid number.
    """
    scores, trust = {}, {}
    for where, row in _read(path, _SCORE_COLUMNS):
        sign = -1.0 if row["score"].startswith("-") else 1.0
        scores[row["utterance"]] = sign * read_number(where, row["score"].removeprefix("-"))
        if row["trust"] != "-":
            trust[row["utterance"]] = read_number(where, row["trust"], 1.0)
    return scores, trust


def read_reasons(path: Path) -> dict[str, str]:
    """Read the file of `write_suspects`: the reason for each utterance, by its printable name.

    Further columns are ignored. Raises CorpusError with file and line for a missing column.
    """
    rows = (row for _, row in _read(path, _SUSPECT_COLUMNS))
    return {row["name"]: row["reason"] for row in rows if row["kind"] in ("utterance", "listed")}


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


def _read(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place of each row below the header, and its cells by column."""
    lines = [line.rstrip("\r").split("\t") for line in read_text_lines(path, CorpusError)]
    header = lines[0] if lines else []
    for name in needed:
        if name not in header:
            raise CorpusError(f"{path}:1: no column {name!r}. Expected the columns {', '.join(needed)}.")
    for number, cells in enumerate(lines[1:], 2):
        if len(cells) != len(header):
            raise CorpusError(f"{path}:{number}: {len(cells)} columns. Expected {len(header)}, as in the header.")
        yield f"{path}:{number}", dict(zip(header, cells, strict=True))
