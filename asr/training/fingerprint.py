"""Sample of the training utterances, stored in a model to detect speech that is not held out.

It keeps the smallest hash values (min-wise sampling, Broder 1997), so any subset of the training data is represented in
proportion. It adds a few kilobytes to a model file for any amount of speech.
"""

import hashlib
import json

import numpy as np

from asr.acoustic.model_metadata import SAMPLED_UTTERANCES, Provenance
from asr.training.dataset import Dataset

_DIGEST_BYTES = 6  # chance of a match between the sample and 1000 other utterances: about 1e-9


def training_sample(dataset: Dataset) -> list[int]:
    """Return the sorted hash values of at most `SAMPLED_UTTERANCES` utterances."""
    return sorted(_digests(dataset).values())[:SAMPLED_UTTERANCES]


def trained_utterances(trained_on: Provenance | None, dataset: Dataset) -> list[str]:
    """Return the utterances that are in the sample of a model's training data; none without a sample."""
    sample = frozenset(() if trained_on is None else trained_on.sample)
    return [name for name, digest in _digests(dataset).items() if digest in sample]


def _digests(dataset: Dataset) -> dict[str, int]:
    """Return a hash of each utterance's name, words and number of frames."""
    frames = np.diff(dataset.static.offsets).tolist()
    found = {}
    for (name, words), n_frames in zip(dataset.references.items(), frames, strict=True):
        content = json.dumps([name, words, n_frames], ensure_ascii=False).encode()
        found[name] = int.from_bytes(hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest())
    return found
