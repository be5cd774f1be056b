"""The example of an own classifier: gradient boosting."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from asr.acoustic import classifiers
from asr.acoustic.classifier_trial import why_not_storable
from asr.acoustic.hybrid_training import HybridSettings


@threadpool_limits.wrap(limits=1)
def test_gradient_boosting_equals_scikit_learn_and_is_storable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    monkeypatch.setattr(classifiers, "_given", {})
    name = "gradient_boosting:GradientBoosting"
    settings = HybridSettings(classifier=name, parameters={"n_passes": 2})
    assert why_not_storable(settings, 5) is None
    random = np.random.default_rng(0)
    for n_states in (2, 4):
        states = np.repeat(np.arange(n_states), 60)
        frames = (states[:, None] + random.normal(size=(len(states), 3))).astype(np.float32)
        options = {"max_iter": 3, "max_leaf_nodes": 15, "learning_rate": 0.2, "early_stopping": False}
        expected = HistGradientBoostingClassifier(**options).fit(frames, states).predict_proba(frames)
        found = sys.modules["gradient_boosting"].GradientBoosting(3).fit(frames, states).predict_log_proba(frames)
        np.testing.assert_allclose(np.exp(found), expected, rtol=1e-6)
