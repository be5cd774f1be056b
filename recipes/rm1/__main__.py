"""Resource Management 1: naval commands and questions of 991 words by 72 or 109 training speakers, word-pair grammar.

    python -m recipes.rm1 --corpus-dir DIR --work-dir W [--systems ours|table-4.2] [--train-speakers 72|109]
                          [--widths 6 8 12] [--download]

DIR holds the discs of LDC93S3A (`rm1_audio1`, `rm1_audio2`) or CMU's published cepstra (`rm1`, `RM_G.fst`), which
`--download` fetches. The set-up is that of Andelić (2007, section 4.4.1): frames of 25 ms every 10 ms, 12 cepstra and
energy with their first and second differences, normalized with the training data's means and deviations. Every phone
has three states, aligned by Gaussian mixtures. Kernel widths, scales, penalties and the primary system are chosen on
the test set of October 1989 if it exists, else on held-out training speakers. The other tests are decoded last.
"""

import argparse
import hashlib
import logging
import math
from collections.abc import Mapping, Sequence

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.corpus.case_insensitive_dir import FoldedTree
from asr.features.config import FeatureConfig
from asr.grammar import Grammar
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from asr.util.errors import ConfigError
from recipes.comparison import choose_primary, decode_test, pooled_row, train_and_tune
from recipes.download import download
from recipes.recipe import Arguments, finish, open_recipe, parse_arguments, run_recipe
from recipes.rm1.cepstra import read_cepstra
from recipes.rm1.constant_frames import without_constant_frames
from recipes.rm1.discs import read_discs
from recipes.rm1.layout import TRAIN, find_layout
from recipes.rm1.public_files import CEPSTRA, WORD_PAIRS
from recipes.specifications import HybridSpecification, MixtureSpecification
from recipes.systems import TABLE_4_2, table_4_2

log = logging.getLogger("recipes.rm1")

DEV = "oct89"
MIXTURES, ITERATIONS = (1, 2, 4, 8, 16), (10, 5, 5, 6, 6)
WARPS = (0.92, 1.08)
WIDTHS = (6.0, 8.0, 12.0)  # kernel widths for 39 features of unit deviation


def kernel_logistic(loss: str, mixtures: int = 0) -> HybridSettings:
    """Return kernel logistic regression on 4000 centers, one-vs-rest or multinomial, optionally with a second mixture
    stream.
    """
    parameters = {"n_centers": 4000, "n_candidates": 8000, "max_iter": 4, "loss": loss}
    return HybridSettings(classifier="kernel-logistic", parameters=parameters, vtlp_warps=WARPS, mixtures=mixtures)


def ours(features: FeatureConfig) -> tuple[Sequence[MixtureSpecification], Sequence[HybridSpecification]]:
    """Return the systems of this project, as in `recipes.an4`: `gmm` has the frames of the source, the others more."""
    by_speaker = features.model_copy(update={"normalize": "speaker"})
    spliced = by_speaker.model_copy(update={"context": 7, "lda_dimension": 60})
    mixtures = (
        MixtureSpecification("gmm", features, (1, 4, 8, 16)),
        MixtureSpecification("gmm-speaker", by_speaker, (8, 16)),
    )
    hybrids = (
        HybridSpecification("ovr", kernel_logistic("ovr"), spliced),
        HybridSpecification("klr", kernel_logistic("multinomial"), spliced),
        HybridSpecification("ovr-gmm", kernel_logistic("ovr", mixtures=32), spliced),
    )
    return mixtures, hybrids


def training_config(features: FeatureConfig, mixtures: Sequence[MixtureSpecification]) -> TrainingConfig:
    """Return the settings of a run on these features; the largest of the compared mixtures makes the alignment."""
    n_grown = MIXTURES.index(max(n for family in mixtures for n in family.components)) + 1
    return TrainingConfig(
        features=features,
        gmm=GmmSettings(mixtures=MIXTURES[:n_grown], iterations=ITERATIONS[:n_grown]),
        gmm_search=SearchSettings(),
        hybrid_search=SearchSettings(lm_scale=4.0, beam=100.0),
        tuning=TuningSettings(
            held_out=0.15, scale_factors=(0.5, 0.7, 1.0, 1.4), penalty_factors=(-1.25, -0.5, 0.0, 0.5)
        ),
    )


def options(group: argparse._ArgumentGroup) -> None:
    """Add the options specific to this recipe."""
    group.add_argument(
        "--train-speakers",
        type=int,
        choices=(72, 109),
        default=72,
        help="number of training speakers; 109 includes dev_aug, as in the results of HTK and Kaldi (discs only; "
        "default: 72)",
    )
    group.add_argument(
        "--widths",
        type=float,
        nargs="+",
        metavar="SIGMA",
        help="widths of the Gaussian kernel for --systems table-4.2. Every kernel machine is trained with each width; "
        "the width with the fewest errors on the tuning data is kept "
        f"(default: {' '.join(f'{width:g}' for width in WIDTHS)})",
    )


def _widths(arguments: Arguments) -> Sequence[float] | None:
    """Return the widths of the kernel machines of table 4.2; None for the project's own systems."""
    given = arguments.given["widths"]
    if arguments.systems == "ours":
        if given:
            raise ConfigError("--widths is for the kernel machines of --systems table-4.2. Use both or neither")
        return None
    wrong = [width for width in given or () if not 0.0 < width < math.inf]
    if wrong:
        raise ConfigError(
            f"--widths {wrong[0]:g}. Expected widths of the Gaussian kernel above 0, such as 8 for 39 features"
        )
    return tuple(dict.fromkeys(given or WIDTHS))


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", options=options, downloads=True, systems=TABLE_4_2)
    assert arguments.corpus_dir is not None
    widths = _widths(arguments)
    if arguments.download:
        download(arguments.corpus_dir, (CEPSTRA, WORD_PAIRS))
    tree = FoldedTree(arguments.corpus_dir)
    layout, n_speakers = find_layout(tree), int(arguments.given["train_speakers"])
    if layout == "cepstra" and n_speakers != 72:
        raise ConfigError(f"--train-speakers {n_speakers} needs the discs, but {tree.root} has CMU's cepstra")
    corpus = read_discs(tree, n_speakers) if layout == "discs" else read_cepstra(tree)
    for note in corpus.notes:
        log.info("%s", note)
    mixtures, hybrids = ours(corpus.features) if widths is None else table_4_2(corpus.features, widths)
    recipe = open_recipe(
        "Resource Management 1",
        arguments,
        arguments.corpus_dir,
        training_config(corpus.features, mixtures),
        mixtures,
        hybrids,
        lexicon=corpus.lexicon,
        inputs={"grammar": hashlib.sha256(corpus.grammar_file.read_bytes()).hexdigest()},
        corpora=corpus.splits,
    )
    train = recipe.dataset(TRAIN)
    if layout == "discs":
        train = without_constant_frames(recipe.context.run, train, corpus.features)
    tests = {name: recipe.dataset(name) for name in corpus.tests}

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        return {"wordpair": corpus.grammar}

    dev = tests.get(DEV) if len(tests) > 1 else None
    systems = train_and_tune(recipe.context, "rm1", train, mixtures, hybrids, grammars, dev=dev)
    primary = choose_primary(systems)
    scored = [
        pooled_row([part], split=name, primary=primary)
        for name, test in tests.items()
        for part in decode_test(recipe.context, name, systems, test, grammars(train))
    ]
    chosen_on = "held-out training speakers" if dev is None else f"{DEV}, so its rows are not test results"
    notes = (
        f"{len(train.speakers)} training speakers, {train.seconds / 60:.1f} minutes, layout '{layout}'.",
        f"Scale, penalty and primary system were chosen on {chosen_on}.",
        *(f"{system.name} is {system.chosen}, also chosen there." for system in systems if system.chosen),
        *corpus.notes,
    )
    finish(recipe, scored, systems, notes)


if __name__ == "__main__":
    run_recipe(main)
