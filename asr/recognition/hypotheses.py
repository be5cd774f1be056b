"""Word outputs of `asr decode`: `hyp.txt`, `hyp.ctm` and `hyp.mlf`."""

import logging
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from pathlib import Path

from asr.alignment.ctm import CtmRow, write_ctm
from asr.alignment.frame_times import FrameTimes
from asr.corpus.htk_labels import LabelSegment, fault_in_pattern, write_mlf
from asr.decode.path_segments import Segment
from asr.grammar.filler import FILLER_WORD, without_filler
from asr.recognition.lattice_outputs import CONFUSIONS, N_BEST
from asr.recognition.speech_ratios import SpeechRatio, SpeechRatios
from asr.scoring.files import read_transcripts, write_transcripts
from asr.util.counted_text import count, some
from asr.util.errors import CorpusError, printable
from asr.util.files import atomic_write
from discriminants.util.paths import is_file

log = logging.getLogger(__name__)

HYPOTHESES, TIMES, RATIOS, MLF = "hyp.txt", "hyp.ctm", "ratios.tsv", "hyp.mlf"


def write_words(
    out: Path, rows: Mapping[str, Sequence[CtmRow]], *, mlf: bool = False, calibrated: bool | None = None
) -> None:
    """Write the words of utterances to `out`; a `hyp.txt` with other words is kept as `hyp.txt.old`.

    `calibrated`: whether the confidences are calibrated; None for words without confidences.

    The filler `[unk]` is written to `hyp.ctm` only, so it is never scored. A later command with the same directory
    replaces the results.
    """
    hypotheses = {name: without_filler(row.label for row in of_utterance) for name, of_utterance in rows.items()}
    out.mkdir(parents=True, exist_ok=True)
    _keep_earlier(out / HYPOTHESES, hypotheses)
    write_transcripts(out / HYPOTHESES, hypotheses)
    write_ctm(out / TIMES, chain.from_iterable(rows.values()), uncalibrated=calibrated is False)
    if mlf:
        _write_hyp_mlf(out / MLF, rows)


def remove_results(out: Path) -> None:
    """Remove the results of an earlier recognition, except for label files and lattices.

    A `hyp.txt` with utterances is kept as `hyp.txt.old`.
    """
    _keep_earlier(out / HYPOTHESES, {})
    for name in (HYPOTHESES, TIMES, MLF, RATIOS, CONFUSIONS, N_BEST):
        (out / name).unlink(missing_ok=True)


def write_ratios(
    path: Path,
    words: Mapping[str, Sequence[Segment]],
    ratios: Mapping[str, SpeechRatios],
    times: Mapping[str, FrameTimes],
) -> None:
    """Write likelihood ratios: for every utterance one row without a word, then one row for each word.

    The columns are utterance, start and end in seconds, word, phone_llr and silence_llr. An utterance without words has
    one row without ratios.
    """
    rows = ["utterance\tstart\tend\tword\tphone_llr\tsilence_llr"]
    for name, segments in words.items():
        border, end = times[name].border, times[name].border(times[name].n_frames)
        if (found := ratios.get(name)) is None:
            rows.append(_ratio_row(name, 0.0, end, "", None))
            continue
        rows.append(_ratio_row(name, 0.0, end, "", found.whole()))
        for one in segments:
            ratio = found.between(one.start, one.end)
            rows.append(_ratio_row(name, border(one.start), border(one.end), one.label, ratio))
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")


def _ratio_row(name: str, start: float, end: float, word: str, ratio: SpeechRatio | None) -> str:
    numbers = ("", "") if ratio is None else (f"{ratio.phone_llr:.4f}", f"{ratio.silence_llr:.4f}")
    return "\t".join([name, f"{start:.3f}", f"{end:.3f}", word, *numbers])


def _write_hyp_mlf(path: Path, rows: Mapping[str, Sequence[CtmRow]]) -> None:
    """Write the utterances whose names fit into an MLF pattern, and log the others."""
    left_out = [name for name in rows if fault_in_pattern(name) is not None]
    if left_out:
        log.warning(
            "%s",
            printable(
                f"{path.name}: {count(len(left_out), 'utterance')} left out, because their ids are not valid there: "
                f"{some(left_out, 3)}"
            ),
        )
    labels = {
        name: [
            LabelSegment(row.label, row.start, row.start + row.duration)
            for row in of_utterance
            if row.label != FILLER_WORD
        ]
        for name, of_utterance in rows.items()
        if fault_in_pattern(name) is None
    }
    write_mlf(path, labels)


def _keep_earlier(path: Path, hypotheses: Mapping[str, Sequence[str]]) -> None:
    """Rename earlier results if they differ from the new ones, and log it."""
    others: Set[str] = set()
    try:
        if is_file(path):
            earlier = read_transcripts(path)
            others = earlier.keys() - hypotheses.keys()
        if not is_file(path) or earlier == dict(hypotheses):
            return
    except CorpusError:
        pass  # not a file of this package: keep it
    kept = path.with_name(f"{path.name}.old")
    path.replace(kept)
    if others:
        message = (
            f"{path} had results of other utterances ({some(sorted(others), 3)}), now in {kept.name} until the "
            "next run. Give all files to one command, or use another folder for every command (--out DIR, "
            "output=)"
        )
    else:
        message = f"{path} had other words, now in {kept.name}"
    log.warning("%s", printable(message))
