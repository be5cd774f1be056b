"""Speech Commands v0.02 (Warden 2018): one of 35 words in a second of audio, many speakers and microphones.

    python -m recipes.speech_commands --corpus-dir DIR --work-dir W [--states word|phone] [--download]

DIR holds a folder per word, `validation_list.txt` and `testing_list.txt`, or `speech_commands_v0.02` with these, which
`--download` fetches. The published lists divide the speakers. Scales, penalties and the primary system are chosen on
the validation list, and the testing list is decoded last. Background noise is not used. States belong to words or to
phones. Published error rates of other systems are printed below the table.
"""

import argparse
import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.corpus.audio import read_header
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.formats.source import ReadOptions
from asr.corpus.formats.speech_commands import read_speech_commands
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, one_word
from asr.lexicon import read_lexicon, with_own_phones
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from asr.util.errors import CorpusError, Issue
from asr.util.text_lines import GZIP_MAGIC
from discriminants.util.paths import is_dir, is_file
from recipes.comparison import choose_primary, decode_test, pooled_row, train_and_tune
from recipes.corpus import checked, corpus_of, of_format
from recipes.download import Source, download
from recipes.recipe import finish, open_recipe, parse_arguments, run_recipe
from recipes.results import Published, Unit
from recipes.specifications import HybridSpecification, MixtureSpecification

log = logging.getLogger("recipes.speech_commands")

FOLDER = "speech_commands_v0.02"
SOURCES = (
    Source(
        f"{FOLDER}.tar.gz",
        (
            f"https://storage.googleapis.com/download.tensorflow.org/data/{FOLDER}.tar.gz",
            f"http://download.tensorflow.org/data/{FOLDER}.tar.gz",
        ),
        GZIP_MAGIC,
        "sha256:af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58",
        n_bytes=2_428_923_189,
        top=".",
        target=FOLDER,
    ),
)
"""Checksum in torchaudio and TensorFlow Datasets."""
LISTS = ("validation_list.txt", "testing_list.txt")
N_UTTERANCES = 105_829
FEATURES = FeatureConfig(normalize="speaker")
SPLICED = FEATURES.model_copy(update={"context": 8, "lda_dimension": 60})
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm=GmmSettings(mixtures=(1, 2, 4, 8), iterations=(10, 5, 5, 6)),
    gmm_search=SearchSettings(),
    hybrid_search=SearchSettings(lm_scale=4.0, beam=100.0),
    tuning=TuningSettings(scale_factors=(0.7, 1.0, 1.4), penalty_factors=(0.0,)),
)
MIXTURES = (MixtureSpecification("gmm", FEATURES, (1, 4, 8)),)
HYBRIDS = tuple(
    HybridSpecification(
        name,
        HybridSettings(
            classifier="kernel-logistic",
            parameters={"loss": "ovr", "n_centers": 4000, "n_candidates": 8000, "max_iter": 2},
            vtlp_warps=(),
            max_frames=1_000_000,
            mixtures=mixtures,
        ),
        SPLICED,
    )
    for name, mixtures in (("ovr", 0), ("ovr-gmm", 16))
)
PUBLISHED = (
    Published("convolutions, recurrence and attention", 6.1, "de Andrade et al. (2018), 35 words"),
    Published("keyword transformer", 2.3, "Berg et al. (2021), abstract, 35 words"),
)
"""Error rates (%) of 35 words on the testing list."""


def options(group: argparse._ArgumentGroup) -> None:
    """Add the options specific to this recipe."""
    group.add_argument(
        "--states", choices=("word", "phone"), default="word", help="what a state is part of (default: word)"
    )


def read_corpus(root: Path) -> dict[str, DataDirectory]:
    """Return the recordings by split, with the published lists.

    Raises CorpusError if a list is missing, a split is empty, or a recording of `dev` or `test` is damaged. Damaged
    training recordings are left out and listed.
    """
    missing = [name for name in LISTS if not is_file(root / name)]
    if missing:
        raise CorpusError(f"{root} has no {' and no '.join(missing)}. Use --download", code="missing-file")
    found: dict[str, list[Utterance | Issue]] = {"train": [], "dev": [], "test": []}
    for part, one in of_format(read_speech_commands(root, ReadOptions())):
        if part is not None:
            found[part].append(one)
        elif isinstance(one, Issue):
            log.debug("left out: %s", one.message)
    empty = [split for split, own in found.items() if not own]
    if empty:
        raise CorpusError(f"{root}: no recordings of the split '{empty[0]}' were found. Expected the whole corpus")
    check = partial(read_header, rate=FEATURES.sample_rate)
    return {
        split: checked(corpus_of(root / split, own), check, complete=split != "train") for split, own in found.items()
    }


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", options=options, downloads=True)
    root = arguments.corpus_dir
    assert root is not None
    if arguments.download:
        download(root, SOURCES)
    corpora = read_corpus(root / FOLDER if is_dir(root / FOLDER) else root)
    lexicon = read_lexicon(Path(__file__).with_name("lexicon.txt"))
    by_word = arguments.given["states"] == "word"
    recipe = open_recipe(
        "Speech Commands",
        arguments,
        root,
        CONFIG,
        MIXTURES,
        HYBRIDS,
        lexicon=with_own_phones(lexicon) if by_word else lexicon,
        corpora=corpora,
    )
    train, dev, test = (recipe.dataset(split) for split in ("train", "dev", "test"))

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        return {"one": one_word(lexicon.words)}

    systems = train_and_tune(recipe.context, "commands", train, MIXTURES, HYBRIDS, grammars, dev=dev)
    primary = choose_primary(systems)
    unit: Unit = "word" if by_word else "mono"
    scored = [
        pooled_row([part], split=split, primary=primary, unit=unit)
        for split, dataset in (("dev", dev), ("test", test))
        for part in decode_test(recipe.context, split, systems, dataset, grammars(dataset))
    ]
    n_found = sum(map(len, corpora.values()))
    notes = [
        "Scale, penalty and primary system were chosen on dev, so its rows are not test results.",
        "Features are normalized over all recordings of a speaker, also in the test.",
    ]
    if n_found != N_UTTERANCES:
        notes.append(
            f"{n_found} recordings. Expected {N_UTTERANCES}, so the results cannot be compared with published ones."
        )
    finish(recipe, scored, systems, notes, PUBLISHED)


if __name__ == "__main__":
    run_recipe(main)
