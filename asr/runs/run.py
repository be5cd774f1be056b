"""Run directory with atomic stages, so that a killed run can be resumed."""

import errno
import fcntl
import json
import logging
import math
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import asr
from asr.runs.checked_file import are_described, changed_files, describe_files, read_sealed, write_sealed
from asr.runs.log import write_log
from asr.runs.stage_checksums import check_digests, write_digests
from asr.util.counted_text import count, duration, some
from asr.util.errors import RunError
from asr.util.files import atomic_directory
from discriminants.util.paths import exists, is_dir

logger = logging.getLogger(__name__)

_STAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
RECORD, STAGES = "run.json", "stages"
_LOCK, _DISCARDED = ".lock", ".discarded-stages"
_CHECKPOINT = ".{}.checkpoint"
_SAME = ("seed", "configuration")


@dataclass(frozen=True, slots=True)
class StageTime:
    """Seconds of a finished stage: wall clock, processor time (with finished child processes), and named parts."""

    wall: float
    cpu: float
    parts: Mapping[str, float]


class Run:
    """A locked run directory. Use `Run.open`, and close it (or use a `with` block) to release the lock.

    Layout: `run.json` (command, versions, seed, configuration, checksums of inputs; written once), `stages/NAME/` (a
    complete stage), `stages/NAME.digests` (checksums of its files, verified before use), `stages/NAME.seconds` (its
    time, outside so that equal runs have equal stages), `.lock`, and `stages/.NAME.checkpoint/` while a stage with
    checkpoints is running.

    If `only_finished` is set, a stage that is not finished raises RunError instead of being built.
    """

    def __init__(self, directory: Path, lock: IO[str]):
        self.directory = directory
        self._lock = lock
        self.only_finished = False
        self._checked: set[str] = set()
        self._parts: dict[str, float] = {}

    @classmethod
    def open(
        cls,
        directory: Path | str,
        *,
        command: Sequence[str],
        configuration: Mapping[str, Any],
        inputs: Mapping[str, str],
        files: Mapping[str, Path] | None = None,
        seed: int = 0,
        rebuild_changed: bool = False,
        depends: Callable[[str, str], bool] = lambda stage, name: True,
    ) -> Self:
        """Start a run in a missing or empty directory, or resume an existing one.

        Parameters
        ----------
        command : recorded command line; may differ on resuming
        configuration : JSON values by name, may be nested
        inputs : checksum by input name
        files : files of the inputs, by role; used to report changed files
        rebuild_changed : whether to remove the stages that depend on a changed seed, configuration or input
        depends : whether a stage depends on "seed", a dotted name of the configuration, or an input; later stages must
            inherit dependencies

        Raises
        ------
        RunError
            If the directory has other content, is locked by another process, or seed, configuration or inputs differ
            without `rebuild_changed`; the message lists the differences.
        """
        directory = Path(directory)
        record = _new_record(command, configuration, inputs, files or {}, seed)
        require_run_or_empty(directory)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            lock = _take_lock(directory)
        except OSError as error:
            raise RunError(f"{directory}: cannot be used ({error.strerror}). Expected a writable directory") from error
        run = cls(directory, lock)
        try:
            run._remove_leftovers()
            run._adopt(record, rebuild_changed, depends)
            write_log(directory)
            if done := run.done_stages():
                logger.info("resuming: %s finished", count(len(done), "stage"))
        except BaseException:
            run.close()
            raise
        return run

    def stage(self, name: str, build: Callable[[Path], str | None], *, level: int = logging.INFO) -> Path:
        """Return the directory of stage `name`, filled by `build(temporary directory)` unless it exists.

        The result of `build`, if any, is logged with the time of the stage, at the given level. A stage is built under
        another name, flushed to disk and renamed, so an existing one is complete. Its checksums are verified once per
        process. Errors of `build` are raised, without creating the stage.

        Raises
        ------
        RunError
            If `name` has characters other than letters, digits, '-' and '_', the stage is damaged, or `only_finished`
            is set and it is missing.
        """
        path = self._stage_path(name)
        if is_dir(path):
            if name not in self._checked:
                check_digests(path, self._digests_path(name))
                self._checked.add(name)
            logger.debug("stage %s: already done, skipped", name)
            return path
        if self.only_finished:
            raise RunError(f"{path}: the stage is not finished. Run the same asr train command again.")
        logger.debug("stage %s: started", name)
        wall, cpu = time.monotonic(), _cpu_seconds()
        self._parts, of_the_outer = {}, self._parts
        with atomic_directory(path) as temporary:
            summary = build(temporary)
            taken = {"cpu": round(_cpu_seconds() - cpu, 3), "wall": round(time.monotonic() - wall, 3)}
            parts = {part: round(seconds, 3) for part, seconds in self._parts.items()}
            # Written before renaming, so that a complete stage has checksums and time.
            write_digests(temporary, self._digests_path(name))
            write_sealed(self._seconds_path(name), taken | {"parts": parts})
        self._parts = of_the_outer
        self._checked.add(name)
        shutil.rmtree(self.checkpoint(name), ignore_errors=True)
        log_stage(name, taken["wall"], summary or "", level=level)
        return path

    def note_time(self, part: str, seconds: float) -> None:
        """Record a time of the running stage, outside its directory so that equal runs have equal stages."""
        self._parts[part] = seconds

    def checkpoint(self, name: str) -> Path:
        """Return a directory, which may be missing, for checkpoints of stage `name`.

        It survives interruptions and is removed when the stage is complete. Its users must write files atomically and
        identify their input.
        """
        return self._stage_path(name).with_name(_CHECKPOINT.format(name))

    def is_done(self, name: str) -> bool:
        """Whether stage `name` is complete."""
        return is_dir(self._stage_path(name))

    def done_stages(self) -> list[str]:
        """Return the sorted names of complete stages."""
        return sorted(path.name for path in (self.directory / STAGES).glob("[!.]*") if is_dir(path))

    def stage_time(self, name: str) -> StageTime:
        """Return the time of stage `name`, also from an earlier process; RunError if it is missing or damaged."""
        if not self.is_done(name):
            raise RunError(f"{self._stage_path(name)}: the stage is not finished")
        path = self._seconds_path(name)
        remedy = f"remove the directory {self._stage_path(name)} and run the same command"
        taken = read_sealed(path, "a record of a stage's time", remedy)
        try:
            parts = {part: _finite(seconds) for part, seconds in taken["parts"].items()}
            return StageTime(wall=_finite(taken["wall"]), cpu=_finite(taken["cpu"]), parts=parts)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"{path}: has no valid seconds of a stage; {remedy}") from error

    def close(self) -> None:
        """Release the lock of the directory."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stage_path(self, name: str) -> Path:
        if not _STAGE_NAME.fullmatch(name):
            raise RunError(f"{name!r} is not a stage name. Expected letters, digits, '-' and '_'")
        return self.directory / STAGES / name

    def _seconds_path(self, name: str) -> Path:
        return self.directory / STAGES / f"{name}.seconds"

    def _digests_path(self, name: str) -> Path:
        return self.directory / STAGES / f"{name}.digests"

    def _remove_leftovers(self) -> None:
        """Remove incomplete files of killed processes; the lock excludes running ones."""
        stages = self.directory / STAGES
        partials = (*self.directory.glob(".*.partial-*"), *stages.glob("**/.*.partial-*"))
        outlived = (self.checkpoint(name) for name in self.done_stages() if _STAGE_NAME.fullmatch(name))
        for leftover in (*partials, *outlived, self.directory / _DISCARDED):
            if is_dir(leftover) and not leftover.is_symlink():
                shutil.rmtree(leftover)
            else:
                leftover.unlink(missing_ok=True)

    def _adopt(self, record: dict[str, Any], rebuild_changed: bool, depends: Callable[[str, str], bool]) -> None:
        """Write the record of a new run, or compare it with the existing one."""
        path = self.directory / RECORD
        if not exists(path):
            write_sealed(path, record)
            return
        remedy = "use another directory, or delete the stages of this one (--rebuild-changed, rebuild_changed=True)"
        try:
            existing = read_sealed(path, "the record of a run", remedy)
        except RunError:
            if not rebuild_changed:
                raise
            existing = {}
        differences = [*_differences(existing, record, _SAME), *_changed_inputs(existing, record)]
        changed = _changed_names(existing, record)
        done = self.done_stages()
        lost = [stage for stage in done if any(depends(stage, name) for name in changed)]
        kept = [stage for stage in done if stage not in lost]
        if differences and not rebuild_changed:
            raise RunError(
                f"{path}: made with other inputs ({'; '.join(differences)}). Use the original inputs, "
                "another directory, or --rebuild-changed (rebuild_changed=True), which deletes the dependent stages "
                f"({some(lost) or 'none'})"
            )
        if kept or not differences:
            for change in _differences(existing, record, ("versions",)):
                logger.warning("%s: resuming with another version: %s", self.directory, change)
        if not differences:
            return
        message = f"; kept: {', '.join(kept)}" if kept else ""
        logger.warning(
            "%s: %s; deleted stages: %s%s",
            path,
            "; ".join(differences),
            ", ".join(lost) or "none",
            message,
        )
        self._throw_away_all_but(kept)
        write_sealed(path, record)
        self._remove_leftovers()

    def _throw_away_all_but(self, kept: Collection[str]) -> None:
        """Discard other stages by renaming them first, as an interruption must not leave partial stages."""
        stages = self.directory / STAGES
        if not exists(stages):
            return
        discarded = self.directory / _DISCARDED
        discarded.mkdir()
        # Remove stages before their records, because they must not exist without them.
        for path in sorted(stages.iterdir(), key=lambda path: not is_dir(path)):
            if path.name.partition(".")[0] not in kept:
                path.rename(discarded / path.name)


def log_stage(name: str, seconds: float, summary: str = "", *, level: int = logging.INFO) -> None:
    """Log the time and the main result of a part of a training in one line."""
    taken = f"{seconds:.1f} s" if seconds < 10 else duration(seconds)
    logger.log(level, "%s", f"{name:18} {taken:>10}  {summary}".rstrip())


def _new_record(
    command: Sequence[str],
    configuration: Mapping[str, Any],
    inputs: Mapping[str, str],
    files: Mapping[str, Path],
    seed: int,
) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    record = {
        "command": list(command),
        "versions": {
            "asr": asr.__version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            **{package: version(package) for package in packages},
        },
        "seed": seed,
        "configuration": dict(configuration),
        "inputs": dict(inputs),
        "files": describe_files(files),
    }
    try:
        return json.loads(json.dumps(record))  # as it will be read: tuples become lists
    except (TypeError, ValueError) as error:
        raise RunError(f"the configuration of a run must have JSON values only: {error}") from error


def require_run_or_empty(directory: Path) -> None:
    """Raise RunError if the directory has files other than a run's, or than those of a run killed at its start."""
    if exists(directory) and not is_dir(directory):
        raise RunError(f"{directory}: is a file. Expected a directory")
    for name in (STAGES, _DISCARDED):
        if (directory / name).is_symlink():
            raise RunError(
                f"{directory / name}: is a link. Expected a directory; link the whole work directory instead"
            )
    if not exists(directory) or exists(directory / RECORD):
        return
    ours = re.compile(rf"{re.escape(_LOCK)}|\.{re.escape(RECORD)}\.partial-\d+")
    foreign = sorted(child.name for child in directory.iterdir() if not ours.fullmatch(child.name))
    if foreign:
        raise RunError(f"{directory}: has {foreign[0]!r} but not {RECORD}. Expected an empty directory, or a run")


def _take_lock(directory: Path) -> IO[str]:
    """Lock the directory; the kernel releases the lock when the process ends."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(directory / _LOCK, flags, 0o644)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise RunError(f"{directory / _LOCK}: is a link. Expected a file of the run; remove the link") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RunError(f"{directory / _LOCK}: is not a regular file. Expected a file of the run; remove it")
    lock = os.fdopen(descriptor, "a+", encoding="ascii", errors="replace")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        holder = lock.read().strip()
        lock.close()
        raise RunError(
            f"{directory}: used by another process ({holder or 'just started'}). Wait for it, or use another directory"
        ) from error
    with suppress(OSError):  # the owner is only used in messages
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), f"{os.getpid()}\n".encode())
    return lock


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """Return a phrase 'key was X, is Y' for every leaf under `keys` that differs."""
    before = _leaves({key: old.get(key) for key in keys})
    after = _leaves({key: new.get(key) for key in keys})
    return [
        f"{key} was {before.get(key, 'absent')}, is {after.get(key, 'absent')}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def _changed_names(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the names that differ: "seed", dotted names of the configuration, and inputs."""
    before, after = (_leaves({key: record.get(key) for key in (*_SAME, "inputs")}) for record in (old, new))
    differing = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    return sorted(name.removeprefix("configuration.").removeprefix("inputs.") for name in differing)


def _changed_inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return a phrase for each changed file of the differing inputs; for each input if its files are unknown."""
    before, after = old.get("inputs"), new["inputs"]
    before = before if isinstance(before, dict) else {}  # a record from elsewhere
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if not names:
        return []
    files = old.get("files")
    known = files if are_described(files) else {}
    also = ": files in its lists were changed, added or removed" if known else ""
    return list(changed_files(known, new["files"] if known else {})) or [
        f"the input '{name}' has changed{also}" for name in names
    ]


def _leaves(value: Any, key: str = "") -> dict[str, str]:
    """Return the JSON text of every leaf by dotted key; lists are leaves."""
    if not isinstance(value, dict):
        return {key: json.dumps(value, sort_keys=True)}
    leaves: dict[str, str] = {}
    for name, inner in value.items():
        leaves |= _leaves(inner, f"{key}.{name}" if key else str(name))
    return leaves


def _finite(seconds: Any) -> float:
    if not math.isfinite(number := float(seconds)):
        raise ValueError(f"{number} seconds")
    return number


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
