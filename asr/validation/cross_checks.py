"""Consistency of the lists of a data directory."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from asr.corpus.data_directory import DataLists
from asr.util.counted_text import count
from asr.util.errors import Issue
from asr.validation.findings import costing, warning

MEMBERSHIP = ("no-audio", "no-speaker", "no-transcript")
"""Codes of utterances that are missing in a list."""


def check_utterances(directory: DataLists) -> Iterator[Issue]:
    """Report the utterances that cannot be used according to the lists, once for each cause.

    If no utterance of `text` has audio, only that is reported.
    """
    audio, texts = (directory.lists[name].keys if name in directory.lists else set() for name in ("wav.scp", "text"))
    disjoint = bool(directory.source_list == "wav.scp" and audio and texts and not audio & texts)
    names: dict[Issue, list[str]] = defaultdict(list)
    for name, issues in directory.issues.items():
        for issue in issues:
            if not (disjoint and issue.code in MEMBERSHIP):
                names[replace(issue, utterances=())].append(name)
    for issue, lost in names.items():
        yield replace(issue, utterances=tuple(lost))
    if disjoint:
        first = next(iter(directory.entries("text")), "")
        message = (
            f"'{first}' is not in wav.scp, and neither are the other {count(len(texts), 'utterance')}; if they are "
            "parts of recordings, add a list segments"
        )
        yield costing("no-audio", directory.lists["text"].path, None, message, {*texts, *audio})


def check_unused(directory: DataLists) -> Iterator[Issue]:
    """Report utterances in utt2spk only, and recordings without segments."""
    others = [directory.lists[name].keys for name in (directory.source_list, "text") if name in directory.lists]
    known = set().union(*others)
    for utterance, entry in directory.entries("utt2spk").items() if others else ():
        if utterance not in known:
            message = f"'{utterance}' is in utt2spk only; add it to the other lists, or remove it here"
            yield warning("not-used", directory.lists["utt2spk"].path, entry.line, message)
    if directory.source_list == "segments":
        used = set(directory.recording.values())
        for recording, entry in directory.entries("wav.scp").items():
            if recording not in used:
                message = f"the recording '{recording}' has no segment; add some to segments, or remove this line"
                yield warning("not-used", directory.lists["wav.scp"].path, entry.line, message)
