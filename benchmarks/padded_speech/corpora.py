"""Corpora for padding: digits joined to strings, and sentences cut between their words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import soundfile

from asr.alignment.ctm import CtmRow
from asr.corpus.audio import read_audio
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.writing import write_data_directory
from asr.features.augmentation import NoiseClips
from benchmarks.padded_speech.padding import FULL_SCALE, Padded, Recording, pad

FEWEST, MOST = 3, 6  # digits in a string


def digit_strings(corpus: DataDirectory, *, rate: int, seed: int, share: float = 1.0) -> list[Recording]:
    """Join every recording of a digit once, by speaker in random order, to strings of three to six.

    `share` is the fraction of the strings that is kept.
    """
    random = np.random.default_rng(seed)
    strings = []
    for speaker in corpus.speakers:
        own = [utterance for utterance in corpus.utterances if utterance.speaker == speaker]
        order = random.permutation(len(own)).tolist()
        number = 0
        while len(order) >= FEWEST:
            count = int(random.integers(FEWEST, MOST + 1))
            drawn, order = [own[index] for index in order[:count]], order[count:]
            if random.random() < share:
                pieces = tuple(samples_of(utterance, rate) for utterance in drawn)
                words = tuple(utterance.words or () for utterance in drawn)
                strings.append(Recording(f"{speaker}_{number:03d}", speaker, pieces, words))
            number += 1
    return strings


def cut_between_words(corpus: DataDirectory, words: Mapping[str, Sequence[CtmRow]], *, rate: int) -> list[Recording]:
    """Cut sentences into pieces of one word each, halfway between the end of a word and the start of the next.

    `words` are the aligned words of an utterance; utterances without words are dropped.
    """
    recordings = []
    for utterance in corpus.utterances:
        rows = words.get(utterance.id)
        if not rows:
            continue
        between = [
            round(rate * (earlier.start + earlier.duration + later.start) / 2) for earlier, later in pairwise(rows)
        ]
        pieces = tuple(np.split(samples_of(utterance, rate), between))
        recordings.append(Recording(utterance.id, utterance.speaker, pieces, tuple((row.label,) for row in rows)))
    return recordings


def samples_of(utterance: Utterance, rate: int) -> np.ndarray:
    """Read all samples of an utterance, float32 (n,)."""
    return read_audio(utterance.source, rate=rate, start=utterance.start, end=utterance.end)


def levelled(recording: Recording, decibels: float) -> Recording:
    """Scale the recording to a mean power of `decibels` relative to full scale."""
    power = float(np.mean(np.square(recording.plain(), dtype=np.float64)))
    gain = np.float32(FULL_SCALE * 10.0 ** (decibels / 20.0) / max(1e-9, power**0.5))
    return replace(recording, pieces=tuple(gain * piece for piece in recording.pieces))


def write_corpora(directory: Path, recordings: Sequence[Recording], noise: NoiseClips, *, rate: int, seed: int) -> None:
    """Write data directories `plain` and `padded` with audio, and `places.json` with the positions of the pieces."""
    places = {}
    utterances: dict[str, list[Utterance]] = {"plain": [], "padded": []}
    for recording in recordings:
        padded = pad(recording, noise, rate=rate, seed=seed)
        places[recording.id] = padded.places()
        for condition, samples in (("plain", recording.plain()), ("padded", padded.samples)):
            path = directory / "audio" / condition / f"{recording.id}.flac"
            path.parent.mkdir(parents=True, exist_ok=True)
            clipped = np.clip(np.rint(samples), -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
            soundfile.write(path, clipped, rate, subtype="PCM_16")
            utterances[condition].append(Utterance(recording.id, recording.speaker, recording.transcript, audio=path))
    for condition, listed in utterances.items():
        write_data_directory(directory / condition, listed)
    (directory / "places.json").write_text(json.dumps(places), encoding="utf-8")


def read_places(directory: Path) -> dict[str, Padded]:
    """Read the positions of the pieces written by `write_corpora`."""
    values = json.loads((directory / "places.json").read_text(encoding="utf-8"))
    return {name: Padded.from_places(place) for name, place in values.items()}
