"""`asr train`: training of a hybrid from a corpus and a lexicon."""

from pathlib import Path
from typing import Annotated

import typer

from asr.cli.options import ALL_CORES, Cluster, Config, Data, Jobs, Root, StripStress, require_directory, require_file
from asr.util.errors import LexiconError
from asr.util.memory_errors import require_address_space

Lexicon = Annotated[
    Path,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="Pronunciations, in the format of Kaldi, HTK or the CMU dictionary.",
        show_default=False,
    ),
]
WorkDir = Annotated[
    Path,
    typer.Option(
        "--work-dir", metavar="DIR", help="Folder for the models and all that training keeps.", show_default=False
    ),
]
Classifier = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="NAME",
        help="Frame classifier of the hybrid model, such as kernel-logistic, orols, npd-ovo-logistic or mlp, or a "
        "name that another package registers under asr.classifiers.  [default: the one in the settings]",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Seed of all random numbers: they decide which utterances are held out, and what a hybrid begins "
        "with. The same seed gives the same model.  [default: the one in the settings, 0 if there is none]",
        show_default=False,
    ),
]
RebuildChanged = Annotated[
    bool,
    typer.Option(
        "--rebuild-changed",
        help="Take a work directory that was begun with other settings or data, or whose record is damaged, too: "
        "what depends on the changes is deleted and made again.",
    ),
]
NoValidate = Annotated[
    bool,
    typer.Option(
        "--no-validate",
        help="Save the time of reading all audio to check it before the first stage. Lists, lexicon, settings and "
        "the headers of audio files are still checked.",
    ),
]

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show all details, which are also in train.log of the work directory.")
]


def train(
    data: Data,
    lexicon: Lexicon,
    work_dir: WorkDir,
    config: Config = None,
    strip_stress: StripStress = None,
    classifier: Classifier = None,
    seed: Seed = None,
    root: Root = None,
    jobs: Jobs = ALL_CORES,
    cluster: Cluster = None,
    rebuild_changed: RebuildChanged = False,
    no_validate: NoValidate = False,
    verbose: Verbose = False,
) -> None:
    """Train a Gaussian-mixture model, align the corpus with it, and train the hybrid model on the alignment.

    What is wrong with the corpus, the lexicon or the settings is told before the first stage, as by asr validate.
    Run the same command again after an interruption: finished stages are kept, and the model comes out the same.

    \b
    The work directory then holds
      model.safetensors  the hybrid
      gmm.safetensors    the Gaussian mixtures, to compare the hybrid with
      grammar.arpa       the n-gram of the transcripts, the grammar of both
      report.html        word errors of both on held-out speech, the worst utterances, training curves
      results.json       the table of report.html, for programs
      held-out.json      settings of the search chosen on held-out speech, and the word errors there
      suspects.tsv       transcripts that are probably not those of their audio
      failed.tsv         utterances left out, each with the reason
      train.log          all details of the training

    \b
    Examples:
      asr train --data data/train --lexicon lexicon.txt --work-dir runs/mine
      asr train --data data/train --lexicon lexicon.txt --work-dir runs/wide --config wide.toml -j 2
    """
    require_directory(data, "--data")
    require_file(lexicon, "--lexicon", LexiconError)
    require_directory(root, "--root")
    require_file(config, "--config")

    require_address_space()

    import asr
    from asr.cli.reporting import report_failures
    from asr.runs.log import training_log

    with training_log(verbose=verbose):
        trained = asr.train(
            data,
            lexicon,
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
        )
    typer.echo(trained.model)
    report_failures(trained.outcome, work_dir, shown=0)
