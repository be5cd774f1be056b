"""Checkpoint file for a long fit, so that an interrupted fit can resume."""

import time
import warnings
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.util.errors import ModelFormatError
from discriminants.util.paths import exists

INTERVAL = 30.0  # seconds between two checkpoints of an unfinished stage
_FORMAT = "unfinished fit, 1"
_ROWS = 65536  # rows hashed at a time
Stage = dict[str, np.ndarray]
Shape = tuple[int | str, ...]


class Checkpoint:
    """Named stages of a fit, each with arrays; files are written atomically.

    A large stage has its own file next to `path`, `<name>.<stage>`; without a path nothing is stored. A file with
    another `digest` (the checksum of data and parameters) or a damaged file is ignored with a UserWarning.
    """

    def __init__(self, path: Path | None = None, digest: str = "") -> None:
        self._path = path
        self._metadata = {"format": _FORMAT, "digest": digest}
        self._stages: dict[str, Stage] = {}
        self._beside: set[Path] = set()
        self._written = time.monotonic()
        for name, array in ({} if path is None else self._read(path)).items():
            stage, _, entry = name.partition("/")
            self._stages.setdefault(stage, {})[entry] = array

    def get(self, stage: str, shapes: Mapping[str, Shape], *, apart: bool = False) -> Stage | None:
        """Return the arrays last stored, with the same `apart` as in `put`, or None.

        The stage must have arrays of these shapes, in which sizes of the same name are equal; it may have others. A
        stage of another form is ignored with a UserWarning.
        """
        found = self._read(self._file_of(stage)) if self._path is not None and apart else self._stages.get(stage)
        if not found:
            return None
        if _is_of_form(found, shapes):
            return found
        warnings.warn(
            f"checkpoint ignored: arrays of stage {stage!r} have other shapes. Starting from the beginning",
            stacklevel=3,
        )
        return None

    def put(self, stage: str, arrays: Stage, *, finished: bool = False, apart: bool = False) -> None:
        """Store the arrays if the stage is finished or the interval has passed; `apart` uses a file that is written
        once.
        """
        if self._path is None or not (finished or time.monotonic() - self._written >= INTERVAL):
            return
        if apart:
            save_arrays(self._file_of(stage), arrays, self._metadata)
            return
        self._stages[stage] = arrays
        everything = {f"{stage}/{name}": array for stage, s in self._stages.items() for name, array in s.items()}
        save_arrays(self._path, everything, self._metadata)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the files after the fit."""
        for file in (self._path, *self._beside):
            if file is not None:
                file.unlink(missing_ok=True)

    def _file_of(self, stage: str) -> Path:
        if self._path is None:
            raise ValueError("the checkpoint has no path")
        file = self._path.with_name(f"{self._path.name}.{stage}")
        self._beside.add(file)
        return file

    def _read(self, file: Path) -> Stage:
        """Return the arrays of a file, empty if it is unusable."""
        if not exists(file):
            return {}
        try:
            arrays, metadata = load_arrays(file)
        except ModelFormatError as error:
            reason = str(error)
        else:
            if metadata == self._metadata:
                return arrays
            reason = f"{file} belongs to other data or parameters"
        warnings.warn(f"checkpoint ignored: {reason}. Starting from the beginning", UserWarning, stacklevel=4)
        return {}


def _is_of_form(stage: Stage, shapes: Mapping[str, Shape]) -> bool:
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        if name not in stage or stage[name].ndim != len(shape):
            return False
        for size, wanted in zip(stage[name].shape, shape, strict=True):
            if size != (sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted):
                return False
    return all(array.dtype.kind in "biuf" and bool(np.isfinite(array).all()) for array in stage.values())


def random_state_at_start(random_state: Any, checkpoint: Checkpoint) -> np.random.RandomState:
    """Return the generator in its state at the start of the fit, also if another process started it."""
    random: np.random.RandomState = check_random_state(random_state)
    stage = checkpoint.get("random", {"keys": (624,), "position": (), "has_gauss": (), "gauss": ()})
    if stage is None:
        state = random.get_state(legacy=False)
        keys, position = state["state"]["key"], state["state"]["pos"]
        stage = {
            "keys": keys,
            "position": np.array(position),
            "has_gauss": np.array(state["has_gauss"]),
            "gauss": np.array(state["gauss"]),
        }
        checkpoint.put("random", stage, finished=True)
    else:
        position, has_gauss = int(stage["position"]), int(stage["has_gauss"])
        random.set_state(("MT19937", stage["keys"], position, has_gauss, float(stage["gauss"])))
    return random


def digest_of(parameters: dict[str, Any], arrays: list[Any]) -> str:
    """Return a checksum of parameters and of arrays, csr arrays or None, the same in every process."""
    total = blake2b(digest_size=16)
    for name, value in sorted(parameters.items()):
        total.update(f"{name}={_named(value)};".encode())
    for array in arrays:
        if array is None:
            total.update(b"none;")
            continue
        total.update(f"{array.shape}{array.dtype.str};".encode())
        if issparse(array):
            total.update(digest_of({}, [array.data, array.indices, array.indptr]).encode())
            continue
        if array.dtype.kind == "O":
            total.update(repr(array.tolist()).encode())
            continue
        for start in range(0, array.shape[0], _ROWS):
            total.update(np.ascontiguousarray(array[start : start + _ROWS]).tobytes())
    return total.hexdigest()


def _named(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return digest_of({}, [value])
    if hasattr(value, "get_params"):
        return f"{type(value).__qualname__}({ {k: _named(v) for k, v in sorted(value.get_params().items())} })"
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    if isinstance(value, np.random.RandomState):
        return "RandomState"
    return repr(value)
