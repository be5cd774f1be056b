"""Checks of the lists of a data directory and of its feature archives."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from asr.corpus.data_directory import DataLists, Utterance, interpret_lists, nameable, read_lists
from asr.corpus.feature_file import read_features
from asr.corpus.htk_labels import is_mlf
from asr.corpus.list_file import ListFile
from asr.util.counted_text import count
from asr.util.errors import Issue, printable
from asr.validation.findings import MIN_CASES, NEARLY_ALL, costing, stopping, warning

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


@dataclass(frozen=True)
class Matrix:
    """Size of an utterance's feature matrix."""

    n_frames: int
    n_columns: int


def read_size(utterance: Utterance) -> Matrix:
    """Return the size of an utterance's matrix; CorpusError if it cannot be read."""
    return Matrix(*read_features(utterance.source, utterance.offset).shape)


def check_archives(directory: DataLists, sizes: Mapping[str, Matrix | Issue]) -> Iterator[Issue]:
    """Report entries of feats.scp without a matrix, or with another number of columns than most."""
    widths = Counter(size.n_columns for size in sizes.values() if not isinstance(size, Issue))
    expected = max(widths, key=widths.__getitem__, default=0)  # as in training: the first of equally frequent ones
    for name, size in sizes.items():  # by id, as training reads them
        if isinstance(size, Issue):
            yield costing(size.code, *directory.place(name), size.message, [name])
        elif size.n_columns != expected:
            message = f"'{name}' has {size.n_columns} features per frame. Expected {expected}"
            yield costing("other-dimension", *directory.place(name), message, [name])


_FILES = {"wav.scp": "wav", "feats.scp": "mfc"}
"""Lists that have another format in HTK, with the endings of the listed files."""
_ENDING = re.compile(r"\.[A-Za-z]\w*")
_NAMED = re.compile(r"(.*/)?([^/]+)\.[^./]+")
_SED = r"s|^(.*/)?([^/]+)[.][^./]+$|\2 &|"
"""Sed command that prefixes a line with the second group of `_NAMED`."""
_GUIDE = '"Files of HTK" of docs/how-to/prepare-data.md'


def htk_list_issue(given: ListFile, issues: Sequence[Issue]) -> Issue | None:
    """Return the issue of a list that is an HTK file; `issues` are those of its lines."""
    name = given.path.name
    first = next(iter(given.entries.items()), None)
    if name == "text" and first is not None and is_mlf([first[0]]):
        message = (
            "is a master label file of HTK. Expected 'UTTERANCE WORD WORD ...' on a line; rename it, for example to "
            'words.mlf, and convert it in Python: asr.scoring.files.write_transcripts("text", '
            f'asr.corpus.htk_labels.read_words("words.mlf")), see {_GUIDE}'
        )
        return stopping("malformed", given.path, first[1].line, message)
    without_value = [issue.line for issue in issues if issue.code == "key-alone" and issue.line is not None]
    alone = {line: given.damaged[line] for line in without_value if _is_path(given.damaged[line])}
    if name in _FILES and len(alone) >= max(MIN_CASES, NEARLY_ALL * given.n_lines):
        return _list_of_files(given, alone)
    return None


def _is_path(key: str) -> bool:
    return "/" in key or "\\" in key or _ENDING.search(key) is not None


def _list_of_files(given: ListFile, alone: dict[int, str]) -> Issue:
    line, key = next(iter(alone.items()))
    named = _NAMED.fullmatch(key)
    utterance = named[2] if named else "george_000"
    path = key if named else f"{utterance}.{_FILES[given.path.name]}"
    message = (
        f"is a list of files as in HTK: {len(alone):,} of {given.n_lines:,} lines are only a path, the first "
        f"'{printable(key, 100)}'. "
    )
    if given.path.name == "feats.scp":
        message += (
            f"Expected the place of each utterance in an archive ('{printable(utterance, 100)} feats.ark:17'); convert "
            f"the feature files into an archive as in {_GUIDE}"
        )
    else:
        message += f"Expected an utterance before each path: '{printable(f'{utterance} {path}', 200)}'"
        message += _naming(given, list(alone.values()))
    return stopping("malformed", given.path, line, message)


def _naming(given: ListFile, alone: list[str]) -> str:
    """Return a command that names utterances after their files; empty if it would fail for a line."""
    names = [named[2] for key in alone if (named := _NAMED.fullmatch(key)) and not set("=\\") & set(key)]
    if len(names) < given.n_lines or len(set(names)) < len(names):
        return ""
    path = str(given.path)
    return (
        f"; if utterances are named like their files, rename the output of this command to {given.path.name}: "
        f"sed -E {shlex.quote(_SED)} {shlex.quote(path)} | LC_ALL=C sort > {shlex.quote(f'{path}.new')}"
    )


def collect_lists(
    path: Path, root: Path | None = None, *, transcribed: bool = True
) -> tuple[DataLists, tuple[Issue, ...]]:
    """Read all lists that training reads, and collect the issues of their lines.

    If features exist, the audio is not checked, because its entries are often pipes in Kaldi directories. Unless
    `transcribed`, the list of transcripts may be missing.
    """
    path = nameable(path)
    issues: list[Issue] = []
    lists = read_lists(path, needs=("utt2spk", "text") if transcribed else ("utt2spk",), issues=issues)
    for name, given in list(lists.items()):
        htk = htk_list_issue(given, [issue for issue in issues if issue.path == given.path])
        if htk is not None:  # all other issues follow from that
            issues = [issue for issue in issues if issue.path != given.path] + [htk]
            del lists[name]
    return interpret_lists(path, lists, root, issues), tuple(issues)


def check_order(given: ListFile, *, optional: bool = False) -> Iterator[Issue]:
    """Report an empty list, and the first key out of byte order, which Kaldi requires."""
    if not given.n_lines:
        message = "the list is empty. Expected a line 'KEY VALUE' for each key"
        yield (warning if optional else stopping)("empty-list", given.path, None, message)
    keys = [(key.encode(), key, entry.line) for key, entry in given.entries.items()]
    late = [number for number in range(1, len(keys)) if keys[number] < keys[number - 1]]
    if late:
        (_, before, _), (_, key, line) = keys[late[0] - 1], keys[late[0]]
        message = (
            f"'{key}' comes after '{before}', but Kaldi requires the order of 'LC_ALL=C sort' "
            f"({count(len(late), 'line')} out of order)"
        )
        yield warning("unsorted", given.path, line, message)
