"""Small records of a run, as JSON objects with a checksum."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asr.util.errors import RunError
from asr.util.files import atomic_write
from discriminants.util.paths import is_file

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
