"""`asr validate`: checks of a corpus before training."""

import json
from pathlib import Path
from typing import Literal

import typer

from asr.cli.input_checks import lexicon_of, require_corpus, require_directory, require_file
from asr.cli.options import (
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


class ValidateOptions(Options):
    """Options of `asr validate`."""

    data: Path = DATA
    lexicon: Path | None = LEXICON
    unit: Literal["word", "phone"] = UNIT
    config: Path | None = CONFIG
    strip_stress: bool | None = STRIP_STRESS
    root: Path | None = ROOT
    tests: list[Path] | None = option(
        "Data directory that models will be tested on, checked together with the training data. Can be given several "
        "times.",
        None,
        "--test",
        metavar="DIR",
    )
    as_json: bool = flag("Print the findings and the summary as one JSON object.", "--json", to=COMMAND)
    jobs: int = JOBS


@takes(ValidateOptions)
def validate(given: ValidateOptions) -> None:
    """Check a corpus, its lexicon and settings, and list all problems with file and line.

    An error stops training or excludes utterances. A warning marks data that training uses but that is probably
    wrong. A summary of the corpus comes last. No file is written. The exit status is 1 if there are errors, and 0
    otherwise.

    \b
    Examples:
      asr validate --data data/train --lexicon lexicon.txt --test data/test
      asr validate --data data/train --lexicon lexicon.txt --config wide.toml --json
    """
    tests = given.tests or []
    require_corpus(given.data, "--data")
    lexicon = lexicon_of(given.lexicon, given.unit)
    require_file(given.config, "--config")
    require_directory(given.root, "--root")
    for path in tests:
        require_directory(path, "--test")

    import asr

    report = asr.validate(**keywords(given, lexicon=lexicon, tests=tests))
    if given.as_json:
        typer.echo(json.dumps(report.as_json(), sort_keys=True, ensure_ascii=False, indent=2))
    else:
        for line in report.lines():
            typer.echo(line)
    if report.errors:
        raise typer.Exit(1)
