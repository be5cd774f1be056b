"""Audio files, Kaldi archives, feature files of Sphinx and HTK."""

import struct
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from asr.corpus.audio import read_audio
from asr.corpus.data_directory import Utterance
from asr.corpus.htk_parameters import ParameterHeader, read_parameters, write_parameters
from asr.corpus.kaldi_ark import read_matrix
from asr.corpus.sphinx_features import read_sphinx_features
from asr.features.config import FeatureConfig
from asr.features.extraction import static_features
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.field_mutators import spoil_fields
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader
from tests.fuzz.readers.corpora import CONFIG, RATE, wav
from tests.fuzz.valid_models import CONFIG as MODEL_CONFIG
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


def sphere(coding: str = "pcm", n_samples: int = 480) -> bytes:
    """NIST SPHERE, 16 bit, little-endian."""
    samples = (1000 * np.random.default_rng(5).standard_normal(n_samples)).astype("<i2")
    lines = [
        "NIST_1A", "   1024", "sample_rate -i 8000", f"sample_count -i {n_samples}", "sample_n_bytes -i 2",
        "sample_byte_format -s2 01", "sample_sig_bits -i 16", "channel_count -i 1",
        f"sample_coding -s{len(coding)} {coding}", "end_head",
    ]  # fmt: skip
    return "".join(f"{line}\n" for line in lines).encode().ljust(1024) + samples.tobytes()


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
reader("audio-sphere", {"x.sph": sphere()}, (*BINARY, spoil_text, spoil_text))(_read)


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


@reader("kaldi-archive", {token.decode(): matrix(token) for token in (b"FM", b"DM", b"CM", b"CM2", b"CM3")}, BINARY)
def _archive(path: Path) -> None:
    _use(read_matrix(path))


def cepstra(order: str) -> bytes:
    """A Sphinx feature file of either byte order."""
    values = np.random.default_rng(7).normal(size=(6, 13)).astype(f"{order}f4")
    return struct.pack(f"{order}i", values.size) + values.tobytes()


@reader("sphinx-features", {"big.mfc": cepstra(">"), "little.mfc": cepstra("<")}, BINARY)
def _sphinx(path: Path) -> None:
    _use(read_sphinx_features(path))


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
            raise Unsound(
                f"frames that are not finite, normalized per {normalize}: values up to {np.abs(found).max():g}"
            )
    if found.shape[1] == training()[0].n_features:
        _score(table)


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


_scorer: list[tuple[FrontEnd, object]] = []


def _score(table: FrameTable) -> None:
    """Under a model of other utterances."""
    if not _scorer:
        model = mixtures()
        _scorer.append((model.front_end, model.hmm))
    front_end, hmm = _scorer[0]
    assert front_end.config.sample_rate == MODEL_CONFIG.sample_rate
    with np.errstate(all="ignore"):
        scores = hmm.log_likelihood(front_end.transform(table).frames)  # type: ignore[attr-defined]
    if np.isnan(scores).any():
        raise Unsound(f"scores that are not numbers: values up to {np.abs(table.frames).max():g}")
