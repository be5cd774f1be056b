"""Files that a run was given: kept with it, so that a change is told as that of a file and not of a digest."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from asr.util.counted_text import count
from discriminants.util.paths import is_file


def describe_files(files: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    """Place, number of lines and SHA-256 of each file by its role; those that are not there are left out."""
    found = {}
    for role, path in files.items():
        if is_file(path):
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            found[role] = {"path": str(path.absolute()), "lines": len(content.splitlines()), "sha256": digest}
    return found


def are_described(files: Any) -> TypeGuard[dict[str, dict[str, Any]]]:
    """Whether a value that was read from a file has the form of what `describe_files` gives."""
    return isinstance(files, dict) and all(
        isinstance(one, dict)
        and isinstance(one.get("path"), str)
        and isinstance(one.get("lines"), int)
        and isinstance(one.get("sha256"), str)
        for one in files.values()
    )


def changed_files(before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A phrase for every file that holds something else than `before`, is new or is gone; roles come sorted."""
    for role in sorted(before.keys() | now.keys()):
        if role not in now:
            yield f"{before[role]['path']} is gone"
        elif role not in before:
            yield f"{now[role]['path']} is new"
        elif before[role]["sha256"] != now[role]["sha256"]:
            yield _changed(before[role], now[role])


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    if before["path"] != now["path"]:
        was = f"{before['path']} ({count(before['lines'], 'line')})"
        return f"{now['path']} ({count(now['lines'], 'line')}) instead of {was}"
    was = "as before" if before["lines"] == now["lines"] else f"{before['lines']:,} before"
    return f"{now['path']} has changed ({count(now['lines'], 'line')}, {was})"
