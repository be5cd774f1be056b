"""Make an artificial corpus in the format of Resource Management, to try the recipe without the discs.

    python -m recipes.rm1.simulate_corpus --layout discs --out DIR [--full] [--seed 0] [--tests feb89 oct89] [--jobs N]

Folders, lists, headers and formats are those of the selected layout (see `recipes.rm1.layout`). Words and sentences
come from the project's own grammar (`data/fleet`), voices from eSpeak NG (the extra `synth`). 72 speakers read 10
sentences each (`--full`: 40), ten others 30 for each test. As on the discs, all speakers come from one population:
accents and kinds of voices are mixed over training and tests. No accented voice occurs in both, and every speaker has a
different vocal tract. DIR must not exist; it appears when the corpus is complete. Word error rates on it do not predict
those on Resource Management.
"""

import argparse
import logging
import math
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from asr.corpus.sphinx_features import write_sphinx_features
from asr.corpus.synth_sentences import SentenceGrammar, read_sentence_grammar
from asr.corpus.synth_speakers import Speaker, draw_speakers
from asr.corpus.synthesis import CorpusSettings, record_speaker
from asr.features.extraction import signal_features
from asr.grammar.word_pair import SENTENCE_END, write_word_pair
from asr.lexicon import Lexicon, read_lexicon
from asr.runs.progress import counted
from asr.util.errors import CorpusError
from asr.util.files import atomic_directory
from asr.util.resources import resource
from discriminants.util.paths import exists
from recipes.recipe import run_recipe
from recipes.rm1 import discs
from recipes.rm1.cepstra import DICTIONARY, FEATURES, FEATURES_FOLDER, GRAMMARS, LISTS
from recipes.rm1.layout import TEST_SETS, Layout
from recipes.rm1.sphere import sphere_bytes

RATE = 16000
N_TRAIN_SPEAKERS, N_SENTENCES, N_SENTENCES_IN_FULL = 72, 10, 40
N_TEST_SPEAKERS, N_TEST_SENTENCES = 10, 30
FORMANTS = (0.88, 1.14)  # formants of a speaker relative to the synthesized voice: vocal tracts differ by about 10 %
_STILL = slice(160, 760)  # samples of digital silence, as in a few recordings of the discs
_STILL_EVERY = 60  # recordings
_EVALUATION = "rm1/ind/eval"
_DIALECT = "OLD SAILORS KNOW EVERY SHORE"  # represents the sentences sa and sb, which training ignores


@dataclass(frozen=True)
class Size:
    """Size of the corpus; a test set has `n_test_speakers` times `n_test_sentences` utterances."""

    n_train_speakers: int = N_TRAIN_SPEAKERS
    n_sentences: int = N_SENTENCES
    n_test_speakers: int = N_TEST_SPEAKERS
    n_test_sentences: int = N_TEST_SENTENCES


class Reading(NamedTuple):
    """Recordings of one speaker: the split, the name of the folder, and words by sentence id."""

    split: str
    speaker: Speaker
    folder: str
    sentences: Mapping[str, tuple[str, ...]]
    seed: np.random.SeedSequence

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """Return all sentences except the dialect sentence."""
        return {name: words for name, words in self.sentences.items() if not name.startswith("sa")}


def difficulty(seed: int) -> CorpusSettings:
    """Return the recording conditions: mixtures with 8 Gaussians make 5 to 20 % errors with word pairs."""
    return CorpusSettings(seed=seed, snr_db=(6.0, 21.0), sample_rate=RATE)


def simulate_corpus(
    out: Path | str,
    layout: Layout,
    *,
    size: Size | None = None,
    tests: Sequence[str] = ("feb89", "oct89"),
    seed: int = 0,
    jobs: int = 1,
) -> None:
    """Make the corpus in `out`, with the same bytes for any `jobs`.

    Raises CorpusError if `out` exists, or if eSpeak NG is missing or fails.
    """
    out = Path(out)
    if exists(out):
        raise CorpusError(f"{out} already exists. Remove it, or use another directory for the corpus")
    grammar = read_sentence_grammar(resource("fleet", "sentences.txt"))
    settings = difficulty(seed)
    readings = plan(grammar, settings, size or Size(), tests)
    n_recordings = sum(len(reading.sentences) for reading in readings)
    with atomic_directory(out) as temporary:
        with counted(n_recordings, "synthesising speech") as finished, ThreadPoolExecutor(jobs) as pool:
            # The threads wait for the processes of eSpeak NG; they share no random generator.
            running = [pool.submit(_record, reading, settings, temporary, layout) for reading in readings]
            n_written = 0
            try:
                for future in running:
                    n_written += future.result()
                    finished(n_written)
            finally:
                for future in running:
                    future.cancel()
        lexicon = read_lexicon(resource("fleet", "lexicon.txt"), format="kaldi")
        successors = grammar.word_pairs()
        (_finish_discs if layout == "discs" else _finish_cepstra)(temporary, readings, lexicon, successors)


def plan(grammar: SentenceGrammar, settings: CorpusSettings, size: Size, tests: Sequence[str]) -> list[Reading]:
    """Assign sentences and voices to speakers; no sentence is read twice, and no voice is both in training and in a
    test.
    """
    speaker_seed, *seeds = np.random.SeedSequence(settings.seed).spawn(3)
    n_test = size.n_test_speakers * len(tests)
    speakers = draw_speakers(
        "all",
        size.n_train_speakers + n_test,
        np.random.default_rng(speaker_seed),
        rate=settings.rate_wpm,
        pitch=settings.pitch,
        pitch_range=settings.pitch_range,
        formants=FORMANTS,
    )
    said: set[tuple[str, ...]] = set()
    readings: list[Reading] = []
    trained, tested = speakers[: size.n_train_speakers], speakers[size.n_train_speakers :]
    for voices, seed, own_speakers in zip(("train", "test"), seeds, (trained, tested), strict=True):
        rng = np.random.default_rng(seed)
        for number, (speaker, own) in enumerate(zip(own_speakers, seed.spawn(len(own_speakers)), strict=True)):
            split = "train" if voices == "train" else tests[number // size.n_test_speakers]
            n_sentences = size.n_sentences if split == "train" else size.n_test_sentences
            prefix = "sr" if split == "train" else "st"
            sentences = {"sa1": tuple(_DIALECT.split())} if split == "train" else {}
            for _ in range(n_sentences):
                while (sentence := grammar.draw(rng)) in said:
                    continue
                said.add(sentence)
                sentences[f"{prefix}{len(said):04d}"] = sentence
            readings.append(Reading(split, speaker, _folder(voices, number, speaker.gender), sentences, own))
    return readings


def _folder(voices: str, number: int, gender: str) -> str:
    """Return a folder name of three letters, a digit and the region, such as `dab0_3`."""
    letters = "".join(chr(ord("a") + digit) for digit in (number // 26 % 26, number % 26))
    return f"{'d' if voices == 'train' else 'b'}{letters}{0 if gender == 'm' else 5}_{1 + number % 7}"


def _record(reading: Reading, settings: CorpusSettings, root: Path, layout: Layout) -> int:
    """Write the recordings of one speaker and return their number."""
    recordings = record_speaker(reading.speaker, list(reading.sentences.values()), settings, reading.seed)
    for name, samples in zip(reading.sentences, recordings, strict=True):
        if reading.split == "train" and name in reading.listed and int(name[2:]) % _STILL_EVERY == 1:
            samples[_STILL] = 0
        if layout == "discs":
            fields = {"speaker_id": reading.folder, "prompt_id": name}
            path = root / discs_place(reading, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(sphere_bytes(samples, RATE, fields))
        elif name in reading.listed:
            features = signal_features(samples.astype(np.float32), FEATURES, source=name)
            write_sphinx_features(root / FEATURES_FOLDER / reading.folder / f"{name}.mfc", features)
    return len(recordings)


def discs_place(reading: Reading, name: str) -> str:
    """Return the path of a recording on the discs."""
    folder = discs.TRAIN_FOLDER if reading.split == "train" else f"{discs.TEST_ROOT}/{_EVALUATION}"
    return f"{folder}/{reading.folder}/{name}.sph"


def _finish_discs(
    root: Path, readings: Sequence[Reading], lexicon: Lexicon, successors: Mapping[str, tuple[str, ...]]
) -> None:
    """Write prompts, test lists, word pairs, lexicon and speakers."""
    prompts = {name: words for reading in readings for name, words in reading.sentences.items()}
    lines = [f"{' '.join(words)} ({name.upper()})\n" for name, words in sorted(prompts.items())]
    _write(root / discs.PROMPTS, "; prompts of artificial speakers\n" + "".join(lines))
    for split in sorted({reading.split for reading in readings} - {"train"}):
        own = [reading for reading in readings if reading.split == split]
        lines = [f"{_EVALUATION}/{reading.folder}/{name}.sph\n" for reading in own for name in reading.sentences]
        _write(root / discs.test_list(split), f"; speakers of the test {split}\n" + "".join(lines))
    write_word_pair(successors, root / discs.WORD_PAIRS, comment="Word pairs of our own sentences")
    entries = [f"{word.lower():<16}{' '.join(_sri_phones(lexicon[word][0]))}\n" for word in lexicon.words]
    _write(root / discs.LEXICON, ";; pronunciations of our own words\n" + "".join(entries))
    speakers = sorted(
        {(reading.folder.partition("_")[0].upper(), reading.speaker.gender.upper()) for reading in readings}
    )
    _write(root / discs.SPEAKERS, "; speaker, sex\n" + "".join(f"{name} {sex}\n" for name, sex in speakers))


def _sri_phones(phones: Sequence[str]) -> list[str]:
    """Convert a pronunciation to SRI's phones: stops are closure and release, at the end of a word only the closure."""
    spoken: list[str] = []
    for number, phone in enumerate(phones):
        last = number == len(phones) - 1
        if phone in "TDKPBG":
            spoken += [f"{phone.lower()}cl"] if last and phone in "TDKP" else [f"{phone.lower()}cl", phone.lower()]
        elif phone == "ER" and last:
            spoken.append("axr")
        else:
            spoken.append(phone.lower())
    first_vowel = next((number for number, phone in enumerate(spoken) if phone[0] in "aeiou"), 0)
    spoken[first_vowel] += "+1"
    return spoken


def _finish_cepstra(
    root: Path, readings: Sequence[Reading], lexicon: Lexicon, successors: Mapping[str, tuple[str, ...]]
) -> None:
    """Write lists, transcripts, dictionary and the word-pair transducer."""
    for split, (fileids, transcription) in LISTS.items():
        own = [
            (f"{reading.folder}/{name}", " ".join(words), name)
            for reading in readings
            if (reading.split == "train") == (split == "train")
            for name, words in reading.listed.items()
        ]
        _write(root / fileids, "".join(f"{fileid}\n" for fileid, _, _ in own))
        form = "<s> {} </s> ({})\n" if split == "train" else "{} ({})\n"
        _write(root / transcription, "".join(form.format(words, name) for _, words, name in own))
    entries = [
        f"{word if number == 0 else f'{word}({number + 1})'}\t{' '.join(variant)}\n"
        for word in lexicon.words
        for number, variant in enumerate(lexicon[word])
    ]
    _write(root / DICTIONARY, "".join(entries))
    _write_transducer(root / GRAMMARS[0], lexicon.words, successors)


def _write_transducer(path: Path, words: Sequence[str], successors: Mapping[str, tuple[str, ...]]) -> None:
    """Write the word pairs in OpenFst's format; labels are numbered in the order of the dictionary."""
    import kaldifst

    numbers = {word: number for number, word in enumerate(words, 1)}
    states = {word: state for state, word in enumerate([SENTENCE_END, *(w for w in successors if w != SENTENCE_END)])}
    end = len(states)
    fst = kaldifst.StdVectorFst()
    for _ in range(end + 1):
        fst.add_state()
    fst.start = 0
    fst.set_final(end, 0.0)
    for word, following in successors.items():
        cost = math.log(len(following))
        for other in following:
            label, target = (0, end) if other == SENTENCE_END else (numbers[other], states[other])
            fst.add_arc(states[word], kaldifst.StdArc(label, label, cost, target))
    fst.write(str(path))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Read the command line and make the corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", choices=("discs", "cepstra"), required=True, help="shape of the corpus")
    parser.add_argument("--out", type=Path, required=True, help="folder to create")
    parser.add_argument("--full", action="store_true", help="40 sentences per speaker (72 speakers) instead of 10")
    parser.add_argument("--seed", type=int, default=0, help="seed: another corpus of the same kind (default: 0)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="number of speakers in parallel (default: all cores)"
    )
    parser.add_argument("--tests", nargs="+", choices=TEST_SETS, default=["feb89", "oct89"], help="test sets to create")
    found = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    size = Size(n_sentences=N_SENTENCES_IN_FULL if found.full else N_SENTENCES)
    tests = list(dict.fromkeys(found.tests))
    simulate_corpus(found.out, found.layout, size=size, tests=tests, seed=found.seed, jobs=max(1, found.jobs))


if __name__ == "__main__":
    run_recipe(main)
