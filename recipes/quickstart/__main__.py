"""Quickstart: synthesise a small naval resource-management corpus, train on it, recognize, and report.

    python -m recipes.quickstart --work-dir runs/quickstart

Artificial speakers (eSpeak NG, the extra `synth`) read sentences of the project's own grammar in noise. Test voices do
not occur in training. A GMM-HMM is trained from a flat start, the hybrid on its alignment. Both are scored on the test
sentences with the word-pair grammar. `report.html` shows the results.
"""

from collections.abc import Mapping

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.corpus.synthesis import CorpusSettings, make_naval_corpus
from asr.grammar import Grammar, read_word_pair, word_pair
from asr.runs.progress import counted
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from discriminants.util.paths import is_dir
from recipes.comparison import choose_primary, decode_test, pooled_row, train_and_tune
from recipes.recipe import finish, open_recipe, parse_arguments, run_recipe
from recipes.specifications import HybridSpecification, MixtureSpecification

CORPUS = CorpusSettings()
DEFAULTS = TrainingConfig()
FEATURES = DEFAULTS.features
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm=GmmSettings(mixtures=(1, 2, 4, 8), iterations=(10, 5, 5, 6), start="equal"),
    gmm_search=SearchSettings(),
    hybrid_search=SearchSettings(lm_scale=4.0, beam=100.0),
    tuning=TuningSettings(held_out=0.15),
)
MIXTURES = (MixtureSpecification("gmm", FEATURES, (1, 4, 8)),)
HYBRIDS = (
    HybridSpecification(
        "klr",
        HybridSettings(
            classifier="kernel-logistic",
            parameters={"n_centers": 1500, "n_candidates": 3000, "max_iter": 2},
            vtlp_warps=(0.92, 1.08),
            augment_silence_ms=DEFAULTS.hybrid.augment_silence_ms,
        ),
        DEFAULTS.hybrid_features,
    ),
)


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", needs_corpus=False)
    corpus_dir = arguments.work_dir.with_name(f"{arguments.work_dir.name}-corpus-{CORPUS.digest()}")
    if not is_dir(corpus_dir):
        n_utterances = CORPUS.n_train_utterances + CORPUS.n_test_utterances
        with counted(n_utterances, "synthesising speech") as finished:
            make_naval_corpus(corpus_dir, CORPUS, jobs=arguments.jobs, progress=finished)
    recipe = open_recipe("Quickstart", arguments, corpus_dir, CONFIG, MIXTURES, HYBRIDS)
    train, test = recipe.dataset("train"), recipe.dataset("test")
    successors = read_word_pair(corpus_dir / "wordpair.txt")

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        return {"wordpair": word_pair(successors)}

    systems = train_and_tune(recipe.context, "quickstart", train, MIXTURES, HYBRIDS, grammars)
    primary = choose_primary(systems)
    decoded = decode_test(recipe.context, "test", systems, test, grammars(train))
    notes = (
        f"Synthetic speech: {len(train.speakers)} training and {len(test.speakers)} test voices, "
        f"{train.seconds / 60:.1f} and {test.seconds / 60:.1f} minutes, word-pair grammar.",
    )
    finish(recipe, [pooled_row([part], split="test", primary=primary) for part in decoded], systems, notes)


if __name__ == "__main__":
    run_recipe(main)
