"""Words that differ only in tone, recognized with and without pitch.

    python -m benchmarks.tones [--seeds 0 1 2] [--speakers 12] [--test-speakers 6] [--utterances 10]

Synthetic voices say four syllables in four tones (level, rising, dipping, falling): pulse trains through three
resonances, and noise for unvoiced consonants, in noise 25 dB below. A speaker has a pitch, its range and a length of
the vocal tract. Prints word errors of other speakers, of mixtures and hybrid; an error of tone is another tone of the
same syllable.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
import soundfile  # noqa: E402
from scipy.signal import lfilter  # noqa: E402

import asr  # noqa: E402
from asr.corpus.data_directory import Utterance, read_data_directory  # noqa: E402
from asr.corpus.writing import write_data_directory  # noqa: E402

RATE = 8000
SYLLABLES = ("ma", "ni", "su", "fo")
RESONANCES = {
    "m": (250, 1100, 2200), "n": (250, 1500, 2500), "a": (750, 1250, 2500), "i": (290, 2300, 2900),
    "u": (320, 850, 2300), "o": (480, 900, 2400), "s": (2400, 3300, 3700), "f": (1500, 2400, 3300),
}  # fmt: skip
TONES = {1: (4, 4, 4), 2: (-2, 0, 4), 3: (-2, -5, -1), 4: (5, 1, -5)}  # semitones at the start, the middle, the end
WORDS = [f"{syllable}{tone}" for syllable in SYLLABLES for tone in TONES]
SETTINGS: dict[str, Any] = {
    "features": {"sample_rate": RATE}, "gmm": {"mixtures": [1, 2, 4]}, "tuning": {"held_out": 0},
    "hybrid": {"parameters": {"n_centers": 200, "n_candidates": 600}},
}  # fmt: skip


def make_corpus(folder: Path, n_speakers: int, n_test_speakers: int, n_utterances: int, seed: int) -> None:
    """Write `train`, `test` and `lexicon.txt`; `n_utterances` of four words for each speaker."""
    rng = np.random.default_rng(seed)
    for part, n_voices in (("train", n_speakers), ("test", n_test_speakers)):
        utterances = [
            one for number in range(n_voices) for one in _spoken(folder, f"{part}{number}", n_utterances, rng)
        ]
        write_data_directory(folder / part, utterances)
    lines = [f"{word} {word[0]} {word[1:]}\n" for word in WORDS]
    (folder / "lexicon.txt").write_text("".join(lines), encoding="utf-8")


def errors(folder: Path, pitch: bool, seed: int, last: str) -> tuple[int, int, int]:
    """Train on `train`; return the errors on `test`, those of tone, and the number of words.

    `last` is the model: "gmm" or "hybrid".
    """
    settings = SETTINGS | {"features": SETTINGS["features"] | {"pitch": pitch}}
    trained = asr.train(
        folder / "train", folder / "lexicon.txt", folder / f"run-{pitch}", config=settings, seed=seed, jobs=1,
        until="hybrid" if last == "hybrid" else "gmm",
    )  # fmt: skip
    test = read_data_directory(folder / "test").utterances
    recognizer = trained.load()
    found = recognizer.recognize_all([one.source for one in test], speakers=[one.speaker for one in test], jobs=1)
    reference, texts = [" ".join(one.words or ()) for one in test], [one.text for one in found]
    report = asr.score(reference, texts)
    without_tone = asr.score(
        *([text.translate(str.maketrans("", "", "1234")) for text in part] for part in (reference, texts))
    )
    return report.errors, report.errors - without_tone.errors, report.words


def _spoken(folder: Path, speaker: str, n_utterances: int, rng: np.random.Generator) -> Iterator[Utterance]:
    base, span, tract = rng.uniform(90, 240), rng.uniform(0.7, 1.2), rng.uniform(0.9, 1.12)
    for number in range(n_utterances):
        words = tuple(str(word) for word in rng.choice(WORDS, 4))
        pieces = [np.zeros(int(rng.uniform(0.2, 0.4) * RATE))]
        for word in words:
            pieces += [_word(word, base, span, tract, rng), np.zeros(int(rng.uniform(0.03, 0.15) * RATE))]
        signal = np.concatenate([*pieces, pieces[0]])
        signal += rng.normal(size=len(signal)) * np.sqrt(np.mean(signal**2)) * 10 ** (-25 / 20)
        path = folder / "audio" / f"{speaker}-{number:03d}.wav"
        path.parent.mkdir(exist_ok=True)
        soundfile.write(path, 0.1 * signal, RATE, subtype="PCM_16")
        yield Utterance(path.stem, speaker, words, audio=path)


def _word(word: str, base: float, span: float, tract: float, rng: np.random.Generator) -> np.ndarray:
    consonant, vowel = (int(rng.uniform(*seconds) * RATE) for seconds in ((0.06, 0.1), (0.18, 0.3)))
    shape = np.interp(np.linspace(0, 2, consonant + vowel), (0, 1, 2), TONES[int(word[2])])
    semitones = span * shape + rng.normal(scale=0.7)  # some words are higher
    cycles = np.cumsum(base * 2 ** (semitones / 12)) / RATE
    pulses = np.diff(np.floor(cycles + rng.uniform()), prepend=0.0).clip(0, 1)
    hiss = 0.1 * rng.standard_normal(consonant)
    onset = hiss if word[0] in "sf" else 0.5 * pulses[:consonant]
    sounds = [_filtered(onset, word[0], tract), _filtered(pulses[consonant:], word[1], tract)]
    return np.concatenate(
        [level * one / np.sqrt(np.mean(one**2)) for level, one in zip((0.4, 1.0), sounds, strict=True)]
    )


def _filtered(source: np.ndarray, phone: str, tract: float) -> np.ndarray:
    sound = source
    for center in RESONANCES[phone]:
        radius, angle = np.exp(-np.pi * 90 / RATE), 2 * np.pi * min(center * tract, 3900) / RATE
        sound = lfilter([1 - radius], [1, -2 * radius * np.cos(angle), radius**2], sound)
    return np.asarray(sound)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--speakers", type=int, default=12)
    parser.add_argument("--test-speakers", type=int, default=6)
    parser.add_argument("--utterances", type=int, default=10, help="of four words, for each speaker")
    options = parser.parse_args(arguments)
    print("| seed | model | words | errors without pitch (of tone) | with pitch (of tone) |")
    print("| --- | --- | --- | --- | --- |")
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as name:
            make_corpus(Path(name), options.speakers, options.test_speakers, options.utterances, seed)
            for last in ("gmm", "hybrid"):
                (without, tone, words), (having, own_tone, _) = (
                    errors(Path(name), on, seed, last) for on in (False, True)
                )
                print(f"| {seed} | {last} | {words} | {without} ({tone}) | {having} ({own_tone}) |", flush=True)


if __name__ == "__main__":
    main()
