"""TIMIT (LDC93S1): phones of read sentences by 462 training speakers, phone bigram, core test.

    python -m recipes.timit --corpus-dir DIR --work-dir W [--systems ours|table-4.2] [--alignment hand|flat]

DIR holds the folders TRAIN and TEST. Training and recognition use 48 classes of phones, with silence as a word, and
scoring 39 (Lee and Hon 1989). The bigram is estimated from the training labels. Scales, penalties and the primary
system are chosen on Halberstadt's 50 development speakers. The core test of 24 speakers is decoded last. The column
`frames %` is the share of frames whose class, of 39, is that of the hand labels. Published error rates of other systems
are printed below the table.
"""

import argparse
import json
import logging
from collections.abc import Mapping
from dataclasses import replace

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, arpa_grammar, estimate_ngram
from asr.hmm.topology import SILENCE
from asr.lexicon import Lexicon
from asr.scoring.fold import read_fold
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from asr.training.given_alignment import GivenAlignment
from recipes.comparison import choose_primary, decode_test, pooled_row, train_and_tune
from recipes.recipe import finish, open_recipe, parse_arguments, run_recipe
from recipes.results import Published
from recipes.specifications import HybridSpecification, MixtureSpecification
from recipes.systems import TABLE_4_2, mapped_systems, table_4_2
from recipes.timit import corpus
from recipes.timit.corpus import DEV, PHONE_MAP, TEST, TRAIN, read_corpus
from recipes.timit.frames import frame_accuracies

log = logging.getLogger("recipes.timit")

FEATURES = FeatureConfig(normalize="corpus")
BY_SPEAKER = FEATURES.model_copy(update={"normalize": "speaker"})
SPLICED = BY_SPEAKER.model_copy(update={"context": 7, "lda_dimension": 60})
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm=GmmSettings(mixtures=(1, 2, 4, 8, 16), iterations=(10, 5, 5, 6, 6)),
    gmm_search=SearchSettings(lm_scale=4.0, max_active=2000),
    hybrid_search=SearchSettings(lm_scale=2.0, max_active=2000),
    tuning=TuningSettings(),
)
TIED_STATES = 600
CLASSIFIER = HybridSettings(
    classifier="kernel-logistic",
    parameters={"loss": "ovr", "n_centers": 4000, "n_candidates": 8000, "max_iter": 2},
    vtlp_warps=(0.92, 1.08),
    mixtures=32,
    augment_as_unadapted=True,
)
_KALDI = "Kaldi, egs/timit/s5/RESULTS"
_SURVEY = "Hinton et al. (2012), table 1"
PUBLISHED = (
    Published("monophone GMM-HMM", 34.77, _KALDI),
    Published("triphone GMM-HMM", 30.53, _KALDI),
    Published("triphone GMM-HMM, LDA and MLLT", 28.41, _KALDI),
    Published("triphone GMM-HMM, speaker-adaptive", 24.96, _KALDI),
    Published("hybrid network, tanh, adapted features", 24.84, _KALDI),
    Published("context-dependent HMM", 27.3, _SURVEY),
    Published("Bayesian triphone GMM-HMM", 25.6, _SURVEY),
    Published("triphone GMM-HMM, boosted MMI", 21.7, _SURVEY),
    Published("hybrid network, random start, six layers", 23.4, _SURVEY),
    Published("hybrid network, pretrained, six layers", 22.4, _SURVEY),
    Published("hybrid network, pretrained, filter banks", 20.7, f"Mohamed et al. (2012), from {_SURVEY}"),
    Published("hybrid network, mcRBM", 20.5, "Dahl et al. (2010), abstract"),
)
"""Error rates (%) on the core test, 39 classes."""


def ours() -> tuple[tuple[MixtureSpecification, ...], tuple[HybridSpecification, ...]]:
    """Return mixtures and hybrids of monophones and of tied states, each without and with speaker transforms."""
    mixtures, adapted = mapped_systems(BY_SPEAKER, SPLICED, CLASSIFIER, tied_states=TIED_STATES)
    plain = (
        HybridSpecification("ovr", CLASSIFIER, SPLICED),
        HybridSpecification("ovr-tied", CLASSIFIER, SPLICED, aligner="gmm-tied"),
    )
    return mixtures, plain + adapted


def options(group: argparse._ArgumentGroup) -> None:
    """Add the options specific to this recipe."""
    group.add_argument(
        "--alignment",
        choices=("hand", "flat"),
        default="hand",
        help="phone boundaries of the training: the hand labels, or a flat start (default: hand)",
    )


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", options=options, systems=TABLE_4_2)
    assert arguments.corpus_dir is not None
    timit = read_corpus(arguments.corpus_dir)
    for note in timit.notes:
        log.warning("%s", note)
    fold = read_fold(f"{PHONE_MAP}:3")
    classes = {word for utterance in timit.splits[TRAIN].utterances for word in utterance.words or ()}
    lexicon = Lexicon({name: ((SILENCE if name == corpus.SILENCE else name,),) for name in classes}, str(PHONE_MAP))
    given = GivenAlignment(
        arguments.corpus_dir,
        {
            name: [(start, end, lexicon[phone][0][0]) for start, end, phone in phones]
            for name, phones in timit.labels.items()
        },
    )
    by_hand = arguments.given["alignment"] == "hand"
    mixtures, hybrids = ours() if arguments.systems != "table-4.2" else table_4_2(FEATURES)
    recipe = open_recipe(
        "TIMIT",
        arguments,
        arguments.corpus_dir,
        CONFIG,
        mixtures,
        hybrids,
        lexicon=lexicon,
        inputs={"labels": given.digest(), "classes": json.dumps(fold), "alignment": arguments.given["alignment"]},
        corpora=timit.splits,
    )
    data = {split: recipe.dataset(split) for split in (TRAIN, DEV, TEST)}
    context = replace(recipe.context, given=given if by_hand else None)

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        return {"bigram": arpa_grammar(estimate_ngram(dataset.references.values(), 2, vocabulary=lexicon.words))}

    bigram = grammars(data[TRAIN])
    systems = train_and_tune(context, "timit", data[TRAIN], mixtures, hybrids, grammars, dev=data[DEV], fold=fold)
    primary = choose_primary(systems)
    scored = []
    for split in (DEV, TEST):
        accuracies = frame_accuracies(context, split, systems, data, given.phones, fold, bigram["bigram"])
        for part in decode_test(context, split, systems, data[split], bigram):
            row, report = pooled_row([part], split=split, primary=primary, fold=fold)
            row["frame_accuracy"] = accuracies[row["system"]]
            scored.append((row, report))
    notes = (
        "WER is the phone error rate in 39 classes, silence included. Scale, penalty and primary system were chosen on "
        "dev, so its rows are not test results.",
        "frames %: frames whose class is that of the hand labels; the frame error is the rest.",
        f"Phone boundaries of the training: {'the hand labels' if by_hand else 'a flat start'}.",
        *timit.notes,
    )
    finish(recipe, scored, systems, notes, PUBLISHED)


if __name__ == "__main__":
    run_recipe(main)
