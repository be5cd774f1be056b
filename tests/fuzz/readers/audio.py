"""Audio files, Kaldi archives, feature files of Sphinx and HTK."""

import struct
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from asr.corpus.audio import read_audio
from asr.corpus.data_directory import Utterance
from asr.corpus.given_frames import frame_matrix
from asr.corpus.htk_parameters import ParameterHeader, read_parameters, write_parameters
from asr.corpus.kaldi_ark import read_matrix
from asr.corpus.matrix_files import read_matrices
from asr.corpus.sphinx_features import read_sphinx_features
from asr.features.config import FeatureConfig
from asr.features.extraction import static_features
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from recipes.rm1.sphere import sphere_bytes
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.field_mutators import spoil_fields
from tests.fuzz.mutators.npz_mutators import npz_bytes, spoil_npz
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader
from tests.fuzz.readers.corpora import CONFIG, RATE, wav
from tests.fuzz.valid_models import mixtures, training

BINARY = (spoil_bytes, spoil_fields, spoil_fields)


def _read(path: Path) -> None:
    """At the model's rate and at another, whole and in part."""
    for rate, start, end in ((RATE, None, None), (16000, 0.01, 0.04)):
        samples = read_audio(path, rate=rate, start=start, end=end)
        if samples.dtype != np.float32 or samples.ndim != 1 or not np.isfinite(samples).all():
            raise Unsound(f"samples of shape {samples.shape} that are not all finite float32")
    static = static_features(Utterance("u", "s", None, audio=path), CONFIG)
    if not np.isfinite(static).all():
        raise Unsound("static features that are not finite")


def _stereo() -> bytes:
    """Two channels: the header of a mono file told so, over the same samples."""
    content = bytearray(wav())
    content[22:24], content[32:34] = (2).to_bytes(2, "little"), (4).to_bytes(2, "little")
    return bytes(content)


reader(
    "audio-wav",
    {
        "pcm16.wav": wav(),
        "stereo.wav": _stereo(),
        "pcm24.wav": wav(subtype="PCM_24"),
        "float.wav": wav(subtype="FLOAT"),
        "double.wav": wav(subtype="DOUBLE"),
        "wide.wav": wav(format="WAVEX", rate=44100),
    },
    BINARY,
)(_read)
reader("audio-flac", {"x.flac": wav(format="FLAC")}, BINARY)(_read)
_SPHERE = sphere_bytes((1000 * np.random.default_rng(5).standard_normal(480)).astype(np.int16), RATE)
reader("audio-sphere", {"x.sph": _SPHERE}, (*BINARY, spoil_text, spoil_text))(_read)


def matrix(token: bytes, rows: int = 6, columns: int = 5) -> bytes:
    """A matrix of every type that Kaldi writes."""
    random = np.random.default_rng(6)
    if token in (b"FM", b"DM"):
        values = random.normal(size=(rows, columns)).astype("<f4" if token == b"FM" else "<f8")
        return b"\0B" + token + b" " + struct.pack("<bibi", 4, rows, 4, columns) + values.tobytes()
    header = b"\0B" + token + b" " + struct.pack("<ffii", -2.0, 5.0, rows, columns)
    if token == b"CM":
        points = np.sort(random.integers(0, 65536, (columns, 4)).astype("<u2"), axis=1)
        return header + points.tobytes() + random.integers(0, 256, (columns, rows)).astype("u1").tobytes()
    dtype = "<u2" if token == b"CM2" else "u1"
    return header + random.integers(0, np.iinfo(dtype).max, (rows, columns)).astype(dtype).tobytes()


_FRAMES = FeatureConfig(normalize="speaker", context=1)


def cepstra(order: str) -> bytes:
    """A Sphinx feature file of either byte order."""
    values = np.random.default_rng(7).normal(size=(6, 13)).astype(f"{order}f4")
    return struct.pack(f"{order}i", values.size) + values.tobytes()


def _use(found: np.ndarray) -> None:
    """Frames of what was read, normalized in each way, and their scores where a model is for as many columns."""
    if found.dtype != np.float32 or found.ndim != 2 or not np.isfinite(found).all():
        raise Unsound(f"a matrix of shape {found.shape} that is not all finite float32")
    table = FrameTable.from_utterances(["u"], ["s"], [found])
    for normalize in ("corpus", "utterance"):
        front_end = FrontEnd(_FRAMES.model_copy(update={"normalize": normalize})).fit(table)
        with np.errstate(all="ignore"):
            frames = front_end.transform(table).frames
        if not np.isfinite(frames).all():
            raise Unsound(f"frames per {normalize} that are not finite: values up to {np.abs(found).max():g}")
    if found.shape[1] == training()[0].n_features:
        _score(table)


_TOKENS = (b"FM", b"DM", b"CM", b"CM2", b"CM3")
reader("kaldi-archive", {token.decode(): matrix(token) for token in _TOKENS}, BINARY)(
    lambda path: _use(read_matrix(path))
)
_GIVEN = {
    "given.ark": b"u1 " + matrix(b"FM") + b"u2 " + matrix(b"CM"),
    "given.npz": npz_bytes({"u1": np.eye(3), "u2": np.eye(3, dtype=np.float32)[:2]}),
}
reader("given-matrices", _GIVEN, (*BINARY, spoil_npz))(
    lambda path: [_use(frame_matrix(own)) for own in read_matrices(path).values()]
)
reader("sphinx-features", {"big.mfc": cepstra(">"), "little.mfc": cepstra("<")}, BINARY)(
    lambda path: _use(read_sphinx_features(path))
)


def _parameters(folder: Path) -> Seeds:
    """Every way of storing frames, in both orders of bytes."""
    frames = np.random.default_rng(8).uniform(-1, 1, (6, 5)).astype(np.float32)
    for kind in ("MFCC_E_D_A", "IREFC"):
        for compressed, checked, little_endian in product((False, True), repeat=3):
            header = ParameterHeader(kind, 0.01, compressed, checked, little_endian)
            write_parameters(folder / f"{kind}{compressed:d}{checked:d}{little_endian:d}", frames, header)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@reader("htk-parameters", _parameters, BINARY)
def _htk_parameters(path: Path) -> None:
    frames, header = read_parameters(path)
    if frames.dtype != np.float32 or frames.ndim != 2 or not frames.size or not np.isfinite(frames).all():
        raise Unsound(f"frames of shape {frames.shape} that are not all finite float32")
    if np.abs(frames).max() > 1:  # codes from elsewhere
        header = replace(header, kind=header.kind.replace("IREFC", "LPREFC"))
    again = path.with_name("again")
    write_parameters(again, frames, header)
    found, found_header = read_parameters(again)
    if found.shape != frames.shape or found_header != header:
        raise Unsound(f"{header} with frames of shape {frames.shape} read again as {found_header}, {found.shape}")


_scorer = cache(mixtures)


def _score(table: FrameTable) -> None:
    """Under a model of other utterances."""
    model = _scorer()
    with np.errstate(all="ignore"):
        scores = model.hmm.log_likelihood(model.front_end.transform(table).frames)
    if np.isnan(scores).any():
        raise Unsound(f"scores that are not numbers: values up to {np.abs(table.frames).max():g}")
