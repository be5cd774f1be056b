"""A sample of the utterances that a model was trained on, by which it is seen that speech is not held out.

Kept are the smallest digests (min-wise sampling, Broder 1997): whatever part of the training is given again has its
share of them. So a model file grows by some kilobytes at most, however much speech it was trained on.
"""

import hashlib
import json

import numpy as np

from asr.acoustic.model_metadata import SAMPLED_UTTERANCES, Provenance
from asr.training.dataset import Dataset

_DIGEST_BYTES = 6  # a thousand other utterances have one of the sample by chance once in a billion times


def training_sample(dataset: Dataset) -> list[int]:
    """Digests of at most `SAMPLED_UTTERANCES` utterances, sorted: all of them where there are no more."""
    return sorted(_digests(dataset).values())[:SAMPLED_UTTERANCES]


def trained_utterances(trained_on: Provenance | None, dataset: Dataset) -> list[str]:
    """Utterances of the material that are in the sample of a model's training; none where the model has no sample."""
    sample = frozenset(() if trained_on is None else trained_on.sample)
    return [name for name, digest in _digests(dataset).items() if digest in sample]


def _digests(dataset: Dataset) -> dict[str, int]:
    """A number for every utterance, by its name, words and number of frames."""
    frames = np.diff(dataset.static.offsets).tolist()
    found = {}
    for (name, words), n_frames in zip(dataset.references.items(), frames, strict=True):
        content = json.dumps([name, words, n_frames], ensure_ascii=False).encode()
        found[name] = int.from_bytes(hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest())
    return found
