"""Systems trained and tested on plain and on padded recordings, with different flat starts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from asr.alignment.ctm import CtmRow, ctm_rows
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.frame_times import frame_times
from asr.alignment.transcript_graph import transcript_graph
from asr.corpus.data_directory import DataDirectory, read_data_directory
from asr.corpus.list_file import read_list
from asr.decode.path_segments import word_segments
from asr.experiments.comparison import Decoded, MakeGrammars, System, decode_test, train_and_tune
from asr.experiments.specifications import HybridSpecification, MixtureSpecification
from asr.features.augmentation import NoiseClips, read_noise
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, arpa_grammar, estimate_ngram, word_loop
from asr.training.dataset import Dataset, build_static, load_dataset
from asr.training.gmm_stages import TrainingContext, train_mixtures
from asr.util.errors import Issue
from benchmarks.padded_speech.corpora import cut_between_words, digit_strings, levelled, read_places, write_corpora
from benchmarks.padded_speech.measures import Agreement, agreement, aligned_phones
from benchmarks.padded_speech.padding import Padded, Recording

CONDITIONS = ("plain", "padded")
CROSSED = {"plain": "padded", "padded": "plain"}
"""The other condition on which models are tested."""


@dataclass(frozen=True)
class Options:
    """Settings of the comparison."""

    starts: Sequence[str]
    seeds: Sequence[int]
    n_folds: int
    share: float
    speech_level: float | None
    hybrid: bool


@dataclass(frozen=True)
class Trial:
    """One fold with one start: decoding results by system and condition, and agreement of the padded alignment.

    The conditions are "plain" and "padded", and "plain to padded" and "padded to plain" for models tested on the other
    condition.
    """

    corpus: str
    start: str
    decoded: Mapping[str, Sequence[Decoded]]
    agreement: Agreement


@dataclass(frozen=True)
class Fold:
    """Training, development and test data of one condition."""

    train: Dataset
    dev: Dataset
    test: Dataset


def digit_trials(context: TrainingContext, data: Path, options: Options) -> Iterator[Trial]:
    """Run digit strings: every fold tests one speaker and tunes on the next one."""
    config = context.config.features
    corpus = read_data_directory(data / "fsdd" / "train")
    noise = read_noise(data / "noise_esc10")
    grammars = {"loop": word_loop(context.lexicon.words)}
    for seed in options.seeds:
        recordings = digit_strings(corpus, rate=config.sample_rate, seed=seed, share=options.share)
        materials, places = _corpora(context, f"fsdd-{seed}", recordings, noise, options, seed)
        speakers = materials["plain"].speakers
        for number, tested in enumerate(speakers[: options.n_folds]):
            tuned = speakers[(number + 1) % len(speakers)]
            folds = {
                condition: Fold(
                    dataset.of_speakers(set(speakers) - {tested, tuned}),
                    dataset.of_speakers([tuned]),
                    dataset.of_speakers([tested]),
                )
                for condition, dataset in materials.items()
            }
            for start in options.starts:
                name = f"fsdd-{seed}-{tested}-{start}"
                yield _trial("fsdd", context, name, start, folds, places, lambda _: grammars, options)


def sentence_trials(context: TrainingContext, data: Path, options: Options) -> Iterator[Trial]:
    """Run sentences, cut between the words of an alignment by mixtures trained on them."""
    config = context.config.features
    root = data / "speechocean762"
    noise = read_noise(data / "noise_esc10")
    text = [entry.value.split() for entry in read_list(root / "lm_train.text").values()]
    bigram = arpa_grammar(estimate_ngram(text, 2, vocabulary=context.lexicon.words))
    grammars: dict[str, Grammar] = {"bigram": bigram}
    corpora = {split: read_data_directory(root / split) for split in ("train", "dev", "test")}
    if options.share < 1:
        kept = [utterance.id for utterance in corpora["train"].utterances][:: max(1, round(1 / options.share))]
        corpora["train"] = corpora["train"].subset(kept)
    whole = {split: _material(context, f"speechocean-{split}", corpus) for split, corpus in corpora.items()}
    cutter = train_mixtures(context, "speechocean-cutter", whole["train"]).largest.load()
    words = {}
    for split, dataset in whole.items():
        table = cutter.front_end.transform(dataset.static)
        times = frame_times(config, corpora[split].utterances, dataset.static)
        for name in table.ids:
            graph = transcript_graph(dataset.transcripts[name], context.lexicon, context.topology)
            scores = cutter.hmm.log_likelihood(table.utterance(name))
            found = align_utterance(scores, graph, context.topology, cutter.hmm.self_loops)
            if not isinstance(found, Issue):
                words[name] = ctm_rows(name, word_segments(found.path, graph, context.topology), times[name])
    for seed in options.seeds:
        folds: dict[str, dict[str, Dataset]] = {condition: {} for condition in CONDITIONS}
        places: dict[str, Padded] = {}
        for split, corpus in corpora.items():
            recordings = _cut(corpus, words, config)
            materials, of_split = _corpora(context, f"speechocean-{seed}-{split}", recordings, noise, options, seed)
            places |= of_split
            for condition, dataset in materials.items():
                folds[condition][split] = dataset
        ready = {condition: Fold(**splits) for condition, splits in folds.items()}
        for start in options.starts:
            name = f"speechocean-{seed}-{start}"
            yield _trial("speechocean", context, name, start, ready, places, lambda _: grammars, options)


def _cut(corpus: DataDirectory, words: Mapping[str, Sequence[CtmRow]], config: FeatureConfig) -> list[Recording]:
    return cut_between_words(corpus, words, rate=config.sample_rate)


def _trial(
    corpus: str,
    context: TrainingContext,
    name: str,
    start: str,
    folds: Mapping[str, Fold],
    places: Mapping[str, Padded],
    grammars: MakeGrammars,
    options: Options,
) -> Trial:
    gmm = context.config.gmm.model_copy(update={"start": start})
    context = replace(context, config=context.config.model_copy(update={"gmm": gmm}))
    features = context.config.features
    largest = max(gmm.mixtures)
    mixtures = (MixtureSpecification("gmm", features, (largest,)),)
    config = context.config
    hybrids = (HybridSpecification("hybrid", config.hybrid, config.hybrid_features),) if options.hybrid else ()
    decoded, systems = {}, {}
    for condition, fold in folds.items():
        stage = f"{name}-{condition}"
        trained = train_and_tune(context, stage, fold.train, mixtures, hybrids, grammars, dev=fold.dev)
        other = CROSSED[condition]
        for own, test in ((condition, fold.test), (f"{condition} to {other}", folds[other].test)):
            part = stage if own == condition else f"{stage}-on-{other}"
            decoded[own] = decode_test(context, part, trained, test, grammars(fold.train))
        systems[condition] = _mixtures(trained)
    phones = {
        condition: aligned_phones(systems[condition].trained.load(), fold.train) for condition, fold in folds.items()
    }
    found = agreement(phones["plain"], phones["padded"], places, features.sample_rate)
    return Trial(corpus, start, decoded, found)


def _mixtures(systems: Sequence[System]) -> System:
    return next(system for system in systems if system.kind == "gmm")


def _corpora(
    context: TrainingContext, name: str, recordings: Sequence[Recording], noise: NoiseClips, options: Options, seed: int
) -> tuple[dict[str, Dataset], dict[str, Padded]]:
    """Return the datasets of both conditions, and the positions of the pieces in the padded recordings."""
    config = context.config.features
    if options.speech_level is not None:
        recordings = [levelled(recording, options.speech_level) for recording in recordings]

    def build(directory: Path) -> None:
        write_corpora(directory, recordings, noise, rate=config.sample_rate, seed=seed)

    directory = context.run.stage(f"{name}-audio", build)
    materials = {
        condition: _material(context, f"{name}-{condition}", read_data_directory(directory / condition))
        for condition in CONDITIONS
    }
    return materials, read_places(directory)


def _material(context: TrainingContext, name: str, corpus: DataDirectory) -> Dataset:
    config = context.config.features

    def build(directory: Path) -> None:
        build_static(directory, corpus, config, workers=context.workers)

    return load_dataset(context.run.stage(f"{name}-features", build), corpus, config)
