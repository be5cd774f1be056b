"""`asr score`: comparison of recognized words with a reference."""

from pathlib import Path
from typing import Annotated

import typer

from asr.cli.options import require_file
from asr.util.errors import CorpusError, printable


def score(
    reference: Annotated[
        Path,
        typer.Argument(
            metavar="REF", help="Reference transcripts: Kaldi text, NIST trn or HTK MLF.", show_default=False
        ),
    ],
    hypothesis: Annotated[
        Path, typer.Argument(metavar="HYP", help="Recognized words: hyp.txt, trn or MLF.", show_default=False)
    ],
    utt2spk: Annotated[
        Path | None,
        typer.Option(
            "--utt2spk",
            metavar="FILE",
            help="Speakers of the utterances; adds a table of error rates per speaker.",
            show_default=False,
        ),
    ] = None,
    alignments: Annotated[
        Path | None,
        typer.Option(
            "--alignments",
            metavar="FILE",
            help="Write the aligned references and hypotheses, with marked errors, in sclite's format.",
            show_default=False,
        ),
    ] = None,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", help="Ignore letter case when comparing words.")
    ] = False,
    level: Annotated[
        float,
        typer.Option("--level", min=0.5, max=0.999, metavar="X", help="Confidence level of the interval."),
    ] = 0.95,
) -> None:
    """Count the word errors of a recognizer.

    The word error rate (WER) is the fewest substituted, deleted and inserted words that turn the reference
    into the hypothesis, in % of the reference words; the sentence error rate (SER) is the share of utterances
    with any error. The bootstrap confidence interval redraws the utterances 10,000 times: it estimates the
    variation over other utterances of the same speakers. With --utt2spk, a second interval redraws the speakers. An
    interval needs at least five utterances or speakers. All words of an utterance that is missing in HYP count as
    deleted; the number of missing utterances is printed.

    \b
    Example:
      asr score data/test/text out/hyp.txt --utt2spk data/test/utt2spk --alignments out/score.pra
    """
    require_file(reference, "REF", CorpusError)
    require_file(hypothesis, "HYP", CorpusError)
    require_file(utt2spk, "--utt2spk", CorpusError)

    import asr
    from asr.scoring.bootstrap import over_speakers, over_utterances
    from asr.scoring.files import read_transcripts
    from asr.scoring.letter_case import case_hint
    from asr.scoring.transcript import aligned_transcripts, speaker_summary
    from asr.util.counted_text import count, some
    from asr.util.files import atomic_write

    references, hypotheses = read_transcripts(reference), read_transcripts(hypothesis)
    report = asr.score(reference, hypothesis, speakers=utt2spk, ignore_case=ignore_case)
    interval = over_utterances(report, level)
    if utt2spk is not None:
        typer.echo(speaker_summary(report))
    if alignments is not None:
        with atomic_write(alignments) as temporary:
            temporary.write_text(aligned_transcripts(report), encoding="utf-8")
    totals = report.totals
    rate = f"{report.wer:.2f} %" if report.words else "undefined: the references have no words"
    typer.echo(
        f"WER {rate}  {interval}  "
        f"({count(report.errors, 'error')} in {count(report.words, 'word')}: {report.substitutions} substituted, "
        f"{report.deletions} deleted, {report.insertions} inserted)"
    )
    typer.echo(f"SER {report.ser:.2f} %  ({totals.wrong_sentences} of {totals.sentences} utterances)")
    if utt2spk is not None:
        typer.echo(over_speakers(report, level))
    hint = "" if ignore_case else case_hint(report, references, hypotheses)
    if hint:
        typer.echo(f"asr: {hint}", err=True)
    for names, what in (
        (report.missing, "without a hypothesis; all their words count as deleted"),
        (report.extra, "of HYP without a reference; not scored"),
    ):
        if names:
            typer.echo(printable(f"asr: {count(len(names), 'utterance')} {what}: {some(names)}"), err=True)
