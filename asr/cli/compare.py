"""`asr compare`: statistical tests of several systems on the same utterances."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from asr.cli.options import Fold, IgnoreCase, Level, UttToSpeaker, require_file
from asr.util.errors import CorpusError, printable

if TYPE_CHECKING:
    from asr.scoring.comparison import SystemComparison


def compare(
    reference: Annotated[
        Path,
        typer.Argument(metavar="REF", help="Reference transcripts, in the formats of asr score.", show_default=False),
    ],
    systems: Annotated[
        list[Path],
        typer.Argument(
            metavar="HYP HYP...", help="Recognized words, one file for each system, at least two.", show_default=False
        ),
    ],
    utt2spk: UttToSpeaker = None,
    ignore_case: IgnoreCase = False,
    fold: Fold = None,
    level: Level = 0.95,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the bootstrap.")] = 0,
    as_json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write all numbers to a JSON file.", show_default=False),
    ] = None,
) -> None:
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
    if len(systems) < 2:
        raise typer.BadParameter("Expected at least two files of recognized words.", param_hint="HYP")
    require_file(reference, "REF", CorpusError)
    for system in systems:
        require_file(system, "HYP", CorpusError)
    require_file(utt2spk, "--utt2spk", CorpusError)

    import asr
    from asr.util.files import atomic_write

    made = asr.compare(reference, systems, speakers=utt2spk, ignore_case=ignore_case, fold=fold, level=level, seed=seed)
    _print_tables(made)
    for sentence in made.conclusions:
        typer.echo(printable(sentence))
    if as_json is not None:
        with atomic_write(as_json) as temporary:
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
