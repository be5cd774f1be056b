"""Features of an utterance, in any supported format."""

from pathlib import Path

import numpy as np

from asr.corpus.kaldi_ark import read_matrix
from asr.corpus.sphinx_features import read_sphinx_features

SPHINX_SUFFIX = ".mfc"


def read_features(path: Path | str, offset: int = 0) -> np.ndarray:
    """Read the features in `path`: float32 (n_frames, n_columns), C-contiguous.

    A file named `.mfc` (any letter case) without `offset` is a Sphinx feature file with 13 coefficients per frame.
    Other files are Kaldi archives with a matrix at that byte. Raises CorpusError like the format's reader.
    """
    if offset == 0 and Path(path).suffix.lower() == SPHINX_SUFFIX:
        return read_sphinx_features(path)
    return read_matrix(path, offset)
