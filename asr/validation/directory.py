"""A data directory as its lists describe it, faults and all: where every utterance is named, and which can be used."""

import os
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from asr.corpus.data_directory import Places, Utterance, nameable, parse_matrix_place, parse_segment
from asr.corpus.identifiers import fault_in_name
from asr.corpus.list_file import Entry, refuse_pipe
from asr.util.errors import CorpusError, Fault
from asr.validation.findings import Finding, stopping, without_place
from asr.validation.htk_lists import fault_of_htk_list
from asr.validation.lists import ListFile, read_list_past_faults

LISTS = ("wav.scp", "segments", "feats.scp", "utt2spk", "text", "spk2gender")


@dataclass(frozen=True)
class Directory:
    """What the lists of a data directory say.

    Attributes
    ----------
    path : path
    lists : mapping of a list's name to the list
        Those that are there, and that training reads.
    sources : mapping of an utterance to where its audio or features are, or why that cannot be used
        Speakers and words are not filled in.
    recording : mapping of an utterance to the recording it is a segment of
    faults : findings
        Lines that the readers of a corpus refuse: none of the directory can be read before they are mended.
    mistaken : set of names of lists
        Those that are there but have another format altogether. They have a fault each, and are not in `lists`.
    """

    path: Path
    lists: Mapping[str, ListFile]
    sources: Mapping[str, Utterance | Fault]
    recording: Mapping[str, str]
    faults: tuple[Finding, ...]
    mistaken: Set[str] = frozenset()

    @property
    def source_list(self) -> str:
        """The list whose keys are utterances with audio or features: that which training reads."""
        if "feats.scp" in self.lists:
            return "feats.scp"
        return "segments" if "segments" in self.lists else "wav.scp"

    def entries(self, name: str) -> Mapping[str, Entry]:
        """Lines of a list by key; none where the list is not there."""
        return self.lists[name].entries if name in self.lists else {}

    def place(self, utterance: str) -> tuple[Path, int | None]:
        """File and line that say where an utterance is; those of its transcript where nothing does."""
        for name in (self.source_list, "text", "utt2spk"):
            entry = self.entries(name).get(utterance)
            if entry is not None:
                return self.lists[name].path, entry.line
        return self.path, None

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The transcript of every line of `text`."""
        return {key: tuple(entry.value.split()) for key, entry in self.entries("text").items()}

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Every utterance with audio, features or a transcript, sorted: those that training accounts for."""
        return tuple(sorted({*self.sources, *self.words}))

    @cached_property
    def usable(self) -> dict[str, Utterance]:
        """The utterances that the lists make usable, sorted by id, with their speakers and words."""
        found = {}
        for name in sorted(self.sources):
            source, speaker = self.sources[name], self.entries("utt2spk").get(name)
            if isinstance(source, Fault) or speaker is None or fault_in_name(name) or fault_in_name(speaker.value):
                continue
            if "text" in self.lists and name not in self.words:
                continue
            found[name] = replace(source, speaker=speaker.value, words=self.words.get(name))
        return found


def read_directory_past_faults(path: Path, root: Path | None = None) -> Directory:
    """Read every list at `path` that training reads; as `read_data_directory` does, but past all faults.

    Where there are features, nobody looks at the audio, whose entries are pipes in many a directory of Kaldi's.
    """
    path = nameable(path)
    unread = {"wav.scp", "segments"} if os.path.lexists(path / "feats.scp") else set()
    there = [name for name in LISTS if name not in unread and os.path.lexists(path / name)]
    lists = {name: read_list_past_faults(path / name) for name in there}
    # Absolute, for workers that began in another directory.
    places = Places(path.absolute(), None if root is None else root.absolute())
    of_htk = {name: fault for name, given in lists.items() if (fault := fault_of_htk_list(given)) is not None}
    faults = list(of_htk.values())
    lists = {name: given for name, given in lists.items() if name not in of_htk}
    recordings: dict[str, Path | Fault] = {}
    if "wav.scp" in lists:
        recordings = _recordings(lists["wav.scp"], places, faults)
    recording: dict[str, str] = {}
    sources: dict[str, Utterance | Fault] = {}
    if "segments" in lists:
        refused = lists["wav.scp"].entries.keys() - recordings.keys() if "wav.scp" in lists else set()
        sources, recording = _segments(lists["segments"], recordings, refused, faults)
        if "wav.scp" in of_htk:  # which is why none of their recordings is known
            sources, recording = {}, {}
    else:
        for key, found in recordings.items():
            sources[key] = found if isinstance(found, Fault) else Utterance(key, "", None, audio=found)
    if "feats.scp" in lists:
        sources = _archived(lists["feats.scp"], places, faults)
    return Directory(path, lists, sources, recording, tuple(faults), of_htk.keys())


def _recordings(given: ListFile, places: Places, faults: list[Finding]) -> dict[str, Path | Fault]:
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
    given: ListFile, recordings: Mapping[str, Path | Fault], refused: Set[str], faults: list[Finding]
) -> tuple[dict[str, Utterance | Fault], dict[str, str]]:
    sources: dict[str, Utterance | Fault] = {}
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
            continue  # it has a finding of its own
        recording[key] = name
        found = recordings.get(name, Fault("no-audio", f"its recording '{name}' is not in wav.scp"))
        sources[key] = (
            found if isinstance(found, Fault) else Utterance(key, "", None, audio=found, start=start, end=end)
        )
    return sources, recording


def _archived(given: ListFile, places: Places, faults: list[Finding]) -> dict[str, Utterance | Fault]:
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
    sources: dict[str, Utterance | Fault] = {}
    for key, (name, offset) in matrices.items():
        found = files[name]
        sources[key] = found if isinstance(found, Fault) else Utterance(key, "", None, archive=found, offset=offset)
    return sources
