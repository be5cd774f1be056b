"""Results of the readers of foreign formats: parts of recordings with their transcripts, and entries left out."""

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from asr.util.errors import CorpusError
from asr.util.text_lines import read_bytes, read_text
from asr.util.unicode_text import nfc
from discriminants.util.paths import is_dir, is_file

AUDIO_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".oga", ".aiff", ".aif", ".au", ".caf", ".sph", ".nist")
"""Endings of audio files, in the order of preference."""
MAX_TEXT_FILE = 64 << 20
"""Bytes of one transcript or annotation file."""
MAX_FILES = 1_000_000


@dataclass(frozen=True, slots=True)
class SourceUtterance:
    """A part of a recording with its transcript as written.

    Parameters
    ----------
    audio
        Audio file.
    text
        Transcript, not normalized.
    place
        Where the transcript stands: a file, with the line if there is one.
    speaker
        Name of the speaker, if the format has it.
    start, end
        Limits in seconds; None for those of the recording.
    name
        Proposed id, if the format has it.
    part
        Part of the corpus, such as "train" or "test", if the format divides it.
    """

    audio: Path
    text: str
    place: str
    speaker: str | None = None
    start: float | None = None
    end: float | None = None
    name: str | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, row or segment that is not used: its place, a code for programs, and the reason."""

    place: str
    code: str
    reason: str


Found = SourceUtterance | LeftOut


@dataclass(frozen=True)
class ReadOptions:
    """Options of the readers.

    Parameters
    ----------
    audio
        Folder of the audio files, if they are not next to the transcripts.
    columns
        Column of each field (file, text, speaker, start, end, duration) of a table, if it has another name.
    tiers
        Regular expression for the names of the tiers with transcripts. Default: all tiers except those of phones.
    transcripts
        File of the transcripts, for formats with a list of recordings and one of transcripts.
    """

    audio: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    tiers: str | None = None
    transcripts: Path | None = None

    def tier_pattern(self) -> re.Pattern[str] | None:
        """Return the compiled pattern for tiers; CorpusError if it is not a regular expression."""
        if self.tiers is None:
            return None
        try:
            return re.compile(self.tiers)
        except re.error as error:
            raise CorpusError(f"--tiers (tiers=): '{self.tiers}' is not a regular expression ({error}).") from error


class AudioFinder:
    """Finds the audio file that belongs to a transcript, by its name without the ending."""

    def __init__(self, source: Path, audio: Path | None = None) -> None:
        self.source = source
        self.folder = audio or source
        self._by_stem: dict[str, list[Path]] = {}
        self._unused: dict[Path, None] = {}
        for path in files_below(self.folder):
            if path.suffix.lower() in AUDIO_SUFFIXES:
                self._by_stem.setdefault(nfc(path.stem), []).append(path)
                self._unused[path] = None

    def of(self, transcript: Path) -> Path | LeftOut:
        """Return the audio file of a transcript: in the same folder, else the only one of that name."""
        return self.called(transcript.stem, transcript.parent, str(transcript))

    def called(self, stem: str, folder: Path, place: str) -> Path | LeftOut:
        """Return the audio file of a name without ending: in `folder`, else the only one of that name."""
        candidates = self._by_stem.get(nfc(stem), [])
        near = [path for path in candidates if path.parent == folder]
        if not near and self.folder != self.source and folder.is_relative_to(self.source):
            near = [path for path in candidates if path.parent == self.folder / folder.relative_to(self.source)]
        chosen = sorted(near or candidates, key=lambda path: AUDIO_SUFFIXES.index(path.suffix.lower()))
        if not chosen:
            return LeftOut(place, "no-audio", f"no audio file is named {stem}")
        if len({path.parent for path in chosen}) > 1:
            return LeftOut(place, "ambiguous-audio", f"{len(chosen)} audio files are named {stem}, in other folders")
        self.use(chosen[0])
        return chosen[0]

    def named(self, name: str, place: str) -> Path | LeftOut:
        """Return the audio file that a table names, relative to the folder of audio or to the source's own folder."""
        below = self.source if is_dir(self.source) else self.source.parent
        for folder in dict.fromkeys((self.folder, below, self.folder / "clips", below / "clips")):
            for path in (folder / name, *(folder / f"{name}{suffix}" for suffix in AUDIO_SUFFIXES)):
                if path.suffix.lower() in AUDIO_SUFFIXES and _is_present(path):
                    self.use(path)
                    return path
        return LeftOut(
            place, "no-audio", f"audio file '{name}' not found in {self.folder}; --audio (audio=) names another folder"
        )

    def use(self, path: Path) -> None:
        """Mark an audio file as used."""
        self._unused.pop(path, None)

    def unused(self, reason: str, texts: tuple[str, ...] = ()) -> Iterator[LeftOut]:
        """Yield the audio files that no transcript names, and with endings of transcripts the files of other types."""
        for path in self._unused:
            yield LeftOut(str(path), "no-transcript", reason)
        for path in dict.fromkeys(files_below(self.source) + files_below(self.folder)) if texts else ():
            if path.suffix.lower() not in (*AUDIO_SUFFIXES, *texts):
                yield LeftOut(str(path), "other-file", f"not a supported audio file and not {' or '.join(texts)}")
        for path in linked_folders(self.folder) if texts else ():
            yield LeftOut(str(path), "linked-folder", "links to folders are not followed. Use the folder itself")


def _is_present(path: Path) -> bool:
    try:
        return is_file(path)
    except (OSError, ValueError):  # no name that a file can have
        return False


def files_below(folder: Path) -> list[Path]:
    """Return all files below a folder, sorted; hidden files and folders are left out, links to folders not followed.

    Raises CorpusError if the folder cannot be listed or has over a million files.
    """
    if not is_dir(folder):
        raise CorpusError(f"{folder}: not a folder.", code="missing-file")
    found: list[Path] = []

    def fail(error: OSError) -> None:
        raise CorpusError(f"{error.filename}: cannot be listed ({error.strerror}).") from error

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(parent, name) for name in sorted(names) if not name.startswith(".")]
        if len(found) > MAX_FILES:
            raise CorpusError(f"{folder}: over {MAX_FILES:,} files.")
    return found


def linked_folders(folder: Path) -> list[Path]:
    """Return the links to folders below a folder, sorted."""
    return sorted(
        Path(parent, name)
        for parent, folders, _ in os.walk(folder)
        for name in folders
        if Path(parent, name).is_symlink()
    )


def read_annotation(path: Path) -> str:
    """Read a transcript or annotation file in UTF-8, or in UTF-16 with a byte-order mark; raises CorpusError."""
    content = read_bytes(path, CorpusError, largest=MAX_TEXT_FILE)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return nfc(content.decode("utf-16"))
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}: damaged UTF-16 text at byte {error.start}.") from error
    return read_text(path, CorpusError, largest=MAX_TEXT_FILE, log_changes=False)


def lines_or_fault(path: Path) -> Iterator[tuple[str, str | LeftOut]]:
    """Yield the place and text of each line that is not blank; a LeftOut for a file that cannot be read."""
    try:
        for number, line in enumerate(read_annotation(path).splitlines(), 1):
            if line.strip():
                yield f"{path}:{number}", line
    except CorpusError as error:
        yield str(path), LeftOut(str(path), error.code, str(error))


def each_file(
    paths: Iterable[Path], finder: AudioFinder, read: Callable[[Path, Path], Iterable[Found]]
) -> Iterator[Found]:
    """Read every annotation file of a folder whose audio exists; a file that cannot be read is left out."""
    for path in paths:
        audio = finder.of(path)
        if isinstance(audio, LeftOut):
            yield audio
            continue
        try:
            yield from read(path, audio)
        except CorpusError as error:
            yield LeftOut(str(path), error.code, str(error))
