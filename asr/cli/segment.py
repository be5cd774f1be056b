"""`asr segment`: long recordings cut at pauses."""

from pathlib import Path

import typer

from asr.cli.input_checks import require_corpus, require_directory
from asr.cli.options import DATA, ROOT, Options, keywords, option, takes
from asr.util.memory_errors import require_address_space


class SegmentOptions(Options):
    """Options of `asr segment`."""

    data: Path = DATA
    output: Path = option("Data directory to write.", ..., "--out", metavar="DIR")
    alignment: Path | None = option(
        "Output folder of asr align for the same data. Cuts lie between its words, and the parts have transcripts.",
        metavar="DIR",
    )
    min_seconds: float = option("Shortest part.", 2.0, metavar="S")
    max_seconds: float = option("Longest part.", 20.0, metavar="S")
    root: Path | None = ROOT


@takes(SegmentOptions)
def segment(given: SegmentOptions) -> None:
    """Cut long recordings at pauses, and write a data directory with the parts.

    Without --alignment, cuts lie at the quietest places, and the parts have no transcripts. With it, no word is cut,
    each part has its words, and parts without words and wrong passages (passages.tsv) are left out. The audio is not
    copied: DIR/segments has the times. Utterances that cannot be cut are listed in failed.tsv with the reason.

    \b
    Examples:
      asr segment --data data/interviews --out data/parts
      asr segment --data data/interviews --alignment aligned --out data/train --max-seconds 10
    """
    require_corpus(given.data, "--data")
    require_directory(given.alignment, "--alignment")
    require_directory(given.root, "--root")
    require_address_space()

    import asr
    from asr.cli.reporting import report_failures

    summary = asr.segment(**keywords(given))
    typer.echo(given.output / "segments")
    report_failures(summary, given.output)
