"""`asr tune`: tuning of a model's scale, penalty and beam."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from asr.cli.input_checks import require_corpus, require_directory, require_grammar, require_model
from asr.cli.options import (
    CLASSIFIER_OF_MODEL,
    CLUSTER,
    DATA,
    EXTRACTOR_OF_MODEL,
    JOBS,
    MODEL,
    ROOT,
    Options,
    flag,
    keywords,
    option,
    takes,
)
from asr.util.memory_errors import require_address_space

if TYPE_CHECKING:
    from asr.acoustic.model_metadata import Rejection


class TuneOptions(Options):
    """Options of `asr tune`."""

    model: Path = MODEL
    data: Path = DATA
    output: Path = option("Model file to write: the model with the chosen settings.", ..., "--out", metavar="FILE")
    grammar: str | None = option(
        "Grammar to tune for: 'loop', 'one', a number of words or a file, as for asr decode. The saved model keeps its "
        "own grammar.  [default: the model's]",
        metavar="NAME|N|FILE",
    )
    others: Path | None = option(
        "Data directory of recordings without a sentence of the grammar: other speech, noise. Their transcripts are "
        "ignored. Tunes rejection: accepts as few of them as possible while losing at most 5 % of the sentences of "
        "--data. Tunes filler_penalty if the grammar has the filler ([unk] in a list of sentences, $other in HParse "
        "grammars), and min_phone_llr and min_silence_llr otherwise.",
        metavar="DIR",
    )
    stream_weights: bool = flag(
        "Also choose the weight of the mixtures in a model that combines a hybrid and mixtures (setting "
        "hybrid.mixtures). Five weights are tuned in turn."
    )
    overwrite: bool = flag("Replace the file of --out if it exists.")
    classifier: str | None = CLASSIFIER_OF_MODEL
    extractor: str | None = EXTRACTOR_OF_MODEL
    root: Path | None = ROOT
    jobs: int = JOBS
    cluster: str | None = CLUSTER


@takes(TuneOptions)
def tune(given: TuneOptions) -> None:
    """Choose the search settings of a trained model on transcribed speech.

    Use speech like that to be recognized, of speakers who are neither in the training data nor in the test set. The
    command minimizes the word errors over lm_scale and insertion_penalty, chooses the narrowest beam and max_active
    that lose no words, and calibrates the confidences. The model file is not changed; the output file differs only in
    these settings.

    With --stream-weights, the printed errors are those of the best of several weights, so expect slightly more on
    other speech.

    \b
    Examples:
      asr tune --model runs/mine/model.safetensors --data data/dev --out runs/mine/tuned.safetensors
      asr tune --model runs/mine/model.safetensors --data data/dev --grammar loop --out loop.safetensors
      asr tune --model M --data data/dev --grammar commands.txt --others data/others --out commands.safetensors
    """
    require_model(given.model, "--model")
    require_corpus(given.data, "--data")
    require_directory(given.others, "--others")
    require_directory(given.root, "--root")
    require_grammar(given.grammar)

    require_address_space()

    import asr
    from asr.cli.reporting import report_left_out
    from asr.util.counted_text import count

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    tuned = asr.tune(**keywords(given))
    typer.echo(tuned.model)
    if tuned.share is not None:
        tried = ", ".join(f"{one.errors} with {one.share:g}" for one in sorted(tuned.shares, key=lambda one: one.share))
        typer.echo(f"share of the second stream {tuned.share:g} (was {tuned.shares[0].share:g}); errors: {tried}")
    names = ["lm_scale", "insertion_penalty", "beam", "max_active"]
    rejecting = ["filler_penalty", "min_phone_llr", "min_silence_llr"]
    for name in names if tuned.rejection is None else [*names, *rejecting]:
        now, was = getattr(tuned.search, name), getattr(tuned.before, name)
        if name in names or now != was:
            typer.echo(f"{name} {_number(now)} (was {_number(was)})")
    fitted = tuned.search.confidence
    if fitted is not None:
        typer.echo("confidence: " + ", ".join(f"{name} {value:g}" for name, value in fitted.model_dump().items()))
    without = "" if tuned.rejection is None else "without rejection: "
    typer.echo(
        f"{without}{count(tuned.errors, 'error')} in {count(tuned.words, 'word')}, {tuned.wer:.2f} % WER on the "
        "tuning data"
    )
    if tuned.rejection is not None:
        _print_rejection(tuned.rejection)
    for remark in tuned.remarks:
        typer.echo(f"asr: {remark}", err=True)
    n_others = 0 if tuned.rejection is None else tuned.rejection.others
    report_left_out(tuned.n_utterances + n_others, tuned.failures)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _print_rejection(found: "Rejection") -> None:
    from asr.util.counted_text import count

    wer = 100 * found.errors / max(1, found.words)
    lost = 100 * found.lost / max(1, found.commands)
    accepted = 100 * found.accepted / max(1, found.others)
    typer.echo(f"with rejection: {count(found.errors, 'error')}, {wer:.2f} % WER")
    typer.echo(f"lost: {found.lost} of the {found.commands} commands that are correct without rejection ({lost:.1f} %)")
    typer.echo(
        f"accepted: {found.accepted} of {count(found.others, 'other recording')} ({accepted:.1f} %); without rejection "
        f"{found.accepted_without}"
    )
