"""Trial of the user's own classifier on a few frames before a training: fit, scores, and storage as arrays."""

from collections.abc import Callable
from traceback import extract_tb
from typing import Any

import numpy as np

from asr.acoustic.classifiers import SCORES, trusted_classes
from asr.acoustic.given_scores import require_posteriors
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.hybrid_training import HybridSettings, classifier_of
from asr.util.errors import ConfigError, FeatureError
from discriminants.serialization.persistence import (
    estimator_from_arrays,
    estimator_to_arrays,
    require_storable,
)
from discriminants.util.errors import DiscriminantError

N_STATES = 4
FRAMES_OF_STATE = 100
_CHECKED = ("sklearn", "discriminants")
_TOLERANCE = 1e-3  # of scores in nats
_POSTERIORS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"predict_proba": np.asarray, "predict_log_proba": np.exp}


def why_not_storable(settings: HybridSettings, n_features: int, *, seed: int = 0) -> str | None:
    """Try a classifier and return why a model file cannot hold it; None if it can.

    An own classifier is fitted to normal random frames of four states, float32 (400, n_features), and restored from its
    arrays. Classifiers of this project and of scikit-learn that model files support are not fitted.

    Raises ConfigError if the classifier cannot be fitted, its scores have another shape or are not finite, or its
    posteriors are negative or do not sum to 1.
    """
    classifier = classifier_of(settings)
    reason = _refused(classifier)
    if reason is None and type(classifier).__module__.partition(".")[0] in _CHECKED:
        return None
    random = np.random.default_rng(seed)
    states = np.repeat(np.arange(N_STATES, dtype=np.int32), FRAMES_OF_STATE)
    means = random.normal(size=(N_STATES, n_features))
    frames = (means[states] + random.normal(size=(len(states), n_features))).astype(np.float32)
    model = HybridAcousticModel(classifier, N_STATES)
    try:
        method = next(name for name in SCORES if hasattr(classifier, name))
        with np.errstate(divide="ignore", invalid="ignore"):  # logarithms of 0 and of negative posteriors
            scores = model.fit(frames, states, seed=seed).log_likelihood(frames)
            posteriors = _POSTERIORS[method](getattr(classifier, method)(frames)) if method in _POSTERIORS else None
        if posteriors is not None:
            require_posteriors(posteriors)
    except FeatureError as error:
        raise ConfigError(
            f"classifier {settings.classifier_name!r} cannot be used: {method} returns no probabilities: {error}"
        ) from error
    except Exception as error:  # the code of another package can raise anything
        raise ConfigError(
            f"classifier {settings.classifier_name!r} cannot be used: {_described(error)}, on {len(frames)} trial "
            f"frames of {N_STATES} states, float32 {frames.shape}"
        ) from error
    if not np.isfinite(scores).all():
        raise ConfigError(f"classifier {settings.classifier_name!r} cannot be used: it returns scores that are NaN")
    return reason or _lost(model, frames, scores)


def _refused(classifier: Any) -> str | None:
    """Return why a model file refuses the class or the parameters of a classifier."""
    if not hasattr(classifier, "get_params"):
        return f"{type(classifier).__name__} is not a sklearn.base.BaseEstimator"
    try:
        require_storable(classifier, trusted=trusted_classes())
    except DiscriminantError as error:
        return str(error)
    return None


def _lost(model: HybridAcousticModel, frames: np.ndarray, scores: np.ndarray) -> str | None:
    """Return why a fitted classifier cannot be restored from its arrays."""
    try:
        restored = estimator_from_arrays(*estimator_to_arrays(model.classifier), trusted=trusted_classes())
        again = HybridAcousticModel(restored, model.n_states)
        again.calibration, again.log_priors = model.calibration, model.log_priors
        same = np.allclose(again.log_likelihood(frames), scores, atol=_TOLERANCE)
    except DiscriminantError as error:
        return str(error)
    except Exception as error:  # restore_state of another package can raise anything
        return f"the restored classifier fails: {_described(error)}"
    return None if same else "the restored classifier returns other scores"


def _described(error: Exception) -> str:
    """Return kind, message and place of an error."""
    place = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"
