"""Model files and estimators: loaded, described, and made to score and to recognize."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from asr import align
from asr.acoustic.model_file import SpeechModel, load_model
from asr.cli.info import info
from asr.decode.graph_compiler import compile_graph
from asr.features.frame_table import FrameTable
from asr.grammar import arpa_grammar, word_loop
from asr.grammar.arpa_file import parse_arpa
from asr.hmm.tree_plot import tree_graph, tree_lines
from asr.lexicon import GraphemeToPhoneme, Lexicon
from asr.recognition.search import search_words
from asr.recognition.speaker_transforms import frames_of, load_maps, save_maps
from asr.util.errors import LexiconError
from discriminants.logistic.affine_transform import AffineTransform
from discriminants.serialization.persistence import estimator_from_arrays, load_arrays
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.field_mutators import spoil_fields
from tests.fuzz.mutators.model_mutators import spoil_model
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader
from tests.fuzz.readers.corpora import AUDIO
from tests.fuzz.valid_models import (
    ESTIMATORS,
    HYBRIDS,
    composite,
    estimator_bytes,
    fitted,
    hybrid,
    knowing_pauses,
    mapped,
    mixtures,
    model_bytes_of,
    tied_states,
    two_streams,
    warped,
)

MODEL = (spoil_model, spoil_model, spoil_model, spoil_bytes, spoil_fields)
_WIDEST = 10_000  # maximum number of columns of frames for estimators that need frames


def use_model(path: Path) -> None:
    """What `asr info` and `asr decode` do with a model."""
    for as_json in (False, True):
        printed = io.StringIO()
        with redirect_stdout(printed):
            info(model=path, as_json=as_json)
        odd = next((line for line in printed.getvalue().split("\n") if not line.isprintable()), None)
        if odd is not None:
            raise Unsound(f"a description that no terminal can show: {odd[:300]!r}")
    model = load_model(path)
    if model.hmm.topology.tying is not None:
        for form in (tree_lines, tree_graph):
            for line in form(model.hmm.topology):
                if not line.isprintable():
                    raise Unsound(f"a tree that no terminal can show: {line[:300]!r}")
    random = np.random.default_rng(0)
    front_end = model.front_end if model.speakers is None else model.speakers.front_end
    parts = [random.normal(size=(8, front_end.static_dimension_)).astype(np.float32) for _ in "uv"]
    static = FrameTable.from_utterances("uv", "st", parts)
    maps = {}
    if model.speakers is not None:
        states = np.arange(static.n_frames, dtype=np.int32) % model.hmm.topology.n_states
        maps = model.speakers.of_states(static, states)
    frames = frames_of(model, static, maps)
    if np.isnan(frames.frames).any():
        raise Unsound("frames that are not numbers")
    scores = model.hmm.recording_scores(frames.frames)
    if scores.shape != (len(frames.frames), model.hmm.topology.n_states) or scores.dtype != np.float32:
        raise Unsound(f"scores that are {scores.dtype} of shape {scores.shape}")
    if np.isnan(scores).any():
        raise Unsound("scores that are not numbers")
    words = model.lexicon.words
    grammar = word_loop(words)
    if model.arpa is not None:
        grammar = arpa_grammar(parse_arpa(model.arpa.splitlines(), "the model's own grammar"), words)
    graph = compile_graph(model.lexicon, grammar, model.hmm.topology)
    search_words(model.hmm, scores[:8], graph, model.search)


MODELS: dict[str, dict[str, Callable[[], SpeechModel]]] = {
    **{f"model-{name}": {name: lambda make=make: hybrid(make())} for name, make in HYBRIDS.items()},
    "model-gmm": {"gmm": mixtures, "pauses": knowing_pauses},
    "model-tied-states": {"tied": tied_states},
    "model-two-streams": {"two": two_streams},
    "model-mapped": {"mapped": mapped, "warped": warped},
    "model-composite": {"streams": composite},
}


def _model_seeds(reader_name: str, folder: Path) -> Seeds:
    return {f"{name}.safetensors": model_bytes_of(make(), folder) for name, make in MODELS[reader_name].items()}


for _name in MODELS:
    reader(_name, partial(_model_seeds, _name), MODEL)(use_model)


def _map_file_seeds(folder: Path) -> Seeds:
    speakers = mapped().speakers
    assert speakers is not None
    n_features = speakers.front_end.n_features_
    maps = {
        name: AffineTransform(scale * np.eye(n_features), np.ones(n_features)) for scale, name in enumerate("ab", 1)
    }
    save_maps(folder / "maps", maps, speakers)
    return {"maps.safetensors": (folder / "maps").read_bytes()}


@reader("speaker-maps", _map_file_seeds, MODEL)
def _use_map_file(path: Path) -> None:
    """Map a frame of every speaker."""
    speakers = mapped().speakers
    assert speakers is not None
    frames = np.ones((1, speakers.front_end.n_features_), np.float32)
    for frame_map in load_maps(path, speakers).values():
        if np.isnan(frame_map(frames)).any():
            raise Unsound("a mapped frame that is not a number")


def use_estimator(path: Path) -> None:
    """Predict, if it was fitted, with frames of the width that the estimator names."""
    estimator = estimator_from_arrays(*load_arrays(path))
    if not hasattr(estimator, "fit"):
        return  # a kernel
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return  # untrained models can be stored too, and report it
    width = getattr(estimator, "n_features_in_", 3)
    width = width if isinstance(width, int | np.integer) and 0 < width <= _WIDEST else 3
    X = np.random.default_rng(2).normal(size=(5, width)).astype(np.float32)
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        if hasattr(estimator, method):
            _check_output(method, getattr(estimator, method)(X))


def _check_output(method: str, output: Any) -> None:
    output = np.asarray(output)
    if output.shape[:1] != (5,):
        raise Unsound(f"{method} does not give five rows for five samples: shape {output.shape}")
    if output.dtype.kind == "f" and np.isnan(output).any():
        raise Unsound(f"{method} gives what is not a number")


def _estimator_seeds(group: str, folder: Path) -> Seeds:
    return {f"{name}.safetensors": estimator_bytes(fitted(make), folder) for name, make in ESTIMATORS[group].items()}


for _group in ESTIMATORS:
    reader(f"estimator-{_group}", partial(_estimator_seeds, _group), MODEL)(use_estimator)


def _command_seeds(folder: Path) -> Seeds:
    said = {"train/text": b"utt1 ONE\nutt2 ONE\nutt3 TWO\n"}
    return {**AUDIO, **said, "lexicon.txt": b"ONE AH\nTWO UW AH\n", **_model_seeds("model-gmm", folder)}


@reader(
    "align-command",
    _command_seeds,
    (spoil_text, spoil_text, spoil_bytes),
    tree=True,
    targets=("train/utt2spk", "train/text", "train/segments", "lexicon.txt"),
    writes=True,
    renames=True,
)
def _align(folder: Path) -> None:
    align(
        folder / "gmm.safetensors", folder / "train", folder / "out", lexicon=folder / "lexicon.txt", formats="textgrid"
    )
    with np.load(folder / "out" / "states.npz", allow_pickle=False) as states:
        n_states = sum(states[name].size > 0 for name in states.files)
    lines = {line.split()[0] for line in (folder / "out" / "words.ctm").read_text(encoding="utf-8").splitlines()}
    if n_states != len(lines):
        raise Unsound(f"states.npz has {n_states} utterances and words.ctm {len(lines)}")


def converter(folder: Path) -> Seeds:
    """A converter from letters to phones, of a few words."""
    words = ("bat", "tab", "tax", "axe")
    lexicon = Lexicon({word: (tuple(word.upper().replace("X", "KS")),) for word in words})
    GraphemeToPhoneme.train(lexicon, order=3).save(folder / "g2p.safetensors")
    return {"g2p.safetensors": (folder / "g2p.safetensors").read_bytes()}


@reader("grapheme-to-phoneme", converter, MODEL)
def _converter(path: Path) -> None:
    model = GraphemeToPhoneme.load(path)
    with suppress(LexiconError):
        for phones, probability in model.pronounce("".join(model.letters[:5]), 3):
            if not phones or not 0 <= probability <= 1:
                raise Unsound("a pronunciation without phones or probability")
