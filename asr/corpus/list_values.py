"""Values of the lines of a data directory's lists."""

from pathlib import Path

from asr.corpus.list_file import Entry, refuse_pipe
from asr.util.errors import CorpusError, Issue, report

_MAX_DIGITS = 18  # of an offset: no file is that long
_LATEST = 1e9  # seconds: no recording is that long


def parse_segment(
    path: Path, key: str, entry: Entry, issues: list[Issue] | None = None
) -> tuple[str, float, float | None] | None:
    """Return recording, start and end (None for the recording's end) in seconds from a line of `path`.

    An invalid segment is collected in `issues` and None returned; without `issues` it raises CorpusError.
    """
    fields = entry.value.split()
    try:
        recording, start, end = fields[0], float(fields[1]), float(fields[2])
    except (IndexError, ValueError):
        recording, start, end = "", float("nan"), float("nan")
    to_the_end = end == -1  # Kaldi's mark for the end of the recording
    if len(fields) != 3 or not (0 <= start <= _LATEST and (start < end <= _LATEST or to_the_end)):
        message = (
            f"'{key} {entry.value}' is not a segment. Expected UTTERANCE RECORDING START END with 0 <= START < END in "
            "seconds"
        )
        report(Issue("bad-segment", message, path=path, line=entry.line), CorpusError, issues)
        return None
    return recording, start, None if to_the_end else end


def parse_matrix_place(path: Path, key: str, entry: Entry, issues: list[Issue] | None = None) -> tuple[str, int] | None:
    """Return archive and first byte from a line of the feats.scp at `path`.

    A pipe, a range of a matrix, or an offset beyond any file size is collected in `issues` and None returned; without
    `issues` it raises CorpusError.
    """
    line, value = entry
    if refuse_pipe(path, line, key, value, issues):
        return None
    name, colon, digits = value.rpartition(":")
    if not (colon and digits.isascii() and digits.isdigit()):
        name, digits = value, "0"
    fault = ""
    if value.endswith("]"):
        fault = f"'{value}' selects a range of a matrix, which is not supported; store the range as a matrix"
    elif len(digits) > _MAX_DIGITS:
        fault = f"the offset '{digits}' has {len(digits)} digits. Expected at most {_MAX_DIGITS}"
    if fault:
        report(Issue("malformed", fault, path=path, line=line), CorpusError, issues)
        return None
    return name, int(digits)


def parse_speaker(path: Path, key: str, entry: Entry, issues: list[Issue] | None = None) -> str | None:
    """Return the speaker from a line of utt2spk; several words are an issue."""
    if len(entry.value.split()) == 1:
        return entry.value
    message = f"'{key} {entry.value}' has several words after the utterance. Expected one speaker"
    report(Issue("malformed", message, path=path, line=entry.line), CorpusError, issues)
    return None


def parse_gender(path: Path, key: str, entry: Entry, issues: list[Issue] | None = None) -> str | None:
    """Return the gender from a line of spk2gender; other values than m and f are an issue."""
    gender = entry.value.lower()
    if gender in ("m", "f"):
        return gender
    message = f"the gender of speaker '{key}' is '{entry.value}'. Expected 'm' or 'f'"
    report(Issue("bad-gender", message, path=path, line=entry.line), CorpusError, issues)
    return None
