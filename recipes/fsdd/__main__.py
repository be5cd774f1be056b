"""Free Spoken Digits: isolated digits by six speakers, 8 kHz, from audio.

    python -m recipes.fsdd --corpus-dir DIR --work-dir W [--systems ours|table-4.2|fisher|least-squares]

DIR holds Kaldi data directories `train` and `test` and `lexicon.txt`. Split `official` trains on `train` and tests on
`test`, which share their speakers. Split `loso` is leave-one-speaker-out: it trains on all recordings of five speakers,
tests on the sixth, and pools the six results. The grammars are exactly one digit, and a free loop of digits.

The systems `*-word` have word-dependent states, because few phones recur in ten digits and those sound different. The
systems `*-adapted` are adapted to each test speaker without transcripts, like the fMLLR of peer systems. Whole-word
HMMs are the classical baseline for isolated words; without hmmlearn they are skipped with a warning. `--systems fisher`
and `least-squares` compare families of kernel machines (`recipes.systems`), with split `loso` and only
the grammar `one`.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.acoustic.whole_word import HMMLEARN_NEEDED, WholeWordHmms, can_train
from asr.features.config import FeatureConfig
from asr.features.frontend import FrontEnd
from asr.grammar import Grammar, one_word, word_loop
from asr.lexicon import with_own_phones
from asr.recognition.input_network import AdaptationSettings
from asr.scoring.files import read_transcripts, write_transcripts
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset, joined
from asr.training.gmm_stages import TrainingContext
from recipes.comparison import System, choose_primary, decode_test, pooled_row, train_and_tune
from recipes.recipe import OURS, Recipe, finish, open_recipe, parse_arguments, run_recipe
from recipes.results import ResultRow, Unit, result_row
from recipes.specifications import HybridSpecification, MixtureSpecification
from recipes.systems import FAMILIES, TABLE_4_2, kernel_family, table_4_2

log = logging.getLogger(__name__)

# With normalization over the corpus, mixtures make nearly twice the errors on held-out speakers.
FEATURES = FeatureConfig(sample_rate=8000, normalize="speaker")
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm=GmmSettings(mixtures=(1, 2, 4, 8), iterations=(10, 5, 5, 6), start="equal"),
    gmm_search=SearchSettings(),
    hybrid_search=SearchSettings(lm_scale=4.0, beam=100.0),
    tuning=TuningSettings(held_out=0.2),
)
MIXTURES = (MixtureSpecification("gmm", FEATURES, (1, 4, 8)),)
SPLICED = FEATURES.model_copy(update={"context": 7, "lda_dimension": 50})
HYBRIDS = (
    HybridSpecification(
        "klr",
        HybridSettings(
            classifier="kernel-logistic",
            parameters={"n_centers": 1500, "n_candidates": 3000, "max_iter": 2},
            vtlp_warps=(0.84, 0.92, 1.08, 1.16),  # only five training voices
        ),
        SPLICED,
    ),
)

Family = tuple[Unit, str, TrainingContext, tuple[MixtureSpecification, ...], tuple[HybridSpecification, ...]]

WORD_CONFIG = CONFIG.model_copy(update={"gmm": GmmSettings(mixtures=(1, 2, 4), iterations=(10, 5, 5), start="equal")})
WORD_MIXTURES = (MixtureSpecification("gmm-word", FEATURES, (1, 4)),)
ONE_VS_REST = HybridSettings(
    classifier="kernel-logistic",
    parameters={"n_centers": 1000, "n_candidates": 2000, "loss": "ovr", "max_iter": 4},
    vtlp_warps=(0.84, 0.92, 1.08, 1.16),
)
WORD_FRAMES = FEATURES.model_copy(update={"context": 8, "lda_dimension": 50})
WORD_HYBRIDS = (
    HybridSpecification("ovr-word", ONE_VS_REST, WORD_FRAMES),
    HybridSpecification("ovr-word-adapted", ONE_VS_REST, WORD_FRAMES, adaptation=AdaptationSettings()),
)


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", systems={**TABLE_4_2, **FAMILIES})
    assert arguments.corpus_dir is not None
    ours, family = arguments.systems == OURS, arguments.systems in FAMILIES
    if family:
        mixtures, hybrids = kernel_family(arguments.systems, FEATURES, SPLICED)
    else:
        mixtures, hybrids = (MIXTURES, HYBRIDS) if ours else table_4_2(FEATURES)
    compared = (mixtures + WORD_MIXTURES, hybrids + WORD_HYBRIDS) if ours else (mixtures, hybrids)
    notes = [f"hmmlearn-words skipped: {HMMLEARN_NEEDED}"] if ours and not can_train() else []
    for note in notes:
        log.warning(note)
    recipe = open_recipe("Free Spoken Digits", arguments, arguments.corpus_dir, CONFIG, *compared)
    train, test = recipe.dataset("train"), recipe.dataset("test")
    everything = joined([train, test])
    folds = ({} if family else {"official": (train, test)}) | {
        f"loso-{speaker}": (
            everything.of_speakers(set(everything.speakers) - {speaker}),
            everything.of_speakers([speaker]),
        )
        for speaker in everything.speakers
    }
    first = next(iter(folds))
    words = recipe.context.lexicon.words

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        return {"one": one_word(words)} | ({} if family else {"loop": word_loop(words)})

    by_word = replace(recipe.context, lexicon=with_own_phones(recipe.context.lexicon), config=WORD_CONFIG)
    families: list[Family] = [("mono", "", recipe.context, mixtures, hybrids)]
    if ours:
        families.append(("word", "-word", by_word, WORD_MIXTURES, WORD_HYBRIDS))
    trained: dict[tuple[str, str], list[System]] = {}
    for name, (dataset, _) in folds.items():
        for unit, suffix, context, mixtures, hybrids in families:
            trained[name, unit] = train_and_tune(context, name + suffix, dataset, mixtures, hybrids, grammars)

    scored = []
    for unit, suffix, context, _, _ in families:
        primary = choose_primary(system for name in folds for system in trained[name, unit])
        decoded = {
            name: decode_test(context, name + suffix, trained[name, unit], dataset, grammars(dataset))
            for name, (_, dataset) in folds.items()
        }
        for part in decoded.pop("official", ()):
            scored.append(pooled_row([part], split="official", primary=primary, unit=unit))
        for parts in zip(*decoded.values(), strict=True):
            scored.append(pooled_row(parts, split="loso", primary=primary, unit=unit))
    if ours and not notes:
        scored.append(whole_word_row(recipe, "official", {"official": folds.pop("official")}))
        scored.append(whole_word_row(recipe, "loso", folds))
    finish(recipe, scored, [system for unit, *_ in families for system in trained[first, unit]], notes)


def whole_word_row(
    recipe: Recipe, split: str, folds: Mapping[str, tuple[Dataset, Dataset]]
) -> tuple[ResultRow, ScoreReport]:
    """Train and test whole-word HMMs on every fold of a split, one stage per fold, and pool the results."""
    hypotheses: dict[str, tuple[str, ...]] = {}
    references: dict[str, tuple[str, ...]] = {}
    speakers: dict[str, str] = {}
    train_seconds = cpu_seconds = audio_seconds = 0.0
    for name, (train, test) in folds.items():

        def build(directory: Path, train: Dataset = train, test: Dataset = test) -> None:
            front_end = FrontEnd(FEATURES).fit(train.static)
            models = WholeWordHmms(seed=CONFIG.seed)
            started = time.monotonic()
            models.fit(front_end.transform(train.static), train.transcripts, workers=recipe.context.workers)
            recipe.context.run.note_time("training", time.monotonic() - started)
            started = time.process_time()
            write_transcripts(directory / "hyp.txt", models.recognize(front_end.transform(test.static)))
            recipe.context.run.note_time("decoding", time.process_time() - started)

        directory = recipe.context.run.stage(f"{name}-whole-word", build)
        hypotheses |= read_transcripts(directory / "hyp.txt")
        references |= test.references
        speakers |= test.utterance_speaker
        taken = recipe.context.run.stage_time(f"{name}-whole-word").parts
        train_seconds += taken["training"]
        cpu_seconds += taken["decoding"]
        audio_seconds += test.seconds
    report = score_utterances(references, hypotheses, speakers=speakers)
    row = result_row(
        report,
        system="hmmlearn-words",
        kind="other",
        unit="word",
        primary=False,
        grammar="one",
        split=split,
        decode_rtf=cpu_seconds / audio_seconds,
        train_seconds=train_seconds,
    )
    return row, report


if __name__ == "__main__":
    run_recipe(main)
