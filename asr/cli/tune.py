"""`asr tune`: tuning of a model's scale, penalty and beam."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asr.cli.options import (
    ALL_CORES,
    Cluster,
    Data,
    Jobs,
    Model,
    Root,
    require_corpus,
    require_directory,
    require_grammar,
    require_model,
)
from asr.util.memory_errors import require_address_space

if TYPE_CHECKING:
    from asr.acoustic.model_metadata import Rejection


Output = Annotated[
    Path,
    typer.Option(
        "--output", metavar="FILE", help="Model file to write: the model, with what is chosen.", show_default=False
    ),
]
Grammar = Annotated[
    str | None,
    typer.Option(
        "--grammar",
        metavar="NAME|N|FILE",
        help="Tune for this grammar: 'loop', 'one', a number of words or a file, as for asr decode. The model "
        "keeps its own.  [default: the model's own]",
        show_default=False,
    ),
]
Others = Annotated[
    Path | None,
    typer.Option(
        "--others",
        metavar="DIR",
        help="Data directory of recordings without a sentence of the grammar: other speech, noise. Their "
        "transcripts do not matter. Fits what rejects them: it accepts the fewest of them and loses at most 5 % of "
        "the sentences of --data. If the grammar has the filler ([unk] in a list of sentences, $other in HParse's "
        "language), this is filler_penalty, otherwise min_phone_llr and min_silence_llr.",
        show_default=False,
    ),
]
StreamWeights = Annotated[
    bool,
    typer.Option(
        "--stream-weights",
        help="Of a model that scores by a hybrid and mixtures together (the setting hybrid.mixtures), choose the "
        "share of the mixtures too. Five shares are tuned one after the other.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file of --output if it exists already.")]


def tune(
    model: Model,
    data: Data,
    output: Output,
    grammar: Grammar = None,
    others: Others = None,
    stream_weights: StreamWeights = False,
    overwrite: Overwrite = False,
    root: Root = None,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
) -> None:
    """Choose the settings of the search of a finished model on transcribed speech.

    The speech should be like that to be recognized, of speakers who are neither in training nor in the test.
    Chosen are lm_scale and insertion_penalty, for few word errors, and beam and max_active, as narrow as they can be
    without losing words. Confidences of words are fitted to which words were right. The model file stays as it is;
    the one written differs in these settings alone.

    With --stream-weights, the errors reported are those of the best of several shares, so expect some more on other
    speech.

    \b
    Examples:
      asr tune --model runs/mine/model.safetensors --data data/dev --output runs/mine/tuned.safetensors
      asr tune --model runs/mine/model.safetensors --data data/dev --grammar loop --output loop.safetensors
      asr tune --model M --data data/dev --grammar commands.txt --others data/others --output commands.safetensors
    """
    require_model(model, "--model")
    require_corpus(data, "--data")
    require_directory(others, "--others")
    require_directory(root, "--root")
    require_grammar(grammar)

    require_address_space()

    import asr
    from asr.cli.reporting import tell_left_out
    from asr.util.counted_text import count

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    tuned = asr.tune(
        model,
        data,
        output,
        grammar=grammar,
        root=root,
        others=others,
        stream_weights=stream_weights,
        overwrite=overwrite,
        jobs=jobs,
        cluster=cluster,
    )
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
        f"{without}{count(tuned.errors, 'error')} in {count(tuned.words, 'word')}, {tuned.wer:.2f} % WER on the data "
        "of the choice"
    )
    if tuned.rejection is not None:
        _print_rejection(tuned.rejection)
    for remark in tuned.remarks:
        typer.echo(f"asr: {remark}", err=True)
    n_others = 0 if tuned.rejection is None else tuned.rejection.others
    tell_left_out(tuned.n_utterances + n_others, tuned.failures)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _print_rejection(found: "Rejection") -> None:
    from asr.util.counted_text import count

    wer = 100 * found.errors / max(1, found.words)
    lost = 100 * found.lost / max(1, found.commands)
    accepted = 100 * found.accepted / max(1, found.others)
    typer.echo(f"with rejection: {count(found.errors, 'error')}, {wer:.2f} % WER")
    typer.echo(f"lost: {found.lost} of the {found.commands} commands that are right without rejection ({lost:.1f} %)")
    typer.echo(
        f"accepted: {found.accepted} of {count(found.others, 'other recording')} ({accepted:.1f} %); without rejection "
        f"{found.accepted_without}"
    )
