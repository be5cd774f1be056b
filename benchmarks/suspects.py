"""Detection of wrong transcripts in small corpora by training: hits and false alarms.

    python -m benchmarks.suspects --data-dir DIR --work-dir W [--draws 4 5 6]

DIR holds `fsdd`, `an4` and `speechocean762`. Each draw of a corpus is checked as `asr train` does it (mixtures of up to
4 Gaussians, as many as the check has, then the stage `transcripts`) under four conditions:

- right: all transcripts are right;
- few: 3 % of the transcripts are exchanged, and a word is missing or added in 2 %;
- many: 30 % of the transcripts are exchanged;
- reversed: the transcripts are in reversed order.

Prints the number of right transcripts suspected, the share of the exchanged and of the changed ones suspected and among
the least trusted (8 % for few, 35 % for many), and the number of reversed corpora detected.
Models and scores are kept in W.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import soundfile

from asr.alignment.suspects import TranscriptCheck, check_transcripts
from asr.corpus.data_directory import DataDirectory, Utterance, read_data_directory
from asr.experiments.recipe import Arguments, Recipe, open_recipe
from asr.features.config import FeatureConfig
from asr.lexicon import read_lexicon
from asr.training.config import TrainingConfig
from asr.training.dataset import Dataset
from asr.training.gmm_stages import train_mixtures
from asr.training.transcript_check import cross_fitted_scores

TELEPHONE = FeatureConfig(sample_rate=8000)
CEPSTRA = FeatureConfig(n_filters=40, low_hz=130.0, high_hz=6800.0, lifter=0, energy="c0", energy_first=True)
FEATURES = {
    "digits": TELEPHONE,
    "strings": TELEPHONE,
    "an4": CEPSTRA,
    "speechocean": FeatureConfig(normalize="speaker"),
}
FOLDERS = {"digits": "fsdd", "strings": "fsdd", "an4": "an4", "speechocean": "speechocean762"}
EXCHANGED = {"right": 0.0, "few": 0.03, "many": 0.3}
CHANGED = 0.02  # in the condition `few`
LEAST_TRUSTED = {"few": 0.08, "many": 0.35}
CONDITIONS = ("right", "few", "many", "reversed")
Transcripts = dict[str, tuple[str, ...]]


def main() -> None:
    """Draw, check and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--draws", type=int, nargs="+", default=[4, 5, 6])
    parser.add_argument("--corpora", nargs="+", default=["strings", "an4", "speechocean"])
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), choices=CONDITIONS)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    for name in given.corpora:
        counts: dict[str, list[int]] = {}
        for draw in given.draws:
            for measure, numbers in _check(name, draw, given).items():
                total = counts.setdefault(measure, [0, 0])
                total[:] = [one + other for one, other in zip(total, numbers, strict=True)]
            print(f"{name}, draws up to {draw}:", flush=True)
            for measure, (found, of) in counts.items():
                print(f"  {measure}: {found} of {of}", flush=True)


def _check(name: str, draw: int, given: argparse.Namespace) -> dict[str, tuple[int, int]]:
    """Return the number found, and the number to be found, of every measure."""
    source = given.data_dir / FOLDERS[name]
    whole = read_data_directory(source / "train")
    random = np.random.default_rng(1000 + draw)
    place = given.work_dir / f"{name}-{draw}"
    corpus = _strings(whole, place / "audio", draw) if name == "strings" else whole.subset(_drawn(name, whole, random))
    config = TrainingConfig(features=FEATURES[name])
    gmm = config.gmm.model_copy(update={"mixtures": (1, 2, 4), "iterations": (6, 3, 3)})
    config = config.model_copy(update={"gmm": gmm})
    lexicon = read_lexicon(source / "lexicon.txt", strip_stress=True if name == "speechocean" else None)
    arguments = Arguments(source, place / "run", jobs=given.jobs, rebuild_changed=True)
    recipe = open_recipe(
        name,
        arguments,
        source,
        config,
        (),
        (),
        ("train",),
        lexicon=lexicon,
        corpora={"train": corpus},
    )
    counts: dict[str, tuple[int, int]] = {}
    with recipe.resources:
        dataset = recipe.dataset("train")
        for condition in given.conditions:
            drawn = np.random.default_rng((draw, CONDITIONS.index(condition)))
            transcripts, wrong = spoiled(dataset.references, condition, drawn)
            check = _checked(recipe, condition, dataset, transcripts)
            counts |= _counts(check, condition, wrong)
    return counts


def spoiled(
    right: Mapping[str, tuple[str, ...]], condition: str, random: np.random.Generator
) -> tuple[Transcripts, Transcripts]:
    """Return the transcripts of a condition, and the ids of the wrong ones by kind."""
    names = sorted(right)
    if condition == "reversed":
        return {name: right[other] for name, other in zip(names, names[::-1], strict=True)}, {}
    spoiled, order = dict(right), random.permutation(names).tolist()
    exchanged = order[: round(EXCHANGED[condition] * len(names))]
    while any(right[one] == right[other] for one, other in zip(exchanged, _turned(exchanged), strict=True)):
        exchanged = random.permutation(exchanged).tolist()
    spoiled |= {one: right[other] for one, other in zip(exchanged, _turned(exchanged), strict=True)}
    wrong = {"exchanged": tuple(exchanged)} if exchanged else {}
    if condition == "few":
        words = sorted({word for transcript in right.values() for word in transcript})
        left = [name for name in order if name not in exchanged and len(right[name]) > 1]
        wrong["changed"] = tuple(left[: round(CHANGED * len(names))])
        for number, name in enumerate(wrong["changed"]):
            at = int(random.integers(len(right[name])))
            added = (str(random.choice(words)),) if number % 2 else ()
            spoiled[name] = (*right[name][:at], *added, *right[name][at + (not added) :])
    return spoiled, wrong


def _turned(names: Sequence[str]) -> list[str]:
    return [*names[1:], *names[:1]]


def _counts(check: TranscriptCheck, condition: str, wrong: Transcripts) -> dict[str, tuple[int, int]]:
    suspects = {suspect.name for suspect in check.suspects if suspect.kind == "utterance"}
    if condition == "reversed":
        return {"reversed: corpus suspected": (sum(one.kind == "corpus" for one in check.suspects), 1)}
    every = {name for names in wrong.values() for name in names}
    counts = {f"{condition}: right suspected": (len(suspects - every), len(set(check.scores) - every))}
    ordered = sorted(check.scores, key=lambda name: (check.trust[name], check.scores[name]))
    for kind, names in wrong.items():
        worst = ordered[: round(LEAST_TRUSTED[condition] * len(ordered))]
        counts[f"{condition}: {kind} among the least trusted"] = (len(set(names) & set(worst)), len(names))
        counts[f"{condition}: {kind} suspected"] = (len(suspects & set(names)), len(names))
    return counts


def _drawn(name: str, whole: DataDirectory, random: np.random.Generator) -> list[str]:
    """Draw 100 utterances, or twenty digits each of four speakers."""
    names = [utterance.id for utterance in whole.utterances]
    if name != "digits":
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


def _checked(recipe: Recipe, name: str, dataset: Dataset, transcripts: Transcripts) -> TranscriptCheck:
    """Check the transcripts of a condition."""
    given = replace(dataset, transcripts=transcripts)
    mixtures = train_mixtures(replace(recipe.context, of_fold=True), name, given)
    return check_transcripts(cross_fitted_scores(recipe.context, given, mixtures), dataset.utterance_speaker)


if __name__ == "__main__":
    main()
