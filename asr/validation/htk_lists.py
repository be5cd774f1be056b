"""Detection of HTK files given as Kaldi lists: master label files and lists of files."""

import re
import shlex

from asr.alignment.htk_labels import is_mlf
from asr.util.errors import Issue, printable
from asr.validation.findings import MIN_CASES, NEARLY_ALL, stopping
from asr.validation.lists import ListFile

_FILES = {"wav.scp": "wav", "feats.scp": "mfc"}
"""Lists that have another format in HTK, with the endings of the listed files."""
_ENDING = re.compile(r"\.[A-Za-z]\w*")
_NAMED = re.compile(r"(.*/)?([^/]+)\.[^./]+")
_SED = r"s|^(.*/)?([^/]+)[.][^./]+$|\2 &|"
"""Sed command that prefixes a line with the second group of `_NAMED`."""


def fault_of_htk_list(given: ListFile) -> Issue | None:
    """Report a list that is an HTK file; its other faults follow from that."""
    if given.path.name == "text" and given.lines and is_mlf([given.lines[0].key]):
        return _label_file(given)
    alone = [line.key for line in given.lines if not line.value and _is_path(line.key)]
    if given.path.name in _FILES and len(alone) >= max(MIN_CASES, NEARLY_ALL * len(given.lines)):
        return _list_of_files(given, alone)
    return None


def _label_file(given: ListFile) -> Issue:
    message = (
        "is a master label file of HTK, and text has 'UTTERANCE WORD WORD ...' on a line; give it another name, such "
        "as words.mlf, and make text of it in Python: "
        'asr.scoring.files.write_transcripts("text", asr.alignment.htk_labels.read_words("words.mlf")), as in '
        '"Files of HTK" of docs/data-directories.md'
    )
    return stopping("malformed", given.path, given.lines[0].number, message)


def _is_path(key: str) -> bool:
    return "/" in key or "\\" in key or _ENDING.search(key) is not None


def _list_of_files(given: ListFile, alone: list[str]) -> Issue:
    line = next(line for line in given.lines if line.key == alone[0])
    named = _NAMED.fullmatch(line.key)
    utterance = named[2] if named else "george_000"
    path = line.key if named else f"{utterance}.{_FILES[given.path.name]}"
    message = (
        f"is a list of files, such as HTK has ({len(alone):,} of {len(given.lines):,} lines are a path alone, the "
        f"first '{printable(line.key, 100)}'); "
    )
    if given.path.name == "feats.scp":
        message += (
            "files of features have to be put into an archive, and feats.scp says of every utterance where it is there "
            f"('{printable(utterance, 100)} feats.ark:17'): \"Files of HTK\" of docs/data-directories.md does both"
        )
    else:
        message += f"every line needs the name of its utterance first: '{printable(f'{utterance} {path}', 200)}'"
        message += _naming(given, alone)
    return stopping("malformed", given.path, line.number, message)


def _naming(given: ListFile, alone: list[str]) -> str:
    """Return a command that names utterances after their files; empty if it would fail for a line."""
    names = [named[2] for key in alone if (named := _NAMED.fullmatch(key)) and not set("=\\") & set(key)]
    if len(names) < len(given.lines) or len(set(names)) < len(names):
        return ""
    path = str(given.path)
    return (
        f". Where utterances are named as their files, this writes such a list, to be put in its place: "
        f"sed -E {shlex.quote(_SED)} {shlex.quote(path)} | LC_ALL=C sort > {shlex.quote(f'{path}.new')}"
    )
