"""`asr align`: times of each word, phone and state of a known transcript."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from asr.cli.options import (
    ALL_CORES,
    ClassifierOfModel,
    Cluster,
    Data,
    ExtractorOfModel,
    Jobs,
    Root,
    Upsample,
    require_corpus,
    require_directory,
    require_lexicon,
    require_model,
)
from asr.util.memory_errors import require_address_space

AlignModel = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        help="Model file of asr train or asr tune.  [default: mixtures are trained on the corpus itself]",
        show_default=False,
    ),
]
HandLabels = Annotated[
    Path | None,
    typer.Option(
        "--compare",
        metavar="PATH",
        help="Hand labels of words: a TextGrid, a folder of TextGrids, or a CTM file. Prints the distances between "
        "the boundaries and writes compare.tsv.",
        show_default=False,
    ),
]


def align(
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for all output files.", show_default=False)],
    model: AlignModel = None,
    lexicon: Annotated[
        Path | None,
        typer.Option(
            "--lexicon",
            metavar="FILE|graphemes[:TABLE]",
            help="Lexicon for the alignment; 'graphemes' makes one from the transcripts, with a phone per letter.  "
            "[default: the lexicon of the training]",
            show_default=False,
        ),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME[,NAME]",
            help="Also write a file for every recording: textgrid, elan, csv, json or audacity. TextGrids and ELAN "
            "files of asr prepare keep their tiers.",
            show_default=False,
        ),
    ] = "",
    compare: HandLabels = None,
    classifier: ClassifierOfModel = None,  # given to model files by the option
    extractor: ExtractorOfModel = None,  # the same
    root: Root = None,
    upsample: Upsample = False,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
) -> None:
    """Find the times of the words and phones of a corpus whose transcripts are known.

    Without --model, Gaussian mixtures are trained on the corpus first, in OUT/training. The same command resumes an
    interrupted training.

    Writes words.ctm and phones.ctm (utterance, channel, start and duration in seconds, label, trust from 0 to 1) and
    states.npz (one state number per frame). Also writes scores.tsv (the match of every transcript with its audio) and
    suspects.tsv (transcripts that probably do not match their audio), and prints a summary of the scores. report.html
    plays the least trusted utterances, with their words and phones below a spectrogram. Utterances that cannot be
    aligned are listed in failed.tsv with the reason. Words without a pronunciation are aligned as the phone spn and
    counted in unknown-words.tsv.

    \b
    Examples:
      asr align --data data/all --lexicon graphemes --out aligned --format textgrid
      asr align --model runs/mine/model.safetensors --data data/train --out runs/mine/alignment --format textgrid,elan
    """
    if model is not None:
        require_model(model, "--model")
    require_corpus(data, "--data")
    require_lexicon(lexicon)
    require_directory(root, "--root")

    require_address_space()

    import asr
    from asr.alignment.label_files import label_formats
    from asr.cli.reporting import report_failures
    from asr.runs.log import stage_lines

    # The fit of the transcripts is always logged, as in training, not only for suspects.
    logging.basicConfig(level=logging.WARNING, format="asr: %(message)s")
    for room in ("asr.alignment.score_files", "asr.commands.align", "asr.api.commands"):
        logging.getLogger(room).setLevel(logging.INFO)
    with stage_lines():
        summary = asr.align(
            model,
            data,
            out,
            root=root,
            lexicon=lexicon,
            formats=formats,
            compare=compare,
            upsample=upsample,
            jobs=jobs,
            cluster=cluster,
        )
    typer.echo(out / "words.ctm")
    for name in label_formats(formats):
        typer.echo(out / name)
    report_failures(summary, out)
