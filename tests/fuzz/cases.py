"""Inputs that once failed and are too large to keep, or depend on how models are written: made when they are replayed.

Whatever fits a small file is one: `regressions/READER/SEED@WHAT`.
"""

import copy
import gzip
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tests.fuzz.inputs import Input
from tests.fuzz.mutators.model_mutators import Arrays, model_bytes, model_parts
from tests.fuzz.reader import Seeds

_GIB = 1 << 30
_CHECKPOINT_ARRAYS = 12  # about the real number; after these it starts again


@dataclass(frozen=True)
class Case:
    """What stands in place of the valid input `seed` of a reader; `make` gets that reader's valid inputs.

    What is harmful must be refused, though it may seem to work: native code reads past the end of an array.
    """

    reader: str
    seed: str
    name: str
    make: Callable[[Seeds], bytes]
    is_harmful: bool = False

    def input(self, seeds: Seeds) -> Input:
        """The input."""
        return Input(self.seed, self.make(seeds), self.name if self.is_harmful else "")


def all_cases() -> Iterator[Case]:
    """Every case; a reader's stand in the order in which they are replayed."""
    yield Case("audio-wav", "pcm16.wav", "claims 1 Hz, 320 million samples at 16 kHz", lambda seeds: wav_of_1_hertz())
    yield Case("lexicon", "x.gz", "gzip that would become 4 GiB", lambda seeds: gzip_bomb(4 * _GIB))
    yield Case("arpa", "packed.arpa.gz", "gzip that would become 4 GiB", lambda seeds: gzip_bomb(4 * _GIB))
    for reader, seed in (
        ("list-utt2spk", "train/utt2spk"), ("list-text", "train/text"), ("list-wav.scp", "train/wav.scp"),
        ("list-segments", "train/segments"), ("list-spk2gender", "train/spk2gender"), ("ctm", "words.ctm"),
        ("list-feats.scp", "train/feats.scp"), ("transcripts", "ref"), ("transcripts-trn", "ref.trn"),
        ("stm", "ref.stm"), ("alternatives", "ref.trn"), ("fold-map", "phones.map"),
        ("lexicon", "kaldi.txt"), ("lexicon", "cmu.dict"), ("lexicon", "htk.dict"), ("arpa", "plain.arpa"),
        ("word-pair", "plain.wp"), ("word-network", "nodes.slf"), ("hparse", "plain.gram"),
        ("settings", "few.toml"), ("noise-list", "noise.scp"),
        ("run-directory", "run.json"),
    ):  # fmt: skip
        yield Case(reader, seed, "a word of 600 kB", partial(_with_end, seed, b"x" * 600_000 + b"\n"))
        yield Case(reader, seed, "a line of 300,000 words", partial(_with_end, seed, b"x " * 300_000 + b"\n"))
        yield Case(reader, seed, "200,000 brackets", partial(_with_end, seed, b"[" * 200_000 + b"\n"))
    for n_words in (1_000, 100_000):
        name = f"a sentence of {n_words} words"
        yield Case("sentence-list", "sentences.txt", name, partial(_with_end, "sentences.txt", b"ONE " * n_words))
    for number in range(_CHECKPOINT_ARRAYS):
        for name, change in (("missing", _without), ("of another shape", _longer)):
            for seed in ("fit", "fit.whitening"):
                texts = f"array {number} of a checkpoint {name}"
                yield Case("checkpoint-content", seed, texts, partial(_changed, seed, partial(change, number)))
    for changes, harmful in ((_BOMBS, False), (_MISFITS, True)):
        for reader, seed, name, change in changes:
            yield Case(reader, f"{seed}.safetensors", name, partial(_changed, f"{seed}.safetensors", change), harmful)


def wav_of_1_hertz(n_bytes: int = 20_000) -> bytes:
    """A mono WAV file of 16-bit samples whose header says that there is one a second."""
    form = struct.pack("<HHIIHH", 1, 1, 1, 2, 2, 16)
    parts = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", n_bytes) + bytes(n_bytes)
    return b"RIFF" + struct.pack("<I", len(parts)) + parts


def gzip_bomb(size: int, piece: int = 1 << 26) -> bytes:
    """Members of a gzip file that become `size` bytes, a thousand times its own."""
    return gzip.compress(b"A B\n" * (piece // 4), mtime=0) * (size // piece)


def _with_end(seed: str, end: bytes, seeds: Seeds) -> bytes:
    return seeds[seed] + end


def _changed(seed: str, change: Callable[[Arrays, Any], None], seeds: Seeds) -> bytes:
    arrays, metadata = model_parts(seeds[seed])
    arrays, metadata = dict(arrays), copy.deepcopy(metadata)
    change(arrays, metadata)
    return model_bytes(arrays, metadata)


def _set(keys: str, value: Any, arrays: Arrays, metadata: Any) -> None:
    """Change the metadata at these keys, which dots separate."""
    *outer, last = keys.split(".")
    for key in outer:
        metadata = metadata[key]
    metadata[last] = value


def _resize(part: str, axis: int, length: int, arrays: Arrays, metadata: Any) -> None:
    """Repeat or cut the arrays that have `part` in their name along an axis."""
    names = [name for name in arrays if part in name and arrays[name].ndim > axis]
    assert names, f"no array has {part!r} in its name: {sorted(arrays)}"
    for name in names:
        array = arrays[name]
        arrays[name] = np.take(array, np.arange(length) % array.shape[axis], axis=axis)


def _without(number: int, arrays: Arrays, metadata: Any) -> None:
    """Leave one array out."""
    del arrays[sorted(arrays)[number % len(arrays)]]


def _longer(number: int, arrays: Arrays, metadata: Any) -> None:
    """Give one array another dimension."""
    name = sorted(arrays)[number % len(arrays)]
    arrays[name] = np.repeat(arrays[name][None], 50, axis=0)


def _cast(name: str, dtype: str, arrays: Arrays, metadata: Any) -> None:
    """Store one array in another type."""
    arrays[name] = arrays[name].astype(dtype)


def _attribute(name: str, value: Any, arrays: Arrays, metadata: Any) -> None:
    """Change or add a learned attribute of the classifier."""
    attributes = metadata["classifier"]["estimator"][3]
    attributes[:] = [pair for pair in attributes if pair[0] != name] + [[name, value]]


def _bagging(arrays: Arrays, metadata: Any) -> None:
    """The classifier in a BaggingClassifier that wants six processes to predict."""
    inner = metadata["classifier"]["estimator"]
    attributes = dict(inner[3])
    arrays["classifier.features"] = np.arange(4)
    several = 8
    metadata["classifier"]["estimator"] = [
        "estimator",
        "sklearn.ensemble._bagging:BaggingClassifier",
        [["n_estimators", several], ["n_jobs", 6]],
        [
            ["classes_", attributes["classes_"]],
            ["estimators_", ["list", [inner] * several]],
            ["estimators_features_", ["list", [["array", "classifier.features"]] * several]],
            ["n_classes_", 9],
            ["n_features_in_", 4],
        ],
    ]


_BOMB = ["scalar", "V8", 2_000_000_000]
_TEXT_BOMB = ["text array", "classifier.LogisticRegression.coef_", "U2000000000"]
_GRAMMAR = (
    "\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-99 <s> 1e39\n-1 </s>\n-1 ONE 1e39\n-1 TWO\n\n"
    "\\2-grams:\n-1 <s> ONE\n\n\\end\\\n"
)
_Changes = tuple[tuple[str, str, str, Callable[[Arrays, Any], None]], ...]
_BOMBS: _Changes = (
    ("model-logistic", "logistic", "a scalar of 2 GB", partial(_attribute, "n_iter_", _BOMB)),
    ("model-mlp", "mlp", "a scalar of 2 GB", partial(_attribute, "t_", _BOMB)),
    ("model-logistic", "logistic", "an array of text of 8 GB", partial(_attribute, "x_", _TEXT_BOMB)),
    ("model-logistic", "logistic", "bagging in six processes", _bagging),
    ("model-logistic", "logistic", "a number of 5,000 digits", partial(_attribute, "n_iter_", 10**5000)),
    ("model-gmm", "gmm", "10^9 static columns", partial(_set, "front_end.static_dimension", 10**9)),
    ("model-gmm", "gmm", "10^9 frames of context", partial(_set, "front_end.config.context", 10**9)),
    ("model-gmm", "gmm", "10^6 frames of context", partial(_set, "front_end.config.context", 10**6)),
    ("model-gmm", "gmm", "differences over 10^9 frames", partial(_set, "front_end.config.delta_window", 10**9)),
    ("model-gmm", "gmm", "differences over 10^6 frames", partial(_set, "front_end.config.delta_window", 10**6)),
    ("model-gmm", "gmm", "10^9 states a phone", partial(_set, "states_per_phone", 10**9)),
    ("model-gmm", "gmm", "10^7 states a phone", partial(_set, "states_per_phone", 10**7)),
    ("model-gmm", "gmm", "escapes in the front end's settings", partial(_set, "front_end.config.energy", "\x1b[2J")),
    ("model-gmm", "gmm", "durations in 16 bits", partial(_cast, "self_loops", "<f2")),
    ("model-logistic", "logistic", "durations in 16 bits", partial(_cast, "self_loops", "<f2")),
    ("model-gmm", "gmm", "means in 16 bits", partial(_cast, "gmm.means", "<f2")),
    ("model-logistic", "logistic", "priors in 16 bits", partial(_cast, "log_priors", "<f2")),
    ("model-gmm", "gmm", "a grammar with back-off 1e39", partial(_set, "arpa", _GRAMMAR)),
)  # fmt: skip
_MISFITS: _Changes = (
    ("model-laplacian", "laplacian", "centres of two columns", partial(_resize, "basis_centers", 1, 2)),
    ("model-laplacian", "laplacian", "centres of 500 columns", partial(_resize, "basis_centers", 1, 500)),
    ("estimator-kernels", "laplacian", "centres of two columns", partial(_resize, "basis_centers", 1, 2)),
    ("estimator-kernels", "gaussian", "centres of two columns", partial(_resize, "basis_centers", 1, 2)),
    ("estimator-kernels", "compact_gaussian", "centres of two columns", partial(_resize, "basis_centers", 1, 2)),
    ("model-svc", "svc", "three support vectors", partial(_resize, "support_vectors_", 0, 3)),
    ("model-svc", "svc", "5,000 columns of support vectors", partial(_resize, "support_vectors_", 1, 5000)),
    ("model-svc", "svc", "one coefficient a support vector", partial(_resize, "dual_coef_", 0, 1)),
    ("model-svc", "svc", "two numbers of support vectors", partial(_resize, "n_support", 0, 2)),
    ("estimator-sklearn", "svc", "three support vectors", partial(_resize, "support_vectors_", 0, 3)),
    ("model-knn", "knn", "three samples", partial(_resize, "_fit_X", 0, 3)),
    ("model-knn", "knn", "5,000 columns", partial(_resize, "_fit_X", 1, 5000)),
    ("estimator-sklearn", "knn", "two samples", partial(_resize, "_fit_X", 0, 2)),
)  # fmt: skip
