"""The user's own classifiers: trial before the training, and the classes that a model file may use."""

import shutil
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier

import asr as toolkit
from asr.acoustic import classifiers
from asr.acoustic.classifier_trial import why_not_storable
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import load_model
from asr.util.errors import ConfigError, ModelFormatError

OWN = '''
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class ClassMeans(ClassifierMixin, BaseEstimator):
    """Linear discriminant functions of the class means."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == state].mean(axis=0) for state in self.classes_])
        return self

    def decision_function(self, X):
        return self.scale * (X @ self.means_.T - 0.5 * (self.means_**2).sum(axis=1))


class Opaque(ClassMeans):
    def fit(self, X, y):
        self.object_ = object()
        return super().fit(X, y)
'''


class Normals(ClassifierMixin, BaseEstimator):
    """Unit normal densities, with log-likelihoods."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == state].mean(axis=0) for state in self.classes_])
        return self

    def predict_log_likelihood(self, X):
        return -0.5 * ((X[:, None] - self.means_) ** 2).sum(axis=2)


class Forgetful(Normals):
    """Restores zeros."""

    def learnt_state(self):
        return {"classes": self.classes_, "means": self.means_}

    def restore_state(self, state):
        self.classes_, self.means_ = state["classes"], 0 * state["means"]


class Broken(Normals):
    """Fails on the first frame."""

    def fit(self, X, y):
        raise KeyError("gpu")


class Nothing(Normals):
    """Returns no numbers."""

    def predict_log_likelihood(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)


class Plain:
    """Not an estimator of scikit-learn, so no file can hold it."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares = counts / len(y)

    def predict_proba(self, X):
        return np.tile(self.shares, (len(X), 1))


class Tripled(Plain):
    """Posteriors that sum to 3."""

    def predict_proba(self, X):
        return 3 * super().predict_proba(X)


class Negative(Plain):
    """Posteriors that sum to 1, one of them negative."""

    def predict_proba(self, X):
        return super().predict_proba(X) + np.array([-0.5, 0.5, 0, 0])


class TripledLogs(Plain):
    """Log posteriors whose exponentials sum to 3."""

    def predict_log_proba(self, X):
        return np.log(3 * self.predict_proba(X))


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Module of the user, not registered; nothing of it is trusted before and after the test."""
    (tmp_path / "own_speech_module.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(classifiers, "_given", {})
    yield "own_speech_module"
    import sys

    sys.modules.pop("own_speech_module", None)


def trial(classifier: object) -> str | None:
    return why_not_storable(HybridSettings(classifier=classifier), 5)


def test_trial_of_storable_classifier_finds_nothing(own_module: str) -> None:
    assert trial("kernel-logistic") is None
    assert trial(f"{own_module}:ClassMeans") is None
    assert trial(Normals()) is None
    assert trial(Normals) is None


@pytest.mark.parametrize(
    ("classifier", "token"),
    [
        (RandomForestClassifier(2), "RandomForestClassifier"),
        (Forgetful(), "other scores"),
        (Plain(), "BaseEstimator"),
    ],
)
def test_trial_of_unstorable_object_returns_reason(classifier: object, token: str) -> None:
    assert token in (trial(classifier) or "")


@pytest.mark.parametrize(
    ("classifier", "token"),
    [
        (Broken(), "gpu"),
        (Nothing(), "NaN"),
        (Tripled(), "sum to 3"),
        (TripledLogs(), "sum to 3"),
        (Negative(), "is -0.25"),
    ],
)
def test_trial_of_unusable_classifier_is_refused(classifier: object, token: str) -> None:
    with pytest.raises(ConfigError, match=token):
        trial(classifier)


def test_parameters_of_object_are_refused_in_settings() -> None:
    with pytest.raises(ConfigError, match="parameters"):
        why_not_storable(HybridSettings(classifier=Normals(), parameters={"scale": 2.0}), 5)


def test_log_likelihoods_are_used_without_priors() -> None:
    random = np.random.default_rng(0)
    states = np.repeat([0, 2, 2, 2], 30).astype(np.int32)
    frames = (states[:, None] + random.normal(size=(120, 4))).astype(np.float32)
    model = HybridAcousticModel(Normals(), 3).fit(frames, states)
    scores = model.log_likelihood(frames)
    expected = Normals().fit(frames, states).predict_log_likelihood(frames)
    np.testing.assert_allclose(scores[:, [0, 2]], expected, rtol=1e-5)
    assert (scores[:, 1] < scores[:, 0]).all() and np.isfinite(scores).all()
    joint = expected + model.log_priors[[0, 2]]
    naive = joint - np.logaddexp(joint[:, 0], joint[:, 1])[:, None]
    np.testing.assert_allclose(model.log_posterior(frames)[:, [0, 2]], np.maximum(naive, -30), atol=1e-4)


def test_unstorable_classifier_by_path_stops_before_training(own_module: str, toy_corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="learnt_state"):
        toolkit.train(
            toy_corpus / "train", toy_corpus / "lexicon.txt", tmp_path / "run",
            config={"features": {"sample_rate": 8000}}, classifier=f"{own_module}:Opaque", jobs=1, check_samples=False,
        )  # fmt: skip
    assert not (tmp_path / "run" / "stages").exists()


def test_unknown_import_path_is_refused() -> None:
    with pytest.raises(ConfigError, match="no_such_module"):
        trial("no_such_module:Classifier")


@pytest.mark.slow
def test_classifier_by_object_path_and_entry_point_gives_one_model(
    own_module: str, tiny_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    settings = {
        "features": {"sample_rate": 8000},
        "gmm": {"mixtures": [1], "iterations": [2], "flat_start_restarts": 0},
        "speakers": {"maps": "none"},
        "hybrid": {"vtlp_warps": [], "mixtures": 0},
        "tuning": {"held_out": 0},
    }
    inputs = tiny_corpus / "train", tiny_corpus / "lexicon.txt"
    toolkit.train(*inputs, tmp_path / "gmm", config=settings, jobs=1, until="gmm")
    points = [EntryPoint("means", f"{own_module}:ClassMeans", classifiers.GROUP)]
    monkeypatch.setattr(classifiers, "entry_points", lambda group: points)
    kind = import_module(own_module).ClassMeans
    models = {}
    for name, given in {"object": kind(), "path": f"{own_module}:ClassMeans", "entry": "means"}.items():
        shutil.copytree(tmp_path / "gmm", tmp_path / name)
        options = {"config": settings, "jobs": 1, "rebuild_changed": True}
        models[name] = toolkit.train(*inputs, tmp_path / name, classifier=given, **options).model
    assert len({path.read_bytes() for path in models.values()}) == 1

    monkeypatch.setattr(classifiers, "entry_points", lambda group: [])
    classifiers._given.clear()
    with pytest.raises(ModelFormatError, match=r"never .* imported.*classifier"):
        load_model(models["path"])
    recognizer = toolkit.Recognizer.load(models["path"], classifier=f"{own_module}:ClassMeans")
    assert recognizer.model.kind == "hybrid"
    other = f"{own_module}:Opaque"
    with pytest.raises(ModelFormatError, match=rf"ClassMeans.*{other}"):  # in the process that knows the class
        toolkit.Recognizer.load(models["path"], classifier=other)
    classifiers._given.clear()
    with pytest.raises(ModelFormatError, match=rf"ClassMeans.*{other}"):
        toolkit.Recognizer.load(models["path"], classifier=other)

    shutil.copytree(tmp_path / "gmm", tmp_path / "opaque")
    opaque = import_module(own_module).Opaque()
    trained = toolkit.train(*inputs, tmp_path / "opaque", classifier=opaque, **options)
    assert trained.model is None and not (tmp_path / "opaque" / "model.safetensors").exists()
    audio = tiny_corpus / "train" / "wav.scp"
    wav = tiny_corpus / audio.read_text().split()[1]
    same = [one.recognize(wav).words for one in (trained.load(), recognizer)]
    assert same[0] == same[1]
