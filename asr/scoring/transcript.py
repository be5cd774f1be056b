"""Aligned transcripts and speaker tables in the layout of NIST sclite (`.pra`, `.sys`, `.sgml` and `.trn`)."""

import unicodedata
from collections.abc import Iterator
from html import escape

import numpy as np

from asr.scoring.wer import ErrorCounts, Pair, ScoreReport, UtteranceScore


def aligned_transcripts(report: ScoreReport) -> str:
    """Format all utterances in sclite's `.pra` layout, grouped by speaker."""
    lines = ["", "\t\tDUMP OF SYSTEM ALIGNMENT STRUCTURE", ""]
    for number, (speaker, utterances) in enumerate(_by_speaker(report)):
        lines += [f"Speaker sentences {number:3d}:  {speaker}   #utts: {len(utterances)}"]
        lines += map(aligned_transcript, utterances)
    return "\n".join(lines) + "\n"


def _by_speaker(report: ScoreReport) -> Iterator[tuple[str, list[UtteranceScore]]]:
    """Yield the speakers, sorted, with their utterances."""
    of_speaker: dict[str, list[UtteranceScore]] = {}
    for utterance in report.utterances:
        of_speaker.setdefault(utterance.speaker, []).append(utterance)
    yield from sorted(of_speaker.items())


def aligned_transcript(utterance: UtteranceScore) -> str:
    """Format one utterance: id, scores, and REF, HYP and Eval lines in columns.

    Correct words are in lower case, errors in upper case; asterisks mark a missing word, and the Eval line marks errors
    with S, D or I.
    """
    counts = utterance.counts
    columns = [_column(pair) for pair in utterance.pairs]
    scores = f"{counts.correct} {counts.substitutions} {counts.deletions} {counts.insertions}"
    lines = [f"id: ({utterance.id})", f"Scores: (#C #S #D #I) {scores}"]
    for row, name in enumerate(("REF: ", "HYP: ", "Eval:")):
        lines.append(" ".join([name, *(column[row] for column in columns)]).rstrip())
    return "\n".join(lines) + "\n"


def alignments_as_sgml(report: ScoreReport, title: str) -> str:
    """Format the alignments as the SGML of sclite, which its program `sc_stats` reads; words keep their case.

    The format has no escape for double quotes in words.
    """
    lines = [
        f'<SYSTEM title="{escape(title)}" ref_fname="" hyp_fname="{escape(title)}" creation_date="" format="2.4" '
        'frag_corr="FALSE" opt_del="FALSE" weight_ali="FALSE" weight_filename="">'
    ]
    sequence = {utterance.id: number for number, utterance in enumerate(report.utterances)}
    for speaker, utterances in _by_speaker(report):
        lines.append(f'<SPEAKER id="{escape(speaker)}">')
        for one in utterances:
            head = f'id="({escape(one.id)})" word_cnt="{len(one.pairs)}" sequence="{sequence[one.id]}" case_sense="1"'
            lines += [f"<PATH {head}>", ":".join(map(_sgml_word, one.pairs)), "</PATH>"]
        lines.append("</SPEAKER>")
    return "\n".join([*lines, "</SYSTEM>", ""])


def _sgml_word(pair: Pair) -> str:
    mark = "I" if pair[0] is None else "D" if pair[1] is None else "C" if pair[0] == pair[1] else "S"
    return ",".join([mark, *("" if word is None else f'"{word}"' for word in pair)])


def hypotheses_as_trn(report: ScoreReport) -> str:
    """Format the scored words of each utterance as `words (id)`."""
    spoken = ((one.id, [hyp for _, hyp in one.pairs if hyp is not None]) for one in report.utterances)
    return "".join(f"{' '.join([*words, f'({name})'])}\n" for name, words in spoken)


def _column(pair: Pair) -> tuple[str, str, str]:
    ref, hyp = pair
    if ref is not None and ref == hyp:
        cells = (ref.lower(), ref.lower(), "")
    elif hyp is None:
        assert ref is not None
        cells = (ref.upper(), "*" * _width(ref.upper()), "D")
    elif ref is None:
        cells = ("*" * _width(hyp.upper()), hyp.upper(), "I")
    else:
        cells = (ref.upper(), hyp.upper(), "S")
    width = max(map(_width, cells))
    first, second, mark = (cell + " " * (width - _width(cell)) for cell in cells)
    return first, second, mark


def _width(text: str) -> int:
    """Return the terminal width of `text`: combining marks take 0 columns, wide characters 2."""
    narrow = [char for char in text if not unicodedata.combining(char)]
    return len(narrow) + sum(unicodedata.east_asian_width(char) in "WF" for char in narrow)


def speaker_summary(report: ScoreReport, *, title: str = "Word errors") -> str:
    """Format error rates of each speaker in %, with sum, mean, deviation and median, in sclite's `.sys` layout."""
    speakers = report.speakers()
    body = [_row(s.speaker, s.counts) for s in speakers]
    total = [_row("Sum/Avg", report.totals)]
    spoken = [s.counts for s in speakers if s.counts.words]
    table = np.array([(c.sentences, c.words, *_rates(c)) for c in spoken]).reshape(len(spoken), 8)
    spread = []
    if len(spoken) > 1:
        statistics = {
            "Mean": table.mean(axis=0),
            "S.D.": table.std(axis=0, ddof=1),
            "Median": np.median(table, axis=0),
        }
        spread = [[name, *(f"{value:.1f}" for value in values)] for name, values in statistics.items()]
    header = ["SPKR", "# Snt", "# Wrd", "Corr", "Sub", "Del", "Ins", "Err", "S.Err"]
    return _draw(title, header, [body, total, spread])


def _rates(counts: ErrorCounts) -> list[float]:
    kinds = (counts.correct, counts.substitutions, counts.deletions, counts.insertions, counts.errors)
    return [*map(counts.percent, kinds), counts.ser]


def _row(name: str, counts: ErrorCounts) -> list[str]:
    return [name, str(counts.sentences), str(counts.words), *(f"{rate:.1f}" for rate in _rates(counts))]


def _draw(title: str, header: list[str], groups: list[list[list[str]]]) -> str:
    rows = [header, *(row for group in groups for row in group)]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(header))]

    def line(row: list[str]) -> str:
        name, *numbers = (
            " " * (width - _width(cell)) + cell if column else cell + " " * (width - _width(cell))
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {name} | {'  '.join(numbers[:2])} | {'  '.join(numbers[2:])} |"

    inner = len(line(header)) - 2
    lines = [f",{'-' * inner}.", f"|{title[:inner].center(inner)}|", f"|{'-' * inner}|", line(header)]
    for number, group in enumerate(filter(None, groups)):
        lines += [f"|{'=' * inner}|" if number else f"|{'-' * inner}|", *map(line, group)]
    return "\n".join([*lines, f"`{'-' * inner}'", ""])
