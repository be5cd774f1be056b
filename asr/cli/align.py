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
    Root,
    Upsample,
    require_corpus,
    require_directory,
    require_lexicon,
    require_model,
)
from asr.util.memory_errors import require_address_space


def align(
    data: Data,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for all files that are written.", show_default=False)
    ],
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Model file that asr train or asr tune has written.  [default: Gaussian mixtures are trained on the "
            "corpus itself]",
            show_default=False,
        ),
    ] = None,
    lexicon: Annotated[
        Path | None,
        typer.Option(
            "--lexicon",
            metavar="FILE|graphemes",
            help="Pronunciations to align with; or 'graphemes': the words of the transcripts with a phone for each "
            "letter.  [default: those the model was trained with]",
            show_default=False,
        ),
    ] = None,
    textgrid: Annotated[
        bool,
        typer.Option("--textgrid", help="Also write textgrid/RECORDING.TextGrid for Praat: tiers of words and phones."),
    ] = False,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="PATH",
            help="Hand labels of words: a TextGrid, a folder of TextGrids, or a CTM file. Prints the distances between "
            "the boundaries and writes compare.tsv.",
            show_default=False,
        ),
    ] = None,
    root: Root = None,
    upsample: Upsample = False,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
) -> None:
    """Find the times of the words and phones of a corpus whose transcripts are known.

    Without --model, Gaussian mixtures are trained on the corpus first, in OUT/training. The same command resumes an
    interrupted training.

    Writes words.ctm and phones.ctm (utterance, channel, start and duration in seconds, label) and states.npz
    (one state number a frame). Also writes scores.tsv (how well every transcript fits its audio) and suspects.tsv
    (transcripts that are probably not of their audio); a line tells how well all of them fit. An utterance that
    cannot be aligned is left out and listed, with the reason, in failed.tsv. Words without a pronunciation are aligned
    as the phone spn and counted in unknown-words.tsv.

    \b
    Examples:
      asr align --data data/all --lexicon graphemes --out aligned --textgrid
      asr align --model runs/mine/model.safetensors --data data/train --out runs/mine/alignment --textgrid
    """
    if model is not None:
        require_model(model, "--model")
    require_corpus(data, "--data")
    require_lexicon(lexicon)
    require_directory(root, "--root")

    require_address_space()

    import asr
    from asr.cli.reporting import report_failures

    # The fit of the transcripts is always logged, as in training, not only for suspects.
    logging.basicConfig(level=logging.WARNING, format="asr: %(message)s")
    for room in ("asr.alignment.score_files", "asr.commands.align", "asr.api.commands"):
        logging.getLogger(room).setLevel(logging.INFO)
    summary = asr.align(
        model,
        data,
        out,
        root=root,
        lexicon=lexicon,
        textgrid=textgrid,
        compare=compare,
        upsample=upsample,
        jobs=jobs,
        cluster=cluster,
    )
    typer.echo(out / "words.ctm")
    report_failures(summary, out)
