"""Ablation of copies, noise and a second stream on speechocean762 by three-fold cross-validation over its speakers.

    python -m recipes.speechocean.ablation --corpus-dir DIR --work-dir W [--noise-dir NOISE] [--rows NAME ...]

Every row changes one setting of the base. In each fold, mixtures and hybrid are trained without a third of the training
speakers. They recognize these speakers with a bigram of `lm_train.text` without their sentences. Errors are summed over
all 5054 words, with the best scale and penalty for the row. Half of the noise clips are for training, the other half
for recognition. Neither dev nor test is read. `W/ablation.json` is rewritten after every row, and the table is printed
at the end.
"""

from collections.abc import Sequence
from pathlib import Path

from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.corpus.list_file import read_list
from asr.experiments.ablation import Ablation, Row, run_ablation
from asr.experiments.recipe import open_recipe, parse_arguments, run_recipe
from asr.features.augmentation import Augmentation, NoiseClips
from asr.grammar import Grammar, arpa_grammar, estimate_ngram
from asr.lexicon import read_lexicon
from asr.runs.run import Run
from asr.training.dataset import Dataset
from asr.util.errors import ConfigError
from recipes.speechocean.__main__ import CONFIG, FEATURES, WIDE, folded, noise_clips

HYBRID = HybridSettings(
    classifier="kernel-logistic",
    parameters={"n_centers": 1000, "n_candidates": 2000, "max_iter": 3, "loss": "ovr"},
    vtlp_warps=(),
)
SEARCHES = tuple(
    SearchSettings(lm_scale=lm_scale, insertion_penalty=penalty, beam=65.0, max_active=2500)
    for lm_scale, penalty in ((5.5, -1.0), (7.0, -2.5), (8.5, -4.0), (10.0, -5.5))
)
N_FOLDS = 3
SPEEDS, WARPS = (0.9, 1.1), (0.9, 1.1)
NOISE_COPIES = (20.0, 10.0)  # dB
HEARD_AT = 10.0  # dB


def make_rows(training_noise: Path, clips: NoiseClips) -> tuple[Row, ...]:
    """Return the table's rows; training copies take noise from a folder, recognized speech from clips."""
    large = {"n_centers": 2000, "n_candidates": 4000}
    copies = {"speed_perturb": SPEEDS, "vtlp_warps": WARPS}
    noisy = {"noise": {"directory": training_noise, "snr_db": NOISE_COPIES}}
    heard_in = Augmentation(noise=clips, snr_db=HEARD_AT, seed=CONFIG.seed)
    return (
        Row("base"),
        Row("multinomial loss", parameters={"loss": "multinomial"}),
        Row("2000 centers", parameters=large),
        Row("warps 0.9, 1.1", {"vtlp_warps": WARPS}),
        Row("speeds 0.9, 1.1", {"speed_perturb": SPEEDS}),
        Row("noise copies at 20 and 10 dB", noisy),
        Row("second stream, 32 Gaussians", {"mixtures": 32}),
        Row("one realignment", {"realignments": 1}),
        Row("speeds, warps, 2000 centers", copies, large),
        Row("speeds, warps, 2000 centers, 32 Gaussians", {**copies, "mixtures": 32}, large),
        Row("tested at 10 dB: base", heard_in=heard_in),
        Row("tested at 10 dB: noise copies", noisy, heard_in=heard_in),
        Row("tested at 10 dB: second stream", {"mixtures": 32}, heard_in=heard_in),
    )


def main() -> None:
    """Measure the selected rows."""
    names = [row.name for row in make_rows(Path(), NoiseClips((), ()))]
    arguments = parse_arguments(__doc__ or "", takes_noise=True, rows=names)
    assert arguments.corpus_dir is not None
    clips = noise_clips(arguments)
    if clips is None:
        raise ConfigError("The rows with noise need clips. Use --noise-dir DIR, a folder with noise.scp")
    sentences = [tuple(entry.value.split()) for entry in read_list(arguments.corpus_dir / "lm_train.text").values()]
    recipe = open_recipe(
        "speechocean762",
        arguments,
        arguments.corpus_dir,
        CONFIG,
        (),
        (),
        ("train",),
        lexicon=folded(read_lexicon(arguments.corpus_dir / "lexicon.txt")),
        inputs={"noise": clips.digest()},
    )
    words = recipe.context.lexicon.words

    def grammar(inner: Dataset, held_out: Dataset) -> Grammar:
        return arpa_grammar(estimate_ngram(sentences_apart(sentences, held_out), 2, vocabulary=words))

    ablation = Ablation(HYBRID, WIDE, FEATURES, SEARCHES, grammar, N_FOLDS)
    rows = make_rows(list_of_half(recipe.context.run, clips), half(clips, 1))
    print(run_ablation(recipe, ablation, rows, arguments.rows))


def half(clips: NoiseClips, first: int) -> NoiseClips:
    """Return every second clip."""
    return NoiseClips(clips.ids[first::2], clips.paths[first::2])


def list_of_half(run: Run, clips: NoiseClips) -> Path:
    """Run a stage that writes a folder whose `noise.scp` lists every second clip."""

    def build(directory: Path) -> None:
        chosen = half(clips, 0)
        lines = [f"{name} {path}\n" for name, path in zip(chosen.ids, chosen.paths, strict=True)]
        (directory / "noise.scp").write_text("".join(lines), encoding="utf-8")

    return run.stage("noise-for-training", build)


def sentences_apart(sentences: Sequence[tuple[str, ...]], held_out: Dataset) -> list[tuple[str, ...]]:
    """Return the sentences that no held-out speaker says."""
    heard = set(held_out.references.values())
    return [sentence for sentence in sentences if sentence not in heard]


if __name__ == "__main__":
    run_recipe(main)
