"""eSpeak NG through ctypes, in a separate process.

The library keeps state (jitter phase, noise position) in globals that cannot be reset, so a repeated sentence sounds
different. `speak` therefore starts one process per list of sentences, and the result depends on the list alone. The
process runs this file and imports only the standard library, so it starts within a few hundredths of a second. eSpeak
NG, which is under the GPL, is never loaded into the recognizer's process.

Protocol: one JSON object on standard input; for each sentence a 4-byte little-endian length and 16-bit mono samples on
standard output. Names of constants and functions are those of `speak_lib.h` (eSpeak NG 1.52).
"""

import ctypes
import json
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

AUDIO_OUTPUT_SYNCHRONOUS = 2
INITIALIZE_DONT_EXIT = 0x8000
CHARS_UTF8 = 1
POS_CHARACTER = 1
RATE, VOLUME, PITCH, RANGE = 1, 2, 3, 4

SAMPLE_RATE = 22050
"""Hz; the rate of every eSpeak NG voice used here."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Text and voice settings: rate in words per minute (80-450), pitch and range 0-100, volume 0-200.

    At volume 100 some voices clip.
    """

    text: str
    rate: int = 175
    pitch: int = 50
    range: int = 50
    volume: int = 60


def speak(voice: str, sentences: Sequence[Sentence]) -> list[bytes]:
    """Return 16-bit little-endian mono samples at 22,050 Hz for each sentence.

    `voice` is a voice of eSpeak NG with an optional variant, e.g. `en-us+f2`. Raises CorpusError if the package
    espeakng-loader is not installed, the voice does not exist, or the synthesizer fails.
    """
    from asr.util.errors import CorpusError  # not at module level: the child process may not find asr

    if find_spec("espeakng_loader") is None:
        raise CorpusError(
            'making speech needs the package espeakng-loader; install it: pip install "hybrid-asr[synth]"'
        )
    request = json.dumps({"voice": voice, "sentences": [asdict(sentence) for sentence in sentences]})
    # -P removes this file's folder from the module path, as its other files could shadow modules.
    process = subprocess.run([sys.executable, "-P", __file__], input=request.encode(), capture_output=True, check=False)
    if process.returncode:
        reason = process.stderr.decode(errors="replace").strip() or f"it ended with status {process.returncode}"
        raise CorpusError(f"eSpeak NG could not speak with voice '{voice}': {reason}")
    waves = []
    start = 0
    while start < len(process.stdout):
        (size,) = struct.unpack_from("<I", process.stdout, start)
        waves.append(process.stdout[start + 4 : start + 4 + size])
        start += 4 + size
    return waves


def _serve() -> None:
    """Child process: read the request, synthesize each sentence, write the samples."""
    request = json.load(sys.stdin)
    library, chunks, _callback = _start_library()
    if library.espeak_SetVoiceByName(request["voice"].encode()) != 0:
        sys.exit("the voice does not exist")
    for sentence in request["sentences"]:
        for parameter, name in ((RATE, "rate"), (VOLUME, "volume"), (PITCH, "pitch"), (RANGE, "range")):
            library.espeak_SetParameter(parameter, sentence[name], 0)
        chunks.clear()
        text = sentence["text"].encode()
        status = library.espeak_Synth(text, len(text) + 1, 0, POS_CHARACTER, 0, CHARS_UTF8, None, None)
        if status != 0 or not chunks:
            sys.exit(f"status {status} for '{sentence['text']}'")
        samples = b"".join(chunks)
        sys.stdout.buffer.write(struct.pack("<I", len(samples)) + samples)


def _start_library() -> tuple[ctypes.CDLL, list[bytes], Any]:
    """Return the initialized library, the list that its callback appends to, and the callback to keep alive."""
    import espeakng_loader

    chunks: list[bytes] = []

    def append(samples: int | None, n_samples: int, _events: int | None) -> int:
        if samples and n_samples > 0:
            chunks.append(ctypes.string_at(samples, 2 * n_samples))
        return 0

    collect = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(append)
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_Synth.argtypes = [
        ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int, ctypes.c_uint, ctypes.c_uint,
        ctypes.c_void_p, ctypes.c_void_p,
    ]  # fmt: skip
    data = str(espeakng_loader.get_data_path()).encode()
    rate = library.espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, data, INITIALIZE_DONT_EXIT)
    if rate != SAMPLE_RATE:
        sys.exit(f"espeak_Initialize answered {rate} instead of the rate {SAMPLE_RATE}")
    library.espeak_ng_SetRandSeed(ctypes.c_long(0))  # breathy voices are otherwise seeded with the time
    library.espeak_SetSynthCallback(collect)
    return library, chunks, collect


if __name__ == "__main__":
    _serve()
