"""A recognizer in one file: front end, phone HMMs, lexicon, grammar and search settings, as safetensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shorter
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError, field_validator

from asr.acoustic.classifiers import registered_packages
from asr.acoustic.composite import CompositeAcousticModel, Stream, beside
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_metadata import ModelMetadata
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.errors import AsrError, ConfigError, MissingModelError, ModelFormatError, printable
from asr.features.config import FeatureConfig
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

WIDEST_FRAME = 1 << 20

# What metadata and arrays that disagree can raise, also in the code of a classifier of another package.
_MALFORMED = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, ImportError,
    RuntimeError, AsrError, DiscriminantError,
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
    max_active: int = Field(3000, ge=0, le=2**31 - 1)
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
    untrained : tuple of str
        Phones that training never heard, sorted.
    """

    hmm: PhoneHmm
    front_end: FrontEnd
    lexicon: Lexicon
    search: SearchSettings
    source: Literal["audio", "archive"]
    arpa: str | None = None
    untrained: tuple[str, ...] = ()

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
    if model.untrained:
        metadata["untrained"] = list(model.untrained)
    acoustic, second = _streams_of(model.hmm.acoustic_model)
    if isinstance(acoustic, GaussianMixtures):
        arrays |= _gmm_arrays(acoustic)
    elif isinstance(acoustic, HybridAcousticModel):
        classifier_arrays, metadata["classifier"] = estimator_to_arrays(acoustic.classifier)
        arrays |= _prefixed("classifier", classifier_arrays) | {"log_priors": acoustic.log_priors}
        metadata["hybrid"] = {
            "prior_exponent": acoustic.prior_exponent,
            "prior_floor": acoustic.prior_floor,
            **({} if acoustic.prior_ceiling is None else {"prior_ceiling": acoustic.prior_ceiling}),
        }
        if second is not None:
            metadata["hybrid"]["mixture_weight"] = second.weight
            assert isinstance(second.model, GaussianMixtures)
            arrays |= _gmm_arrays(second.model)
        if acoustic.calibration is not None:
            calibration_arrays, metadata["calibration"] = estimator_to_arrays(acoustic.calibration)
            arrays |= _prefixed("calibration", calibration_arrays)
    save_arrays(path, arrays, metadata)


def _streams_of(acoustic: AcousticModel) -> tuple[AcousticModel, Stream | None]:
    """The model, or of a composite the hybrid and the stream of mixtures behind it: what a file has room for."""
    if not isinstance(acoustic, CompositeAcousticModel):
        return acoustic, None
    first, *others = acoustic.streams
    second = others[0] if len(others) == 1 else None
    if (
        second is None
        or not isinstance(first.model, HybridAcousticModel)
        or not isinstance(second.model, GaussianMixtures)
        or (first.start, first.end, first.weight) != (0, second.start, 1.0 - second.weight)
    ):
        raise ConfigError(
            "a model file holds mixtures, a hybrid, or a hybrid and behind it mixtures of the last columns, with "
            "weights that add up to 1; other composites are put together in a program"
        )
    return first.model, second


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
        If the file is truncated, no model of this format, or its parts do not fit together.
    MissingModelError
        If there is no such file; a FileNotFoundError too.
    """
    arrays, metadata = _read(path)
    try:
        return _rebuild(arrays, metadata, (*registered_packages(), *trusted))
    except _MALFORMED as error:
        raise _misfit(path, error) from error


def _read(path: Path) -> tuple[dict[str, np.ndarray], ModelMetadata]:
    try:
        arrays, metadata = load_arrays(path)
    except DiscriminantError as error:
        raise ModelFormatError(str(error)) from error
    except FileNotFoundError as error:
        raise MissingModelError(f"{path} does not exist; a model file, made by training, is needed") from error
    except (IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise ModelFormatError(f"{path}: cannot be read ({error.strerror}); a model file is needed") from error
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}, not {FORMAT!r}; is it a recognizer's model?"
        )
    try:
        return arrays, ModelMetadata.model_validate(metadata)
    except ValidationError as error:
        raise _misfit(path, error) from error


def _misfit(path: Path, error: Exception) -> ModelFormatError:
    if isinstance(error, KeyError):
        reason = f"{error} is missing"
    elif isinstance(error, ValidationError):
        problem = error.errors(include_url=False)[0]
        reason = f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}, not {shorter(problem['input'])}"
    else:
        reason = " ".join(str(error).split())
    return ModelFormatError(f"{path}: the model's parts do not fit together: {reason}")


def _rebuild(arrays: Mapping[str, np.ndarray], metadata: ModelMetadata, trusted: tuple[str, ...]) -> SpeechModel:
    for phone in metadata.phones:
        if phone.split() != [phone] or not phone.isprintable():
            raise ValueError(f"phones: {phone!r} is no name without white space")
    topology = Topology(tuple(metadata.phones), metadata.states_per_phone)
    self_loops = arrays["self_loops"]
    _check("self_loops", self_loops, (topology.n_units,), between=(0.0, 1.0))
    front_end = FrontEnd.from_arrays(_without_prefix("front_end", arrays), metadata.front_end)
    if front_end.n_features_ > WIDEST_FRAME:
        raise ValueError(f"the front end gives frames of {front_end.n_features_} numbers, and {WIDEST_FRAME} can be")
    acoustic: AcousticModel
    if metadata.kind == "gmm":
        acoustic = _mixtures_from(arrays, topology.n_states, front_end.n_features_)
    else:
        acoustic = _hybrid_from(arrays, metadata, topology.n_states, front_end, trusted)
    _check_scores(acoustic, front_end.n_features_, topology.n_states)
    lexicon = Lexicon(
        {word: tuple(tuple(variant) for variant in variants) for word, variants in metadata.lexicon.items()}
    )
    lexicon.require_phones(topology.phones)
    if lexicon.digest() != metadata.lexicon_digest:
        raise ValueError("the lexicon is not the one that was written: its digest is another")
    strange = sorted(set(metadata.untrained) - set(topology.phones))
    if strange:
        raise ValueError(f"untrained: {strange[0]!r} is none of the phones")
    return SpeechModel(
        hmm=PhoneHmm(topology, acoustic, self_loops),
        front_end=front_end,
        lexicon=lexicon,
        search=SearchSettings(**metadata.search),
        source=metadata.source,
        arpa=metadata.arpa,
        untrained=tuple(metadata.untrained),
    )


def _hybrid_from(
    arrays: Mapping[str, np.ndarray],
    metadata: ModelMetadata,
    n_states: int,
    front_end: FrontEnd,
    trusted: tuple[str, ...],
) -> HybridAcousticModel | CompositeAcousticModel:
    if metadata.classifier is None or metadata.hybrid is None:
        raise ValueError("a hybrid has a classifier and says how its posteriors are used")
    classifier = estimator_from_arrays(_without_prefix("classifier", arrays), metadata.classifier, trusted=trusted)
    n_own = front_end.n_features_ - front_end.n_unspliced_
    if getattr(classifier, "n_features_in_", n_own) != n_own:
        raise ValueError(f"the classifier takes {classifier.n_features_in_} features, and the front end gives {n_own}")
    classes = np.asarray(classifier.classes_)
    if classes.ndim != 1 or classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= n_states:
        raise ValueError(f"the classes of the classifier are not among the {n_states} states")
    if np.unique(classes).size != classes.size:
        raise ValueError("the classifier has a class twice")
    mixtures = _mixtures_from(arrays, n_states, front_end.n_unspliced_) if front_end.n_unspliced_ else None
    settings = metadata.hybrid
    acoustic = HybridAcousticModel(
        classifier, n_states, prior_exponent=settings.prior_exponent, prior_floor=settings.prior_floor
    )
    acoustic.log_priors = arrays["log_priors"]
    _check("log_priors", acoustic.log_priors, (n_states,))
    if metadata.calibration is not None:
        calibration = estimator_from_arrays(_without_prefix("calibration", arrays), metadata.calibration)
        if not isinstance(calibration, LogisticOutputModel):
            raise TypeError(f"calibration is a {type(calibration).__name__}")
        acoustic.calibration = calibration
    if mixtures is None:
        return acoustic
    return beside(acoustic, mixtures, front_end.n_unspliced_, front_end.n_features_, settings.mixture_weight)


def _check_scores(acoustic: AcousticModel, n_features: int, n_states: int) -> None:
    """A model that cannot score frames is refused here, not after an hour of audio."""
    frames = np.zeros((4, n_features), np.float32)
    frames[1], frames[2], frames[3, ::2], frames[3, 1::2] = 1.0, -1.0, 1.0, -1.0
    with np.errstate(all="ignore"):
        scores = acoustic.log_likelihood(frames)
    if scores.shape != (len(frames), n_states) or not (scores < np.inf).all():
        raise ValueError(f"a frame does not get {n_states} numbers as scores")


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


def _description(arrays: Mapping[str, np.ndarray], metadata: ModelMetadata) -> dict[str, Any]:
    described: dict[str, Any] = {
        "kind": metadata.kind,
        "phones": len(metadata.phones),
        "states": Topology(tuple(metadata.phones), metadata.states_per_phone).n_states,
        "words": len(metadata.lexicon),
        **({"untrained phones": [printable(phone) for phone in metadata.untrained]} if metadata.untrained else {}),
        "lexicon digest": printable(metadata.lexicon_digest),
        "features": FeatureConfig.model_validate(metadata.front_end["config"]).model_dump(mode="json"),
        "features from": metadata.source,
        "grammar": "the training transcripts' n-gram" if metadata.arpa else "free word loop",
        "search": SearchSettings(**metadata.search).model_dump(),
        "parameters": int(sum(array.size for array in arrays.values())),
    }
    if metadata.kind == "hybrid":
        if metadata.classifier is None or metadata.hybrid is None:
            raise ValueError("a hybrid has a classifier and says how its posteriors are used")
        kind, name, parameters, _ = metadata.classifier["estimator"]
        if kind != "estimator":
            raise ValueError(f"the classifier is a {kind!r}")
        described["classifier"] = printable(name.replace(":", "."))
        described["classifier settings"] = {
            printable(key): printable(value) if isinstance(value, str) else value
            for key, value in parameters
            if isinstance(value, str | int | float | None)
        }
        scores = metadata.hybrid.model_dump(exclude_unset=True)
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
    if array.shape != shape or array.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, not floats of shape {shape}")
    if between is not None and not np.all((array > between[0]) & (array < between[1])):
        raise ValueError(f"{name} holds numbers that do not lie between {between[0]:g} and {between[1]:g}")


def _prefixed(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _without_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(f"{prefix}."): array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
