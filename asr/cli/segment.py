"""`asr segment`: long recordings cut at pauses."""

from pathlib import Path
from typing import Annotated

import typer

from asr.cli.options import Data, Root, require_corpus, require_directory
from asr.util.memory_errors import require_address_space


def segment(
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Data directory to write.", show_default=False)],
    alignment: Annotated[
        Path | None,
        typer.Option(
            "--alignment",
            metavar="DIR",
            help="Output folder of asr align for the same data. Cuts lie between its words, and the parts have "
            "transcripts.",
            show_default=False,
        ),
    ] = None,
    min_seconds: Annotated[float, typer.Option("--min-seconds", metavar="S", help="Shortest part.")] = 2.0,
    max_seconds: Annotated[float, typer.Option("--max-seconds", metavar="S", help="Longest part.")] = 20.0,
    root: Root = None,
) -> None:
    """Cut long recordings at pauses, and write a data directory with the parts.

    Without --alignment, cuts lie at the quietest places, and the parts have no transcripts. With it, no word is cut,
    each part has its words, and parts without words and wrong passages (passages.tsv) are left out. The audio is not
    copied: DIR/segments has the times. Utterances that cannot be cut are listed in failed.tsv with the reason.

    \b
    Examples:
      asr segment --data data/interviews --out data/parts
      asr segment --data data/interviews --alignment aligned --out data/train --max-seconds 10
    """
    require_corpus(data, "--data")
    require_directory(alignment, "--alignment")
    require_directory(root, "--root")
    require_address_space()

    import asr
    from asr.cli.reporting import report_failures

    summary = asr.segment(data, out, root=root, alignment=alignment, min_seconds=min_seconds, max_seconds=max_seconds)
    typer.echo(out / "segments")
    report_failures(summary, out)
