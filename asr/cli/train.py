"""`asr train`: training of a hybrid from a corpus and a lexicon."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from asr.cli.options import (
    ALL_CORES,
    Cluster,
    Config,
    Data,
    Jobs,
    Lexicon,
    Root,
    StripStress,
    Unit,
    lexicon_of,
    require_corpus,
    require_directory,
    require_file,
)
from asr.util.memory_errors import require_address_space

WorkDir = Annotated[
    Path,
    typer.Option(
        "--work-dir", metavar="DIR", help="Folder for the models and all intermediate results.", show_default=False
    ),
]
Classifier = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="NAME",
        help="Frame classifier of the hybrid model, such as kernel-logistic, orols, npd-ovo-logistic or mlp, a name "
        "that another package registers under asr.classifiers, or the import path package.module:Class of your own.  "
        "[default: the one in the settings]",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Seed of the random numbers, which choose the held-out utterances and initialize the hybrid. The same "
        "seed gives the same model.  [default: the one in the settings, or 0]",
        show_default=False,
    ),
]
RebuildChanged = Annotated[
    bool,
    typer.Option(
        "--rebuild-changed",
        help="Also use a work directory that was started with other settings or data, or has a damaged record. Stages "
        "that depend on the changes are deleted and run again.",
    ),
]
Until = Annotated[
    Literal["gmm", "hybrid"],
    typer.Option("--until", help="Last model of the training: 'gmm' ends after the Gaussian mixtures."),
]
NoValidate = Annotated[
    bool,
    typer.Option(
        "--no-validate",
        help="Skip the check that reads all audio before the first stage. Lists, lexicon, settings and headers of "
        "audio files are still checked.",
    ),
]


def _print_settings(wanted: bool) -> None:
    if wanted:
        from asr.training.annotated_settings import annotated_file

        typer.echo(annotated_file(), nl=False)
        raise typer.Exit


PrintSettings = Annotated[
    bool,
    typer.Option(
        "--print-settings",
        callback=_print_settings,
        is_eager=True,
        help="Print a file for --config with the default and the description of every setting, and exit.",
    ),
]

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show all details, which are also in train.log of the work directory.")
]


def train(
    data: Data,
    work_dir: WorkDir,
    lexicon: Lexicon = None,
    unit: Unit = "word",
    config: Config = None,
    strip_stress: StripStress = None,
    classifier: Classifier = None,
    seed: Seed = None,
    root: Root = None,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
    rebuild_changed: RebuildChanged = False,
    no_validate: NoValidate = False,
    until: Until = "hybrid",
    print_settings: PrintSettings = False,
    verbose: Verbose = False,
) -> None:
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
    require_corpus(data, "--data")
    pronunciations = lexicon_of(lexicon, unit)
    require_directory(root, "--root")
    require_file(config, "--config")

    require_address_space()

    import asr
    from asr.cli.reporting import report_failures
    from asr.runs.log import training_log

    with training_log(verbose=verbose):
        trained = asr.train(
            data,
            pronunciations,
            work_dir,
            root=root,
            config=config,
            classifier=classifier,
            strip_stress=strip_stress,
            seed=seed,
            jobs=jobs,
            cluster=cluster,
            rebuild_changed=rebuild_changed,
            check_samples=not no_validate,
            until=until,
        )
    typer.echo(trained.model)
    report_failures(trained.outcome, work_dir, shown=0)
