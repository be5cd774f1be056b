"""A model file's metadata and arrays spoilt, and saved as the project saves them: sizes and digests are right."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

import discriminants.serialization.model_file
from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.util.errors import ModelFormatError
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.json_mutators import VALUES, any_number_of_digits, spoilt_value

Arrays = dict[str, np.ndarray]

CLASSES = (
    "sklearn.ensemble._bagging:BaggingClassifier", "sklearn.svm._classes:SVC", "sklearn.svm._classes:NuSVC",
    "sklearn.svm._classes:LinearSVC", "sklearn.neighbors._classification:KNeighborsClassifier",
    "sklearn.naive_bayes:GaussianNB", "sklearn.neural_network._multilayer_perceptron:MLPClassifier",
    "sklearn.linear_model._logistic:LogisticRegression", "sklearn.pipeline:Pipeline",
    "sklearn.tree._classes:DecisionTreeClassifier", "sklearn.ensemble._forest:RandomForestClassifier",
    "sklearn.model_selection._search:GridSearchCV", "sklearn.gaussian_process._gpc:GaussianProcessClassifier",
    "sklearn.utils._testing:MinimalClassifier", "sklearn.preprocessing._function_transformer:FunctionTransformer",
    "sklearn.dummy:DummyClassifier", "discriminants.sparse.orols:OROLSClassifier",
    "discriminants.kernels.laplacian:LaplacianKernel", "discriminants.kernels.matrix:FunctionKernel",
    "discriminants.posteriors.output_models:LogisticOutputModel", "sklearn.base:BaseEstimator", "os:system",
    "subprocess:Popen",
    "builtins:eval", "sklearn.datasets:clear_data_home",
)  # fmt: skip

MODEL_VALUES: tuple[Any, ...] = (
    *VALUES, *VALUES, *CLASSES, ["scalar", "V8", 2_000_000_000], ["scalar", "S2000000000", 1], ["scalar", "<f8", "1e9"],
    ["scalar", "O", 1], ["dtype", "V2000000000"], ["dtype", "O"], ["dtype", "x" * 300], ["numpy type", "void"],
    ["numpy type", "object"], ["float", "1e5000"], ["float", "9" * 5000], ["float", [1]], ["array", "none"],
    ["array", []],
    ["text array", "self_loops", "U2000000000"], ["object array", [10**9], []], ["object array", [-1], [1, 2]],
    ["object array", [], [1]], ["set", [["list", []]]], ["set", [1, 2]], ["tuple", [1, 2, 3]], ["list", 5],
    ["dict", [[["list", []], 1]]], ["dict", [[1]]], ["slice", [1, 2]], ["estimator"], ["estimator", CLASSES[0], [], []],
    ["estimator", CLASSES[1], [["C", 1.0]], [["classes_", ["array", "self_loops"]]]], [["x"]], ["unknown", 1],
    "brute", "kd_tree", "ball_tree", "rbf", "poly", "precomputed", "sigmoid", "linear", "laplacian", "logistic", "relu",
)  # fmt: skip

DTYPES = tuple("b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8".split())
NUMBERS = (0, 1, -1, 2, 127, 255, 2**31 - 1, -(2**31), 2**62, 0.5, 1e-300, 1e9, 1e38, 1e200, 1e308, -1e308, 65504)
_NOT_NUMBERS = (float("nan"), float("inf"), -float("inf"))


def spoil_model(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One to three changes of metadata or arrays; what is no model file any more is spoilt as bytes."""
    parts = _parts(content)
    if parts is None:
        return spoil_bytes(random, content, others)
    arrays, text = dict(parts[0]), parts[1]
    metadata = json.loads(text)
    for _ in range(random.choice((1, 1, 2, 3))):
        if random.random() < 0.45:
            metadata = spoilt_value(random, metadata, MODEL_VALUES)
        else:
            arrays = spoilt_arrays(random, arrays)
    try:
        return model_bytes(arrays, metadata)
    except (ModelFormatError, RecursionError, ValueError):
        return spoil_bytes(random, content, others)


def model_bytes(arrays: Arrays, metadata: Any) -> bytes:
    """What `save_arrays` writes, with numbers that its JSON writer would refuse."""
    with tempfile.TemporaryDirectory() as folder, any_number_of_digits(), _any_json():
        path = Path(folder) / "model"
        save_arrays(path, arrays, metadata)
        return path.read_bytes()


def model_parts(content: bytes) -> tuple[Arrays, Any]:
    """Arrays and metadata of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        return load_arrays(path)


def spoilt_arrays(random: Random, arrays: Arrays) -> Arrays:
    """One array left out, renamed, exchanged, or changed in shape, type or values."""
    if not arrays:
        return {"x": np.zeros(3)}
    changed = dict(arrays)
    name, other = random.choice(sorted(arrays)), random.choice(sorted(arrays))
    way = random.random()
    if way < 0.05:
        del changed[name]
    elif way < 0.1:
        changed[random.choice((f"{name}x", "", "x", "../x", "\x1b[2J"))] = changed.pop(name)
    elif way < 0.2:
        changed[name], changed[other] = changed[other], changed[name]
    else:
        with np.errstate(all="ignore"):
            changed[name] = random.choice(_ARRAY_WAYS)(random, changed[name])
    return changed


def _reshaped(random: Random, array: np.ndarray) -> np.ndarray:
    ways: list[Callable[[], np.ndarray]] = [
        lambda: array.T,
        lambda: array.ravel(),
        lambda: array[None],
        lambda: array[..., None],
        lambda: array.reshape(-1)[:0],
        lambda: array.reshape(-1)[:1].reshape(()) if array.size else array,
        lambda: array.reshape(array.shape[::-1]),
    ]
    return random.choice(ways)()


def _resized(random: Random, array: np.ndarray) -> np.ndarray:
    """Along one axis: shorter, longer, empty, or several times as long."""
    if not array.ndim:
        return np.repeat(array[None], random.choice((0, 1, 2, 50)), axis=0)
    axis = random.randrange(array.ndim)
    length = array.shape[axis]
    wanted = random.choice((0, 1, length - 1, length + 1, 2 * length, length // 2, 50))
    return np.take(array, np.arange(max(0, wanted)) % max(1, length), axis=axis) if length else array


def _cast(random: Random, array: np.ndarray) -> np.ndarray:
    return array.astype(random.choice(DTYPES))


def _one_value(random: Random, array: np.ndarray) -> np.ndarray:
    if not array.size:
        return array
    array = array.copy()
    array.reshape(-1)[random.randrange(array.size)] = _number_for(random, array.dtype)
    return array


def _all_values(random: Random, array: np.ndarray) -> np.ndarray:
    ways: list[Callable[[], np.ndarray]] = [
        lambda: np.full_like(array, _number_for(random, array.dtype)),
        lambda: (array * np.float64(random.choice((-1, 2, 1e-30, 1e30, 1e300, 0)))).astype(array.dtype),
        lambda: array.reshape(-1)[::-1].reshape(array.shape),
        lambda: np.roll(array.reshape(-1), 1).reshape(array.shape),
        lambda: (array + np.float64(random.choice((1, -1, 100)))).astype(array.dtype),
    ]
    return random.choice(ways)()


def _number_for(random: Random, dtype: np.dtype) -> Any:
    number = random.choice((*NUMBERS, *_NOT_NUMBERS) if dtype.kind == "f" else NUMBERS)
    return np.array(number, dtype) if dtype.kind == "f" else np.array(int(number) & 0x7FFF_FFFF).astype(dtype)


_ARRAY_WAYS: tuple[Callable[[Random, np.ndarray], np.ndarray], ...] = (
    _reshaped, _resized, _resized, _cast, _one_value, _one_value, _one_value, _all_values, _all_values,
)  # fmt: skip


@lru_cache(maxsize=32)
def _parts(content: bytes) -> tuple[Arrays, str] | None:
    """Arrays, and metadata as text, so that every caller gets his own; None for what is no model file."""
    try:
        arrays, metadata = model_parts(content)
        with any_number_of_digits():
            return arrays, json.dumps(metadata)
    except (ModelFormatError, OSError, ValueError, RecursionError, MemoryError):
        return None


@contextmanager
def _any_json() -> Iterator[None]:
    def dumps(value: Any, **options: Any) -> str:
        return json.dumps(value, **(options | {"allow_nan": True}))

    class _Json:
        def __getattr__(self, name: str) -> Any:
            return dumps if name == "dumps" else getattr(json, name)

    with patch.object(discriminants.serialization.model_file, "json", _Json()):
        yield
