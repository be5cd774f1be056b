"""Detection of damaged stages by checksums of their files."""

import hashlib
import json
from pathlib import Path
from typing import NoReturn

from asr.util.errors import RunError
from asr.util.files import atomic_write
from discriminants.util.paths import is_dir

_ALGORITHM = "blake2b"


def write_digests(stage: Path, record: Path) -> None:
    """Write the checksum of every file under `stage` to `record` as JSON, by relative path, reproducibly."""
    digests = {name: _digest(stage / name) for name in _files(stage)}
    with atomic_write(record) as temporary:
        temporary.write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def check_digests(stage: Path, record: Path) -> None:
    """Raise RunError, with the file and a remedy, unless `stage` matches `record`."""
    expected = _read(stage, record)
    found = _files(stage)
    for name in sorted(expected.keys() - set(found)):
        _refuse(stage, stage / name, f"is missing, but listed in {record.name}")
    for name in found:
        if name not in expected:
            _refuse(stage, stage / name, f"is not listed in {record.name}")
        try:
            intact = _digest(stage / name) == expected[name]
        except OSError as error:
            _refuse(stage, stage / name, f"cannot be read ({error.strerror})")
        if not intact:
            _refuse(stage, stage / name, f"is damaged: its checksum differs from {record.name}")


def _read(stage: Path, record: Path) -> dict[str, str]:
    try:
        digests = json.loads(record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        _refuse(stage, record, "is missing, so the stage cannot be verified")
    except OSError as error:
        _refuse(stage, record, f"cannot be read ({error.strerror})")
    except (ValueError, RecursionError) as error:
        _refuse(stage, record, f"is damaged ({error})")
    if not isinstance(digests, dict):
        _refuse(stage, record, "is damaged: it has no checksums by file")
    return digests


def _files(stage: Path) -> list[str]:
    """Return the sorted relative paths of all non-directories in the stage."""
    return sorted(path.relative_to(stage).as_posix() for path in stage.rglob("*") if not is_dir(path))


def _digest(path: Path) -> str:
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, _ALGORITHM).hexdigest()


def _refuse(stage: Path, file: Path, what: str) -> NoReturn:
    raise RunError(f"{file}: {what}; remove the directory {stage} and run the same command")
