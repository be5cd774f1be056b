"""`asr combine`: combination of several recognitions of the same utterances."""

from pathlib import Path
from typing import Literal

import typer

from asr.cli.input_checks import require_file
from asr.cli.options import Options, argument, keywords, option, takes
from asr.util.errors import CorpusError
from discriminants.util.paths import exists


class CombineOptions(Options):
    """Options of `asr combine`."""

    systems: list[Path] = argument("Output directories of asr decode (its --out), one for each system.", "DIR...")
    output: Path = option("Folder for hyp.txt and hyp.ctm.", ..., "--out", metavar="DIR")
    weights: str | None = option(
        "Weights of the systems, one number each in the order of the directories; or 'auto' to choose them, and "
        "--null, on the transcripts of --text.  [default: equal weights]",
        metavar="X X...|auto",
    )
    null: float | None = option(
        "Factor on the probability of no word at a place of the vote. Values below 1 give more words, above 1 fewer.  "
        "[default: 1]",
        metavar="X",
    )
    text: Path | None = option(
        "Transcripts for --weights auto. Use development data, never the test set.", metavar="REF"
    )


@takes(CombineOptions)
def combine(given: CombineOptions) -> None:
    """Combine the words that several systems recognized in the same utterances.

    Combination helps if the systems make different errors. The confusion networks of all systems are aligned, and the
    systems vote at every place with the probabilities of their words. The command uses the first of these that exists
    in a directory: confusions.tsv (asr decode --confusions), lattices/UTTERANCE.lat (--lattices DIR/lattices), or the
    words of hyp.ctm with their confidences (--confidence). Words without confidence count as certain.

    Writes hyp.txt (utterance and words) and hyp.ctm (one word per line with its times and confidence).

    \b
    Examples:
      asr combine out/mixtures out/hybrid --out out/both
      asr combine dev/mixtures dev/hybrid --out dev/both --weights auto --text data/dev/text
      asr combine test/mixtures test/hybrid --out test/both --weights 0.4 0.6 --null 0.8
    """
    systems, weights = _weights(given.systems, given.weights)
    if len(systems) < 2:
        raise typer.BadParameter("Expected two or more directories, one for each system", param_hint="DIR...")
    require_file(given.text, "--text", CorpusError)

    import asr
    from asr.cli.reporting import report_failures
    from asr.runs.outcome import Outcome
    from asr.util.counted_text import count

    made = asr.combine(**keywords(given, systems=systems, weights=weights))
    typer.echo(given.output / "hyp.txt")
    for path, brings, weight in zip(systems, made.brings, made.weights, strict=True):
        typer.echo(f"{path}: {brings}, weight {weight:.3g}", err=True)
    if made.chosen is not None:
        chosen = made.chosen
        typer.echo(
            f"chosen: --weights {' '.join(f'{weight:.3g}' for weight in made.weights)} "
            f"--null {made.null:g}\n{count(chosen.errors, 'error')} in {count(chosen.words, 'word')} of {given.text}, "
            f"the transcripts of the choice; {chosen.errors_before} errors with equal weights"
        )
    typer.echo(f"{count(made.n_done, 'utterance')} of {len(systems)} systems combined", err=True)
    report_failures(Outcome(made.n_done, made.failures), given.output)


def _weights(systems: list[Path], given: str | None) -> tuple[list[Path], list[float] | Literal["auto"] | None]:
    """Separate directories and weights; all weights but the first are parsed as directories."""
    if given is None:
        return systems, None
    if given == "auto":
        return systems, "auto"
    further = [path for path in systems if _is_number(str(path)) and not exists(path)]
    numbers = [*given.replace(",", " ").split(), *map(str, further)]
    if not numbers or not all(map(_is_number, numbers)):
        raise typer.BadParameter(f"{given!r} is not valid. Expected 'auto' or numbers", param_hint="--weights")
    return [path for path in systems if path not in further], [float(number) for number in numbers]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
