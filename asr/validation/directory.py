"""Lists of a data directory, including their faults, and its usable utterances."""

import os
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from asr.corpus.data_directory import Places, Utterance, nameable, parse_matrix_place, parse_segment
from asr.corpus.identifiers import fault_in_name
from asr.corpus.list_file import Entry, refuse_pipe
from asr.util.errors import CorpusError, Issue
from asr.validation.findings import stopping, without_place
from asr.validation.htk_lists import fault_of_htk_list
from asr.validation.lists import ListFile, read_list_past_faults

LISTS = ("wav.scp", "segments", "feats.scp", "utt2spk", "text", "spk2gender")


@dataclass(frozen=True)
class Directory:
    """Content of the lists of a data directory."""

    path: Path
    lists: Mapping[str, ListFile]  # existing lists that training reads, by name
    sources: Mapping[str, Utterance | Issue]
    """Audio or features by utterance, without speakers and words, or the reason why they are unusable."""
    recording: Mapping[str, str]  # recording by utterance, for segments
    faults: tuple[Issue, ...]  # lines that the readers of a corpus refuse; they stop the reading of the directory
    mistaken: Set[str] = frozenset()  # existing lists in another format, each with a fault and not in `lists`

    @property
    def source_list(self) -> str:
        """Name of the list of audio or features that training reads."""
        if "feats.scp" in self.lists:
            return "feats.scp"
        return "segments" if "segments" in self.lists else "wav.scp"

    def entries(self, name: str) -> Mapping[str, Entry]:
        """Return the lines of a list by key; none if the list is missing."""
        return self.lists[name].entries if name in self.lists else {}

    def place(self, utterance: str) -> tuple[Path, int | None]:
        """Return the file and line of an utterance's source, or of its transcript without a source."""
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
        """All utterances with audio, features or a transcript, sorted; training accounts for these."""
        return tuple(sorted({*self.sources, *self.words}))

    @cached_property
    def usable(self) -> dict[str, Utterance]:
        """Usable utterances according to the lists, sorted by id, with speakers and words."""
        found = {}
        for name in sorted(self.sources):
            source, speaker = self.sources[name], self.entries("utt2spk").get(name)
            if isinstance(source, Issue) or speaker is None or fault_in_name(name) or fault_in_name(speaker.value):
                continue
            if "text" in self.lists and name not in self.words:
                continue
            found[name] = replace(source, speaker=speaker.value, words=self.words.get(name))
        return found


def read_directory_past_faults(path: Path, root: Path | None = None) -> Directory:
    """Read all lists that training reads, like `read_data_directory`, but collect all faults.

    If features exist, the audio is not checked, because its entries are often pipes in Kaldi directories.
    """
    path = nameable(path)
    unread = {"wav.scp", "segments"} if os.path.lexists(path / "feats.scp") else set()
    there = [name for name in LISTS if name not in unread and os.path.lexists(path / name)]
    lists = {name: read_list_past_faults(path / name) for name in there}
    # absolute, for workers with another working directory
    places = Places(path.absolute(), None if root is None else root.absolute())
    of_htk = {name: fault for name, given in lists.items() if (fault := fault_of_htk_list(given)) is not None}
    faults = list(of_htk.values())
    lists = {name: given for name, given in lists.items() if name not in of_htk}
    recordings: dict[str, Path | Issue] = {}
    if "wav.scp" in lists:
        recordings = _recordings(lists["wav.scp"], places, faults)
    recording: dict[str, str] = {}
    sources: dict[str, Utterance | Issue] = {}
    if "segments" in lists:
        refused = lists["wav.scp"].entries.keys() - recordings.keys() if "wav.scp" in lists else set()
        sources, recording = _segments(lists["segments"], recordings, refused, faults)
        if "wav.scp" in of_htk:  # its recordings are therefore unknown
            sources, recording = {}, {}
    else:
        for key, found in recordings.items():
            sources[key] = found if isinstance(found, Issue) else Utterance(key, "", None, audio=found)
    if "feats.scp" in lists:
        sources = _archived(lists["feats.scp"], places, faults)
    return Directory(path, lists, sources, recording, tuple(faults), of_htk.keys())


def _recordings(given: ListFile, places: Places, faults: list[Issue]) -> dict[str, Path | Issue]:
    names: dict[str, str] = {}
    for key, (line, value) in given.entries.items():
        if not value:
            continue
        try:
            refuse_pipe(given.path, line, key, value)
        except CorpusError as error:
            faults.append(stopping("pipe", given.path, line, without_place(error, given.path, line)))
            continue
        names[key] = value
    files = places.find_all(names.values())
    return {key: files[name] for key, name in names.items()}


def _segments(
    given: ListFile, recordings: Mapping[str, Path | Issue], refused: Set[str], faults: list[Issue]
) -> tuple[dict[str, Utterance | Issue], dict[str, str]]:
    sources: dict[str, Utterance | Issue] = {}
    recording: dict[str, str] = {}
    for key, entry in given.entries.items():
        if not entry.value:
            continue
        try:
            name, start, end = parse_segment(given.path, key, entry)
        except CorpusError as error:
            faults.append(stopping("bad-segment", given.path, entry.line, without_place(error, given.path, entry.line)))
            continue
        if name in refused:
            continue  # reported separately
        recording[key] = name
        found = recordings.get(name, Issue("no-audio", f"its recording '{name}' is not in wav.scp"))
        sources[key] = (
            found if isinstance(found, Issue) else Utterance(key, "", None, audio=found, start=start, end=end)
        )
    return sources, recording


def _archived(given: ListFile, places: Places, faults: list[Issue]) -> dict[str, Utterance | Issue]:
    matrices: dict[str, tuple[str, int]] = {}
    for key, entry in given.entries.items():
        if not entry.value:
            continue
        try:
            matrices[key] = parse_matrix_place(given.path, key, entry)
        except CorpusError as error:
            code = "pipe" if "pipe" in str(error) else "malformed"
            faults.append(stopping(code, given.path, entry.line, without_place(error, given.path, entry.line)))
    files = places.find_all(name for name, _ in matrices.values())
    sources: dict[str, Utterance | Issue] = {}
    for key, (name, offset) in matrices.items():
        found = files[name]
        sources[key] = found if isinstance(found, Issue) else Utterance(key, "", None, archive=found, offset=offset)
    return sources
