"""Writing of Kaldi data directories."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from asr.corpus.data_directory import Utterance
from asr.util.errors import CorpusError
from asr.util.files import atomic_write


def write_data_directory(
    directory: Path | str, utterances: Iterable[Utterance], gender: Mapping[str, str] | None = None
) -> None:
    """Write a data directory: utt2spk, spk2utt, text, spk2gender, and wav.scp with segments, or feats.scp.

    Paths are relative to the directory above `directory` if possible, otherwise absolute. `text` is written if the
    utterances have transcripts. The list of sources is written last, as a mark of completeness. Raises CorpusError for
    duplicates, keys with white space, and mixtures of utterances with and without transcripts, or with audio and
    features.

    Parameters
    ----------
    directory : path
        Directory to write.
    utterances : iterable of Utterance
        The utterances.
    gender : mapping of speakers to "m" or "f", optional
        Content of `spk2gender`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from asr.corpus.data_directory import Utterance
    >>> from asr.corpus.writing import write_data_directory
    >>> write_data_directory("written", [Utterance("mary-1", "mary", ("ONE",), Path("mary-1.wav"))])
    >>> Path("written/text").read_text().split()
    ['mary-1', 'ONE']
    """
    directory = Path(directory)
    ordered = sorted(utterances, key=lambda utterance: utterance.id)
    _check(directory, ordered)
    speakers: dict[str, list[str]] = defaultdict(list)
    for utterance in ordered:
        speakers[utterance.speaker].append(utterance.id)
    _write(directory / "utt2spk", {utterance.id: utterance.speaker for utterance in ordered})
    _write(directory / "spk2utt", {speaker: " ".join(ids) for speaker, ids in speakers.items()})
    _write(directory / "text", {u.id: " ".join(u.words) for u in ordered if u.words is not None})
    _write(directory / "spk2gender", {s: g for s, g in (gender or {}).items() if s in speakers})
    above = directory.resolve().parent
    if any(utterance.archive is not None for utterance in ordered):
        _write(directory / "feats.scp", {u.id: f"{listed_path(u.source, above)}:{u.offset}" for u in ordered})
    elif any(utterance.start is not None or utterance.end is not None for utterance in ordered):
        recordings = _recording_names(ordered)
        _write(
            directory / "segments",
            {
                u.id: f"{recordings[u.source]} {u.start or 0.0:.6f} {-1 if u.end is None else f'{u.end:.6f}'}"
                for u in ordered
            },
        )
        _write(directory / "wav.scp", {name: listed_path(path, above) for path, name in recordings.items()})
    else:
        _write(directory / "wav.scp", {u.id: listed_path(u.source, above) for u in ordered})


def listed_path(path: Path, above: Path) -> str:
    """Return `path` for a list file: relative to `above` if it is inside, else absolute."""
    absolute = path.resolve()
    return absolute.relative_to(above).as_posix() if absolute.is_relative_to(above) else str(absolute)


def _check(directory: Path, utterances: list[Utterance]) -> None:
    if not utterances:
        raise CorpusError(f"{directory}: no utterances to write.")
    for previous, utterance in pairwise(utterances):
        if previous.id == utterance.id:
            raise CorpusError(f"{directory}: utterance '{utterance.id}' occurs twice; ids must be unique.")
    for utterance in utterances:
        for key in (utterance.id, utterance.speaker, *(utterance.words or ())):
            if key.split() != [key]:
                raise CorpusError(
                    f"{directory}: '{key}' in utterance '{utterance.id}' has white space. Expected one word."
                )
    if len({utterance.words is None for utterance in utterances}) > 1:
        raise CorpusError(f"{directory}: only some utterances have a transcript. Expected transcripts of all or none.")
    if len({utterance.archive is None for utterance in utterances}) > 1:
        raise CorpusError(f"{directory}: some utterances have audio and some have features. Expected one kind.")


def _recording_names(utterances: list[Utterance]) -> dict[Path, str]:
    names: dict[Path, str] = {}
    for path in sorted({utterance.source for utterance in utterances}):
        stem = "_".join(path.stem.split())
        taken = set(names.values())
        names[path] = stem if stem not in taken else f"{stem}-{len(names)}"
    return names


def _write(path: Path, rows: Mapping[str, str]) -> None:
    if not rows:
        path.unlink(missing_ok=True)
        return
    lines = [f"{key} {value}".rstrip() + "\n" for key, value in sorted(rows.items())]
    with atomic_write(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")
