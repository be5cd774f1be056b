"""Data directories of frames that a program gives as arrays."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from asr.corpus.data_directory import DataDirectory, read_data_directory
from asr.corpus.feature_values import MAX_FEATURE
from asr.corpus.kaldi_ark import write_archive
from asr.corpus.list_file import read_list
from asr.util.errors import FeatureError, Issue, attempt
from discriminants.util.paths import exists

LOWEST_SCORE = -1e7
"""Replaces minus infinity in logarithms."""
_LISTS = ("utt2spk", "text", "spk2gender")


def frame_matrix(frames: Any, n_columns: int | None = None) -> np.ndarray:
    """Return frames as float32 (n_frames, n_features).

    Raises FeatureError for another shape, no frames, or values that are not finite or exceed 1e8. With `n_columns`,
    frames are state scores: there must be a column for each state, and minus infinity is permitted.
    """
    try:
        matrix = np.ascontiguousarray(frames, np.float32)
    except (TypeError, ValueError) as error:
        raise FeatureError(f"the frames are not numbers ({error}). Expected (n_frames, n_features)") from error
    if matrix.ndim != 2 or not matrix.size:
        raise FeatureError(f"the frames have shape {matrix.shape}. Expected (n_frames, n_features)")
    if n_columns is not None:
        matrix = np.maximum(matrix, np.float32(LOWEST_SCORE))
        if matrix.shape[1] != n_columns:
            reason = f"the scores have {matrix.shape[1]} columns. Expected {n_columns}, the model's states"
            raise FeatureError(reason, code="other-dimension")
    if not np.isfinite(matrix).all():
        raise FeatureError("the frames have values that are not finite", code="not-finite")
    largest = float(np.abs(matrix).max())
    if largest > MAX_FEATURE:
        reason = f"the frames have values up to {largest:g}. Expected at most {MAX_FEATURE:g}"
        raise FeatureError(reason, code="out-of-range")
    return matrix


@contextmanager
def directory_with_frames(
    data: Path, frames: Mapping[str, Any], n_columns: int | None = None
) -> Iterator[DataDirectory]:
    """Yield a temporary copy of a data directory with these frames instead of audio.

    `frames` has an array (n_frames, n_features) for each utterance id. Its `problems` list the arrays that
    `frame_matrix` refuses, and the utterances of `text` without frames. Without `utt2spk`, each utterance is its own
    speaker. Equal frames give equal digests (`DataDirectory.digest`). Raises CorpusError for an id with white space.
    """
    matrices: dict[str, np.ndarray] = {}
    problems: dict[str, Issue] = {}
    digest = hashlib.sha256()
    for name in sorted(frames):
        matrix = attempt(frame_matrix, frames[name], n_columns)
        if isinstance(matrix, Issue):
            problems[name] = matrix.for_utterance(name)
        else:
            matrices[name] = matrix
            digest.update(f"{name} {matrix.shape}\n".encode() + matrix.tobytes())
    with TemporaryDirectory(prefix="asr-frames-") as folder:
        copy = Path(folder) / data.absolute().name
        copy.mkdir()
        for kind in filter(lambda kind: exists(data / kind), _LISTS):
            entries = read_list(data / kind, allow_empty=True)
            if kind == "text":
                missing = Issue("no-features", "has a transcript, but no array in frames=")
                problems |= {name: missing.for_utterance(name) for name in entries if name not in frames}
            lines = [f"{name} {entry.value}\n" for name, entry in entries.items() if name not in problems]
            (copy / kind).write_text("".join(lines), encoding="utf-8")
        found = DataDirectory(data, ())
        if matrices:
            write_archive(copy / f"frames-{digest.hexdigest()[:16]}.ark", copy / "feats.scp", matrices.items())
            found = read_data_directory(copy, needs_speakers=False)
        yield replace(found, problems=(*found.problems, *problems.values()))
