"""The `asr` command: subcommands and error reports."""

import sys
from contextlib import suppress
from itertools import pairwise
from typing import Annotated, Any, NoReturn

import typer
import typer.core

from asr import __version__
from asr.cli import (
    align,
    combine,
    compare,
    decode,
    features,
    info,
    lexicon,
    prepare,
    report,
    score,
    segment,
    train,
    tune,
    validate,
)
from asr.util.error_messages import drop_unwritten_output, sentence_of, standard_output_named
from asr.util.errors import printable
from asr.util.supervisor import RESUME, supervise

HELP = """\
Train a speech recognizer on your own recordings, recognize speech, and align recordings with transcripts.

A corpus is a Kaldi data directory: `wav.scp` lists the audio files, `text` the transcripts, and `utt2spk` the
speakers. `asr prepare` makes it from other formats. A lexicon lists the pronunciations of each word; `graphemes` stands
for a lexicon made from the letters.

\b
  asr prepare table table.csv data --test-speakers 2
  asr validate --data data/train --lexicon lexicon.txt
  asr train  --data data/train --lexicon lexicon.txt --work-dir runs/mine
  asr decode --model runs/mine/model.safetensors --out runs/mine/test --data data/test
  asr score  data/test/text runs/mine/test/hyp.txt
  asr align  --data data/train --lexicon graphemes --out aligned --format textgrid

Help for a command: asr train --help.
"""

EPILOG = "Exit status: 0 success, 1 error in the input, 2 error in the command line, 130 or 143 interrupted."


class _Commands(typer.core.TyperGroup):
    """The commands, whose errors of usage name the wrong value of an option."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            if isinstance(error.__cause__, ValueError) and hasattr(error.__cause__, "errors"):  # of pydantic
                error.message = error.message.removeprefix("Value error, ")
                given = printable(str(error.__cause__.errors()[0]["input"]))
                if given not in error.message:
                    error.message = f"{given!r} is not valid. {error.message}"
            raise


app = typer.Typer(
    name="asr",
    cls=_Commands,
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: importing rich would triple the time of --help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

app.command("prepare", short_help="Make a data directory from recordings and transcripts.")(prepare.prepare)
app.command("lexicon", short_help="Learn pronunciations, and write those of new words.")(lexicon.lexicon)
app.command("segment", short_help="Cut long recordings at pauses.")(segment.segment)
app.command("validate", short_help="Check a corpus and a lexicon before training.")(validate.validate)
app.command("features", short_help="Compute the features of a corpus once.")(features.features)
app.command("train", short_help="Train a model on a corpus and a lexicon.")(train.train)
app.command("tune", short_help="Choose a model's scale, penalty and beam.")(tune.tune)
app.command("align", short_help="Find the times of known words and phones.")(align.align)
app.command("decode", short_help="Recognize audio files or a data directory.")(decode.decode)
app.command("combine", short_help="Combine the results of several systems.")(combine.combine)
app.command("score", short_help="Count word errors against a reference.")(score.score)
app.command("compare", short_help="Test whether one system makes fewer errors than another.")(compare.compare)
app.command("report", short_help="Write a page with the sound of the worst utterances.")(report.report)
app.command("info", short_help="Describe a model file.")(info.info)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"asr {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that come before a command's name."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 bad input, 2 wrong usage, 130 or 143 interrupted.

    Errors of inputs, disk or memory are reported in one sentence on standard error. Other exceptions are bugs and keep
    their traceback. The process's own command line runs under a supervisor, given `arguments` in this process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    _require_values(words)
    resumable = words[:1] == ["train"] and any(word.startswith("--work-dir") for word in words)
    try:
        if arguments is None:
            supervise("asr", resumable=resumable)
        with standard_output_named():
            app(args=arguments, prog_name="asr")
    except SystemExit:
        drop_unwritten_output()
        raise
    except BrokenPipeError:  # the reader has closed the pipe
        drop_unwritten_output()
        sys.exit(1)
    except KeyboardInterrupt:
        _fail(f"interrupted. {RESUME}" if resumable else "interrupted", status=130)
    except Exception as error:
        message = sentence_of(error, resumable=resumable)
        if message is None:
            raise
        _fail(message, status=1)
    sys.exit(0)


def _require_values(words: list[str]) -> None:
    """Exit with an error for an empty argument, which is usually an unset variable; as a path it is this folder."""
    for before, word in pairwise(["", *words]):
        if not word or (word.startswith("--") and word.endswith("=")):
            place = word.rstrip("=") or (before if before.startswith("-") else "an argument")
            _fail(f"{place}: the value is empty. Expected one, such as . for the current folder", status=2)


def _fail(message: str, *, status: int) -> NoReturn:
    with suppress(OSError):
        print(f"asr: error: {message}", file=sys.stderr)
    drop_unwritten_output()
    sys.exit(status)
