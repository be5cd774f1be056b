"""Records of a run, as JSON objects with a checksum, and descriptions of its input files."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from asr.util.counted_text import count
from asr.util.errors import RunError
from asr.util.files import atomic_write
from discriminants.util.paths import is_file


def describe_files(files: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    """Return path, number of lines and SHA-256 of each file by its role, except for missing files."""
    found = {}
    for role, path in files.items():
        if is_file(path):
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            found[role] = {"path": str(path.absolute()), "lines": len(content.splitlines()), "sha256": digest}
    return found


def are_described(files: Any) -> TypeGuard[dict[str, dict[str, Any]]]:
    """Whether a value from a file has the form of `describe_files`."""
    return isinstance(files, dict) and all(
        isinstance(one, dict)
        and isinstance(one.get("path"), str)
        and isinstance(one.get("lines"), int)
        and isinstance(one.get("sha256"), str)
        for one in files.values()
    )


def changed_files(before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a phrase for each changed, new or removed file, sorted by role."""
    for role in sorted(before.keys() | now.keys()):
        if role not in now:
            yield f"{before[role]['path']} is missing"
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


_SEAL = "digest"


def write_sealed(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record of JSON values atomically; equal records give equal bytes."""
    sealed = {**record, _SEAL: _digest(record)}
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(sealed, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read_sealed(path: Path, what: str, remedy: str) -> dict[str, Any]:
    """Read a record of `write_sealed`.

    Raises RunError, with the description `what` and the `remedy`, if the file is unreadable, not a JSON object, or
    changed.
    """
    try:
        if not is_file(path):
            raise RunError(f"{path}: is not a regular file; {remedy}")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); {remedy}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path}: cannot be read ({error}); {remedy}") from error
    if not isinstance(found, dict):
        raise RunError(f"{path}: has a JSON {type(found).__name__}. Expected {what}; {remedy}")
    seal = found.pop(_SEAL, None)
    if seal != _digest(found):
        raise RunError(f"{path}: damaged or edited. Expected {what}; {remedy}")
    return found


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(record, sort_keys=True).encode(), digest_size=32).hexdigest()
