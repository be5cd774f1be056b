"""The examples of networks: features of wav2vec 2.0, and a classifier of PyTorch."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from asr.acoustic import classifiers
from asr.acoustic.classifier_trial import why_not_storable
from asr.acoustic.hybrid_training import HybridSettings
from asr.features import extractor
from asr.features.config import FeatureConfig
from asr.features.extraction import signal_features

torch = pytest.importorskip("torch", reason="needs torch (pip install torch)")
pytestmark = pytest.mark.slow  # imports take seconds


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    for module, name in ((classifiers, "_given"), (extractor, "_given"), (extractor, "_made")):
        monkeypatch.setattr(module, name, {})


@pytest.mark.parametrize("kind", ["Wav2Vec2", "Hubert"])
def test_extractor_returns_hidden_states_of_a_random_network(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers", reason="needs transformers (pip install transformers)")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    few = {"conv_dim": (8,) * 7, "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
    torch.manual_seed(0)
    network = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**sizes, **few)).eval()
    network.save_pretrained(tmp_path)
    preparation = transformers.Wav2Vec2FeatureExtractor()
    preparation.save_pretrained(tmp_path)
    monkeypatch.setenv("WAV2VEC", str(tmp_path))
    name = "wav2vec_features:Wav2Vec"
    made = extractor.give_extractor(name)
    config = FeatureConfig(extractor=name, sample_rate=16000, shift_ms=20, window_ms=25)
    signal = np.random.default_rng(0).normal(scale=1000, size=16000).astype(np.float32)
    found = signal_features(signal, config, source="noise")
    with torch.inference_mode():
        inputs = preparation(signal / 32768, sampling_rate=16000, return_tensors="pt").input_values
        expected = network(inputs).last_hidden_state[0].numpy()
    assert found.shape == (49, made.dimension) == (49, 16)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@threadpool_limits.wrap(limits=1)
def test_network_learns_and_is_storable() -> None:
    pytest.importorskip("skorch", reason="needs skorch (pip install skorch)")
    options = {"hidden": 16, "n_layers": 1, "max_epochs": 60, "lr": 0.01}
    assert why_not_storable(HybridSettings(classifier="skorch_network:Network", parameters=options), 5) is None
    states = np.repeat([3, 5, 8], 100)
    frames = (states[:, None] + np.random.default_rng(0).normal(size=(300, 2))).astype(np.float32)
    network = importlib.import_module("skorch_network").Network(**options).fit(frames, states)
    posteriors = np.exp(network.predict_log_proba(frames))
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-5)
    assert (network.classes_[posteriors.argmax(axis=1)] == states).mean() > 0.8
