"""`asr report`: a page with the sound of the worst utterances of one or two runs."""

from pathlib import Path

import typer

from asr.cli.input_checks import require_corpus, require_directory
from asr.cli.options import ROOT, Options, argument, option, takes


class ReportOptions(Options):
    """Options of `asr report`."""

    run: Path = argument("Output folder of asr align or asr decode (its --out), or work directory of asr train.", "RUN")
    other: Path | None = argument("Second folder, for a comparison.", "RUN2", None)
    data: Path | None = option(
        "Kaldi data directory of the utterances: a folder with the lists wav.scp (or feats.scp), utt2spk and text.",
        metavar="DIR",
    )
    out: Path | None = option(
        "The page.  [default: RUN/report.html; with two folders, RUN/compare.html]", metavar="FILE"
    )
    root: Path | None = ROOT


@takes(ReportOptions)
def report(given: ReportOptions) -> None:
    """Write an HTML page on one or two runs, with the sound of the worst utterances.

    The page has the least trusted utterances, or those with most word errors, and tables of all utterances and words.
    With two runs, the utterances with the largest differences come first, and the values are side by side. Each of the
    first 20 utterances has a player of up to 20 seconds, a spectrogram, and the times of words and phones. The page is
    one file of at most about 15 MB, and needs no network.

    The audio and the transcripts come from --data. Without it, the page has tables only.

    The work directory of a training gets its report again, from the finished stages. Two trainings are compared by the
    recognition of the speech that both held out. Both use the data of the training if --data is missing.

    \b
    Examples:
      asr report out/hybrid --data data/test
      asr report out/mixtures out/hybrid --data data/test --out compare.html
      asr report runs/small runs/large
    """
    run, other = given.run, given.other
    require_directory(run, "RUN")
    require_directory(other, "RUN2")
    require_corpus(given.data, "--data")
    require_directory(given.root, "--root")

    from asr.commands.report import COMPARISON, REPORT, report_runs
    from asr.util.errors import printable

    path = given.out or run / (REPORT if other is None else COMPARISON)
    issues = report_runs([run] if other is None else [run, other], path, data=given.data, root=given.root)
    typer.echo(path)
    for issue in issues:
        typer.echo(printable(f"asr: no player: {issue.utterance}: {issue.message}"), err=True)
