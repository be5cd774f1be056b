"""`asr compare`: statistical tests of several systems on the same utterances."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from asr.cli.input_checks import require_file
from asr.cli.options import (
    COMMAND,
    FOLD,
    IGNORE_CASE,
    LEVEL,
    SPEAKERS_OF_UTTERANCES,
    Options,
    argument,
    keywords,
    option,
    takes,
)
from asr.util.errors import CorpusError, printable

if TYPE_CHECKING:
    from asr.scoring.comparison import SystemComparison


class CompareOptions(Options):
    """Options of `asr compare`."""

    reference: Path = argument("Reference transcripts, in the formats of asr score.", "REF")
    systems: list[Path] = argument("Recognized words, one file for each system, at least two.", "HYP HYP...")
    speakers: Path | None = SPEAKERS_OF_UTTERANCES
    ignore_case: bool = IGNORE_CASE
    fold: str | None = FOLD
    level: float = LEVEL
    seed: int = option("Seed of the bootstrap.", 0, min=0, metavar="N")
    as_json: Path | None = option("Write all numbers to a JSON file.", None, "--json", metavar="FILE", to=COMMAND)


@takes(CompareOptions)
def compare(given: CompareOptions) -> None:
    """Test whether one system makes fewer errors than another.

    All files must have the utterances of REF. A difference is significant if the p-value of the matched-pairs
    test is at most 1 - level. This test (Gillick and Cox 1989) compares the errors in segments, which are separated
    by at least two words that both systems recognize. McNemar's test compares the numbers of utterances without
    errors, and Wilcoxon's signed-rank test the error rates of at least five speakers. The interval of the difference
    is a bootstrap over speakers, or over utterances if there are fewer than five speakers. With more than two
    systems, all p-values have Holm's correction.

    \b
    Example:
      asr compare data/test/text hybrid/hyp.txt mixtures/hyp.txt --utt2spk data/test/utt2spk
    """
    if len(given.systems) < 2:
        raise typer.BadParameter("Expected at least two files of recognized words.", param_hint="HYP")
    require_file(given.reference, "REF", CorpusError)
    for system in given.systems:
        require_file(system, "HYP", CorpusError)
    require_file(given.speakers, "--utt2spk", CorpusError)

    import asr
    from asr.util.files import atomic_write

    made = asr.compare(**keywords(given))
    _print_tables(made)
    for sentence in made.conclusions:
        typer.echo(printable(sentence))
    if given.as_json is not None:
        with atomic_write(given.as_json) as temporary:
            text = json.dumps(made.as_dict(), indent=1, allow_nan=False, ensure_ascii=False)
            temporary.write_text(f"{text}\n", encoding="utf-8")


def _print_tables(made: "SystemComparison") -> None:
    """Print a table of the systems and one of the pairs."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    systems, pairs = Table(), Table()
    systems.add_column("system", no_wrap=True)
    for name in ("WER %", "SER %", "words", "errors", "sub", "del", "ins"):
        systems.add_column(name, justify="right", no_wrap=True)
    for name, report in made.reports.items():
        counts = (report.words, report.errors, report.substitutions, report.deletions, report.insertions)
        systems.add_row(escape(printable(name)), f"{report.wer:.2f}", f"{report.ser:.2f}", *map(str, counts))
    pairs.add_column("systems", no_wrap=True)
    interval = f"{100 * made.level:g} % interval ({made.unit}s)"
    for name in ("WER difference", interval, "segments", "p matched pairs", "p McNemar", "p Wilcoxon"):
        pairs.add_column(name, justify="right", no_wrap=True)
    for pair in made.pairs:
        low, high = pair.interval or (None, None)
        pairs.add_row(
            escape(printable(f"{pair.a} - {pair.b}")),
            f"{pair.difference:+.2f}",
            "too few" if low is None else rf"\[{low:+.2f}, {high:+.2f}]",
            str(pair.segments),
            *(f"{pair.matched_pairs:.4f}", f"{pair.mcnemar:.4f}"),
            "-" if pair.wilcoxon is None else f"{pair.wilcoxon:.4f}",
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # avoids cutting rows in a file or pipe, which has no width
    console.print(systems)
    console.print(pairs)
