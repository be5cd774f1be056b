"""`asr combine`: combination of several recognitions of the same utterances."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from asr.cli.options import require_file
from asr.util.errors import CorpusError
from discriminants.util.paths import exists


def combine(
    systems: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...", help="What asr decode wrote as --out, one directory for each system.", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where hyp.txt and hyp.ctm go.", show_default=False)
    ],
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="X X...|auto",
            help="How much each system counts, one number each in the order of the directories; 'auto' chooses them, "
            "and --null, on the transcripts of --text.  [default: all alike]",
            show_default=False,
        ),
    ] = None,
    null: Annotated[
        float | None,
        typer.Option(
            "--null",
            metavar="X",
            help="What the probability that nothing was said at a place is multiplied by: below 1 gives more words, "
            "above 1 fewer.  [default: 1]",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option(
            "--text",
            metavar="REF",
            help="What was said, for --weights auto: of development speech, never of the test.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Combine what several systems recognized in the same utterances, word by word.

    Systems that make different errors are better together. The confusion networks of all systems are aligned, and at
    every place they vote, each with the probabilities of its words. Of each directory the best is taken that is there:
    confusions.tsv (asr decode --confusions), lattices/UTTERANCE.lat (--lattices DIR/lattices), or the words of hyp.ctm
    with their confidences (--confidence); words without confidence count as certain.

    Writes hyp.txt (utterance and words) and hyp.ctm (a word a line with its times and confidence).

    \b
    Examples:
      asr combine out/mixtures out/hybrid --out out/both
      asr combine dev/mixtures dev/hybrid --out dev/both --weights auto --text data/dev/text
      asr combine test/mixtures test/hybrid --out test/both --weights 0.4 0.6 --null 0.8
    """
    systems, wanted = _weights(systems, weights)
    if len(systems) < 2:
        raise typer.BadParameter("give two directories or more, one for each system", param_hint="DIR...")
    require_file(text, "--text", CorpusError)

    import asr
    from asr.cli.reporting import report_failures
    from asr.runs.outcome import Outcome
    from asr.util.counted_text import count

    made = asr.combine(systems, out, weights=wanted, null=null, text=text)
    typer.echo(out / "hyp.txt")
    for path, brings, weight in zip(systems, made.brings, made.weights, strict=True):
        typer.echo(f"{path}: {brings}, weight {weight:.3g}", err=True)
    if made.chosen is not None:
        chosen = made.chosen
        typer.echo(
            f"chosen: --weights {' '.join(f'{weight:.3g}' for weight in made.weights)} --null {made.null:g}\n"
            f"{count(chosen.errors, 'error')} in {count(chosen.words, 'word')} of {text}, on which this was chosen; "
            f"{chosen.errors_before} before"
        )
    typer.echo(f"{count(made.n_done, 'utterance')} of {len(systems)} systems combined", err=True)
    report_failures(Outcome(made.n_done, made.failures), out)


def _weights(systems: list[Path], given: str | None) -> tuple[list[Path], list[float] | Literal["auto"] | None]:
    """Separate directories and weights; all weights but the first are parsed as directories."""
    if given is None:
        return systems, None
    if given == "auto":
        return systems, "auto"
    further = [path for path in systems if _is_number(str(path)) and not exists(path)]
    numbers = [*given.replace(",", " ").split(), *map(str, further)]
    if not numbers or not all(map(_is_number, numbers)):
        raise typer.BadParameter(f"{given!r} is neither 'auto' nor numbers", param_hint="--weights")
    return [path for path in systems if path not in further], [float(number) for number in numbers]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
