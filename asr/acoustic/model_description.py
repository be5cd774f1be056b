"""Readable description of a model file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from asr.acoustic.acoustic_arrays import stream_arrays, topology_from
from asr.acoustic.fmllr import FmllrSettings
from asr.acoustic.model_metadata import HeldOutErrors, HybridParts, ModelMetadata, Provenance, Rejection
from asr.acoustic.search_settings import SearchSettings
from asr.features.config import FeatureConfig
from asr.hmm.state_tying import StateTying
from asr.lexicon.phone_units import are_phones
from asr.util.counted_text import count
from asr.util.errors import printable

_UNKNOWN = "unknown (not in the file)"
_NO_CONTEXT = "none: the states of a phone do not depend on its neighbors"


def describe(arrays: Mapping[str, np.ndarray], metadata: ModelMetadata) -> dict[str, Any]:
    """Describe the arrays and metadata of a file; inconsistent parts raise errors such as ValueError."""
    topology = topology_from(arrays, metadata)
    token = "phone" if are_phones(metadata.lexicon) and not metadata.graphemes else "word"
    described: dict[str, Any] = {
        "kind": metadata.kind,
        "phones": len(metadata.phones),
        "states": topology.n_states,
        "context": _NO_CONTEXT if topology.tying is None else _trees(topology.tying),
        "words": len(metadata.lexicon),
        **({"pronunciations": _letters(metadata)} if metadata.graphemes else {}),
        **({"pronunciations": "each word is a phone"} if token == "phone" else {}),
        **(
            {"pronunciation probabilities": f"of {count(len(metadata.probabilities), 'word')}"}
            if metadata.probabilities
            else {}
        ),
        **({"untrained phones": [printable(phone) for phone in metadata.untrained]} if metadata.untrained else {}),
        "trained on": _UNKNOWN if metadata.trained_on is None else _amount(metadata.trained_on),
        **({} if metadata.held_out is None else {"held-out speech": _errors(metadata.held_out, token)}),
        **({} if metadata.rejection is None else {"rejection": _rejection(metadata.rejection)}),
        "lexicon digest": printable(metadata.lexicon_digest),
        "features": _features(metadata),
        "features from": metadata.source,
        "grammar": "the training transcripts' n-gram" if metadata.arpa else "free word loop",
        "search": SearchSettings(**metadata.search).model_dump(),
        "parameters": int(sum(array.size for array in arrays.values())),
    }
    if metadata.kind == "hybrid":
        described |= _hybrid(arrays, metadata)
    if metadata.speakers is not None:
        described["speakers"] = {
            "maps": metadata.speakers.maps,
            "Gaussians a state of the first pass": _gaussians(arrays["speakers.first.gmm.log_weights"]),
            "directions of the learned prior": len(arrays.get("speakers.prior.directions", ())),
            **FmllrSettings.model_validate(metadata.speakers.settings).model_dump(),
        }
    for number, parts in enumerate(metadata.streams):
        own = stream_arrays(number, arrays)
        described[f"stream {number + 1}"] = {
            "kind": parts.kind,
            "columns": f"{parts.start} to {parts.end}",
            "weight": parts.weight,
            **(
                _hybrid(own, parts)
                if parts.kind == "hybrid"
                else {"Gaussians a state (median)": _gaussians(own["gmm.log_weights"])}
            ),
        }
    return described


def _features(metadata: ModelMetadata) -> dict[str, Any]:
    """Return the feature settings with `high_hz` resolved.

    With speaker transforms, differences and normalization come from the front end before the transform.
    """
    config = FeatureConfig.model_validate(metadata.front_end["config"])
    if metadata.speakers is not None:
        mapped = FeatureConfig.model_validate(metadata.speakers.front_end["config"])
        config = config.model_copy(update={"delta_order": mapped.delta_order, "normalize": mapped.normalize})
    high = config.sample_rate / 2 if config.high_hz is None else config.high_hz
    return config.model_dump(mode="json") | {"high_hz": high}


def _trees(tying: StateTying) -> str:
    return f"previous and next phone, by {len(tying.question_side)} questions in {tying.root.size} trees"


def _letters(metadata: ModelMetadata) -> str:
    n_lines = len(metadata.multigraphs)
    return "letters of the words" + (f", with a table of {count(n_lines, 'line')}" if n_lines else "")


def _gaussians(log_weights: np.ndarray) -> int:
    """Return the median number of Gaussians per state."""
    return int(np.median(np.isfinite(log_weights).sum(axis=1)))


def _amount(trained_on: Provenance) -> dict[str, Any]:
    return {
        "hours": round(trained_on.seconds / 3600, 4),
        "utterances": trained_on.utterances,
        "speakers": trained_on.speakers,
        "words": trained_on.words,
        **({} if trained_on.level_db is None else {"level": f"{trained_on.level_db:.0f} dB"}),
        "by version": printable(trained_on.version),
    }


def _errors(held_out: HeldOutErrors, token: str) -> dict[str, Any]:
    rate = 100.0 * held_out.errors / held_out.words
    grammar = "the model's grammar" if held_out.own_grammar else "the tuning grammar"
    return {
        "words": held_out.words,
        "errors": held_out.errors,
        f"{token} error rate": f"{rate:.1f} % (standard error {held_out.standard_error:.1f}), with {grammar}",
        "recognized by": "models of the same kind, trained without it" if held_out.cross_validated else "this model",
    }


def _rejection(found: Rejection) -> dict[str, Any]:
    rate = 100.0 * found.errors / max(1, found.words)
    return {
        "by": "filler penalty" if found.by == "filler" else "limits of likelihood ratios",
        "fitted for": f"a grammar of {found.grammar_words:,} words",
        "right commands lost": f"{found.lost} of {found.commands}",
        "other recordings accepted": f"{found.accepted} of {found.others}; without rejection {found.accepted_without}",
        "word error rate with rejection": f"{rate:.1f} % ({found.errors} errors in {found.words:,} words)",
    }


def _hybrid(arrays: Mapping[str, np.ndarray], parts: HybridParts) -> dict[str, Any]:
    if parts.classifier is None or parts.hybrid is None:
        raise ValueError("the hybrid has no classifier or no settings of its posteriors")
    kind, name, parameters, _ = parts.classifier["estimator"]
    if kind != "estimator":
        raise ValueError(f"the classifier is a {kind!r}")
    described: dict[str, Any] = {
        "classifier": printable(name.replace(":", ".")),
        "classifier settings": {
            printable(key): printable(value) if isinstance(value, str) else value
            for key, value in parameters
            if isinstance(value, str | int | float | None)
        },
        "sequence passes": _UNKNOWN if parts.smbr_epochs is None else parts.smbr_epochs,
    }
    scores = parts.hybrid.model_dump(exclude_unset=True)
    if "mixture_weight" in scores:
        described["second stream"] = {
            "Gaussians a state": _gaussians(arrays["gmm.log_weights"]),
            "features": arrays["gmm.means"].shape[2],
            "weight": scores.pop("mixture_weight"),
        }
    return described | {"state priors": scores}
