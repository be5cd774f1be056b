"""Small corpora drawn from larger ones, written as data directories."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import soundfile

from asr.corpus.audio import read_audio
from asr.corpus.data_directory import DataDirectory, Utterance, read_data_directory
from asr.corpus.writing import write_data_directory
from asr.features.augmentation import NoiseClips, read_noise
from asr.lexicon import Lexicon, read_lexicon
from asr.lexicon.writing import write_lexicon
from benchmarks.small_corpora.padding import FULL_SCALE, Recording, pad

RATE = 8000
SEED = 0  # seed of all draws; the corpora are the same for all training seeds


def isolated_digits(data: Path, out: Path) -> None:
    """Write 80 digits by four speakers; the test has 500 by the two others."""
    corpus = read_data_directory(data / "fsdd" / "train")
    own = [_drawn(_of_speaker(corpus, s), 250, number) for number, s in enumerate(corpus.speakers)]
    train = [name for names in own[:4] for name in names[:20]]
    test = [name for names in own[4:] for name in names]
    _write(out, corpus.subset(train).utterances, corpus.subset(test).utterances, _digits(data))


def noisy_pairs(data: Path, out: Path) -> None:
    """Write 31 strings of two digits by one speaker with noise around and between them; the test has 219 more of
    theirs.
    """
    strings = []
    for split in ("train", "test"):  # both by the same speakers; one of them has no other recordings
        corpus = read_data_directory(data / "fsdd" / split)
        own = _of_speaker(corpus, corpus.speakers[1])
        own = _drawn(own, len(own))
        strings += [_joined(corpus, own[at : at + 2], f"pair_{split}_{at // 2:03d}") for at in range(0, len(own), 2)]
    padded = _padded(strings, data, out)
    _write(out, padded[:31], padded[31:], _digits(data))


def noisy_strings(data: Path, out: Path) -> None:
    """Write 76 strings of three to five digits by four speakers, with noise around and between; the test has two
    others.
    """
    corpus = read_data_directory(data / "fsdd" / "train")
    random = np.random.default_rng(SEED)
    parts: tuple[list[Recording], list[Recording]] = [], []
    for draw, speaker in enumerate(corpus.speakers):
        strings, count = (parts[0], 19) if draw < 4 else (parts[1], 75)
        own = _drawn(_of_speaker(corpus, speaker), 375, draw)
        for number in range(count):
            length = int(random.integers(3, 6))
            strings.append(_joined(corpus, own[:length], f"{speaker}_{number:03d}"))
            own = own[length:]
    train, test = (_padded(strings, data, out) for strings in parts)
    _write(out, train, test, _digits(data))


def spelling(data: Path, out: Path) -> None:
    """Write 100 utterances of AN4 (letters, numbers, commands) by eight speakers as features; the test is AN4's."""
    train = read_data_directory(data / "an4" / "train")
    chosen = [name for s in _drawn(train.speakers, 8) for name in _of_speaker(train, s)][:100]
    test = read_data_directory(data / "an4" / "test")
    _write(out, train.subset(chosen).utterances, test.utterances, read_lexicon(data / "an4" / "lexicon.txt"))


def sentences(data: Path, out: Path) -> None:
    """Write 60 read sentences by six speakers; the test has 70 by 35 others."""
    _sentences(data, out, read_lexicon(data / "speechocean762" / "lexicon.txt"), n_speakers=6, draw=0)


def letters(data: Path, out: Path) -> None:
    """Write 120 read sentences by twelve speakers, with the letters of words as phones; tested like the others."""
    words = read_lexicon(data / "speechocean762" / "lexicon.txt").words
    spelt = {word: (tuple(letter for letter in word if letter.isalpha()),) for word in words}
    _sentences(data, out, Lexicon({word: way for word, way in spelt.items() if way[0]}), n_speakers=12, draw=1)


CORPORA: Mapping[str, Callable[[Path, Path], None]] = {
    "digits": isolated_digits,
    "noisy-pairs": noisy_pairs,
    "noisy-strings": noisy_strings,
    "spelling": spelling,
    "sentences": sentences,
    "letters": letters,
}
TELEPHONE = ("digits", "noisy-pairs", "noisy-strings")
"""Corpora with 8000 samples per second."""


def make_corpus(name: str, data: Path, out: Path) -> None:
    """Write `out/train`, `out/test` and `out/lexicon.txt`, and the audio of joined recordings; once."""
    if not (out / "whole").exists():
        CORPORA[name](data, out)
        (out / "whole").touch()


def _sentences(data: Path, out: Path, lexicon: Lexicon, *, n_speakers: int, draw: int) -> None:
    root = data / "speechocean762"
    train, test = read_data_directory(root / "train"), read_data_directory(root / "test")
    chosen = chain.from_iterable(_of_speaker(train, s) for s in _drawn(train.speakers, n_speakers, draw))
    tested = chain.from_iterable(_of_speaker(test, s)[:2] for s in test.speakers)
    _write(out, train.subset(chosen).utterances, test.subset(tested).utterances, lexicon)


def _digits(data: Path) -> Lexicon:
    return read_lexicon(data / "fsdd" / "lexicon.txt")


def _of_speaker(corpus: DataDirectory, speaker: str) -> list[str]:
    return [utterance.id for utterance in corpus.utterances if utterance.speaker == speaker]


def _drawn(names: Sequence[str], count: int, seed: int = SEED) -> list[str]:
    order = np.random.default_rng(seed).permutation(len(names))[:count]
    return [names[index] for index in order]


def _joined(corpus: DataDirectory, names: Sequence[str], name: str) -> Recording:
    chosen = [corpus.subset([each]).utterances[0] for each in names]
    pieces = tuple(read_audio(one.source, rate=RATE, start=one.start, end=one.end) for one in chosen)
    return Recording(name, chosen[0].speaker, pieces, tuple(word for one in chosen for word in one.words or ()))


def _padded(strings: Sequence[Recording], data: Path, out: Path) -> list[Utterance]:
    """Write recordings with noise inserted around and between their pieces."""
    noise: NoiseClips = read_noise(data / "noise_esc10")
    (out / "audio").mkdir(parents=True, exist_ok=True)
    utterances = []
    for string in strings:
        samples = pad(string, noise, rate=RATE, seed=SEED)
        path = out / "audio" / f"{string.id}.flac"
        whole = np.clip(np.rint(samples), -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
        soundfile.write(path, whole, RATE, subtype="PCM_16")
        utterances.append(Utterance(string.id, string.speaker, string.words, audio=path))
    return utterances


def _write(out: Path, train: Sequence[Utterance], test: Sequence[Utterance], lexicon: Lexicon) -> None:
    write_data_directory(out / "train", train)
    write_data_directory(out / "test", test)
    write_lexicon(lexicon, out / "lexicon.txt")
