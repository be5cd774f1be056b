"""Kaldi data directories: utterances with speakers, transcripts and files.

Format: Povey et al. (2011), "The Kaldi speech recognition toolkit"; https://kaldi-asr.org/doc/data_prep.html
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from asr.corpus.identifiers import fault_in_name
from asr.corpus.list_file import (
    Entry,
    ListFile,
    has_list,
    parse_gender,
    parse_matrix_place,
    parse_segment,
    parse_speaker,
    read_list_file,
    refuse_pipe,
)
from asr.corpus.places import Places
from asr.util.errors import CorpusError, Issue, by_utterance, report
from discriminants.util.paths import exists, is_dir

Value = TypeVar("Value")

LISTS = ("wav.scp", "segments", "feats.scp", "utt2spk", "text", "spk2gender")
_NEEDED = {
    "utt2spk": "one line per utterance: UTTERANCE SPEAKER. Use the utterance id for an unknown speaker",
    "text": "one line per utterance: UTTERANCE WORD WORD ...",
}


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance: `audio` (with `start` and `end` if a segment), or `archive` and `offset`.

    Attributes
    ----------
    id, speaker : str
        Names of the utterance and its speaker.
    words : tuple of str or None
        Transcript; None without a `text`.
    audio : path or None
        Audio file.
    start, end : float or None
        Segment of the file, in seconds.
    archive : path or None
        File of feature matrices; see `asr.corpus.feature_file` for the formats.
    offset : int
        First byte of the feature matrix in `archive`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from asr.corpus.data_directory import Utterance
    >>> Utterance("mary-1", "mary", ("ONE", "TWO"), Path("mary-1.wav")).source.name
    'mary-1.wav'
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
            raise CorpusError(f"Utterance '{self.id}' has neither an audio file nor a feature archive.")
        return path


@dataclass(frozen=True)
class DataDirectory:
    """Usable utterances of a data directory, sorted by id, and the `problems` of the others.

    Attributes
    ----------
    path : path
        The directory.
    utterances : tuple of Utterance
        Usable utterances, sorted by id.
    gender : mapping
        `spk2gender`, if it exists.
    problems : tuple of Issue
        Unusable utterances, with reasons.

    Examples
    --------
    >>> from asr.corpus.data_directory import read_data_directory
    >>> directory = read_data_directory("data/test")
    >>> len(directory) == len(directory.listed)
    True
    """

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
        """Return the utterances with these ids; CorpusError if one is missing.

        Parameters
        ----------
        ids : iterable of str
            Names of utterances.
        """
        wanted = set(ids)
        unknown = sorted(wanted.difference(utterance.id for utterance in self.utterances))
        if unknown:
            raise CorpusError(
                f"{self.path}: has no usable utterance '{unknown[0]}' ({len(unknown)} of {len(wanted)} are missing)."
            )
        return self._keep(lambda utterance: utterance.id in wanted)

    def with_speakers(self, speakers: Iterable[str]) -> "DataDirectory":
        """Return the utterances of these speakers; CorpusError if one has none.

        Parameters
        ----------
        speakers : iterable of str
            Names of speakers.
        """
        wanted = self._known_speakers(speakers)
        return self._keep(lambda utterance: utterance.speaker in wanted)

    def without_speakers(self, speakers: Iterable[str]) -> "DataDirectory":
        """Return the utterances of all other speakers; CorpusError if a given one has none.

        Parameters
        ----------
        speakers : iterable of str
            Names of speakers.
        """
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

    Parameters
    ----------
    path : path
        The directory.
    root : path, optional
        Directory from which relative paths start.
    prefer : {"features", "audio"}
        Which of `feats.scp` and `wav.scp` is read if both exist.
    needs_speakers : bool
        Whether a missing `utt2spk` is an error.

    Returns
    -------
    DataDirectory
        The utterances.

    Examples
    --------
    >>> from asr.corpus.data_directory import read_data_directory
    >>> directory = read_data_directory("data/test")
    >>> directory.utterances[0].words
    ('WISE', 'TWO', 'SEVEN', 'ONE')
    """
    path = nameable(Path(path))
    if not is_dir(path):
        raise CorpusError(f"{path} is not a directory. Expected a directory with utt2spk, and wav.scp or feats.scp.")
    lists = read_lists(path, prefer=prefer, needs=("utt2spk",) if needs_speakers else ())
    found = interpret_lists(path, lists, root)
    if "utt2spk" not in lists:
        found = replace(found, speakers={name: name for name in found.sources})
    problems = tuple(issues[0] for issues in found.issues.values())
    return DataDirectory(path, tuple(found.usable.values()), found.gender, problems)


def nameable(path: Path) -> Path:
    """Return the path, or the absolute path of the working directory, because `.:` is unclear in messages."""
    return path.absolute() if path == Path() else path


@dataclass(frozen=True)
class DataLists:
    """Content of the lists of a data directory."""

    path: Path
    lists: Mapping[str, ListFile]
    """Readable lists that are used, by name."""
    sources: Mapping[str, Utterance | Issue]
    """Audio or features by utterance, without speakers and words, or the reason why they are unusable."""
    recording: Mapping[str, str]
    """Recording by utterance, for segments."""
    speakers: Mapping[str, str]
    """Speaker by utterance."""
    gender: Mapping[str, str]

    @property
    def source_list(self) -> str:
        """Name of the list of audio or features."""
        return next((name for name in ("feats.scp", "segments") if name in self.lists), "wav.scp")

    def entries(self, name: str) -> Mapping[str, Entry]:
        """Return the lines of a list by key; none if the list is missing."""
        return self.lists[name].entries if name in self.lists else {}

    def place(self, utterance: str) -> tuple[Path, int | None]:
        """Return the file and line of an utterance's source, or of its transcript or speaker without a source."""
        for name in (self.source_list, "text", "utt2spk"):
            entry = self.entries(name).get(utterance)
            if entry is not None:
                return self.lists[name].path, entry.line
        return self.path, None

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """Transcript of each line of `text`."""
        return {key: tuple(entry.value.split()) for key, entry in self.entries("text").items()}

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """All utterances with audio, features or a transcript, sorted."""
        return tuple(sorted({*self.sources, *self.words}))

    @cached_property
    def usable(self) -> dict[str, Utterance]:
        """Usable utterances, sorted by id, with speakers and words."""
        found = {}
        for name in sorted((self.sources.keys() & self.speakers.keys()) - self.issues.keys()):
            source = self.sources[name]
            if isinstance(source, Utterance) and ("text" not in self.lists or name in self.words):
                found[name] = replace(source, speaker=self.speakers[name], words=self.words.get(name))
        return found

    @cached_property
    def issues(self) -> dict[str, tuple[Issue, ...]]:
        """Reasons why utterances cannot be used, with their places, sorted by utterance.

        Lines that the parsers reported are not reported again.
        """
        names = sorted({*self.listed, *self.entries(self.source_list)})
        return {name: issues for name in names if (issues := tuple(self._issues_of(name)))}

    def _issues_of(self, utterance: str) -> Iterator[Issue]:
        fault = fault_in_name(utterance)
        if fault is not None:
            yield self._issue("bad-name", f"the name '{utterance}' {fault}", utterance)
        source = self.sources.get(utterance)
        if isinstance(source, Issue):
            yield source.for_utterance(utterance)
        bad_speaker = self._bad_speakers.get(self.speakers.get(utterance, ""))
        if bad_speaker is not None:
            yield bad_speaker.for_utterance(utterance)
        missing = [name for name, keys in self._members.items() if utterance not in keys]
        if missing:
            there = [name for name in self._members if name not in missing]
            message = (
                f"'{utterance}' is in {' and '.join(there)}, but not in {' and '.join(missing)}; add it there, or "
                "remove it here"
            )
            code = {"utt2spk": "no-speaker", "text": "no-transcript"}.get(missing[0], "no-audio")
            yield self._issue(code, message, utterance)

    def _issue(self, code: str, message: str, utterance: str) -> Issue:
        path, line = self.place(utterance)
        return Issue(code, message, path=path, line=line, utterances=(utterance,))

    @cached_property
    def _members(self) -> dict[str, Collection[str]]:
        """Keys of the lists that must have every utterance."""
        return {name: self.lists[name].keys for name in (self.source_list, "text", "utt2spk") if name in self.lists}

    @cached_property
    def _bad_speakers(self) -> dict[str, Issue]:
        """Issues of speakers' names, at the first line with the speaker."""
        found: dict[str, Issue] = {}
        for utterance, entry in self.entries("utt2spk").items():
            speaker = self.speakers.get(utterance)
            if speaker is None or speaker in found or utterance not in self.sources or fault_in_name(utterance):
                continue
            fault = fault_in_name(speaker)
            if fault is not None:
                message = f"the name of the speaker '{speaker}' {fault}"
                found[speaker] = Issue("bad-name", message, path=self.lists["utt2spk"].path, line=entry.line)
        return found


def read_lists(
    path: Path,
    *,
    prefer: Literal["features", "audio"] = "features",
    needs: Iterable[str] = (),
    issues: list[Issue] | None = None,
) -> dict[str, ListFile]:
    """Read the lists of a data directory that are used, by name.

    Faulty lines and lists, and missing lists that it `needs`, are collected in `issues`, or raise CorpusError without
    `issues`.
    """
    has_features, has_audio = has_list(path / "feats.scp", issues), has_list(path / "wav.scp", issues)
    if not any(os.path.lexists(path / name) for name in ("feats.scp", "wav.scp")):
        message = "has neither wav.scp nor feats.scp. Expected a list of audio files or features"
        report(Issue("missing-list", message, path=path), CorpusError, issues)
    names = ["wav.scp"] if has_audio else []
    if has_features and (prefer == "features" or not has_audio):
        names = ["feats.scp"]
    others = ["utt2spk", "text", "spk2gender"] + (["segments"] if names == ["wav.scp"] else [])
    names += [name for name in others if has_list(path / name, issues)]
    for name in needs:
        if not os.path.lexists(path / name):
            message = f"not found. Expected {_NEEDED[name]}"
            report(Issue("missing-list", message, path=path / name), CorpusError, issues)
    lists = {name: read_list_file(path / name, allow_empty=name == "text", issues=issues) for name in names}
    unreadable = {issue.path for issue in issues or () if issue.line is None}
    return {name: given for name, given in lists.items() if given.path not in unreadable}


def interpret_lists(
    path: Path, lists: Mapping[str, ListFile], root: Path | str | None = None, issues: list[Issue] | None = None
) -> DataLists:
    """Find the files of the utterances, and check the values of all lists.

    Faulty values are collected in `issues`, or raise CorpusError without `issues`.
    """
    # absolute, for workers with another working directory
    places = Places(path.absolute(), None if root is None else Path(root).absolute())
    sources: dict[str, Utterance | Issue] = {}
    recording: dict[str, str] = {}
    if "feats.scp" in lists:
        sources = _archived(lists["feats.scp"], places, issues)
    elif "wav.scp" in lists:
        files = _recordings(lists["wav.scp"], places, issues)
        if "segments" in lists:
            sources, recording = _segments(lists["segments"], files, lists["wav.scp"], issues)
        else:
            for key, found in files.items():
                sources[key] = found if isinstance(found, Issue) else Utterance(key, "", None, audio=found)
    speakers = _values(lists.get("utt2spk"), parse_speaker, issues)
    gender = _values(lists.get("spk2gender"), parse_gender, issues)
    return DataLists(path, lists, sources, recording, speakers, gender)


def _recordings(given: ListFile, places: Places, issues: list[Issue] | None) -> dict[str, Path | Issue]:
    names = {
        key: value
        for key, (line, value) in given.entries.items()
        if not refuse_pipe(given.path, line, key, value, issues)
    }
    files = places.find_all(names.values())
    return {key: _placed(files[name], given, key) for key, name in names.items()}


def _placed(found: Path | Issue, given: ListFile, key: str) -> Path | Issue:
    """Add the place in the list to an issue."""
    return replace(found, path=given.path, line=given.entries[key].line) if isinstance(found, Issue) else found


def _segments(
    given: ListFile, files: Mapping[str, Path | Issue], recordings: ListFile, issues: list[Issue] | None
) -> tuple[dict[str, Utterance | Issue], dict[str, str]]:
    sources: dict[str, Utterance | Issue] = {}
    recording: dict[str, str] = {}
    refused = recordings.keys - files.keys()  # reported already
    for key, entry in given.entries.items():
        segment = parse_segment(given.path, key, entry, issues)
        if segment is None or segment[0] in refused:
            continue
        name, start, end = segment
        recording[key] = name
        found = files.get(name)
        if found is None:
            message = f"the recording '{name}' of '{key}' is not in wav.scp"
            sources[key] = Issue("no-audio", message, path=given.path, line=entry.line)
        elif isinstance(found, Issue):
            sources[key] = found
        else:
            sources[key] = Utterance(key, "", None, audio=found, start=start, end=end)
    return sources, recording


def _archived(given: ListFile, places: Places, issues: list[Issue] | None) -> dict[str, Utterance | Issue]:
    matrices = _values(given, parse_matrix_place, issues)
    files = places.find_all(name for name, _ in matrices.values())
    sources: dict[str, Utterance | Issue] = {}
    for key, (name, offset) in matrices.items():
        found = _placed(files[name], given, key)
        sources[key] = found if isinstance(found, Issue) else Utterance(key, "", None, archive=found, offset=offset)
    return sources


def _values(
    given: ListFile | None,
    parse: Callable[[Path, str, Entry, list[Issue] | None], Value | None],
    issues: list[Issue] | None,
) -> dict[str, Value]:
    """Parse the values of a list, without the faulty ones."""
    if given is None:
        return {}
    parsed = {key: parse(given.path, key, entry, issues) for key, entry in given.entries.items()}
    return {key: value for key, value in parsed.items() if value is not None}
