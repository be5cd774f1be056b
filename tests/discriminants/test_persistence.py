"""Model files: what was written comes back, and nothing else is accepted."""

import errno
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from discriminants import (
    KRLSClassifier,
    LSSVMClassifier,
    ModelFormatError,
    NPDClassifier,
    OneVsOneSVC,
    OROLSClassifier,
    PairwiseClassifier,
)
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays, load_arrays, save_arrays
from discriminants.util.errors import MissingModelError

ARRAYS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array(7, dtype=np.int64),
    "c": np.zeros((0, 4)),
    "d": np.array([True, False, True]),
    "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}
ESTIMATORS = [
    OROLSClassifier(10, posterior="multinomial", dictionary="private"),
    LSSVMClassifier(coding="error-correcting", regularization=[0.1, 1.0], random_state=0),
    PairwiseClassifier(KRLSClassifier(0.1), "dag"),
    OneVsOneSVC(random_state=0),
    MLPClassifier((8,), max_iter=5, random_state=0, early_stopping=True),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


def written(folder: Path) -> Path:
    path = folder / "model.safetensors"
    save_arrays(path, ARRAYS, {"name": "ünï", "list": [1, 2.5, None], "b": {"z": 1, "a": 2}})
    return path


def test_arrays_and_metadata_come_back_as_they_were(tmp_path: Path) -> None:
    arrays, metadata = load_arrays(written(tmp_path))
    assert metadata == {"name": "ünï", "list": [1, 2.5, None], "b": {"z": 1, "a": 2}}
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_the_same_content_in_another_order_gives_the_same_bytes(tmp_path: Path) -> None:
    save_arrays(tmp_path / "1", ARRAYS, {"x": 1, "y": {"p": 1, "q": 2}})
    save_arrays(tmp_path / "2", dict(reversed(ARRAYS.items())), {"y": {"q": 2, "p": 1}, "x": 1})
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_bytes()
    for arrays, metadata in (
        ({"a": np.array(["text"])}, {}),
        ({}, {"x": float("nan")}),
        ({}, {"x": object()}),
    ):
        with pytest.raises(ModelFormatError):
            save_arrays(path, arrays, metadata)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    content = written(tmp_path).read_bytes()
    for size in range(len(content)):
        path = tmp_path / "short"
        path.write_bytes(content[:size])
        with pytest.raises(ModelFormatError, match="short"):
            load_arrays(path)


def test_a_byte_changed_anywhere_in_a_file_is_noticed(tmp_path: Path) -> None:
    content = written(tmp_path).read_bytes()
    path = tmp_path / "flipped"
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(ModelFormatError, match="flipped"):
            load_arrays(path)


def test_arrays_of_equal_shape_that_changed_places_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model"
    save_arrays(path, {"first": np.zeros(3), "other": np.ones(3)}, {})
    path.write_bytes(
        path.read_bytes().replace(b"first", b"xxxxx").replace(b"other", b"first").replace(b"xxxxx", b"other")
    )
    with pytest.raises(ModelFormatError, match="checksum"):
        load_arrays(path)


@pytest.mark.parametrize("metadata", [{}, {"metadata": "{}"}, {"model": "{}"}, {"model": "\n{}", "more": ""}])
def test_other_safetensors_files_are_refused(tmp_path: Path, metadata: dict[str, str]) -> None:
    (tmp_path / "other").write_bytes(save({"a": ARRAYS["a"]}, metadata))
    with pytest.raises(ModelFormatError, match="other is damaged"):
        load_arrays(tmp_path / "other")


def test_files_are_those_of_the_safetensors_package(tmp_path: Path) -> None:
    arrays = load_file(written(tmp_path))
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_metadata_that_would_fill_the_memory_are_neither_written_nor_read(tmp_path: Path) -> None:
    many: Any = [[]] * 2_100_000
    with pytest.raises(ModelFormatError, match="4000000"):
        save_arrays(tmp_path / "model", {}, {"x": many})
    header = json.dumps({"__metadata__": {"model": "\n" + json.dumps({"x": many})}}).encode()
    (tmp_path / "model").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelFormatError, match="4000000"):
        load_arrays(tmp_path / "model")


@pytest.mark.parametrize(
    "text", ['{"x": NaN}', '{"x": -Infinity}', '{"x": "\\ud800"}', "[" * 5000, "[]", '{"x":' + "9" * 5000]
)
def test_metadata_that_are_no_plain_json_are_refused(tmp_path: Path, text: str) -> None:
    header = json.dumps({"__metadata__": {"model": f"\n{text}"}}).encode()
    (tmp_path / "model").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ModelFormatError, match="metadata are not"):
        load_arrays(tmp_path / "model")


def test_a_full_disk_is_told_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        written(tmp_path)
    assert caught.value.filename == str(tmp_path / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_an_error_that_quotes_a_file_is_one_short_line(tmp_path: Path) -> None:
    message = str(ModelFormatError("\x1b[2Jlook\nhere" + "x" * 5000))
    assert message.startswith("\\x1b[2Jlook here")
    assert message.isprintable()
    assert len(message) < 1100


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_header_is_refused_or_describes_the_file_exactly(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(written(tmp_path).read_bytes())
    header = int.from_bytes(content[:8], "little")
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, 7 + header))] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content))
    try:
        arrays, _ = load_arrays(path)
    except ModelFormatError:
        return
    assert sum(array.nbytes for array in arrays.values()) == sum(array.nbytes for array in ARRAYS.values())


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]},
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]},
        {"dtype": "OBJECT", "shape": [1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        {"dtype": "F32", "shape": [1]},
        {"dtype": "F32", "shape": [1, 1, 0, 1 << 61], "data_offsets": [0, 0]},
        [],
    ],
)
def test_a_header_that_does_not_fit_the_file_is_refused_before_anything_is_read(tmp_path: Path, entry: Any) -> None:
    header = json.dumps({"__metadata__": {"model": "\n{}"}, "x": entry}).encode()
    path = tmp_path / "false"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
    with pytest.raises(ModelFormatError, match=r"damaged (?!.*checksum)"):
        load_arrays(path)


def test_a_missing_file_is_reported_as_missing(tmp_path: Path) -> None:
    for kind in (FileNotFoundError, MissingModelError, ModelFormatError):
        with pytest.raises(kind, match="none does not exist"):
            load_arrays(tmp_path / "none")
    with pytest.raises(ModelFormatError, match="is a directory"):
        load_arrays(tmp_path)


@pytest.mark.parametrize(
    "labels", [np.array([3, 5, 9]), np.array(["sil", "ah", "ünï"]), np.array(["a", "b", "c"], dtype=object)]
)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_an_estimator_predicts_the_same_after_a_round_trip(
    tmp_path: Path, estimator: BaseEstimator, labels: np.ndarray
) -> None:
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five iterations do not converge
        estimator.fit(X, labels[y])
    save_arrays(tmp_path / "1", *estimator_to_arrays(estimator))
    back = estimator_from_arrays(*load_arrays(tmp_path / "1"))
    assert type(back) is type(estimator)
    assert str(back.get_params()) == str(estimator.get_params())
    np.testing.assert_array_equal(back.classes_, estimator.classes_)
    np.testing.assert_array_equal(back.predict_proba(X), estimator.predict_proba(X))
    np.testing.assert_array_equal(back.predict(X), estimator.predict(X))
    save_arrays(tmp_path / "2", *estimator_to_arrays(back))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


class Homemade(BaseEstimator):
    """An estimator of a third party, holding one value of every kind."""

    def fit(self) -> "Homemade":
        self.values_ = [
            (1, 2.0, float("nan"), -float("inf")),
            {"a": {3, 1}, 2: "text", None: [True, None]},
            np.float32(1.5),
            np.int64(-3),
            np.dtype("<f4"),
            np.float64,
            slice(1, None, 2),
            np.array([["ab", "c"], ["", "ünï"]]),
            np.array([None, "x", 2], dtype=object),
            StandardScaler(),
        ]
        self._random = np.random.RandomState(0)
        return self


def test_every_kind_of_value_survives_and_foreign_classes_need_trust() -> None:
    arrays, metadata = estimator_to_arrays(Homemade().fit())
    metadata = json.loads(json.dumps(metadata, allow_nan=False))
    with pytest.raises(ModelFormatError, match="trusted"):
        estimator_from_arrays(arrays, metadata)
    back = estimator_from_arrays(arrays, metadata, trusted=[Homemade.__module__])
    assert str(back.values_) == str(Homemade().fit().values_)
    assert not hasattr(back, "_random")


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "sklearn.utils:Bunch",
        "sklearnevil:X",
        "sklearn.none:X",
        "sklearn.base:X",
    ],
)
def test_no_class_is_made_that_is_not_a_trusted_estimator(name: str) -> None:
    metadata = {"format": "scikit-learn estimator, 2", "estimator": ["estimator", name, [], []]}
    with pytest.raises(ModelFormatError, match=name.split(":")[0]):
        estimator_from_arrays({}, metadata)


@pytest.mark.parametrize("attribute", ["__class__", "__dict__", "predict", "not a name"])
def test_no_attribute_is_set_that_fitting_could_not_have_set(attribute: str) -> None:
    name = "sklearn.naive_bayes:GaussianNB"
    metadata = {"format": "scikit-learn estimator, 2", "estimator": ["estimator", name, [], [[attribute, 1]]]}
    with pytest.raises(ModelFormatError, match="attribute"):
        estimator_from_arrays({}, metadata)


@pytest.mark.parametrize(
    "description",
    [None, 3, [], ["list"], ["estimator"], ["array", "x"], ["what", 1], ["list", [1]], ["scalar", "O", 1]],
)
def test_a_malformed_description_is_a_model_format_error(description: Any) -> None:
    with pytest.raises(ModelFormatError):
        estimator_from_arrays({}, {"format": "scikit-learn estimator, 2", "estimator": description})
    with pytest.raises(ModelFormatError):
        estimator_from_arrays({}, {})


def test_what_cannot_be_written_is_named() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ModelFormatError, match=r"KNeighborsClassifier\._tree"):
        estimator_to_arrays(KNeighborsClassifier().fit(X, y))
    with pytest.raises(ModelFormatError, match=r"FunctionTransformer\.func"):
        estimator_to_arrays(FunctionTransformer(np.log))
    with pytest.raises(ModelFormatError, match="random_state"):
        estimator_to_arrays(NPDClassifier(5, random_state=np.random.RandomState(0)).fit(X, y))


class Remembering(BaseEstimator):
    """Keeps what no model file holds, and says how it is written."""

    def __init__(self, factor: float = 2.0) -> None:
        self.factor = factor

    def fit(self, X: np.ndarray) -> "Remembering":
        self.scaled_ = lambda: self.factor * X
        return self

    def learnt_state(self) -> dict[str, Any]:
        return {"scaled": self.scaled_()}

    def restore_state(self, state: dict[str, Any]) -> None:
        scaled = state["scaled"]
        self.scaled_ = lambda: scaled


def test_an_estimator_says_how_what_it_learnt_is_written() -> None:
    module = Remembering.__module__.partition(".")[0]
    arrays, metadata = estimator_to_arrays(Remembering(3.0).fit(np.arange(4.0)))
    restored = estimator_from_arrays(arrays, metadata, trusted=[module])
    np.testing.assert_array_equal(restored.scaled_(), [0.0, 3.0, 6.0, 9.0])
    assert restored.factor == 3.0
    metadata["estimator"][3] = [["other", 1]]
    with pytest.raises(ModelFormatError, match="malformed: KeyError"):
        estimator_from_arrays(arrays, metadata, trusted=[module])
