"""Detection of wrong transcripts in small corpora by training: hits and false alarms.

    python -m benchmarks.suspects --data-dir DIR --work-dir W [--draws 4 5 6]

DIR holds `fsdd` and `an4`. Each draw of a corpus is checked as `asr train` does it (mixtures by the defaults, then the
stage `transcripts`) with its right transcripts, with those of 5 % exchanged in pairs, and with all in reversed order.
Prints the number of correct transcripts reported, of exchanged ones reported, and whether the reversed corpus was
detected.
"""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile

from asr.corpus.data_directory import DataDirectory, Utterance, read_data_directory
from asr.experiments.recipe import Arguments, Recipe, open_recipe
from asr.features.config import FeatureConfig
from asr.training.config import TrainingConfig
from asr.training.dataset import Dataset
from asr.training.gmm_stages import train_mixtures
from asr.training.transcript_check import cross_fitted_check

TELEPHONE = FeatureConfig(sample_rate=8000)
CEPSTRA = FeatureConfig(n_filters=40, low_hz=130.0, high_hz=6800.0, lifter=0, energy="c0", energy_first=True)
WRONG = 0.05


@dataclass
class Counts:
    """Reported transcripts over the draws."""

    right: int = 0
    right_named: int = 0
    exchanged: int = 0
    exchanged_named: int = 0
    reversed_told: int = 0


def main() -> None:
    """Draw, check and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--draws", type=int, nargs="+", default=[4, 5, 6])
    parser.add_argument("--corpora", nargs="+", default=["digits", "strings", "an4"])
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    for name in given.corpora:
        counts = Counts()
        for draw in given.draws:
            _check(name, draw, given, counts)
        print(
            f"{name}: {counts.right_named} of {counts.right} correct transcripts "
            f"flagged, {counts.exchanged_named} of {counts.exchanged} exchanged ones "
            f"flagged, {counts.reversed_told} of {len(given.draws)} reversed corpora flagged",
            flush=True,
        )


def _check(name: str, draw: int, given: argparse.Namespace, counts: Counts) -> None:
    source = given.data_dir / ("an4" if name == "an4" else "fsdd")
    whole = read_data_directory(source / "train")
    random = np.random.default_rng(1000 + draw)
    place = given.work_dir / f"{name}-{draw}"
    corpus = _strings(whole, place / "audio", draw) if name == "strings" else whole.subset(_drawn(name, whole, random))
    config = TrainingConfig(features=CEPSTRA if name == "an4" else TELEPHONE)
    arguments = Arguments(source, place / "run", jobs=given.jobs, rebuild_changed=True)
    recipe = open_recipe(name, arguments, source, config, (), (), ("train",), corpora={"train": corpus})
    with recipe.resources:
        dataset = recipe.dataset("train")
        right, names = dataset.references, sorted(dataset.static.ids)
        exchanged = _exchanged(right, names, random)
        wrong = {each for each in names if exchanged[each] != right[each]}
        turned = {each: right[other] for each, other in zip(names, names[::-1], strict=True)}
        found = _named(recipe, "right", dataset, right)
        counts.right, counts.right_named = counts.right + len(names), counts.right_named + len(found)
        found = _named(recipe, "exchanged", dataset, exchanged)
        counts.exchanged += len(wrong)
        counts.exchanged_named += len(found & wrong)
        counts.reversed_told += "all" in _named(recipe, "reversed", dataset, turned, "corpus")


def _drawn(name: str, whole: DataDirectory, random: np.random.Generator) -> list[str]:
    """Draw 100 utterances of AN4, or twenty digits each of four speakers."""
    names = [utterance.id for utterance in whole.utterances]
    if name == "an4":
        return sorted(random.choice(names, 100, replace=False).tolist())
    speakers = sorted({utterance.speaker for utterance in whole.utterances})
    drawn: list[str] = []
    for speaker in random.permutation(speakers)[:4]:
        own = [utterance.id for utterance in whole.utterances if utterance.speaker == speaker]
        drawn += random.choice(own, 20, replace=False).tolist()
    return sorted(drawn)


def _strings(whole: DataDirectory, folder: Path, draw: int) -> DataDirectory:
    """Make 100 strings of three to five digits by five speakers, with breath-like noise after each digit."""
    random = np.random.default_rng(draw)
    folder.mkdir(parents=True, exist_ok=True)
    utterances = []
    speakers = sorted({utterance.speaker for utterance in whole.utterances})[:5]
    for number in range(100):
        speaker = speakers[number % 5]
        own = [utterance for utterance in whole.utterances if utterance.speaker == speaker]
        chosen = random.choice(len(own), int(random.integers(3, 6)), replace=False)
        parts: list[np.ndarray] = []
        words: list[str] = []
        for each in chosen.tolist():
            samples, rate = soundfile.read(own[each].source)
            parts += [samples, 0.001 * random.standard_normal(int(rate * random.uniform(0.05, 0.25)))]
            words += own[each].words or ()
        path = folder / f"{speaker}_{number:03d}.flac"
        soundfile.write(path, np.concatenate(parts), rate)
        utterances.append(Utterance(path.stem, speaker, tuple(words), audio=path))
    return DataDirectory(folder, tuple(sorted(utterances, key=lambda each: each.id)))


def _exchanged(
    right: Mapping[str, tuple[str, ...]], names: Iterable[str], random: np.random.Generator
) -> dict[str, tuple[str, ...]]:
    """Exchange 5 % of the transcripts, an even number, in pairs that differ."""
    exchanged, free = dict(right), random.permutation(list(names)).tolist()
    for _ in range(max(1, round(len(free) * WRONG / 2))):
        one = free.pop(0)
        other = next(each for each in free if right[each] != right[one])
        free.remove(other)
        exchanged[one], exchanged[other] = right[other], right[one]
    return exchanged


def _named(
    recipe: Recipe, name: str, dataset: Dataset, transcripts: Mapping[str, tuple[str, ...]], kind: str = "utterance"
) -> set[str]:
    """Return names of the suspects of one kind with these transcripts."""
    given = replace(dataset, transcripts=transcripts)
    mixtures = train_mixtures(replace(recipe.context, of_fold=True), name, given)
    check = cross_fitted_check(recipe.context, given, mixtures)
    return {suspect.name for suspect in check.suspects if suspect.kind == kind}


if __name__ == "__main__":
    main()
