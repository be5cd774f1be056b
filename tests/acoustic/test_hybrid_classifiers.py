"""Finding classifiers by name, also those of other packages."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from asr.acoustic import classifiers
from asr.acoustic.classifiers import available_classifiers, make_classifier, registered_packages
from asr.acoustic.fit_progress import max_frames_for
from asr.acoustic.hybrid import HybridAcousticModel
from asr.util.errors import ConfigError
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays

PLUG = '''
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from collections import Counter


class NearestMean(ClassifierMixin, BaseEstimator):
    """Minus the squared distance from the mean of every class."""

    def __init__(self, sharpness=1.0):
        self.sharpness = sharpness

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def decision_function(self, X):
        return -self.sharpness * ((X[:, None] - self.means_) ** 2).sum(axis=2)

    def predict(self, X):
        return self.classes_[self.decision_function(X).argmax(axis=1)]


def nearest_mean(**parameters):
    return NearestMean(**parameters)
'''


@pytest.fixture
def plug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package, `toy_plug`, that registers classifiers."""
    (tmp_path / "toy_plug.py").write_text(PLUG)
    monkeypatch.syspath_prepend(str(tmp_path))
    registered = {
        "nearest-mean": "toy_plug:nearest_mean",
        "nearest-mean-class": "toy_plug:NearestMean",
        "broken": "toy_plug_that_is_not_there:Classifier",
        "gone": "toy_plug:Gone",
        "counter": "toy_plug:Counter",
    }
    points = [EntryPoint(name, value, classifiers.GROUP) for name, value in registered.items()]
    monkeypatch.setattr(classifiers, "entry_points", lambda group: points if group == classifiers.GROUP else [])


def test_the_built_in_classifiers_are_known_by_name() -> None:
    assert {"kernel-logistic", "orols", "npd", "mlp", "kfd", "ksod", "sparse-greedy-kfd"} <= set(
        available_classifiers()
    )
    for name in ("kernel-logistic", "orols", "npd", "sparse-greedy-kfd", "fixed-size-lssvm"):
        assert make_classifier(name, {"n_centers": 7}).n_centers == 7
    for name in ("npd-ovo", "orols-ovo"):
        assert make_classifier(name, {"n_centers": 7}).learner == name.removesuffix("-ovo")
    logistic = make_classifier("npd-ovo-logistic", {"candidates_per_class": 7})
    assert (logistic.learner, logistic.loss, logistic.candidates_per_class) == ("npd", "logistic", 7)
    recursive = make_classifier("krls", {"nu": 0.2})
    assert (recursive.max_centers, recursive.penalty) == (2000, 0)


def test_support_vectors_for_pairs_draw_their_own_frames() -> None:
    assert max_frames_for(make_classifier("svm-ovo", {"C": 2.0})) == 0


@pytest.mark.parametrize(
    "name",
    [
        "npd-ovo", "orols-ovo", "npd-ovo-logistic", "svm-ovo", "krls", "kfd", "sparse-greedy-kfd", "ksod",
        "fixed-size-lssvm", "bayesian-lssvm",
    ],
)  # fmt: skip
def test_built_in_machines_are_a_hybrid_that_a_model_file_brings_back(name: str) -> None:
    random = np.random.default_rng(0)
    states = random.integers(0, 5, 400).astype(np.int32)
    frames = (np.eye(5, 6)[states] * 4 + random.normal(size=(400, 6))).astype(np.float32)
    hybrid = HybridAcousticModel(make_classifier(name, {"sigma": 3.0}), 6).fit(frames, states)
    found = hybrid.log_posterior(frames)
    assert found.dtype == np.float32 and (found.argmax(axis=1) == states).mean() > 0.9
    restored = estimator_from_arrays(*estimator_to_arrays(hybrid.classifier))
    np.testing.assert_array_equal(restored.predict_log_proba(frames), hybrid.classifier.predict_log_proba(frames))


def test_unknown_parameter_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'n_center' is unknown. Did you mean n_centers") as texts:
        make_classifier("kernel-logistic", {"n_center": 300})
    assert "n_candidates" in str(texts.value)
    with pytest.raises(ConfigError, match=r"'depth' is unknown.* .*sigma"):
        make_classifier("orols", {"depth": 3})


@pytest.mark.usefixtures("plug")
def test_a_registered_class_or_function_makes_a_classifier_with_parameters() -> None:
    assert "nearest-mean" in available_classifiers()
    for name in ("nearest-mean", "nearest-mean-class"):
        classifier = make_classifier(name, {"sharpness": 0.5})
        assert type(classifier).__name__ == "NearestMean"
        assert classifier.sharpness == 0.5
    assert registered_packages() == ("toy_plug", "toy_plug_that_is_not_there")


@pytest.mark.usefixtures("plug")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken", "cannot be imported from toy_plug_that_is_not_there"),
        ("gone", "cannot be imported from toy_plug:Gone"),
        ("counter", "creates a Counter"),
        ("nowhere", "'nowhere' is unknown. Expected one of bayesian-lssvm, broken, counter, fixed-size-lssvm"),
    ],
)
def test_what_is_wrong_with_a_registered_classifier_is_told(name: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        make_classifier(name, {})


def test_a_class_that_a_model_file_could_not_bring_back_is_refused(plug: None, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("stray", "toy_plug:NearestMean", classifiers.GROUP)]
    monkeypatch.setattr(classifiers, "entry_points", lambda group: points)
    make_classifier("stray", {})
    monkeypatch.setattr(classifiers, "registered_packages", lambda: ())
    with pytest.raises(ConfigError, match="package 'toy_plug'"):
        make_classifier("stray", {})


def test_scikit_learn_s_classifiers_are_named_by_their_import_path() -> None:
    assert make_classifier("sklearn.naive_bayes.GaussianNB", {"var_smoothing": 1e-3}).var_smoothing == 1e-3


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sklearn.naive_bayes.NoSuchNB", "not supported in model files"),
        ("sklearn.no_such_module.GaussianNB", "not supported in model files"),
        ("sklearn.linear_model.LinearRegression", "not supported .* linear_model.LogisticRegression"),
        ("sklearn.utils.check_array", "not supported"),
        ("sklearn.ensemble.RandomForestClassifier", "not supported"),
        ("sklearn.tree.DecisionTreeClassifier", "not supported"),
        ("sklearn.ensemble.BaggingClassifier", "not supported"),
        ("sklearn.naive_bayes.abstractmethod", "not supported"),
        ("sklearn", "not supported"),
        ("sklearn.", "not supported"),
        ("os.system", "is unknown"),
        ("builtins.eval", "is unknown"),
    ],
)
def test_a_path_that_leads_to_no_classifier_is_refused(name: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        make_classifier(name, {})


def test_a_name_from_a_settings_file_calls_nothing_but_a_classifier(tmp_path: Path) -> None:
    kept = tmp_path / "home" / "kept"
    kept.mkdir(parents=True)
    with pytest.raises(ConfigError, match="not supported"):
        make_classifier("sklearn.datasets.clear_data_home", {"data_home": str(tmp_path / "home")})
    assert kept.is_dir()
    command = [sys.executable, "-c", f"open({str(tmp_path / 'ran')!r}, 'w')"]
    for called in ("sklearn.utils._testing.check_output", "sklearn.utils._testing.subprocess.check_output"):
        with pytest.raises(ConfigError, match="not supported"):
            make_classifier(called, {"args": command})
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "module", ["sklearn.tests.test_base", "sklearn.conftest", "sklearn.experimental", "sklearn.datasets"]
)
def test_a_module_without_listed_classifiers_is_not_even_imported(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ConfigError, match="not supported"):
        make_classifier(f"{module}.anything", {})
    assert module not in sys.modules


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("sklearn.svm.SVC", {"kernel": "precomputed"}, "kernel = 'precomputed'"),
        ("sklearn.neighbors.KNeighborsClassifier", {"algorithm": "kd_tree"}, "'brute'"),
        ("sklearn.neighbors.KNeighborsClassifier", {"metric": "haversine"}, "metric = 'haversine'"),
    ],
)
def test_what_could_not_be_stored_is_refused_before_it_is_trained(name: str, parameters: dict, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        make_classifier(name, parameters)


def test_registered_function_that_makes_trees_is_refused(plug: None, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("forest", "sklearn.ensemble:RandomForestClassifier", classifiers.GROUP)]
    monkeypatch.setattr(classifiers, "entry_points", lambda group: points)
    assert registered_packages() == ()
    with pytest.raises(ConfigError, match=r"RandomForestClassifier.* not allowed"):
        make_classifier("forest", {})


def test_neighbours_are_kept_as_samples() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    classifier = make_classifier("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 3}).fit(X, X[:, 0] > 0)
    back = estimator_from_arrays(*estimator_to_arrays(classifier))
    np.testing.assert_array_equal(back.predict_proba(X), classifier.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "parameters", "part"),
    [
        ("kernel-logistic", {"n_centers": 0}, "n_centers"),
        ("orols", {"centres": 5}, "centres"),
        ("mlp", {"alpha": -1}, "alpha"),
        ("sklearn.linear_model.LogisticRegression", {"C": "big"}, "'C'"),
    ],
)
def test_parameters_are_checked_before_any_training(name: str, parameters: dict, part: str) -> None:
    with pytest.raises(ConfigError, match=part) as caught:
        make_classifier(name, parameters)
    assert repr(name) in str(caught.value)


def test_numbers_from_toml_suit_numpy_parameters() -> None:
    classifier = make_classifier("mlp", {"hidden_layer_sizes": [8], "max_iter": 20, "tol": 0.0})
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(UserWarning, match="Maximum iterations"):
        assert classifier.fit(X, X[:, 0] > 0).n_layers_ == 3
