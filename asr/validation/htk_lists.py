"""Detection of HTK files given as Kaldi lists: master label files and lists of files."""

import re
import shlex
from collections.abc import Sequence

from asr.corpus.htk_labels import is_mlf
from asr.corpus.list_file import ListFile
from asr.util.errors import Issue, printable
from asr.validation.findings import MIN_CASES, NEARLY_ALL, stopping

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
