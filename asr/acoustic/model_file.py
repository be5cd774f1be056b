"""A recogniser in one file: front end, phone HMMs, lexicon, grammar and search settings, as safetensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.errors import AsrError, ModelFormatError
from asr.features.frontend import FrontEnd
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from discriminants.errors import DiscriminantError
from discriminants.model_file import load_arrays, save_arrays
from discriminants.persistence import estimator_from_arrays, estimator_to_arrays
from discriminants.posteriors import LogisticOutputModel

FORMAT = "hybrid-asr model 1"


class SearchSettings(BaseModel):
    """How the search weighs its parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lm_scale: float = Field(8.0, ge=0)
    """Factor on the grammar's log probabilities."""
    insertion_penalty: float = 0.0
    """Added to a path's score for every word; negative discourages words."""
    beam: float = Field(200.0, gt=0)
    """Natural log below the best token of a frame at which tokens are dropped."""
    max_active: int = Field(0, ge=0)
    """Most tokens kept in a frame; 0 for no limit."""


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
        arrays |= {
            "gmm.log_weights": acoustic.log_weights,
            "gmm.means": acoustic.means,
            "gmm.variances": acoustic.variances,
        }
    elif isinstance(acoustic, HybridAcousticModel):
        classifier_arrays, metadata["classifier"] = estimator_to_arrays(acoustic.classifier)
        arrays |= _prefixed("classifier", classifier_arrays) | {"log_priors": acoustic.log_priors}
        metadata["hybrid"] = {
            "prior_exponent": acoustic.prior_exponent,
            "prior_floor": acoustic.prior_floor,
        }
        if acoustic.calibration is not None:
            calibration_arrays, metadata["calibration"] = estimator_to_arrays(acoustic.calibration)
            arrays |= _prefixed("calibration", calibration_arrays)
    save_arrays(path, arrays, metadata)


def load_model(path: Path, trusted: tuple[str, ...] = ()) -> SpeechModel:
    """Read a model written by `save_model`.

    Parameters
    ----------
    trusted : tuple of str
        Packages beside scikit-learn and this project whose classifiers may be instantiated.

    Raises
    ------
    ModelFormatError
        If the file is missing, truncated, no model of this format, or its parts do not fit together.
    """
    arrays, metadata = load_arrays(path)
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}, not {FORMAT!r}; is it a recogniser's model?"
        )
    try:
        return _rebuild(arrays, metadata, trusted)
    except (KeyError, TypeError, ValueError, IndexError, AsrError, DiscriminantError) as error:
        raise ModelFormatError(f"{path}: the model's parts do not fit together: {error}") from error


def _rebuild(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any], trusted: tuple[str, ...]) -> SpeechModel:
    topology = Topology(tuple(metadata["phones"]), int(metadata["states_per_phone"]))
    self_loops = arrays["self_loops"]
    if self_loops.shape != (topology.n_units,):
        raise ValueError(f"{self_loops.shape} self-loops for {topology.n_units} units")
    acoustic: GaussianMixtures | HybridAcousticModel
    if metadata["kind"] == "gmm":
        acoustic = GaussianMixtures(arrays["gmm.log_weights"], arrays["gmm.means"], arrays["gmm.variances"])
        n_states = len(acoustic.means)
    else:
        acoustic = HybridAcousticModel(
            estimator_from_arrays(_without_prefix("classifier", arrays), metadata["classifier"], trusted=trusted),
            topology.n_states,
            **metadata["hybrid"],
        )
        acoustic.log_priors = arrays["log_priors"]
        if "calibration" in metadata:
            calibration = estimator_from_arrays(_without_prefix("calibration", arrays), metadata["calibration"])
            if not isinstance(calibration, LogisticOutputModel):
                raise TypeError(f"calibration is a {type(calibration).__name__}")
            acoustic.calibration = calibration
        n_states = len(acoustic.log_priors)
    if n_states != topology.n_states:
        raise ValueError(f"{n_states} scored states for a topology of {topology.n_states}")
    lexicon = Lexicon(
        {word: tuple(tuple(variant) for variant in variants) for word, variants in metadata["lexicon"].items()}
    )
    return SpeechModel(
        hmm=PhoneHmm(topology, acoustic, self_loops),
        front_end=FrontEnd.from_arrays(_without_prefix("front_end", arrays), metadata["front_end"]),
        lexicon=lexicon,
        search=SearchSettings(**metadata["search"]),
        source=metadata["source"],
        arpa=metadata["arpa"],
    )


def describe_model(path: Path) -> dict[str, Any]:
    """What a model file holds, for people: kind, states, features, words, search settings, sizes of the arrays."""
    arrays, metadata = load_arrays(path)
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}, not {FORMAT!r}; is it a recogniser's model?"
        )
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
        described["classifier"] = metadata["classifier"].get("class", "")
    return described


def _prefixed(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _without_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(f"{prefix}."): array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
