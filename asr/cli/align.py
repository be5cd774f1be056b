"""`asr align`: times of each word, phone and state of a known transcript."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from asr.cli.options import (
    ALL_CORES,
    Cluster,
    Data,
    Jobs,
    Model,
    Root,
    Upsample,
    require_directory,
    require_file,
    require_model,
)
from asr.util.errors import LexiconError
from asr.util.memory_errors import require_address_space


def align(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for all output files.", show_default=False)],
    lexicon: Annotated[
        Path | None,
        typer.Option(
            "--lexicon",
            metavar="FILE",
            help="Lexicon for the alignment.  [default: the lexicon of the training]",
            show_default=False,
        ),
    ] = None,
    textgrid: Annotated[
        bool, typer.Option("--textgrid", help="Also write a Praat TextGrid for every utterance.")
    ] = False,
    root: Root = None,
    upsample: Upsample = False,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
) -> None:
    """Find the times of the words and phones of a corpus whose transcripts are known.

    Writes words.ctm and phones.ctm (utterance, channel, start and duration in seconds, label) and states.npz
    (one state number per frame). Also writes scores.tsv (the match of every transcript with its audio) and
    suspects.tsv (transcripts that probably do not match their audio), and prints a summary of the scores. Utterances
    that cannot be aligned are listed in failed.tsv with the reason.

    \b
    Example:
      asr align --model runs/mine/model.safetensors --data data/train --out runs/mine/alignment --textgrid
    """
    require_model(model, "--model")
    require_directory(data, "--data")
    require_file(lexicon, "--lexicon", LexiconError)
    require_directory(root, "--root")

    require_address_space()

    import asr
    from asr.cli.reporting import report_failures

    # The fit of the transcripts is always logged, as in training, not only for suspects.
    logging.basicConfig(level=logging.WARNING, format="asr: %(message)s")
    for room in ("asr.alignment", "asr.commands.align"):
        logging.getLogger(room).setLevel(logging.INFO)
    summary = asr.align(
        model,
        data,
        out,
        root=root,
        lexicon=lexicon,
        textgrid=textgrid,
        upsample=upsample,
        jobs=jobs,
        cluster=cluster,
    )
    typer.echo(out / "words.ctm")
    report_failures(summary, out)
