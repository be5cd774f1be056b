"""AN4 (CMU Census): spelled words, numbers and commands by 74 training and 10 test speakers, from cepstra.

    python -m recipes.an4 --corpus-dir DIR --work-dir W [--systems ours|mapped|table-4.2|fisher|least-squares]

DIR holds Kaldi data directories `train` and `test` with feats.scp, and `lexicon.txt`. The grammars are a bigram
estimated from the training transcripts and a free loop of the lexicon's words. Scales, penalties and the primary system
are chosen on held-out training speakers. The test set is decoded last.
"""

from collections.abc import Mapping

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, arpa_grammar, estimate_ngram, word_loop
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from recipes.comparison import choose_primary, decode_test, pooled_row, train_and_tune
from recipes.recipe import finish, open_recipe, parse_arguments, run_recipe
from recipes.specifications import HybridSpecification, MixtureSpecification
from recipes.systems import FAMILIES, MAPPED, TABLE_4_2, kernel_family, mapped_systems, table_4_2

# Front end of the archived cepstra (CMU Sphinx), needed for vocal-tract warps.
FEATURES = FeatureConfig(n_filters=40, low_hz=130.0, high_hz=6800.0, lifter=0, energy="c0", energy_first=True)
BY_SPEAKER = FEATURES.model_copy(update={"normalize": "speaker"})
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm=GmmSettings(start="equal"),  # trimmed recordings
    gmm_search=SearchSettings(),
    hybrid_search=SearchSettings(lm_scale=4.0, beam=100.0),
    tuning=TuningSettings(held_out=0.15),
)
MIXTURES = (
    MixtureSpecification("gmm", FEATURES, (1, 4, 8, 16)),
    MixtureSpecification("gmm-speaker", BY_SPEAKER, (8, 16)),
)
SPLICED = BY_SPEAKER.model_copy(update={"context": 7, "lda_dimension": 60})
WARPS = (0.92, 1.08)


def kernel_logistic(loss: str, mixtures: int = 0, n_centers: int = 4000) -> HybridSettings:
    """Return kernel logistic regression, one-vs-rest or multinomial, optionally with a second stream of mixtures."""
    parameters = {"n_centers": n_centers, "n_candidates": 2 * n_centers, "max_iter": 4, "loss": loss}
    return HybridSettings(classifier="kernel-logistic", parameters=parameters, vtlp_warps=WARPS, mixtures=mixtures)


PERCEPTRON = HybridSettings(
    classifier="mlp", parameters={"hidden_layer_sizes": [512], "batch_size": 512, "max_iter": 8}, vtlp_warps=WARPS
)
HYBRIDS = (
    HybridSpecification("ovr", kernel_logistic("ovr"), SPLICED),
    HybridSpecification("klr", kernel_logistic("multinomial"), SPLICED),
    HybridSpecification("ovr-gmm", kernel_logistic("ovr", mixtures=32), SPLICED),
    HybridSpecification("mlp", PERCEPTRON, SPLICED, kind="other"),
)


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", systems={**MAPPED, **TABLE_4_2, **FAMILIES})
    assert arguments.corpus_dir is not None
    if arguments.systems in FAMILIES:
        mixtures, hybrids = kernel_family(arguments.systems, BY_SPEAKER, SPLICED)
    elif arguments.systems in MAPPED:
        settings = kernel_logistic("ovr", mixtures=32, n_centers=2000).model_copy(update={"augment_as_unadapted": True})
        mixtures, hybrids = mapped_systems(BY_SPEAKER, SPLICED, settings, tied_states=300)
    else:
        mixtures, hybrids = (MIXTURES, HYBRIDS) if arguments.systems == "ours" else table_4_2(FEATURES)
    recipe = open_recipe("AN4", arguments, arguments.corpus_dir, CONFIG, mixtures, hybrids)
    train, test = recipe.dataset("train"), recipe.dataset("test")
    words = recipe.context.lexicon.words

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        bigram = estimate_ngram(dataset.references.values(), 2, vocabulary=words)
        return {"bigram": arpa_grammar(bigram), "loop": word_loop(words)}

    systems = train_and_tune(recipe.context, "an4", train, mixtures, hybrids, grammars)
    primary = choose_primary(systems)
    decoded = decode_test(recipe.context, "test", systems, test, grammars(train))
    finish(recipe, [pooled_row([part], split="test", primary=primary) for part in decoded], systems)


if __name__ == "__main__":
    run_recipe(main)
