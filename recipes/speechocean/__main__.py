"""speechocean762 (subset): sentences read by Mandarin speakers of English, 16 kHz, from audio.

    python -m recipes.speechocean --corpus-dir DIR --work-dir W [--noise-dir NOISE] [--systems ours|mapped|table-4.2]

DIR holds Kaldi data directories `train`, `dev` and `test`, `lexicon.txt`, and `lm_train.text`, from which the bigram is
estimated. Scales, penalties and the primary system are chosen on `dev`. Test is decoded last, without and with noise.
NOISE (default: `noise_esc10` next to DIR) holds `noise.scp`, whose clips are mixed in at 20, 10 and 5 dB.
"""

import hashlib
import logging
from collections.abc import Mapping

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.corpus.list_file import read_list
from asr.features.augmentation import Augmentation, NoiseClips, read_noise
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, arpa_grammar, estimate_ngram
from asr.lexicon import Lexicon, read_lexicon
from asr.lexicon.lexicon import without_stress
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from discriminants.util.paths import is_dir
from recipes.comparison import choose_primary, combined, decode_test, pooled_row, train_and_tune
from recipes.recipe import Arguments, finish, open_recipe, parse_arguments, run_recipe
from recipes.specifications import HybridSpecification, MixtureSpecification
from recipes.systems import MAPPED, TABLE_4_2, mapped_systems, table_4_2

log = logging.getLogger("recipes.speechocean")

FEATURES = FeatureConfig(normalize="speaker")
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm=GmmSettings(start="equal"),
    # On dev wider beams and more tokens change at most one error in 480; a hybrid's beam of 50 costs 11.
    gmm_search=SearchSettings(lm_scale=10.0, beam=110.0, max_active=2500),
    hybrid_search=SearchSettings(lm_scale=7.0, beam=80.0, max_active=3000),
    tuning=TuningSettings(
        held_out=0.15, scale_factors=(0.7, 0.85, 1.0, 1.2, 1.4), penalty_factors=(-0.8, -0.4, -0.2, 0.0, 0.2)
    ),
)
MIXTURES = (MixtureSpecification("gmm", FEATURES, (4, 8, 16)),)
WIDE = FEATURES.model_copy(update={"context": 7, "lda_dimension": 60})


def kernel_logistic(loss: str, mixtures: int) -> HybridSettings:
    """Return kernel logistic regression, one-vs-rest or multinomial, optionally with a second stream of mixtures."""
    return HybridSettings(
        classifier="kernel-logistic",
        parameters={"loss": loss, "n_centers": 2000, "n_candidates": 4000, "max_iter": 2, "alpha": 2e-7},
        vtlp_warps=(0.9, 1.1),
        speed_perturb=(0.9, 1.1),
        mixtures=mixtures,
    )


HYBRIDS = tuple(
    HybridSpecification(name, kernel_logistic(loss, mixtures), WIDE)
    for name, loss, mixtures in (("ovr", "ovr", 0), ("ovr-gmm", "ovr", 32), ("klr-gmm", "multinomial", 32))
)
NOISE_LEVELS = (20.0, 10.0, 5.0)  # dB
VOTING = ("ovr-tied-mapped", "ovr-mapped", "gmm-tied-mapped-8")  # of the mapped systems
BASELINES = ("gmm-8", "gmm-speaker-8")  # decoded in noise in addition to the hybrids


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", takes_noise=True, systems={**MAPPED, **TABLE_4_2})
    assert arguments.corpus_dir is not None
    if arguments.systems in MAPPED:
        mixtures, hybrids = mapped_systems(FEATURES, WIDE, kernel_logistic("ovr", 32), tied_states=300)
    else:
        mixtures, hybrids = (MIXTURES, HYBRIDS) if arguments.systems == "ours" else table_4_2(FEATURES)
    text = arguments.corpus_dir / "lm_train.text"
    sentences = [entry.value.split() for entry in read_list(text).values()]
    noise = noise_clips(arguments)
    inputs = {"lm": hashlib.sha256(text.read_bytes()).hexdigest(), "noise": "" if noise is None else noise.digest()}
    if arguments.systems in MAPPED:
        inputs["voting"] = " ".join(VOTING)
    recipe = open_recipe(
        "speechocean762",
        arguments,
        arguments.corpus_dir,
        CONFIG,
        mixtures,
        hybrids,
        ("train", "dev", "test"),
        lexicon=folded(read_lexicon(arguments.corpus_dir / "lexicon.txt")),
        inputs=inputs,
    )
    train, dev, test = (recipe.dataset(name) for name in ("train", "dev", "test"))
    bigram = arpa_grammar(estimate_ngram(sentences, 2, vocabulary=recipe.context.lexicon.words))

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        return {"bigram": bigram}

    systems = train_and_tune(recipe.context, "speechocean", train, mixtures, hybrids, grammars, dev=dev)
    if arguments.systems in MAPPED:
        by_name = {system.name: system for system in systems}
        voting = [by_name[name] for name in VOTING]
        systems = [*systems, combined(recipe.context, "combined", voting, dev, grammars(train))]
    primary = choose_primary(systems)
    splits = {"dev": (dev, systems), "test": (test, systems)}
    if noise is not None:
        compared = [system for system in systems if system.kind == "discriminant" or system.name in BASELINES]
        for level in NOISE_LEVELS:
            changed = Augmentation(noise=noise, snr_db=level, seed=CONFIG.seed)
            splits[f"test-{changed.name}"] = (recipe.dataset("test", changed), compared)
    scored = [
        pooled_row([part], split=split, primary=primary)
        for split, (dataset, chosen) in splits.items()
        for part in decode_test(recipe.context, split, chosen, dataset, grammars(dataset))
    ]
    finish(recipe, scored, systems)


def noise_clips(arguments: Arguments) -> NoiseClips | None:
    """Return the clips of --noise-dir, or of `noise_esc10` next to the corpus; None without them."""
    if arguments.noise_dir is not None:
        return read_noise(arguments.noise_dir)
    assert arguments.corpus_dir is not None
    beside = arguments.corpus_dir.resolve().parent / "noise_esc10"
    if is_dir(beside):
        return read_noise(beside)
    log.info("no noise clips in %s; the noise table is skipped", beside)
    return None


def folded(lexicon: Lexicon) -> Lexicon:
    """Remove stress marks from the lexicon: one hour of speech is too little to separate AH0 and AH1."""
    return Lexicon(
        {
            word: tuple(tuple(without_stress(phone) for phone in variant) for variant in variants)
            for word, variants in lexicon.pronunciations.items()
        },
        lexicon.source,
    )


if __name__ == "__main__":
    run_recipe(main)
