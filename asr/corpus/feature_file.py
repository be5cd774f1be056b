"""The features of an utterance, in whichever of the formats its file is."""

from pathlib import Path

import numpy as np

from asr.corpus.kaldi_ark import read_matrix
from asr.corpus.sphinx_features import read_sphinx_features

SPHINX_SUFFIX = ".mfc"


def read_features(path: Path | str, offset: int = 0) -> np.ndarray:
    """Features stored in `path`: float32 (n_frames, n_columns), C-contiguous.

    A file named `.mfc`, in either letter case, is a Sphinx feature file of 13 coefficients a frame, which has no
    parts; any other, or one with an `offset`, a Kaldi archive with a matrix at that byte. Raises CorpusError as the
    reader of the format does.
    """
    if offset == 0 and Path(path).suffix.lower() == SPHINX_SUFFIX:
        return read_sphinx_features(path)
    return read_matrix(path, offset)
