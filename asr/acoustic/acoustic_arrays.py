"""Conversion of acoustic models to the arrays and metadata of a model file, and back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from asr.acoustic.composite import CompositeAcousticModel, Stream, flattened, two_stream_model
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_metadata import HybridParts, ModelMetadata, StreamParts
from asr.acoustic.phone_hmm import AcousticModel
from asr.features.frontend import FrontEnd
from asr.hmm.state_tying import StateTying
from asr.hmm.topology import Topology
from asr.util.errors import ConfigError
from discriminants.posteriors.output_models import LogisticOutputModel
from discriminants.serialization.persistence import estimator_from_arrays, estimator_to_arrays

Arrays = dict[str, np.ndarray]


def acoustic_to_arrays(acoustic: AcousticModel) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and metadata of an acoustic model; metadata["kind"] is "gmm", "hybrid" or "composite".

    A hybrid followed by mixtures of the last columns, with weights that add up to 1, has the kind "hybrid". Raises
    ConfigError for any other type of model.
    """
    if not isinstance(acoustic, CompositeAcousticModel):
        return _to_arrays(acoustic)
    pair = _hybrid_and_mixtures(acoustic)
    if pair is not None:
        arrays, metadata = _to_arrays(pair[0])
        metadata["hybrid"]["mixture_weight"] = pair[1].weight
        assert isinstance(pair[1].model, GaussianMixtures)
        return arrays | gmm_arrays(pair[1].model), metadata
    arrays, streams = {}, []
    for number, stream in enumerate(flattened(acoustic)):
        own, parts = _to_arrays(stream.model)
        arrays |= prefixed(_prefix(number), own)
        streams.append({"start": stream.start, "end": stream.end, "weight": stream.weight, **parts})
    return arrays, {"kind": "composite", "streams": streams}


def stream_arrays(number: int, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """Return the arrays of one stream of a composite."""
    return without_prefix(_prefix(number), arrays)


def _prefix(number: int) -> str:
    return f"stream{number}"


def _to_arrays(acoustic: AcousticModel) -> tuple[Arrays, dict[str, Any]]:
    if isinstance(acoustic, GaussianMixtures):
        return gmm_arrays(acoustic), {"kind": "gmm"}
    if not isinstance(acoustic, HybridAcousticModel):
        raise ConfigError(
            f"a {type(acoustic).__name__} cannot be saved. Expected Gaussian mixtures, a hybrid or a composite of these"
        )
    arrays, classifier = estimator_to_arrays(acoustic.classifier)
    arrays = prefixed("classifier", arrays) | {"log_priors": acoustic.log_priors}
    scores = {"prior_exponent": acoustic.prior_exponent, "prior_floor": acoustic.prior_floor}
    if acoustic.prior_ceiling is not None:
        scores["prior_ceiling"] = acoustic.prior_ceiling
    metadata: dict[str, Any] = {"kind": "hybrid", "classifier": classifier, "hybrid": scores}
    if acoustic.smbr_epochs is not None:
        metadata["smbr_epochs"] = acoustic.smbr_epochs
    if acoustic.calibration is not None:
        calibration, metadata["calibration"] = estimator_to_arrays(acoustic.calibration)
        arrays |= prefixed("calibration", calibration)
    return arrays, metadata


def _hybrid_and_mixtures(acoustic: CompositeAcousticModel) -> tuple[HybridAcousticModel, Stream] | None:
    """Return the hybrid and the stream of mixtures after it, if the composite consists of these two."""
    if len(acoustic.streams) != 2:
        return None
    first, second = acoustic.streams
    if not isinstance(first.model, HybridAcousticModel) or not isinstance(second.model, GaussianMixtures):
        return None
    in_order = (first.start, first.end, second.end - second.start) == (0, second.start, second.model.means.shape[2])
    return (first.model, second) if in_order and first.weight == 1.0 - second.weight else None


def acoustic_from_arrays(
    arrays: Mapping[str, np.ndarray],
    metadata: ModelMetadata,
    n_states: int,
    front_end: FrontEnd,
    trusted: tuple[str | type, ...],
) -> AcousticModel:
    """Rebuild the acoustic model of a file; inconsistent parts raise errors such as ValueError."""
    n_features, n_behind = front_end.n_features_, front_end.n_unspliced_
    if metadata.kind == "gmm":
        return mixtures_from(arrays, n_states, n_features)
    if metadata.kind == "composite":
        return CompositeAcousticModel(
            [
                _stream_from(stream_arrays(number, arrays), parts, n_states, n_features, trusted)
                for number, parts in enumerate(metadata.streams)
            ]
        )
    hybrid = _hybrid_from(arrays, metadata, n_states, n_features - n_behind, trusted)
    if not n_behind:
        return hybrid
    assert metadata.hybrid is not None  # checked by _hybrid_from
    mixtures = mixtures_from(arrays, n_states, n_behind)
    return two_stream_model(hybrid, mixtures, n_behind, n_features, metadata.hybrid.mixture_weight)


def topology_from(arrays: Mapping[str, np.ndarray], metadata: ModelMetadata) -> Topology:
    """Rebuild the topology, with its state-tying trees if there are any; errors as in `acoustic_from_arrays`."""
    topology = Topology(tuple(metadata.phones), metadata.states_per_phone)
    trees = without_prefix("tying", arrays)
    if not trees:
        return topology
    return replace(topology, tying=StateTying.from_arrays(trees, len(topology.phones), topology.states_per_phone))


def _stream_from(
    arrays: Mapping[str, np.ndarray],
    parts: StreamParts,
    n_states: int,
    n_features: int,
    trusted: tuple[str | type, ...],
) -> Stream:
    if not parts.start < parts.end <= n_features:
        raise ValueError(f"a stream has the columns {parts.start} to {parts.end}, but frames have {n_features} values")
    width = parts.end - parts.start
    model: AcousticModel
    if parts.kind == "gmm":
        model = mixtures_from(arrays, n_states, width)
    else:
        model = _hybrid_from(arrays, parts, n_states, width, trusted)
    return Stream(model, parts.start, parts.end, parts.weight)


def _hybrid_from(
    arrays: Mapping[str, np.ndarray], parts: HybridParts, n_states: int, n_own: int, trusted: tuple[str | type, ...]
) -> HybridAcousticModel:
    if parts.classifier is None or parts.hybrid is None:
        raise ValueError("the hybrid has no classifier or no settings of its posteriors")
    classifier = estimator_from_arrays(without_prefix("classifier", arrays), parts.classifier, trusted=trusted)
    if getattr(classifier, "n_features_in_", n_own) != n_own:
        raise ValueError(f"the classifier needs {classifier.n_features_in_} features, but the front end has {n_own}")
    classes = np.asarray(classifier.classes_)
    if classes.ndim != 1 or classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= n_states:
        raise ValueError(f"the classes of the classifier are not among the {n_states} states")
    if np.unique(classes).size != classes.size:
        raise ValueError("a class of the classifier appears twice")
    settings = parts.hybrid
    acoustic = HybridAcousticModel(
        classifier,
        n_states,
        prior_exponent=settings.prior_exponent,
        prior_floor=settings.prior_floor,
        prior_ceiling=settings.prior_ceiling,
    )
    acoustic.smbr_epochs = parts.smbr_epochs
    acoustic.log_priors = arrays["log_priors"]
    check_array("log_priors", acoustic.log_priors, (n_states,))
    if parts.calibration is not None:
        calibration = estimator_from_arrays(without_prefix("calibration", arrays), parts.calibration)
        if not isinstance(calibration, LogisticOutputModel):
            raise TypeError(f"the calibration is a {type(calibration).__name__}")
        acoustic.calibration = calibration
    return acoustic


def gmm_arrays(mixtures: GaussianMixtures) -> Arrays:
    """Return the arrays of mixtures."""
    return {
        "gmm.log_weights": mixtures.log_weights,
        "gmm.means": mixtures.means,
        "gmm.variances": mixtures.variances,
    }


def mixtures_from(arrays: Mapping[str, np.ndarray], n_states: int, n_features: int) -> GaussianMixtures:
    """Rebuild mixtures from the arrays of `gmm_arrays`; ValueError if their shapes do not match."""
    mixtures = GaussianMixtures(arrays["gmm.log_weights"], arrays["gmm.means"], arrays["gmm.variances"])
    shape = (n_states, mixtures.n_components)
    check_array("gmm.log_weights", mixtures.log_weights, shape, between=None)
    if not np.isfinite(mixtures.log_weights).any(axis=1).all():
        raise ValueError("gmm.log_weights leaves a state without a component")
    check_array("gmm.means", mixtures.means, (*shape, n_features))
    check_array("gmm.variances", mixtures.variances, (*shape, n_features), between=(0.0, np.inf))
    return mixtures


def check_array(
    name: str, array: np.ndarray, shape: tuple[int, ...], *, between: tuple[float, float] | None = (-np.inf, np.inf)
) -> None:
    """Raise ValueError unless the array has that shape, a float type and values strictly between two bounds."""
    if array.shape != shape or array.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}. Expected floats of shape {shape}")
    if between is not None and not np.all((array > between[0]) & (array < between[1])):
        raise ValueError(f"{name} has values outside {between[0]:g} to {between[1]:g}")


def prefixed(prefix: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """Return the arrays with a prefix and a dot before their names."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """Return the arrays whose names have this prefix, without the prefix."""
    return {name.removeprefix(f"{prefix}."): array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
