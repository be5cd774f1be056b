"""CMU Sphinx: lists `.fileids` and `.transcription`, and audio files or feature files (.mfc)."""

from collections.abc import Iterator
from pathlib import Path

from asr.corpus.feature_file import SPHINX_SUFFIX
from asr.corpus.formats.source import AudioFinder, Found, LeftOut, ReadOptions, SourceUtterance
from asr.corpus.sphinx_lists import read_fileids, read_transcription
from asr.util.errors import CorpusError, Issue
from discriminants.util.paths import is_dir, is_file


def read_sphinx(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the entries of a list of fileids; the transcription has the same name, or is `options.transcripts`.

    An entry without an audio file has a feature file (.mfc) with 13 cepstra.
    """
    transcription = options.transcripts or source.with_suffix(".transcription")
    words: dict[str, set[tuple[str, ...]]] = {}
    issues: list[Issue] = []
    for transcript in read_transcription(transcription, issues):
        words.setdefault(transcript.id, set()).add(transcript.words)
    root = source.parent.parent if source.parent.name == "etc" else source.parent
    finders = [AudioFinder(folder) for folder in _folders(root, options)]
    fileids = read_fileids(source, issues)
    yield from (LeftOut(issue.place, issue.code, issue.message) for issue in issues)
    for fileid in fileids:
        place = f"{source}:{fileid.line}"
        texts = words.get(str(fileid.path)) or words.get(fileid.path.name) or set()
        if len(texts) != 1:
            found = "no transcript" if not texts else f"{len(texts)} different transcripts"
            yield LeftOut(place, "no-transcript", f"{found} of '{fileid.path}' in {transcription}")
            continue
        audio: Path | LeftOut = LeftOut(place, "no-audio", f"no audio file '{fileid.path}'")
        for finder in finders:
            features = finder.folder / f"{fileid.path}{SPHINX_SUFFIX}"
            audio = finder.named(str(fileid.path), place)
            if isinstance(audio, LeftOut) and is_file(features):
                audio = features
            if not isinstance(audio, LeftOut):
                break
        if isinstance(audio, LeftOut):
            yield audio
        else:
            yield SourceUtterance(audio, " ".join(next(iter(texts))), place, name="_".join(fileid.path.parts))


def _folders(root: Path, options: ReadOptions) -> list[Path]:
    if options.audio is not None:
        return [options.audio]
    found = [folder for folder in (root / "wav", root / "audio", root / "feat", root) if is_dir(folder)]
    if not found:
        raise CorpusError(f"{root}: not a folder.", code="missing-file")
    return found
