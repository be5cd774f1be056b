"""`asr score`: comparison of recognized words with a reference."""

from pathlib import Path

import typer

from asr.cli.input_checks import require_file
from asr.cli.options import FOLD, IGNORE_CASE, LEVEL, SPEAKERS_OF_UTTERANCES, Options, argument, option, takes
from asr.util.errors import CorpusError, printable


class ScoreOptions(Options):
    """Options of `asr score`."""

    reference: Path = argument("Reference transcripts: Kaldi text, NIST trn or STM, HTK MLF or CTM.", "REF")
    hypothesis: Path = argument("Recognized words: hyp.txt, trn, MLF or CTM; CTM for STM.", "HYP")
    speakers: Path | None = SPEAKERS_OF_UTTERANCES
    alignments: Path | None = option(
        "Write the aligned references and hypotheses, with marked errors, in sclite's format.", metavar="FILE"
    )
    sgml: Path | None = option("Write the alignments for NIST's sc_stats.", metavar="FILE")
    trn: Path | None = option("Write the scored words of HYP as trn.", metavar="FILE")
    plot: Path | None = option(
        "Draw the confusions of the 40 words or phones with the most errors (.png, .svg or .pdf).", metavar="FILE"
    )
    ignore_case: bool = IGNORE_CASE
    fold: str | None = FOLD
    level: float = LEVEL


@takes(ScoreOptions)
def score(given: ScoreOptions) -> None:
    """Count the word errors of a recognizer.

    The word error rate (WER) is the fewest substituted, deleted and inserted words that turn the reference
    into the hypothesis, in % of the reference words; the sentence error rate (SER) is the share of utterances
    with any error. The bootstrap confidence interval redraws the utterances 10,000 times: it estimates the
    variation over other utterances of the same speakers. With --utt2spk, a second interval redraws the speakers. An
    interval needs at least five utterances or speakers. All words of an utterance that is missing in HYP count as
    deleted; the number of missing utterances is printed.

    trn and STM references may have alternatives, `{ A B / C / @ }` with @ for nothing, and optional words, `(A)`.

    \b
    Examples:
      asr score data/test/text out/hyp.txt --utt2spk data/test/utt2spk --alignments out/score.pra
      asr score test.stm out/hyp.ctm --sgml out/score.sgml
      asr score phones.txt out/hyp.txt --fold phones.60-48-39.map:3 --plot out/confusions.png
    """
    require_file(given.reference, "REF", CorpusError)
    require_file(given.hypothesis, "HYP", CorpusError)
    require_file(given.speakers, "--utt2spk", CorpusError)

    from asr.api.scoring import read_inputs
    from asr.scoring.bootstrap import over_speakers, over_utterances
    from asr.scoring.references import case_hint
    from asr.scoring.transcript import aligned_transcripts, alignments_as_sgml, hypotheses_as_trn, speaker_summary
    from asr.util.counted_text import count, some
    from asr.util.files import atomic_write

    inputs = read_inputs(given.reference, given.hypothesis, speakers=given.speakers, fold=given.fold)
    report = inputs.report(ignore_case=given.ignore_case)
    interval = over_utterances(report, given.level)
    has_speakers = inputs.references.speakers is not None
    if has_speakers:
        typer.echo(speaker_summary(report))
    for path, write in (
        (given.alignments, aligned_transcripts),
        (given.sgml, lambda report: alignments_as_sgml(report, str(given.hypothesis))),
        (given.trn, hypotheses_as_trn),
    ):
        if path is not None:
            with atomic_write(path) as temporary:
                temporary.write_text(write(report), encoding="utf-8")
    if given.plot is not None:
        from asr.scoring.confusion_plot import write_confusions

        write_confusions(report, given.plot)
    totals = report.totals
    rate = f"{report.wer:.2f} %" if report.words else "undefined: the references have no words"
    typer.echo(
        f"WER {rate}  {interval}  "
        f"({count(report.errors, 'error')} in {count(report.words, 'word')}: {report.substitutions} substituted, "
        f"{report.deletions} deleted, {report.insertions} inserted)"
    )
    typer.echo(f"SER {report.ser:.2f} %  ({totals.wrong_sentences} of {totals.sentences} utterances)")
    if has_speakers:
        typer.echo(over_speakers(report, given.level))
    hint = "" if given.ignore_case else case_hint(report, inputs.references.words, inputs.hypotheses)
    for note in filter(None, (hint, *inputs.references.notes)):
        typer.echo(printable(f"asr: {note}"), err=True)
    for names, what in (
        (report.missing, "without a hypothesis; all their words count as deleted"),
        (report.extra, "of HYP without a reference; not scored"),
    ):
        if names:
            typer.echo(printable(f"asr: {count(len(names), 'utterance')} {what}: {some(names)}"), err=True)
