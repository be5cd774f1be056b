"""Data directories of frames that a program gives as arrays."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from asr.corpus.kaldi_ark import write_archive
from asr.util.errors import FeatureError
from discriminants.util.paths import exists

LOWEST_SCORE = -1e7
"""Replaces minus infinity in logarithms."""
_LISTS = ("utt2spk", "text", "spk2gender")


def frame_matrix(frames: Any, source: str, n_columns: int | None = None) -> np.ndarray:
    """Return frames as float32 (n_frames, n_features).

    Raises FeatureError, with `source`, for another shape, no frames, or values that are not finite numbers. With
    `n_columns`, frames are state scores: there must be a column for each state, and minus infinity is permitted.
    """
    try:
        matrix = np.ascontiguousarray(frames, np.float32)
    except (TypeError, ValueError) as error:
        raise FeatureError(
            f"{source}: the frames are not numbers ({error}). Expected (n_frames, n_features)"
        ) from error
    if matrix.ndim != 2 or not matrix.size:
        raise FeatureError(f"{source}: the frames have shape {matrix.shape}. Expected (n_frames, n_features)")
    if n_columns is not None:
        matrix = np.maximum(matrix, np.float32(LOWEST_SCORE))
        if matrix.shape[1] != n_columns:
            reason = f"{source}: the scores have {matrix.shape[1]} columns. Expected {n_columns}, the model's states"
            raise FeatureError(reason, code="other-dimension")
    if not np.isfinite(matrix).all():
        raise FeatureError(f"{source}: the frames have values that are not finite", code="not-finite")
    return matrix


@contextmanager
def directory_with_frames(data: Path, frames: Mapping[str, Any] | None, n_columns: int | None = None) -> Iterator[Path]:
    """Yield a temporary copy of a data directory with these frames instead of audio; `data` itself without frames.

    `frames` has an array (n_frames, n_features) for each utterance id. Equal frames give equal digests
    (`DataDirectory.digest`). Raises FeatureError as `frame_matrix` does, and CorpusError for an id with white space.
    """
    if frames is None:
        yield data
        return
    digest = hashlib.sha256()
    with TemporaryDirectory(prefix="asr-frames-") as folder:
        copy = Path(folder) / data.absolute().name
        copy.mkdir()
        for name in filter(lambda name: exists(data / name), _LISTS):
            (copy / name).write_bytes((data / name).read_bytes())
        matrices = {name: frame_matrix(frames[name], name, n_columns) for name in sorted(frames)}
        for name, matrix in matrices.items():
            digest.update(f"{name} {matrix.shape}\n".encode() + matrix.tobytes())
        write_archive(copy / f"frames-{digest.hexdigest()[:16]}.ark", copy / "feats.scp", matrices.items())
        yield copy
