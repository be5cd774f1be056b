"""`asr validate`: checks of a corpus before training."""

import json
from pathlib import Path
from typing import Annotated

import typer

from asr.cli.options import (
    ALL_CORES,
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


def validate(
    data: Data,
    lexicon: Lexicon = None,
    unit: Unit = "word",
    config: Config = None,
    strip_stress: StripStress = None,
    root: Root = None,
    test: Annotated[
        list[Path] | None,
        typer.Option(
            "--test",
            metavar="DIR",
            help="Data directory that models will be tested on, checked together with the training data. Can be given "
            "several times.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the findings and the summary as one JSON object.")
    ] = False,
    jobs: Jobs = ALL_CORES,
) -> None:
    """Check a corpus, its lexicon and settings, and list all problems with file and line.

    An error stops training or excludes utterances. A warning marks data that training uses but that is probably
    wrong. A summary of the corpus comes last. No file is written. The exit status is 1 if there are errors, and 0
    otherwise.

    \b
    Examples:
      asr validate --data data/train --lexicon lexicon.txt --test data/test
      asr validate --data data/train --lexicon lexicon.txt --config wide.toml --json
    """
    tests = test or []
    require_corpus(data, "--data")
    pronunciations = lexicon_of(lexicon, unit)
    require_file(config, "--config")
    require_directory(root, "--root")
    for path in tests:
        require_directory(path, "--test")

    import asr

    report = asr.validate(
        data, pronunciations, config=config, root=root, tests=tests, strip_stress=strip_stress, jobs=jobs
    )
    if as_json:
        typer.echo(json.dumps(report.as_json(), sort_keys=True, ensure_ascii=False, indent=2))
    else:
        for line in report.lines():
            typer.echo(line)
    if report.errors:
        raise typer.Exit(1)
