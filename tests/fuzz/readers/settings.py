"""Settings files: read, and everything made that they are for."""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from asr.acoustic.classifiers import make_classifier
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.hybrid_training import classifier_of
from asr.acoustic.model_file import SearchSettings
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.decode.graph_compiler import compile_graph
from asr.features.augmentation import change_speed, mix_noise, read_noise
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.mfcc import mfcc
from asr.features.warping import warped_copies
from asr.grammar import arpa_grammar, estimate_ngram, word_loop
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology, uniform_self_loops
from asr.recognition.search import search_words
from asr.training.config import TrainingConfig, check_same_static, load_config
from asr.util.errors import AsrError
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.mutators.toml_mutators import spoil_toml
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import reader
from tests.fuzz.valid_models import LEXICON, mixtures

_FAST: dict[str, dict[str, Any]] = {  # settings that make a reading take milliseconds, instead of the defaults
    "features": {"sample_rate": 8000, "n_filters": 10, "n_cepstra": 4, "high_hz": 3800.0},
    "hybrid_features": {"context": 1, "lda_dimension": 5},
    "hybrid": {"vtlp_warps": [0.9, 1.1], "speed_perturb": [0.9], "mixtures": 2},
}
_WIDEST_LDA = 1000  # maximum number of columns, so that LDA takes at most a second
_SENTENCES = (("ONE", "TWO"), ("TWO", "TWO", "ONE"), ("ONE",))


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def _everything() -> bytes:
    """Every setting by its name."""
    lines = []
    tables = []
    for name, value in TrainingConfig().model_dump(mode="json").items():
        if not isinstance(value, dict):
            lines.append(f"{name} = {_toml(value)}")
            continue
        tables.append(f"[{name}]")
        common = _FAST["features"] if name == "hybrid_features" else {}
        own = {**value, **common, **_FAST.get(name, {})}
        tables += [f"{key} = {_toml(inner)}" for key, inner in own.items() if inner is not None]
    return "\n".join([*lines, *tables, ""]).encode()


_FEW = b"""seed = 3
features = {sample_rate = 8000, n_filters = 10, n_cepstra = 4, high_hz = 3800.0}
[hybrid_features]
context = 1
lda_dimension = 5
[hybrid]
classifier = "kernel-logistic"
vtlp_warps = [0.92, 1.08]
noise = {directory = "noise", snr_db = [20.0, 10.0]}
[hybrid.parameters]
n_centers = 100
n_candidates = 300
[gmm]
mixtures = [1, 2]
iterations = [6, 4]
variance_floor = 0.02
[tuning]
held_out = 0.2
scale_factors = [0.5, 1.0]
"""
_OTHER = b"""features = {sample_rate = 8000, n_filters = 10, n_cepstra = 4, high_hz = 3800.0}
hybrid_features = {context = 1, lda_dimension = 5}
[hybrid]
classifier = "mlp"
[hybrid.parameters]
hidden_layer_sizes = [32]
batch_size = 512
alpha = 0.001
learning_rate_init = 0.01
"""


@reader(
    "settings",
    {"all.toml": _everything(), "few.toml": _FEW, "other.toml": _OTHER},
    (spoil_toml, spoil_toml, spoil_text),
)
def use_settings(path: Path) -> None:
    """What `asr train` makes of its settings, on a moment of noise."""
    config = load_config(path)
    classifier_of(config.hybrid)
    check_same_static(config.features, config.hybrid_features)
    json.dumps(config.model_dump(mode="json"), allow_nan=False)  # as in the record of a run
    random = np.random.default_rng(config.seed)
    check_random_state(config.seed)
    signal = (1000 * random.standard_normal(config.features.sample_rate // 3)).astype(np.float32)
    static = mfcc(signal, config.features)
    if not len(static):
        return  # windows longer than the audio: an error of the audio, not of the settings
    table = FrameTable.from_utterances(["u"], ["s"], [static])
    _use_copies(config, signal, table)
    topology = Topology(("AH", "UW"), config.states_per_phone)
    uniform_self_loops(topology)
    _use_front_ends(config, table)
    grammar = arpa_grammar(estimate_ngram(_SENTENCES, config.ngram_order, vocabulary=LEXICON.words))
    compile_graph(LEXICON, grammar, topology)
    HybridAcousticModel(
        make_classifier("mlp", {}),
        9,
        prior_exponent=config.hybrid.prior_exponent,
        prior_floor=config.hybrid.prior_floor,
    ).set_priors(np.array([0, 0, 1, -1]))
    _use_searches(config)


def _use_copies(config: TrainingConfig, signal: np.ndarray, table: FrameTable) -> None:
    vtlp_warps = (0.9, 1.1) if config.hybrid.vtlp_warps == "auto" else config.hybrid.vtlp_warps
    if not np.isfinite(warped_copies(table, vtlp_warps, config.features).frames).all():
        raise Unsound(f"warped copies that are not finite: warps {str(vtlp_warps)[:100]}")
    rate = config.features.sample_rate
    for speed in config.hybrid.speed_perturb:
        if not np.isfinite(change_speed(signal, speed, rate)).all():
            raise Unsound(f"a copy at another speed that is not finite: {speed}")
    if config.hybrid.noise is not None:
        for level in config.hybrid.noise.snr_db:
            if not np.isfinite(mix_noise(signal, signal[::-1], level)).all():
                raise Unsound(f"a noisy copy that is not finite: {level} dB")
        with suppress(AsrError):  # the folder is missing
            read_noise(config.hybrid.noise.directory)


def _use_front_ends(config: TrainingConfig, table: FrameTable) -> None:
    labels = np.arange(table.n_frames) % 9
    for features in (config.features, config.hybrid_features):
        width = table.n_features * (features.delta_order + 1) * (2 * features.context + 1)
        if width > _WIDEST_LDA:
            features = features.model_copy(update={"lda_dimension": None})  # as slow as requested
        frames = FrontEnd(features).fit(table, labels).transform(table).frames
        if not np.isfinite(frames).all():
            raise Unsound(f"frames that are not finite: {features.normalize}, {features.context}")
        for n_components in (max(config.gmm.mixtures), config.hybrid.mixtures):
            if 0 < n_components <= 4:
                mixtures_of_states(
                    frames, labels, 9, n_components, iterations=1, variance_floor=config.gmm.variance_floor
                )
    if config.hybrid.mixtures > 1 << 20 or max(config.gmm.mixtures) > 1 << 20:
        raise Unsound(f"as many mixtures as nobody can train: {config.gmm.mixtures}, {config.hybrid.mixtures}")


@cache
def _prepared() -> tuple[PhoneHmm, np.ndarray, StateGraph]:
    model = mixtures()
    static = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    frames = model.front_end.transform(FrameTable.from_utterances("u", "s", [static])).frames
    graph = compile_graph(LEXICON, word_loop(LEXICON.words), model.hmm.topology)
    return model.hmm, model.hmm.log_likelihood(frames), graph


def _use_searches(config: TrainingConfig) -> None:
    hmm, scores, graph = _prepared()
    for search in (config.gmm_search, config.hybrid_search):
        search_words(hmm, scores, graph, search)
        for scale in config.tuning.scale_factors[:20]:
            for penalty in config.tuning.penalty_factors[:20]:
                tried = {"lm_scale": scale * search.lm_scale, "insertion_penalty": penalty * search.lm_scale}
                SearchSettings(**{**search.model_dump(), **tried})
