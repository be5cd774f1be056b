"""Kaldi data directories: utterances with speakers, transcripts and files.

Format: Povey et al. (2011), "The Kaldi speech recognition toolkit"; https://kaldi-asr.org/doc/data_prep.html
"""

import hashlib
import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from asr.corpus.identifiers import fault_in_name
from asr.corpus.list_file import Entry, has_list, read_list, refuse_pipe
from asr.corpus.opening import faulty_file
from asr.util.errors import CorpusError, Issue, by_utterance
from asr.util.unicode_text import existing_form
from discriminants.util.paths import exists, is_dir, is_file

_MAX_DIGITS = 18  # of an offset: no file is that long
_LATEST = 1e9  # seconds: no recording is that long


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance: `audio` (with `start` and `end` in seconds if a segment), or `archive` and `offset`.

    `words` is missing (None) without a `text`. `offset` is the first byte of the feature matrix; see
    `asr.corpus.feature_file` for the formats.
    """

    id: str
    speaker: str
    words: tuple[str, ...] | None
    audio: Path | None = None
    start: float | None = None
    end: float | None = None
    archive: Path | None = None
    offset: int = 0

    @property
    def source(self) -> Path:
        """Audio or archive file."""
        path = self.audio if self.audio is not None else self.archive
        if path is None:
            raise CorpusError(f"Utterance '{self.id}' names neither an audio file nor a feature archive.")
        return path


@dataclass(frozen=True)
class DataDirectory:
    """Usable utterances of a data directory, sorted by id, and the `problems` of the others."""

    path: Path
    utterances: tuple[Utterance, ...]
    gender: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Issue, ...] = ()

    def __len__(self) -> int:
        return len(self.utterances)

    @property
    def listed(self) -> list[str]:
        """Return the ids of all utterances, usable or not, sorted."""
        return sorted([utterance.id for utterance in self.utterances] + [issue.utterance for issue in self.problems])

    @property
    def speakers(self) -> tuple[str, ...]:
        """All speakers, sorted."""
        return tuple(sorted({utterance.speaker for utterance in self.utterances}))

    def subset(self, ids: Iterable[str]) -> "DataDirectory":
        """Return the utterances with these ids; CorpusError if one is missing."""
        wanted = set(ids)
        unknown = sorted(wanted.difference(utterance.id for utterance in self.utterances))
        if unknown:
            raise CorpusError(
                f"{self.path}: has no usable utterance '{unknown[0]}' ({len(unknown)} of those asked for are missing)."
            )
        return self._keep(lambda utterance: utterance.id in wanted)

    def with_speakers(self, speakers: Iterable[str]) -> "DataDirectory":
        """Return the utterances of these speakers; CorpusError if one has none."""
        wanted = self._known_speakers(speakers)
        return self._keep(lambda utterance: utterance.speaker in wanted)

    def without_speakers(self, speakers: Iterable[str]) -> "DataDirectory":
        """Return the utterances of all other speakers; CorpusError if a given one has none."""
        unwanted = self._known_speakers(speakers)
        return self._keep(lambda utterance: utterance.speaker not in unwanted)

    def digest(self) -> str:
        """Return the SHA-256 (hex) of the lists' content for these utterances, and of the sizes of their files.

        File names are included, but not the corpus's location, so a moved corpus keeps its digest.
        """
        sizes: dict[Path, int] = {}
        rows = []
        for utterance in self.utterances:
            source = utterance.source
            if source not in sizes:
                sizes[source] = source.stat().st_size if exists(source) else -1
            rows.append(
                [
                    utterance.id,
                    utterance.speaker,
                    utterance.words,
                    source.name,
                    sizes[source],
                    utterance.start,
                    utterance.end,
                    utterance.offset,
                ]
            )
        problems = [(issue.utterance, issue.code, issue.message) for issue in by_utterance(self.problems)]
        content = [rows, sorted(self.gender.items()), problems]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()

    def _known_speakers(self, speakers: Iterable[str]) -> set[str]:
        named = set(speakers)
        unknown = sorted(named.difference(self.speakers))
        if unknown:
            raise CorpusError(
                f"{self.path}: has no utterance of speaker '{unknown[0]}'; its speakers are {', '.join(self.speakers)}."
            )
        return named

    def _keep(self, condition: Callable[[Utterance], bool]) -> "DataDirectory":
        kept = tuple(utterance for utterance in self.utterances if condition(utterance))
        speakers = {utterance.speaker for utterance in kept}
        gender = {speaker: value for speaker, value in self.gender.items() if speaker in speakers}
        return replace(self, utterances=kept, gender=gender, problems=())


def read_data_directory(
    path: Path | str,
    *,
    root: Path | str | None = None,
    prefer: Literal["features", "audio"] = "features",
    needs_speakers: bool = True,
) -> DataDirectory:
    """Read the data directory at `path`.

    Lists, with lines in any order: `utt2spk`; `feats.scp`, or `wav.scp` with optional `segments`; optional `text` and
    `spk2gender`. If both `feats.scp` and `wav.scp` exist, `prefer` decides. A relative path starts from
    `root`, the directory above `path`, or `path`: the first where the file exists. Without `utt2spk`, unless
    `needs_speakers`, each utterance is its own speaker.

    Unusable utterances (missing or empty file, no transcript or speaker, invalid name by `asr.corpus.identifiers`) are
    left out and listed in `problems`. If most missing files exist under another folder, the problems name it. Raises
    CorpusError for a malformed list (with file, line and value), a duplicate, or a pipe.
    """
    path = nameable(Path(path))
    if not is_dir(path):
        raise CorpusError(
            f"{path}: is not a directory; a data directory holding utt2spk and wav.scp or feats.scp is needed."
        )
    places = Places(path, root)
    has_features, has_audio = has_list(path / "feats.scp"), has_list(path / "wav.scp")
    if not has_features and not has_audio:
        raise CorpusError(
            f"{path}: holds neither wav.scp nor feats.scp; one of them must say where the utterances are."
        )
    if has_features and (prefer == "features" or not has_audio):
        sources = _read_features(path / "feats.scp", places)
    else:
        sources = _read_recordings(path, places)
    if needs_speakers and not has_list(path / "utt2spk"):
        raise CorpusError(
            f"{path / 'utt2spk'}: No such file; it must say who said every utterance, 'UTTERANCE SPEAKER' a line; if "
            "nobody knows, give every utterance a speaker of its own, 'UTTERANCE UTTERANCE'"
        )
    if has_list(path / "utt2spk"):
        listed = read_list(path / "utt2spk").items()
        speakers = {key: _single(path / "utt2spk", key, entry) for key, entry in listed}
    else:
        speakers = {key: key for key in sources}
    text = None
    if has_list(path / "text"):
        text = {key: tuple(entry.value.split()) for key, entry in read_list(path / "text", allow_empty=True).items()}

    utterances, problems = [], []
    for key in sorted(set(sources) | set(text or ())):
        source = sources.get(key, Issue("no-audio", "no audio or features are listed for it"))
        bad_name = fault_in_name(key)
        if bad_name is not None:
            problems.append(Issue("bad-name", f"its name {bad_name}", utterances=(key,)))
        elif isinstance(source, Issue):
            problems.append(source.for_utterance(key))
        elif key not in speakers:
            problems.append(Issue("no-speaker", "no speaker in utt2spk", utterances=(key,)))
        elif (bad_name := fault_in_name(speakers[key])) is not None:
            problems.append(Issue("bad-name", f"the name of its speaker {bad_name}", utterances=(key,)))
        elif text is not None and key not in text:
            problems.append(Issue("no-transcript", "no transcript in text", utterances=(key,)))
        else:
            words = None if text is None else text[key]
            utterances.append(replace(source, speaker=speakers[key], words=words))
    return DataDirectory(path, tuple(utterances), _read_gender(path / "spk2gender"), tuple(problems))


def nameable(path: Path) -> Path:
    """Return the path, or the absolute path of the working directory, because `.:` is unclear in messages."""
    return path.absolute() if path == Path() else path


class Places:
    """Finds the files of a data directory's entries."""

    def __init__(self, directory: Path, root: Path | str | None = None):
        self.directory = directory
        self.bases = ([] if root is None else [Path(root)]) + [directory.resolve().parent, directory]

    def find(self, name: str) -> Path | Issue:
        """Return the file's path, or why it is unusable."""
        return self.find_all([name])[name]

    def find_all(self, names: Iterable[str]) -> dict[str, Path | Issue]:
        """Return the path of each file, or why it is unusable, with a common remedy for missing files."""
        looked = {name: self._look(name) for name in dict.fromkeys(names)}
        missing = [name for name, found in looked.items() if found is None and not Path(name).is_absolute()]
        remedy = f"; {self._remedy(missing)}" if missing else ""
        return {name: self._missing(name, remedy) if found is None else found for name, found in looked.items()}

    def _remedy(self, missing: Sequence[str]) -> str:
        """Return the remedy for missing files: the `root` (given or above the data directory) with most of them."""
        n_there = {}
        for base in dict.fromkeys((Path.cwd(), *self.directory.absolute().parents)):
            places = Places(self.directory, base)
            n_there[base] = sum(isinstance(places._look(name), Path) for name in missing)
            if n_there[base] == len(missing):
                break
        best = max(n_there, key=n_there.__getitem__)
        if 2 * n_there[best] <= len(missing):
            return "--root DIR (root=) says where relative paths begin"
        which = "all" if n_there[best] == len(missing) else f"{n_there[best]:,} of the {len(missing):,}"
        return f"{which} missing files are there from {best}, so give --root {shlex.quote(str(best))} (root=)"

    def _candidates(self, name: str) -> list[Path]:
        paths = [Path(name)] if Path(name).is_absolute() else [base / name for base in self.bases]
        return paths if name.isascii() else [existing_form(path) for path in paths]

    def _missing(self, name: str, remedy: str) -> Issue:
        first, *others = dict.fromkeys(map(str, self._candidates(name)))
        elsewhere = f", nor does {' or '.join(others)}" if others else ""
        if Path(name).is_absolute():
            remedy = ""
        if "\\" in name:
            remedy = "; paths are divided by /, not by backslashes: replace them"
        return Issue("missing-file", f"{first} does not exist{elsewhere}{remedy}")

    def _look(self, name: str) -> Path | Issue | None:
        for candidate in self._candidates(name):
            try:
                size = candidate.stat().st_size if is_file(candidate) else -1
            except OSError as error:  # an invalid file name, such as one of more than 255 bytes
                return Issue("unreadable", str(faulty_file(candidate, error)))
            if size >= 0:
                return candidate if size else Issue("empty-file", f"{candidate} is an empty file")
            if exists(candidate):
                what = "a directory" if is_dir(candidate) else "no regular file"
                return Issue("unreadable", f"{candidate} is {what}; a file is needed")
        return None


def _read_features(path: Path, places: Places) -> dict[str, Utterance | Issue]:
    sources: dict[str, Utterance | Issue] = {}
    matrices = {key: parse_matrix_place(path, key, entry) for key, entry in read_list(path).items()}
    files = places.find_all(name for name, _ in matrices.values())
    for key, (name, offset) in matrices.items():
        found = files[name]
        sources[key] = found if isinstance(found, Issue) else Utterance(key, "", None, archive=found, offset=offset)
    return sources


def parse_matrix_place(path: Path, key: str, entry: Entry) -> tuple[str, int]:
    """Return archive and first byte from a line of the feats.scp at `path`.

    Raises CorpusError, with file and line, for a pipe, a range of a matrix, or an offset beyond any file size.
    """
    line, value = entry
    refuse_pipe(path, line, key, value)
    if value.endswith("]"):
        raise CorpusError(
            f"{path}:{line}: '{value}' selects a range of a matrix, which is not supported; store the part itself."
        )
    name, colon, digits = value.rpartition(":")
    if not (colon and digits.isascii() and digits.isdigit()):
        name, digits = value, "0"
    if len(digits) > _MAX_DIGITS:
        raise CorpusError(f"{path}:{line}: '{digits}' is no place in a file; it has {len(digits)} digits.")
    return name, int(digits)


def _read_recordings(path: Path, places: Places) -> dict[str, Utterance | Issue]:
    listed = path / "wav.scp"
    entries = read_list(listed)
    for key, (line, value) in entries.items():
        refuse_pipe(listed, line, key, value)
    files = places.find_all(entry.value for entry in entries.values())
    recordings = {key: files[entry.value] for key, entry in entries.items()}
    segments = path / "segments"
    if not has_list(segments):
        return {
            key: found if isinstance(found, Issue) else Utterance(key, "", None, audio=found)
            for key, found in recordings.items()
        }
    sources: dict[str, Utterance | Issue] = {}
    for key, entry in read_list(segments).items():
        recording, start, end = parse_segment(segments, key, entry)
        found = recordings.get(recording, Issue("no-audio", f"its recording '{recording}' is not in wav.scp"))
        sources[key] = (
            found if isinstance(found, Issue) else Utterance(key, "", None, audio=found, start=start, end=end)
        )
    return sources


def parse_segment(path: Path, key: str, entry: Entry) -> tuple[str, float, float | None]:
    """Return recording, start and end (None for the recording's end) in seconds from a line of `path`.

    Raises CorpusError, with file and line, for an invalid segment.
    """
    fields = entry.value.split()
    try:
        recording, start, end = fields[0], float(fields[1]), float(fields[2])
    except (IndexError, ValueError):
        start = end = float("nan")
    to_the_end = end == -1  # Kaldi's mark for the end of the recording
    if len(fields) != 3 or not (0 <= start <= _LATEST and (start < end <= _LATEST or to_the_end)):
        raise CorpusError(
            f"{path}:{entry.line}: '{key} {entry.value}' is not a segment; right is "
            "'utterance recording start end' with 0 <= start < end in seconds."
        )
    return recording, start, None if to_the_end else end


def _read_gender(path: Path) -> dict[str, str]:
    if not has_list(path):
        return {}
    gender = {}
    for key, entry in read_list(path).items():
        gender[key] = entry.value.lower()
        if gender[key] not in ("m", "f"):
            raise CorpusError(f"{path}:{entry.line}: gender '{entry.value}' of speaker '{key}' must be 'm' or 'f'.")
    return gender


def _single(path: Path, key: str, entry: Entry) -> str:
    if len(entry.value.split()) != 1:
        raise CorpusError(f"{path}:{entry.line}: '{key} {entry.value}' must be an utterance and one speaker.")
    return entry.value
