"""The user's own features: by import path, by entry point, in other processes, and in models."""

import pickle
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import asr
from asr.corpus.data_directory import read_data_directory
from asr.features import extraction, extractor
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static, signal_features
from asr.features.mfcc import mfcc
from asr.training.config import load_config
from asr.util.errors import ConfigError, FeatureError
from discriminants.serialization.model_file import load_arrays

OWN = """
import numpy as np
from asr.features.config import FeatureConfig
from asr.features.mfcc import mfcc


class Cepstra:
    sample_rate, frame_shift, dimension = 8000, 0.01, 13

    def extract(self, samples):
        assert abs(samples).max() <= 1
        return mfcc(samples * np.float32(32768), FeatureConfig(sample_rate=8000))


class Narrow(Cepstra):
    def extract(self, samples):
        return super().extract(samples)[:, :5]


class Faulty(Cepstra):
    def extract(self, samples):
        raise RuntimeError("no memory")


class Incomplete:
    sample_rate = 8000
"""
PATH = "own_features_module:Cepstra"


@pytest.fixture(autouse=True)
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_features_module.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(extractor, "_given", {})
    monkeypatch.setattr(extractor, "_made", {})
    yield
    sys.modules.pop("own_features_module", None)


def test_settings_take_rate_and_shift_of_the_extractor() -> None:
    config = load_config({"features": {"extractor": PATH}})
    assert (config.features.sample_rate, config.hybrid_features.shift_ms) == (8000, 10.0)
    assert not config.features.has_cepstra


@pytest.mark.parametrize(
    ("settings", "token"),
    [
        ({"extractor": "no_module_here:Class"}, "no_module_here"),
        ({"extractor": "own_features_module:Incomplete"}, "frame_shift"),
        ({"extractor": "unregistered"}, "unregistered"),
        ({"extractor": PATH, "pitch": True}, "pitch"),
    ],
)
def test_unusable_extractor_is_refused_in_settings(settings: dict[str, object], token: str) -> None:
    with pytest.raises(ConfigError, match=token):
        load_config({"features": settings})


def test_extractor_with_other_rate_or_shift_is_refused() -> None:
    extractor.give_extractor(PATH)
    for other in ({"sample_rate": 16000}, {"sample_rate": 8000, "shift_ms": 20.0}):
        with pytest.raises(ConfigError, match="sample_rate"):
            extractor.factory_of(FeatureConfig(extractor=PATH, **other))


@pytest.mark.parametrize(("name", "token"), [("Narrow", "shape"), ("Faulty", "no memory")])
def test_faulty_features_name_the_utterance(name: str, token: str) -> None:
    extractor.give_extractor(f"own_features_module:{name}")
    config = FeatureConfig(sample_rate=8000, extractor=f"own_features_module:{name}")
    with pytest.raises(FeatureError, match=f"speech.wav.*{token}"):
        signal_features(np.ones(1000, np.float32), config, source="speech.wav")


def test_registered_extractor_needs_no_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("cepstra", PATH, extractor.GROUP)]
    monkeypatch.setattr(extractor, "entry_points", lambda group: points)
    signal = np.random.default_rng(0).normal(size=2000).astype(np.float32) * 1000
    found = signal_features(signal, FeatureConfig(sample_rate=8000, extractor="cepstra"), source="speech.wav")
    np.testing.assert_allclose(found, mfcc(signal, FeatureConfig(sample_rate=8000)), atol=1e-3)


def test_extractor_named_only_by_a_model_is_not_imported() -> None:
    with pytest.raises(ConfigError, match=r"--extractor"):
        signal_features(np.ones(1000, np.float32), FeatureConfig(sample_rate=8000, extractor=PATH), source="a.wav")
    assert "own_features_module" not in sys.modules


def test_another_process_uses_the_class_of_this_one(tiny_corpus: Path) -> None:
    config = load_config({"features": {"extractor": PATH}}).features
    corpus = read_data_directory(tiny_corpus / "train")
    expected = extract_static(corpus, config)[0]
    shared = pickle.loads(pickle.dumps((config, None, False, extractor.factory_of(config))))
    extractor._given.clear()  # as in another process
    extractor._made.clear()
    found = extraction._batch_features(corpus.utterances, shared)
    np.testing.assert_array_equal(np.concatenate([matrix for matrix, _ in found]), expected.frames)


@pytest.mark.slow
def test_own_cepstra_train_the_model_of_built_in_cepstra(tiny_corpus: Path, tmp_path: Path) -> None:
    models = {}
    for name, own in {"built-in": {"sample_rate": 8000}, "own": {"extractor": PATH}}.items():
        settings = {
            "features": {**own, "normalize": "corpus", "dynamic_range_db": 0},
            "gmm": {"mixtures": [1], "iterations": [2], "flat_start_restarts": 0},
            "speakers": {"maps": "none"},
        }
        models[name] = asr.train(
            tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / name, config=settings, jobs=1, until="gmm"
        )
    (expected, _), (found, _) = (load_arrays(one.model) for one in models.values())
    assert expected.keys() == found.keys()
    for key, array in expected.items():
        np.testing.assert_allclose(found[key], array, rtol=1e-2, atol=1e-2, err_msg=key)
    audio = read_data_directory(tiny_corpus / "train").utterances[0].source
    texts = {name: one.load().recognize(audio).text for name, one in models.items()}
    assert texts["own"] == texts["built-in"] != ""
    extractor._given.clear()
    extractor._made.clear()
    with pytest.raises(ConfigError, match="--extractor"):
        models["own"].load().recognize(audio)
    assert asr.Recognizer.load(models["own"].model, extractor=PATH).recognize(audio).text == texts["own"]


def test_fbank_has_the_mel_filters_of_the_cepstra() -> None:
    import scipy.fft

    signal = np.random.default_rng(1).normal(size=4000).astype(np.float32) * 1000
    options = {"sample_rate": 8000, "n_filters": 20, "dynamic_range_db": 30.0}
    filters = mfcc(signal, FeatureConfig(kind="fbank", **options))
    cepstra = mfcc(signal, FeatureConfig(lifter=0, **options))
    assert filters.shape[1] == FeatureConfig(kind="fbank", **options).static_dimension == 21
    dct = scipy.fft.dct(filters[:, :20].astype(float), type=2, norm="ortho", axis=1)
    np.testing.assert_allclose(dct[:, 1:13], cepstra[:, :12], atol=1e-3)
    np.testing.assert_array_equal(filters[:, 20], cepstra[:, 12])


def test_warps_of_fbank_are_refused() -> None:
    with pytest.raises(ConfigError, match="vtlp_warps"):
        load_config({"features": {"kind": "fbank"}, "hybrid": {"vtlp_warps": [0.9]}})
