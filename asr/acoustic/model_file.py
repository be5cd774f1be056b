"""A recogniser in one file: front end, phone HMMs, lexicon, grammar and search settings, as safetensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from asr.acoustic.classifiers import registered_packages
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.errors import AsrError, ModelFormatError
from asr.features.frontend import FrontEnd
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.settings import Settings
from discriminants.errors import DiscriminantError
from discriminants.model_file import load_arrays, save_arrays
from discriminants.persistence import estimator_from_arrays, estimator_to_arrays
from discriminants.posteriors import LogisticOutputModel

FORMAT = "hybrid-asr model 1"
LARGEST_SCALE = 1e6
LARGEST_PENALTY = 1e9
WIDEST_BEAM = 1e30  # no two paths differ as much, and JSON has no infinity

# What metadata and arrays that disagree can raise.
_MALFORMED = (
    KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, AsrError, DiscriminantError,
)  # fmt: skip


class SearchSettings(Settings):
    """How the search weighs its parts."""

    lm_scale: float = Field(8.0, ge=0, le=LARGEST_SCALE)
    """Factor on the grammar's log probabilities."""
    insertion_penalty: float = Field(0.0, ge=-LARGEST_PENALTY, le=LARGEST_PENALTY)
    """Added to a path's score for every word; negative discourages words."""
    beam: float = Field(200.0, gt=0, le=WIDEST_BEAM)
    """Natural log below the best token of a frame at which tokens are dropped; an infinite one is kept as the widest,
    which drops none."""
    max_active: int = Field(0, ge=0, le=2**31 - 1)
    """Most tokens kept in a frame; 0 for no limit."""

    @field_validator("beam", mode="before")
    @classmethod
    def _widest(cls, beam: Any) -> Any:
        return WIDEST_BEAM if beam == float("inf") else beam


@dataclass(frozen=True)
class SpeechModel:
    """Everything that turns frames or audio into words.

    Attributes
    ----------
    source : "audio" or "archive"
        What the static features were made of in training: audio, or matrices of feats.scp as they stood.
    arpa : str or None
        The default grammar as ARPA text; None for a free word loop.
    """

    hmm: PhoneHmm
    front_end: FrontEnd
    lexicon: Lexicon
    search: SearchSettings
    source: Literal["audio", "archive"]
    arpa: str | None = None

    @property
    def kind(self) -> Literal["gmm", "hybrid"]:
        """Of the acoustic model."""
        return "gmm" if isinstance(self.hmm.acoustic_model, GaussianMixtures) else "hybrid"


def save_model(path: Path, model: SpeechModel) -> None:
    """Write a model; equal models give equal bytes."""
    front_arrays, front_metadata = model.front_end.to_arrays()
    arrays = {"self_loops": model.hmm.self_loops, **_prefixed("front_end", front_arrays)}
    metadata: dict[str, Any] = {
        "format": FORMAT,
        "kind": model.kind,
        "phones": list(model.hmm.topology.phones),
        "states_per_phone": model.hmm.topology.states_per_phone,
        "front_end": front_metadata,
        "lexicon": {
            word: [list(variant) for variant in variants] for word, variants in model.lexicon.pronunciations.items()
        },
        "lexicon_digest": model.lexicon.digest(),
        "search": model.search.model_dump(),
        "source": model.source,
        "arpa": model.arpa,
    }
    acoustic = model.hmm.acoustic_model
    if isinstance(acoustic, GaussianMixtures):
        arrays |= _gmm_arrays(acoustic)
    elif isinstance(acoustic, HybridAcousticModel):
        classifier_arrays, metadata["classifier"] = estimator_to_arrays(acoustic.classifier)
        arrays |= _prefixed("classifier", classifier_arrays) | {"log_priors": acoustic.log_priors}
        metadata["hybrid"] = {
            "prior_exponent": acoustic.prior_exponent,
            "prior_floor": acoustic.prior_floor,
        }
        if acoustic.mixtures is not None:
            metadata["hybrid"]["mixture_weight"] = acoustic.mixture_weight
            arrays |= _gmm_arrays(acoustic.mixtures)
        if acoustic.calibration is not None:
            calibration_arrays, metadata["calibration"] = estimator_to_arrays(acoustic.calibration)
            arrays |= _prefixed("calibration", calibration_arrays)
    save_arrays(path, arrays, metadata)


def load_model(path: Path, trusted: tuple[str, ...] = ()) -> SpeechModel:
    """Read a model written by `save_model`.

    Parameters
    ----------
    trusted : tuple of str
        Packages whose classifiers may be made, besides scikit-learn, this project and those that register
        classifiers.

    Raises
    ------
    ModelFormatError
        If the file is missing, truncated, no model of this format, or its parts do not fit together.
    """
    arrays, metadata = _read(path)
    try:
        return _rebuild(arrays, metadata, (*registered_packages(), *trusted))
    except _MALFORMED as error:
        raise _misfit(path, error) from error


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    arrays, metadata = load_arrays(path)
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}, not {FORMAT!r}; is it a recogniser's model?"
        )
    return arrays, metadata


def _misfit(path: Path, error: Exception) -> ModelFormatError:
    missing = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
    return ModelFormatError(f"{path}: the model's parts do not fit together: {missing}")


def _rebuild(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any], trusted: tuple[str, ...]) -> SpeechModel:
    topology = Topology(tuple(metadata["phones"]), int(metadata["states_per_phone"]))
    self_loops = arrays["self_loops"]
    _check("self_loops", self_loops, (topology.n_units,), between=(0.0, 1.0))
    front_end = FrontEnd.from_arrays(_without_prefix("front_end", arrays), metadata["front_end"])
    n_states, n_features = topology.n_states, front_end.n_features_
    acoustic: GaussianMixtures | HybridAcousticModel
    if metadata["kind"] == "gmm":
        acoustic = _mixtures_from(arrays, n_states, n_features)
    elif metadata["kind"] == "hybrid":
        acoustic = HybridAcousticModel(
            estimator_from_arrays(_without_prefix("classifier", arrays), metadata["classifier"], trusted=trusted),
            n_states,
            mixtures=_mixtures_from(arrays, n_states, front_end.n_unspliced_) if front_end.n_unspliced_ else None,
            **metadata["hybrid"],
        )
        acoustic.log_priors = arrays["log_priors"]
        _check("log_priors", acoustic.log_priors, (n_states,))
        if "calibration" in metadata:
            calibration = estimator_from_arrays(_without_prefix("calibration", arrays), metadata["calibration"])
            if not isinstance(calibration, LogisticOutputModel):
                raise TypeError(f"calibration is a {type(calibration).__name__}")
            acoustic.calibration = calibration
        classes = np.asarray(acoustic.classifier.classes_)
        if classes.ndim != 1 or classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= n_states:
            raise ValueError(f"the classes of the classifier are not among the {n_states} states")
    else:
        raise ValueError(f"the kind is {metadata['kind']!r}, neither 'gmm' nor 'hybrid'")
    scores = acoustic.log_likelihood(np.zeros((1, n_features), np.float32))  # a model that cannot score is refused here
    if scores.shape != (1, n_states) or np.isnan(scores).any():
        raise ValueError(f"a frame does not get {n_states} numbers as scores")
    lexicon = Lexicon(
        {word: tuple(tuple(variant) for variant in variants) for word, variants in metadata["lexicon"].items()}
    )
    lexicon.require_phones(topology.phones)
    if metadata["source"] not in ("audio", "archive"):
        raise ValueError(f"the source of the features is {metadata['source']!r}, neither 'audio' nor 'archive'")
    if not isinstance(metadata["arpa"], str | None):
        raise TypeError("the grammar is no text")
    return SpeechModel(
        hmm=PhoneHmm(topology, acoustic, self_loops),
        front_end=front_end,
        lexicon=lexicon,
        search=SearchSettings(**metadata["search"]),
        source=metadata["source"],
        arpa=metadata["arpa"],
    )


def _gmm_arrays(mixtures: GaussianMixtures) -> dict[str, np.ndarray]:
    return {
        "gmm.log_weights": mixtures.log_weights,
        "gmm.means": mixtures.means,
        "gmm.variances": mixtures.variances,
    }


def _mixtures_from(arrays: Mapping[str, np.ndarray], n_states: int, n_features: int) -> GaussianMixtures:
    mixtures = GaussianMixtures(arrays["gmm.log_weights"], arrays["gmm.means"], arrays["gmm.variances"])
    shape = (n_states, mixtures.n_components)
    _check("gmm.log_weights", mixtures.log_weights, shape, between=None)
    _check("gmm.means", mixtures.means, (*shape, n_features))
    _check("gmm.variances", mixtures.variances, (*shape, n_features), between=(0.0, np.inf))
    return mixtures


def describe_model(path: Path) -> dict[str, Any]:
    """What a model file holds, for people: kind, states, features, words, search settings, sizes of the arrays."""
    arrays, metadata = _read(path)
    try:
        return _description(arrays, metadata)
    except _MALFORMED as error:
        raise _misfit(path, error) from error


def _description(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> dict[str, Any]:
    described = {
        "kind": metadata["kind"],
        "phones": len(metadata["phones"]),
        "states": len(metadata["phones"] + ["silence"]) * metadata["states_per_phone"],
        "words": len(metadata["lexicon"]),
        "lexicon digest": metadata["lexicon_digest"],
        "features": metadata["front_end"]["config"],
        "features from": metadata["source"],
        "grammar": "the training transcripts' n-gram" if metadata["arpa"] else "free word loop",
        "search": metadata["search"],
        "parameters": int(sum(array.size for array in arrays.values())),
    }
    if metadata["kind"] == "hybrid":
        kind, name, parameters, _ = metadata["classifier"]["estimator"]
        if kind != "estimator":
            raise ValueError(f"the classifier is a {kind!r}")
        described["classifier"] = name.replace(":", ".")
        described["classifier settings"] = {key: value for key, value in parameters if not isinstance(value, list)}
        scores = dict(metadata["hybrid"])
        if "mixture_weight" in scores:
            shape = list(arrays["gmm.means"].shape)
            described["second stream"] = {
                "Gaussians a state": shape[1],
                "features": shape[2],
                "weight": scores.pop("mixture_weight"),
            }
        described["state priors"] = scores
    return described


def _check(
    name: str, array: np.ndarray, shape: tuple[int, ...], *, between: tuple[float, float] | None = (-np.inf, np.inf)
) -> None:
    if array.shape != shape or array.dtype.kind != "f":
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, not floats of shape {shape}")
    if between is not None and not np.all((array > between[0]) & (array < between[1])):
        raise ValueError(f"{name} holds numbers that do not lie between {between[0]:g} and {between[1]:g}")


def _prefixed(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _without_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(f"{prefix}."): array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
