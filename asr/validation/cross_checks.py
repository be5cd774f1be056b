"""Consistency of lists, and valid names."""

from collections import defaultdict
from collections.abc import Iterator

from asr.corpus.identifiers import fault_in_name
from asr.util.counted_text import count
from asr.util.errors import Issue
from asr.validation.directory import Directory
from asr.validation.findings import costing, stopping, warning


def check_lists_there(directory: Directory, *, transcribed: bool = True) -> Iterator[Issue]:
    """Report missing lists that training needs."""
    if not {"wav.scp", "feats.scp"} & (directory.lists.keys() | directory.mistaken):
        reason = "holds neither wav.scp nor feats.scp; one of them must say where the utterances are"
        yield stopping("missing-list", directory.path, None, reason)
    needed = {
        "utt2spk": "who said every utterance, 'UTTERANCE SPEAKER' a line; if nobody knows, give every "
        "utterance a speaker of its own, 'UTTERANCE UTTERANCE'"
    }
    if transcribed:
        needed["text"] = "what was said: 'UTTERANCE WORD WORD ...'"
    for name, what in needed.items():
        if name not in directory.lists and name not in directory.mistaken:
            yield stopping("missing-list", directory.path / name, None, f"No such file; it must say {what}")


def check_names(directory: Directory) -> Iterator[Issue]:
    """Report names of utterances and speakers that cannot be file names."""
    for utterance in directory.listed:
        fault = fault_in_name(utterance)
        if fault is not None:
            yield costing("bad-name", *directory.place(utterance), f"the name '{utterance}' {fault}", [utterance])
    of_speaker = defaultdict(list)
    for utterance, entry in directory.entries("utt2spk").items():
        if utterance in directory.sources and fault_in_name(utterance) is None:
            of_speaker[entry.value].append((utterance, entry.line))
    for speaker, spoken in of_speaker.items():
        fault = fault_in_name(speaker)
        if speaker and fault is not None and len(speaker.split()) == 1:
            file, line = directory.lists["utt2spk"].path, spoken[0][1]
            yield costing(
                "bad-name", file, line, f"the name of the speaker '{speaker}' {fault}", [name for name, _ in spoken]
            )


def check_everywhere(directory: Directory) -> Iterator[Issue]:
    """Report utterances that are missing in a list."""
    lists = [name for name in (directory.source_list, "text", "utt2spk") if name in directory.lists]
    if len(lists) < 2:
        return
    members = {name: directory.lists[name].keys for name in lists}
    recordings, texts = members.get("wav.scp", set()), members.get("text", set())
    if recordings and texts and not recordings & texts:
        first, *_ = directory.entries("text") or [""]
        message = (
            f"'{first}' is no recording of wav.scp, and neither is any other of the {count(len(texts), 'utterance')} "
            "here; if they are parts of recordings, segments has to say which"
        )
        yield costing("no-audio", directory.lists["text"].path, None, message, sorted(texts | recordings))
        return
    for utterance in sorted(set().union(*members.values())):
        missing = [name for name in lists if utterance not in members[name]]
        if not missing:
            continue
        there = [name for name in lists if utterance in members[name]]
        file, entry = directory.lists[there[0]].path, directory.entries(there[0]).get(utterance)
        if entry is None:
            continue  # a damaged line, reported separately
        message = (
            f"'{utterance}' is in {' and '.join(there)}, but not in {' and '.join(missing)}; "
            f"add it there, or remove it here"
        )
        if there == ["utt2spk"]:
            yield warning("not-used", file, entry.line, message)
            continue
        code = {directory.source_list: "no-audio", "utt2spk": "no-speaker", "text": "no-transcript"}[missing[0]]
        yield costing(code, file, entry.line, message, [utterance])


def check_files(directory: Directory) -> Iterator[Issue]:
    """Report missing or empty audio files and archives, and segments of unlisted recordings."""
    found: dict[tuple[str, int, Issue], list[str]] = {}
    for utterance, source in directory.sources.items():
        if not isinstance(source, Issue):
            continue
        list_name, line = directory.source_list, directory.entries(directory.source_list)[utterance].line
        recording = directory.recording.get(utterance, "")
        if list_name == "segments" and recording in directory.entries("wav.scp"):
            list_name, line = "wav.scp", directory.entries("wav.scp")[recording].line
        found.setdefault((list_name, line, source), []).append(utterance)
    for (list_name, line, fault), utterances in found.items():
        yield costing(fault.code, directory.lists[list_name].path, line, fault.message, utterances)


def check_recordings_used(directory: Directory) -> Iterator[Issue]:
    """Report recordings without segments."""
    if directory.source_list != "segments":
        return
    used = set(directory.recording.values())
    for recording, entry in directory.entries("wav.scp").items():
        if recording not in used:
            message = f"no segment is taken from the recording '{recording}'; add some to segments, or remove this line"
            yield warning("not-used", directory.lists["wav.scp"].path, entry.line, message)
