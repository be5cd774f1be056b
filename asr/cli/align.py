"""`asr align`: times of each word, phone and state of a known transcript."""

import logging
from pathlib import Path

import typer

from asr.cli.input_checks import require_corpus, require_directory, require_lexicon, require_model
from asr.cli.options import (
    CLASSIFIER_OF_MODEL,
    CLUSTER,
    DATA,
    EXTRACTOR_OF_MODEL,
    JOBS,
    ROOT,
    UPSAMPLE,
    Options,
    keywords,
    option,
    takes,
)
from asr.util.memory_errors import require_address_space


class AlignOptions(Options):
    """Options of `asr align`."""

    data: Path = DATA
    output: Path = option("Folder for all output files.", ..., "--out", metavar="DIR")
    model: Path | None = option(
        "Model file of asr train or asr tune.  [default: mixtures are trained on the corpus itself]", metavar="FILE"
    )
    lexicon: Path | None = option(
        "Lexicon for the alignment; 'graphemes' makes one from the transcripts, with a phone per letter.  [default: "
        "the lexicon of the training]",
        metavar="FILE|graphemes[:TABLE]",
    )
    formats: str = option(
        "Also write a file for every recording: textgrid, elan, csv, json or audacity. TextGrids and ELAN files of asr "
        "prepare keep their tiers.",
        "",
        "--format",
        metavar="NAME[,NAME]",
        show_default=False,
    )
    compare: Path | None = option(
        "Hand labels of words: a TextGrid, a folder of TextGrids, or a CTM file. Prints the distances between the "
        "boundaries and writes compare.tsv.",
        metavar="PATH",
    )
    classifier: str | None = CLASSIFIER_OF_MODEL
    extractor: str | None = EXTRACTOR_OF_MODEL
    root: Path | None = ROOT
    upsample: bool = UPSAMPLE
    jobs: int = JOBS
    cluster: str | None = CLUSTER


@takes(AlignOptions)
def align(given: AlignOptions) -> None:
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
    if given.model is not None:
        require_model(given.model, "--model")
    require_corpus(given.data, "--data")
    require_lexicon(given.lexicon)
    require_directory(given.root, "--root")

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
        summary = asr.align(**keywords(given))
    typer.echo(given.output / "words.ctm")
    for name in label_formats(given.formats):
        typer.echo(given.output / name)
    report_failures(summary, given.output)
