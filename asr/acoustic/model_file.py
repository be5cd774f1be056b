"""A recognizer in one safetensors file: front end, phone HMMs, lexicon, grammar and search settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from asr.acoustic.acoustic_arrays import (
    acoustic_from_arrays,
    acoustic_to_arrays,
    check_array,
    prefixed,
    topology_from,
    without_prefix,
)
from asr.acoustic.classifiers import given_classes, name_of_classifier, trusted_classes
from asr.acoustic.composite import CompositeAcousticModel, hybrid_stream
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.model_description import describe
from asr.acoustic.model_metadata import HeldOutErrors, ModelMetadata, Provenance, Rejection
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.acoustic.search_settings import MAX_PENALTY as MAX_PENALTY
from asr.acoustic.search_settings import MAX_SCALE as MAX_SCALE
from asr.acoustic.search_settings import WIDEST_BEAM as WIDEST_BEAM
from asr.acoustic.search_settings import SearchSettings as SearchSettings
from asr.acoustic.speaker_adaptive_training import SpeakerAdaptation, adaptation_from_arrays, adaptation_to_arrays
from asr.alignment.pause_model import PauseSounds
from asr.features.frontend import FrontEnd
from asr.lexicon import Lexicon
from asr.util.config_base import faults
from asr.util.errors import MODEL_NEEDED, AsrError, MissingModelError, ModelFormatError
from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.util.errors import DiscriminantError, UntrustedClassError
from discriminants.util.paths import is_dir

FORMAT = "hybrid-asr model 3"
WIDEST_FRAME = 1 << 20

_NO_CLASS = (
    "A model file never decides which code is imported. If you trust this class, give it: --classifier MODULE:CLASS "
    "(classifier=)"
)

# Errors that inconsistent metadata and arrays can raise, also in another package's classifier.
_MALFORMED = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, ImportError,
    RuntimeError, AsrError, DiscriminantError,
)  # fmt: skip


@dataclass(frozen=True)
class SpeechModel:
    """A complete recognizer from frames or audio to words."""

    hmm: PhoneHmm
    front_end: FrontEnd
    lexicon: Lexicon
    search: SearchSettings
    # training features were computed from audio, or read from the matrices of feats.scp
    source: Literal["audio", "archive"]
    arpa: str | None = None  # the default grammar as ARPA text; None for a free word loop
    untrained: tuple[str, ...] = ()  # phones without training data, sorted
    # amount of training speech and version of the toolkit; None if the file does not have it
    trained_on: Provenance | None = None
    held_out: HeldOutErrors | None = None  # word errors on held-out speech; None if not measured
    rejection: Rejection | None = None  # results of `asr tune --others`; None without it
    # speaker transforms that are applied before `front_end`; None if it takes static features
    speakers: SpeakerAdaptation | None = None

    @property
    def kind(self) -> Literal["gmm", "hybrid"]:
        """Kind of the acoustic model; "hybrid" for a composite with a hybrid stream."""
        acoustic = self.hmm.acoustic_model
        mixtures = isinstance(acoustic, GaussianMixtures | CompositeAcousticModel) and hybrid_stream(acoustic) is None
        return "gmm" if mixtures else "hybrid"

    @property
    def static_dimension(self) -> int:
        """Number of static features of a frame, before any speaker transform."""
        first = self.front_end if self.speakers is None else self.speakers.front_end
        return first.static_dimension_


def save_model(path: Path, model: SpeechModel) -> None:
    """Write a model; equal models give equal bytes.

    Raises ConfigError for an acoustic model that is neither mixtures, a hybrid, nor a composite of these.
    """
    save_arrays(path, *_to_arrays(model))


def _to_arrays(model: SpeechModel) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    front_arrays, front_metadata = model.front_end.to_arrays()
    arrays, acoustic = acoustic_to_arrays(model.hmm.acoustic_model)
    arrays |= {"self_loops": model.hmm.self_loops, **prefixed("front_end", front_arrays)}
    if model.hmm.pauses is not None:
        arrays |= prefixed("pauses", model.hmm.pauses.to_arrays())
    tying = model.hmm.topology.tying
    if tying is not None:
        arrays |= prefixed("tying", tying.to_arrays())
    metadata: dict[str, Any] = {
        "format": FORMAT,
        **acoustic,
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
    if model.lexicon.probabilities:
        metadata["probabilities"] = {
            word: [model.lexicon.probability(word, variant) for variant in model.lexicon[word]]
            for word in dict.fromkeys(word for word, _ in model.lexicon.probabilities)
        }
    if model.lexicon.graphemes:
        metadata["graphemes"] = True
    if model.lexicon.multigraphs:
        metadata["multigraphs"] = {letters: list(phones) for letters, phones in model.lexicon.multigraphs.items()}
    if model.untrained:
        metadata["untrained"] = list(model.untrained)
    if model.trained_on is not None:
        metadata["trained_on"] = model.trained_on.model_dump()
    if model.held_out is not None:
        metadata["held_out"] = model.held_out.model_dump()
    if model.rejection is not None:
        metadata["rejection"] = model.rejection.model_dump()
    if model.hmm.pauses is not None:
        metadata["pauses"] = {"frame_shift": model.hmm.pauses.frame_shift}
    if model.speakers is not None:
        own, metadata["speakers"] = adaptation_to_arrays(model.speakers, model.hmm.acoustic_model)
        arrays |= prefixed("speakers", own)
    return arrays, metadata


def load_model(path: Path, trusted: tuple[str, ...] = (), *, classifier: type | None = None) -> SpeechModel:
    """Read a model written by `save_model`.

    `trusted`: packages whose classifiers may be created, in addition to scikit-learn, this project, packages that
    register classifiers, and classes that the user gave in this process (`give_classifier`). `classifier`: expected
    class of a hybrid's classifier. Raises ModelFormatError if the file is truncated, has another format or class, or
    its parts are inconsistent, and MissingModelError if the file does not exist. It is also a FileNotFoundError.
    """
    arrays, metadata = _read(path)
    try:
        model = _rebuild(arrays, metadata, (*trusted_classes(), *trusted))
    except UntrustedClassError as error:
        given = given_classes() if classifier is None else [name_of_classifier(classifier)]
        raise ModelFormatError(f"{path}: {error}. {_other_class(given) if given else _NO_CLASS}") from error
    except _MALFORMED as error:
        raise _misfit(path, error) from error
    hybrid = hybrid_stream(model.hmm.acoustic_model)
    if classifier is not None and hybrid is not None:
        own, expected = name_of_classifier(type(hybrid[1].classifier)), name_of_classifier(classifier)
        if own != expected:
            raise ModelFormatError(f"{path}: the class of the classifier is {own!r}. {_other_class([expected])}")
    return model


def _other_class(given: Sequence[str]) -> str:
    return f"--classifier (classifier=) is {', '.join(given)}. Expected the model's class, if you trust it"


def _read(path: Path) -> tuple[dict[str, np.ndarray], ModelMetadata]:
    try:
        arrays, metadata = load_arrays(path)
    except FileNotFoundError as error:
        raise MissingModelError(f"{path} does not exist. {MODEL_NEEDED}") from error
    except DiscriminantError as error:
        raise ModelFormatError(_not_a_beginning(path) or str(error)) from error
    except (NotADirectoryError, PermissionError) as error:
        raise ModelFormatError(f"{path}: cannot be read ({error.strerror}). {MODEL_NEEDED}") from error
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}. Expected {FORMAT!r}. Train models of earlier versions again"
        )
    try:
        return arrays, ModelMetadata.model_validate(metadata)
    except ValidationError as error:
        raise _misfit(path, error) from error


def _not_a_beginning(path: Path) -> str:
    """Return a message if the file does not begin as a model file, otherwise an empty string."""
    if is_dir(path):
        return f"{path} is a directory. {MODEL_NEEDED}"
    with path.open("rb") as file:
        start = file.read(40)
    if start[8:9] == b"{":
        return ""
    text = " ".join(start.decode("utf-8", "replace").rstrip("\N{REPLACEMENT CHARACTER}").split())
    readable = text.isprintable() and text and "\N{REPLACEMENT CHARACTER}" not in text
    found = f"it begins with the text {text!r}" if readable else "it has no header"
    return f"{path} is damaged or not a model file: {found}. {MODEL_NEEDED}"


def _misfit(path: Path, error: Exception) -> ModelFormatError:
    if isinstance(error, KeyError):
        reason = f"{error} is missing"
    elif isinstance(error, ValidationError):
        reason = faults(error)[0].message
    else:
        reason = " ".join(str(error).split())
    return ModelFormatError(f"{path}: the parts of the model are inconsistent: {reason}")


def _rebuild(arrays: Mapping[str, np.ndarray], metadata: ModelMetadata, trusted: tuple[str | type, ...]) -> SpeechModel:
    for phone in metadata.phones:
        if phone.split() != [phone] or not phone.isprintable():
            raise ValueError(f"phones: {phone!r} is not a name without white space")
    topology = topology_from(arrays, metadata)
    self_loops = arrays["self_loops"]
    check_array("self_loops", self_loops, (topology.n_units,), between=(0.0, 1.0))
    front_end = FrontEnd.from_arrays(without_prefix("front_end", arrays), metadata.front_end)
    if front_end.n_features_ > WIDEST_FRAME:
        raise ValueError(
            f"the front end gives frames of {front_end.n_features_} values. Expected at most {WIDEST_FRAME}"
        )
    acoustic = acoustic_from_arrays(arrays, metadata, topology.n_states, front_end, trusted)
    _check_scores(acoustic, front_end.n_features_, topology.n_states)
    pauses = None
    if metadata.pauses is not None:
        own = without_prefix("pauses", arrays)
        pauses = PauseSounds.from_arrays(own, front_end.n_features_, metadata.pauses.frame_shift)
    lexicon = _lexicon(metadata)
    lexicon.require_phones(topology.phones)
    if lexicon.digest() != metadata.lexicon_digest:
        raise ValueError("the checksum of the lexicon is wrong")
    speakers = None
    if metadata.speakers is not None:
        speakers = adaptation_from_arrays(without_prefix("speakers", arrays), metadata.speakers, topology, acoustic)
        for hmm in (speakers.first, speakers.second):
            _check_scores(hmm.acoustic_model, speakers.front_end.n_features_, topology.n_states)
        if speakers.front_end.n_features_ != front_end.static_dimension_:
            raise ValueError(
                f"the speaker-transformed frames have {speakers.front_end.n_features_} values, but the front end "
                f"needs {front_end.static_dimension_}"
            )
    strange = sorted(set(metadata.untrained) - set(topology.phones))
    if strange:
        raise ValueError(f"untrained: {strange[0]!r} is not one of the phones")
    return SpeechModel(
        hmm=PhoneHmm(topology, acoustic, self_loops, pauses),
        front_end=front_end,
        lexicon=lexicon,
        search=SearchSettings(**metadata.search),
        source=metadata.source,
        arpa=metadata.arpa,
        untrained=tuple(metadata.untrained),
        trained_on=metadata.trained_on,
        held_out=metadata.held_out,
        rejection=metadata.rejection,
        speakers=speakers,
    )


def _lexicon(metadata: ModelMetadata) -> Lexicon:
    pronunciations = {word: tuple(map(tuple, variants)) for word, variants in metadata.lexicon.items()}
    probabilities = {
        (word, variant): probability
        for word, given in metadata.probabilities.items()
        for variant, probability in zip(pronunciations[word], given, strict=True)
    }
    return Lexicon(
        pronunciations,
        "the model's lexicon",
        graphemes=metadata.graphemes,
        multigraphs={letters: tuple(phones) for letters, phones in metadata.multigraphs.items()},
        probabilities=probabilities,
    )


def _check_scores(acoustic: AcousticModel, n_features: int, n_states: int) -> None:
    """Check early that the model can score frames."""
    frames = np.zeros((4, n_features), np.float32)
    frames[1], frames[2], frames[3, ::2], frames[3, 1::2] = 1.0, -1.0, 1.0, -1.0
    with np.errstate(all="ignore"):
        scores = acoustic.log_likelihood(frames)
    if scores.shape != (len(frames), n_states) or not (scores < np.inf).all():
        raise ValueError(f"the scores of a frame do not have {n_states} values")


def describe_model(model: Path | SpeechModel) -> dict[str, Any]:
    """Describe a model or its file: kind, states, features, words, training data, search settings, sizes of the arrays.

    Raises the errors of `load_model`.
    """
    if isinstance(model, SpeechModel):
        arrays, metadata = _to_arrays(model)
        return describe(arrays, ModelMetadata.model_validate_json(json.dumps(metadata)))
    arrays, read = _read(model)
    try:
        return describe(arrays, read)
    except _MALFORMED as error:
        raise _misfit(model, error) from error
