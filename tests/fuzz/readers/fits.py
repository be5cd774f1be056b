"""Checkpoints of a fit: whatever lies there, the fit ends, and damage never changes what is learnt."""

import warnings
from functools import cache
from pathlib import Path

import numpy as np

from discriminants.logistic import checkpoint as checkpoints
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.field_mutators import spoil_fields
from tests.fuzz.mutators.model_mutators import spoil_model
from tests.fuzz.outcome import Unsound, fault_in_message
from tests.fuzz.reader import Seeds, reader


class _Killed(BaseException):
    """In place of a signal."""


@cache
def _data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    labels = np.arange(80) % 4
    return (np.eye(4)[labels] * 3 + random.normal(size=(80, 4))).astype(np.float32), labels


def _fit(path: Path | None, stop_after: int = 0) -> np.ndarray:
    def progress(done: int, *_: object) -> None:
        if done == stop_after:
            raise _Killed

    learner = SparseKernelLogisticClassifier(8, n_candidates=30, max_iter=3, min_steps=9, random_state=0)
    learner.fit(*_data(), checkpoint=path, progress=progress)
    return learner.decision_function(_data()[0])


@cache
def _undisturbed() -> bytes:
    return _fit(None).tobytes()


def _left_by_a_killed_fit(folder: Path) -> Seeds:
    """What is there when a fit is killed after its second pass."""
    interval, checkpoints.INTERVAL = checkpoints.INTERVAL, 0.0
    try:
        _fit(folder / "fit", stop_after=2)
    except _Killed:
        pass
    finally:
        checkpoints.INTERVAL = interval
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@reader("checkpoint", _left_by_a_killed_fit, (spoil_bytes, spoil_fields), tree=True, writes=True)
def _damaged(folder: Path) -> None:
    if _resumed(folder).tobytes() != _undisturbed():
        raise Unsound("a damaged checkpoint that is taken as whole: the fit ends with another model")


@reader("checkpoint-content", _left_by_a_killed_fit, (spoil_model,), tree=True, writes=True)
def _forged(folder: Path) -> None:
    _resumed(folder)


def _resumed(folder: Path) -> np.ndarray:
    with warnings.catch_warnings(record=True) as texts:
        warnings.simplefilter("always")
        output = _fit(folder / "fit")
    for warning in texts:
        fault = fault_in_message(str(warning.message))
        if fault is not None:
            raise Unsound(f"a warning that {fault}: {warning.message}")
    return output
