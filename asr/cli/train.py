"""`asr train`: training of a hybrid from a corpus and a lexicon."""

from pathlib import Path
from typing import Literal

import typer

from asr.cli.input_checks import lexicon_of, require_corpus, require_directory, require_file
from asr.cli.options import (
    CLUSTER,
    COMMAND,
    CONFIG,
    DATA,
    JOBS,
    LEXICON,
    ROOT,
    STRIP_STRESS,
    UNIT,
    Options,
    flag,
    keywords,
    option,
    takes,
)
from asr.util.memory_errors import require_address_space


def _print_settings(wanted: bool) -> None:
    if wanted:
        from asr.training.annotated_settings import annotated_file

        typer.echo(annotated_file(), nl=False)
        raise typer.Exit


class TrainOptions(Options):
    """Options of `asr train`."""

    data: Path = DATA
    output: Path = option("Folder for the models and all intermediate results.", ..., "--work-dir", metavar="DIR")
    lexicon: Path | None = LEXICON
    unit: Literal["word", "phone"] = UNIT
    config: Path | None = CONFIG
    strip_stress: bool | None = STRIP_STRESS
    classifier: str | None = option(
        "Frame classifier of the hybrid model, such as kernel-logistic, orols, npd-ovo-logistic or mlp, a name that "
        "another package registers under asr.classifiers, or the import path package.module:Class of your own.  "
        "[default: the one in the settings]",
        metavar="NAME",
    )
    seed: int | None = option(
        "Seed of the random numbers, which choose the held-out utterances and initialize the hybrid. The same seed "
        "gives the same model.  [default: the one in the settings, or 0]",
        min=0,
        metavar="N",
    )
    root: Path | None = ROOT
    jobs: int = JOBS
    cluster: str | None = CLUSTER
    rebuild_changed: bool = flag(
        "Also use a work directory that was started with other settings or data, or has a damaged record. Stages that "
        "depend on the changes are deleted and run again."
    )
    no_validate: bool = flag(
        "Skip the check that reads all audio before the first stage. Lists, lexicon, settings and headers of audio "
        "files are still checked.",
        to=COMMAND,
    )
    until: Literal["gmm", "hybrid"] = option(
        "Last model of the training: 'gmm' ends after the Gaussian mixtures.", "hybrid"
    )
    print_settings: bool = flag(
        "Print a file for --config with the default and the description of every setting, and exit.",
        callback=_print_settings,
        is_eager=True,
        to=COMMAND,
    )
    verbose: bool = flag(
        "Show all details, which are also in train.log of the work directory.", "--verbose", "-v", to=COMMAND
    )


@takes(TrainOptions)
def train(given: TrainOptions) -> None:
    """Train a Gaussian-mixture model, align the corpus with it, and train the hybrid model on the alignment.

    The corpus, the lexicon and the settings are checked before the first stage, as by asr validate. Run the same
    command again after an interruption: finished stages are kept, and the model is the same.

    \b
    The work directory then holds
      model.safetensors  the hybrid
      gmm.safetensors    the Gaussian mixtures, to compare the hybrid with
      grammar.arpa       the n-gram of the transcripts, the grammar of both
      report.html        word errors of both on held-out speech, worst utterances with sound, training curves
      results.json       the table of report.html, for programs
      held-out.json      search settings chosen on held-out speech, and the word errors there
      suspects.tsv       transcripts that probably do not match their audio
      unknown-words.tsv  words that the lexicon lacks, with counts
      failed.tsv         utterances left out, with reasons
      train.log          all details of the training

    \b
    Examples:
      asr train --data data/train --lexicon lexicon.txt --work-dir runs/mine
      asr train --data data/train --lexicon lexicon.txt --work-dir runs/wide --config wide.toml -j 2
      asr train --data data/train --lexicon graphemes --work-dir runs/letters --until gmm
      asr train --data data/phones --unit phone --work-dir runs/phones
      asr train --print-settings > mine.toml
    """
    require_corpus(given.data, "--data")
    lexicon = lexicon_of(given.lexicon, given.unit)
    require_directory(given.root, "--root")
    require_file(given.config, "--config")

    require_address_space()

    import asr
    from asr.cli.reporting import report_failures
    from asr.runs.log import training_log

    with training_log(verbose=given.verbose):
        trained = asr.train(**keywords(given, lexicon=lexicon, check_samples=not given.no_validate))
    typer.echo(trained.model)
    report_failures(trained.outcome, given.output, shown=0)
