"""Ablation of the hybrid on AN4 by five-fold cross-validation over the training speakers.

    python -m recipes.an4.ablation --corpus-dir DIR --work-dir W [--rows NAME ...] [--folds N ...]

Every row changes one setting of the base. In each fold, mixtures and hybrid are trained without a fifth of the
speakers. They recognize these speakers with a bigram of the other speakers' transcripts. Errors are summed over all
5442 words, with the best scale and penalty for the row. The test set is not read. `W/ablation.json` is rewritten after
every row, and the table is printed at the end.
"""

import argparse

from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.experiments.ablation import Ablation, Row, run_ablation
from asr.experiments.recipe import open_recipe, parse_arguments, run_recipe
from asr.grammar import arpa_grammar, estimate_ngram
from recipes.an4.__main__ import BY_SPEAKER, CONFIG

PERCEPTRON = {"hidden_layer_sizes": [512], "batch_size": 512}
HYBRID = HybridSettings(
    classifier="kernel-logistic",
    parameters={"n_centers": 1000, "n_candidates": 2000, "max_iter": 4, "loss": "ovr"},
    vtlp_warps=(),
    prior_exponent=0.7,
)
FRAMES = BY_SPEAKER.model_copy(update={"context": 7, "lda_dimension": 60})
SEARCHES = tuple(
    SearchSettings(lm_scale=lm_scale, insertion_penalty=penalty, beam=60.0)
    for lm_scale, penalty in ((3.0, -4.0), (4.5, -4.0), (6.5, -4.0))
)

OF_MIXTURES = tuple(
    SearchSettings(lm_scale=lm_scale, insertion_penalty=penalty, beam=300.0)
    for lm_scale, penalty in ((12.0, -10.0), (18.0, -10.0), (28.0, -10.0))
)
OF_TIED_STATES = tuple(
    SearchSettings(lm_scale=lm_scale, insertion_penalty=-4.0, beam=60.0) for lm_scale in (4.5, 6.5, 9.0)
)
MAPPED = SpeakerSettings(maps="fmllr")
WARPED = SpeakerSettings(maps="vtln")

ROWS = (
    Row("base"),
    Row("squared loss", {"classifier": "orols"}, {"n_centers": 1000, "n_candidates": 2000}),
    Row("multinomial loss", parameters={"loss": "multinomial"}),
    Row("random centers", parameters={"selection": "random"}),
    Row("500 centers", parameters={"n_centers": 500, "n_candidates": 1000}),
    Row("2000 centers", parameters={"n_centers": 2000, "n_candidates": 4000}),
    Row("4000 centers", parameters={"n_centers": 4000, "n_candidates": 8000}),
    Row("8 passes", parameters={"max_iter": 8}),
    Row("width 6", parameters={"sigma": 6.0}),
    Row("width 13", parameters={"sigma": 13.0}),
    Row("ridge 1e-6", parameters={"alpha": 1e-6}),
    Row("ridge 1e-8", parameters={"alpha": 1e-8}),
    Row("context 3, LDA 40", frames={"context": 3, "lda_dimension": 40}),
    Row("context 5", frames={"context": 5}),
    Row("context 9", frames={"context": 9}),
    Row("LDA 40", frames={"lda_dimension": 40}),
    Row("16 Gaussians alone, LDA", mixtures_alone=16, searches=OF_MIXTURES),
    Row("no splicing, no LDA", frames={"context": 0, "lda_dimension": None}),
    Row("normalized over the corpus", frames={"normalize": "corpus"}),
    Row("normalized by utterance", frames={"normalize": "utterance"}),
    Row("warps 0.92, 1.08", {"vtlp_warps": (0.92, 1.08)}),
    Row("warps 0.88 to 1.12", {"vtlp_warps": (0.88, 0.94, 1.06, 1.12)}),
    Row("prior exponent 0.3", prior_exponent=0.3),
    Row("prior exponent 0.5", prior_exponent=0.5),
    Row("prior exponent 1", prior_exponent=1.0),
    Row("one realignment", {"realignments": 1}),
    Row("two realignments", {"realignments": 2}),
    Row("two models averaged", average=2),
    Row("second stream, 16 Gaussians", {"mixtures": 16}),
    Row("second stream, 32 Gaussians", {"mixtures": 32}),
    Row("perceptron (512), 4 passes", {"classifier": "mlp"}, {**PERCEPTRON, "max_iter": 4}),
    Row("perceptron (512), 8 passes", {"classifier": "mlp"}, {**PERCEPTRON, "max_iter": 8}),
    Row(
        "2000 centers, warps 0.92, 1.08",
        {"vtlp_warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000},
    ),
    Row(
        "2000 centers, warps, 32 Gaussians",
        {"vtlp_warps": (0.92, 1.08), "mixtures": 32},
        {"n_centers": 2000, "n_candidates": 4000},
    ),
    Row(
        "4000 centers, warps 0.92, 1.08",
        {"vtlp_warps": (0.92, 1.08)},
        {"n_centers": 4000, "n_candidates": 8000},
    ),
    Row(
        "4000 centers, warps, 32 Gaussians",
        {"vtlp_warps": (0.92, 1.08), "mixtures": 32},
        {"n_centers": 4000, "n_candidates": 8000},
    ),
    Row(
        "perceptron (512), 8 passes, warps",
        {"classifier": "mlp", "vtlp_warps": (0.92, 1.08)},
        {**PERCEPTRON, "max_iter": 8},
    ),
    Row(
        "2000 centers, warps, multinomial",
        {"vtlp_warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000, "loss": "multinomial"},
    ),
    Row(
        "2000 centers, warps, two averaged",
        {"vtlp_warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000},
        average=2,
    ),
    *(Row(f"{n} tied states", tied_states=n, searches=OF_TIED_STATES) for n in (200, 300, 400, 600)),
    Row(
        "300 tied states, 2000 centers, warps",
        {"vtlp_warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000},
        tied_states=300,
        searches=OF_TIED_STATES,
    ),
    Row(
        "300 tied states, 2000 centers, warps, 32 Gaussians",
        {"vtlp_warps": (0.92, 1.08), "mixtures": 32},
        {"n_centers": 2000, "n_candidates": 4000},
        tied_states=300,
        searches=OF_TIED_STATES,
    ),
    Row("maps of speakers", speakers=MAPPED),
    Row("VTLN of speakers", speakers=WARPED),
    Row(
        "2000 centers, warps, 32 Gaussians, speaker transforms",
        {"vtlp_warps": (0.92, 1.08), "mixtures": 32},
        {"n_centers": 2000, "n_candidates": 4000},
        speakers=MAPPED,
    ),
    Row("300 tied states, speaker transforms", tied_states=300, speakers=MAPPED, searches=OF_TIED_STATES),
    Row(
        "300 tied states, 2000 centers, warps, speaker transforms",
        {"vtlp_warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000},
        tied_states=300,
        speakers=MAPPED,
        searches=OF_TIED_STATES,
    ),
    Row(
        "300 tied states, 2000 centers, warps, 32 Gaussians, speaker transforms",
        {"vtlp_warps": (0.92, 1.08), "mixtures": 32},
        {"n_centers": 2000, "n_candidates": 4000},
        tied_states=300,
        speakers=MAPPED,
        searches=OF_TIED_STATES,
    ),
    Row(
        "300 tied states, 2000 centers, warps, 32 Gaussians, speaker transforms, copies alone",
        {"vtlp_warps": (0.92, 1.08), "mixtures": 32, "augment_as_unadapted": True},
        {"n_centers": 2000, "n_candidates": 4000},
        tied_states=300,
        speakers=MAPPED,
        searches=OF_TIED_STATES,
    ),
    Row("sequences", {"smbr_epochs": 2}),
    Row(
        "300 tied states, 2000 centers, warps, 32 Gaussians, speaker transforms, sequences",
        {"vtlp_warps": (0.92, 1.08), "mixtures": 32, "smbr_epochs": 2},
        {"n_centers": 2000, "n_candidates": 4000},
        tied_states=300,
        speakers=MAPPED,
        searches=OF_TIED_STATES,
    ),
)


def main() -> None:
    """Measure the selected rows."""
    arguments = parse_arguments(__doc__ or "", rows=[row.name for row in ROWS], options=_add_folds)
    assert arguments.corpus_dir is not None
    recipe = open_recipe("AN4", arguments, arguments.corpus_dir, CONFIG, (), (), ("train",))
    words = recipe.context.lexicon.words
    ablation = Ablation(
        HYBRID,
        FRAMES,
        BY_SPEAKER,
        SEARCHES,
        lambda inner, _: arpa_grammar(estimate_ngram(inner.references.values(), 2, vocabulary=words)),
    )
    print(run_ablation(recipe, ablation, ROWS, arguments.rows, arguments.given["folds"]))


def _add_folds(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--folds", type=int, nargs="+", choices=range(5), help="only these of the five tables (default: all)"
    )


if __name__ == "__main__":
    run_recipe(main)
