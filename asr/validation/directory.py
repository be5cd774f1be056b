"""Lists of a data directory with all their issues."""

from collections.abc import Iterator
from pathlib import Path

from asr.corpus.data_directory import DataLists, interpret_lists, nameable, read_lists
from asr.corpus.list_file import ListFile
from asr.util.counted_text import count
from asr.util.errors import Issue
from asr.validation.findings import stopping, warning
from asr.validation.htk_lists import htk_list_issue


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
