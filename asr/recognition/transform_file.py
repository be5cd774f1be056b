"""Files of speaker transforms, for reuse in later runs."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from asr.acoustic.acoustic_arrays import check_array
from asr.acoustic.fmllr import SpeakerMaps
from asr.acoustic.speaker_adaptive_training import SpeakerAdaptation
from asr.util.errors import ModelFormatError
from discriminants.logistic.affine_transform import AffineTransform
from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.util.errors import DiscriminantError
from discriminants.util.paths import exists

FORMAT = "hybrid-asr speaker maps 1"


def save_maps(path: Path, maps: SpeakerMaps, speakers: SpeakerAdaptation) -> None:
    """Write speaker transforms of a model's mixtures; equal transforms give equal bytes."""
    names = sorted(maps)
    n_features = speakers.front_end.n_features_
    arrays = {
        "matrices": np.array([maps[name].matrix for name in names]).reshape(-1, n_features, n_features),
        "offsets": np.array([maps[name].offset for name in names]).reshape(-1, n_features),
    }
    save_arrays(path, arrays, {"format": FORMAT, "speakers": names, "found by": speakers.digest})


def add_maps(path: Path, maps: SpeakerMaps, speakers: SpeakerAdaptation) -> None:
    """Add transforms to a file, safely with concurrent writers; its speakers keep their transforms."""
    with _locked(path.parent):
        known = load_maps(path, speakers) if exists(path) else {}
        save_maps(path, {**maps, **known}, speakers)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def load_maps(path: Path, speakers: SpeakerAdaptation) -> dict[str, AffineTransform]:
    """Read the file of `save_maps`.

    Raises
    ------
    ModelFormatError
        If the file is damaged, is not a transform file, or belongs to another model.
    """
    try:
        arrays, metadata = load_arrays(path)
    except DiscriminantError as error:
        raise ModelFormatError(str(error)) from error
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}. Expected {FORMAT!r}, a file of speaker transforms"
        )
    if metadata.get("found by") != speakers.digest:
        raise ModelFormatError(
            f"{path}: the speaker transforms are of another model, or not of the type {speakers.maps!r}. Use "
            "another file for this model"
        )
    names = metadata.get("speakers")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ModelFormatError(f"{path}: the speakers are not a list of different names")
    n_features = speakers.front_end.n_features_
    try:
        matrices, offsets = arrays["matrices"], arrays["offsets"]
        check_array("matrices", matrices, (len(names), n_features, n_features))
        check_array("offsets", offsets, (len(names), n_features))
    except (KeyError, ValueError) as error:
        raise ModelFormatError(f"{path}: the speaker transforms are inconsistent: {error}") from error
    return {
        name: AffineTransform(matrix, offset) for name, matrix, offset in zip(names, matrices, offsets, strict=True)
    }
