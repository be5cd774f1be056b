"""`asr align`: times of the words and phones of transcribed utterances."""

import logging
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.alignment_check import check_segments
from asr.alignment.boundary_comparison import COMPARISON, read_hand_labels
from asr.alignment.boundary_comparison import compare as compare_boundaries
from asr.alignment.ctm import CtmRow, ctm_rows, write_ctm
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.frame_times import FrameTimes, frame_times
from asr.alignment.interval_trust import interval_trust
from asr.alignment.label_files import label_formats, source_files, write_label_files
from asr.alignment.passages import PASSAGES
from asr.alignment.recording_labels import AlignedUtterance, UtteranceAlignment
from asr.alignment.score_files import SCORES, SUSPECTS, log_suspects, read_scores, write_scores, write_suspects
from asr.alignment.suspects import MIN_UTTERANCES, TranscriptCheck, check_transcripts, first_rivals
from asr.alignment.transcript_graph import transcript_graph
from asr.alignment.transcript_scores import free_path, phone_loop, score_utterance
from asr.alignment.word_edits import edit_margins
from asr.commands.decode import corpus_for, static_frames
from asr.commands.long_utterances import divide_long_utterances
from asr.commands.report import REPORT, write_run_report
from asr.commands.run_results import read_run
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.decode.path_segments import Segment, frame_states, phone_segments, word_segments
from asr.features.frame_table import NOT_FINITE, FrameTable
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon, read_lexicon
from asr.lexicon.graphemes import is_graphemes, with_spelled_words
from asr.lexicon.lexicon import marks_stress
from asr.lexicon.multigraphs import multigraphs_of
from asr.lexicon.phone_units import is_phones, phone_lexicon
from asr.recognition.grammars import trained_phones
from asr.recognition.speaker_transforms import aligned_maps, frames_of
from asr.recognition.unknown_words import (
    known_states,
    unknown_phone,
    unknown_words,
    with_unknown_phone,
    with_unknown_words,
    write_unknown_words,
)
from asr.recognition.vocabulary import other_case
from asr.runs.outcome import Outcome, account, accounted
from asr.runs.progress import Progress
from asr.training.dataset import trainable
from asr.util.errors import AlignmentError, Issue, LexiconError, attempt, printable
from asr.util.files import atomic_write
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import is_file

log = logging.getLogger(__name__)


def align(
    model: SpeechModel,
    data: Path,
    out: Path,
    *,
    root: Path | None = None,
    lexicon: Path | None = None,
    formats: str | Sequence[str] = (),
    check: bool = True,
    compare: Path | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> Outcome:
    """Align, and write `out/words.ctm`, `out/phones.ctm`, `out/states.npz`, and `out/FORMAT/RECORDING.ENDING`.

    `formats` are names of `asr.alignment.label_files.LABEL_FORMATS`.

    `out/scores.tsv` has the score (`asr.alignment.transcript_scores`) and trust (`asr.alignment.trust`) of every
    transcript. The CTM files have the trust in each word and phone (`asr.alignment.interval_trust`). `out/suspects.tsv`
    lists the corpus, speakers and utterances whose transcripts probably do not match the audio, and the least trusted
    utterances; the log has a summary. Without `check`, the two files are not written, but those in `out` are read for
    the page. `out/report.html` has the least trusted utterances with their sound.

    Utterances of more than `MAX_ALIGNED_SECONDS` are aligned as passages (`asr.commands.long_utterances`), which
    `out/passages.tsv` lists with their status.

    Words without a pronunciation align with the phone `spn` (`asr.recognition.unknown_words`), and
    `out/unknown-words.tsv` counts them. An utterance without any known word is left out.

    `compare` is a file or folder of hand labels (`asr.alignment.boundary_comparison`): the log has the distances of the
    word boundaries, and `out/compare.tsv` a table.

    Raises AlignmentError if no utterance could be aligned, and other subclasses of AsrError.
    """
    formats = label_formats(formats)
    hand_labels = None if compare is None else read_hand_labels(compare)
    given = corpus_for(model, data, root)
    pronunciations = _pronunciations(model, lexicon, given)
    pronunciations.require_phones(model.hmm.topology.phones)
    unknown = unknown_words((utterance.words or () for utterance in given.utterances), pronunciations)
    hint, phone = other_case(unknown, pronunciations), unknown_phone(model.lexicon.phones)
    if unknown:
        pronunciations = with_unknown_words(pronunciations, unknown, phone)
        if phone not in model.hmm.topology.phones:  # not trained
            model = replace(model, hmm=with_unknown_phone(model.hmm))
    topology = model.hmm.topology
    with accounted(given.listed, (), out):
        corpus, problems = trainable(given, pronunciations)
    with accounted(given.listed, problems, out):
        static, failed = static_frames(model, corpus, workers)
    problems += failed
    words = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    seconds = frame_times(model.front_end.config, corpus.utterances, static)
    long = divide_long_utterances(model, static, words, pronunciations, unknown, workers)
    static, words = long.static, long.words

    with threadpool_limits(1):
        graphs: dict[str, StateGraph] = {}
        if model.speakers is not None:
            graphs = {name: transcript_graph(words[name], pronunciations, topology) for name in static.ids}
        maps = aligned_maps(model, static, graphs, workers=workers)
        table = frames_of(model, static, maps)
    workers = in_threads(workers)
    parts, faults = _aligned(model, table, words, pronunciations, workers, check=check)
    aligned, faults = long.joined(parts, faults)
    problems += faults
    account(given.listed, aligned, problems, out)
    if not aligned:
        raise AlignmentError(
            f"No utterance could be aligned. The first: {problems[0].utterance}: {problems[0].message}"
        )

    found = _checked(long.scored(parts), long.speakers) if check else None
    trust = _known_trust(out / SCORES) if found is None else found.trust
    _write_alignment(out, aligned, seconds)
    long.write(out / PASSAGES, seconds)
    of = {utterance.id: utterance for utterance in corpus.utterances}
    rows = [_row(of[name], one, seconds[name], trust.get(name)) for name, one in aligned.items()]
    write_label_files(out, formats, rows, lambda: source_files(data))
    if hand_labels is not None:
        comparison = compare_boundaries(hand_labels, rows)
        comparison.write(out / COMPARISON)
        log.info("%s", printable(f"{hand_labels.path}: {comparison}"))
    write_unknown_words(out, unknown, phone, hint)
    known = {name: _known(times, unknown) for name, times in aligned.items()}
    shift = model.front_end.config.shift_ms / 1000.0
    _log_times(known, long.undivided(table), rows, topology, shift)
    if found is not None:
        _write_check(out, found, words)
    write_run_report(out / REPORT, [read_run(out)], given)
    return Outcome(len(aligned), problems)


def _aligned(
    model: SpeechModel,
    table: FrameTable,
    words: Mapping[str, tuple[str, ...]],
    lexicon: Lexicon,
    workers: Workers,
    *,
    check: bool,
) -> tuple[dict[str, UtteranceAlignment], list[Issue]]:
    """Align all utterances of a table, with progress; also return the failures."""
    batches = table.batches()
    rivals = first_rivals({name: words[name] for name in table.ids}) if check else dict.fromkeys(table.ids, ())
    items = (
        (batch, [[words[name], *(words[rival] for rival in rivals[name])] for name in batch.ids]) for batch in batches
    )
    constants = workers.share((model.hmm, lexicon, phone_loop(model.hmm.topology), check))
    found: dict[str, UtteranceAlignment] = {}
    problems: list[Issue] = []
    with Progress(len(table), "aligning") as counter:
        for batch, results in zip(batches, workers.map(_align_batch, items, constants), strict=True):
            for name, result in zip(batch.ids, results, strict=True):
                if isinstance(result, Issue):
                    problems.append(result.for_utterance(name))
                else:
                    found[name] = result
            counter.advance(len(batch))
    return found, problems


def _write_alignment(out: Path, aligned: Mapping[str, UtteranceAlignment], seconds: Mapping[str, FrameTimes]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    word_rows, phone_rows = [], []
    for name, times in aligned.items():
        word_rows += _trusted(name, times.words, times.trust.words, seconds[name])
        phone_rows += _trusted(name, times.phones, times.trust.phones, seconds[name])
    write_ctm(out / "words.ctm", word_rows)
    write_ctm(out / "phones.ctm", phone_rows)
    states = {name: times.states for name, times in aligned.items()}
    with atomic_write(out / "states.npz") as temporary:
        write_states(temporary, states)


def _trusted(name: str, segments: Sequence[Segment], trusts: Sequence[float], seconds: FrameTimes) -> list[CtmRow]:
    """Return the rows of an utterance's segments, with the trust as confidence."""
    rows = ctm_rows(name, segments, seconds)
    return [replace(row, confidence=trust) for row, trust in zip(rows, trusts, strict=True)]


def _checked(aligned: Mapping[str, UtteranceAlignment], speakers: Mapping[str, str]) -> TranscriptCheck:
    return check_transcripts({name: times.fit for name, times in aligned.items() if times.fit is not None}, speakers)


def _write_check(out: Path, found: TranscriptCheck, words: Mapping[str, tuple[str, ...]]) -> None:
    """Write the scores and the suspects, and log a summary."""
    write_scores(out / SCORES, found)
    write_suspects(out / SUSPECTS, (*found.suspects, *found.listed), words)
    log_suspects(found, out / SUSPECTS)


def _known_trust(path: Path) -> Mapping[str, float]:
    """Return the trust in transcripts that the training found, if any."""
    return read_scores(path)[1] if is_file(path) else {}


def _row(utterance: Utterance, times: UtteranceAlignment, seconds: FrameTimes, trust: float | None) -> AlignedUtterance:
    """Return an aligned utterance, whose trust is `trust`, or without one that of the alignment alone."""
    whole = times.trust.transcript if trust is None else trust
    return AlignedUtterance(utterance, times.words, times.phones, seconds, whole, times.trust.words, times.trust.phones)


def _pronunciations(model: SpeechModel, lexicon: Path | None, corpus: DataDirectory) -> Lexicon:
    """Return the given lexicon, or the model's, with new words of the transcripts if its phones are letters."""
    if is_phones(lexicon):
        return phone_lexicon(utterance.words or () for utterance in corpus.utterances)
    if lexicon is not None and not is_graphemes(lexicon):
        return _read_as_trained(lexicon, model.hmm.topology.phones)
    if lexicon is not None and not model.lexicon.graphemes:
        raise LexiconError(
            "lexicon 'graphemes': the phones of the model are not letters. Expected the file of a lexicon with its "
            "phones, or a model that was trained with the lexicon 'graphemes'."
        )
    if lexicon is not None and multigraphs_of(lexicon) not in ({}, dict(model.lexicon.multigraphs)):
        raise LexiconError(
            f"lexicon '{lexicon}': the table differs from that of the training. Use --lexicon graphemes "
            '(lexicon="graphemes").'
        )
    words = {word for utterance in corpus.utterances for word in utterance.words or ()}
    return with_spelled_words(model.lexicon, words, trained_phones(model))


def _read_as_trained(path: Path, phones: tuple[str, ...]) -> Lexicon:
    """Read a lexicon, with stress digits if the model's phones have them."""
    lexicon = read_lexicon(path, strip_stress=False if marks_stress(phones) else None)
    for note in lexicon.notes:
        log.warning("%s", printable(note))
    return lexicon


def write_states(path: Path, states: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name as compressed `.npz`: `numpy.load(path)[name]` reads one.

    Unlike `numpy.savez`, this allows any name, including `file` and `allow_pickle`.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in states.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # with a fixed date, for reproducible bytes
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _log_times(
    aligned: Mapping[str, UtteranceAlignment],
    table: FrameTable,
    rows: Sequence[AlignedUtterance],
    topology: Topology,
    frame_shift: float,
) -> None:
    """Log silence, phones and words of the alignment in one line, and each suspicious statistic in another."""
    states = np.full(table.n_frames, -1, np.int32)
    for name, times in aligned.items():
        states[table.rows(name)] = times.states
    segments = {name: (times.phones, times.words) for name, times in aligned.items()}
    check = check_segments(states, table, segments, topology, frame_shift)
    if len(aligned) < MIN_UTTERANCES:  # too few to model pauses; the model's statistics are used
        silent = 100.0 * sum(times.n_silent for times in aligned.values()) / max(1, int((states >= 0).sum()))
        check = replace(check, pauses=max(check.pauses, silent))
    log.info("%s", printable(f"{check}{_worst_word(aligned, rows)}"))
    for complaint in check.complaints():
        log.warning("%s", printable(complaint))


def _worst_word(aligned: Mapping[str, UtteranceAlignment], rows: Sequence[AlignedUtterance]) -> str:
    """Describe the worst-fitting word and its place, as the end of a sentence; empty without words."""
    words = [
        (fit, row, word)
        for row in rows
        for fit, word in zip(aligned[row.utterance.id].word_fits, aligned[row.utterance.id].words, strict=True)
    ]
    if not words:
        return ""
    fit, row, word = min(words, key=lambda one: one[0])
    (start, _, _) = row.intervals([word])[0]
    audio = row.utterance.audio
    place = row.utterance.id if audio is None else f"{audio.name} (utterance {row.utterance.id})"
    worse = f"log-likelihood {-fit:.1f} per frame below the best states"
    return f"; worst word: {word.label} at {start:.2f} s of {place}, {worse}"


def _align_batch(
    item: tuple[FrameTable, list[list[tuple[str, ...]]]], constants: tuple[PhoneHmm, Lexicon, StateGraph, bool]
) -> list[UtteranceAlignment | Issue]:
    """Return times or a fault for each utterance, given its transcript followed by rival transcripts."""
    batch, transcripts = item
    return [attempt(_align, batch.utterance(number), words, *constants) for number, words in enumerate(transcripts)]


def _align(
    frames: np.ndarray,
    transcripts: list[tuple[str, ...]],
    hmm: PhoneHmm,
    lexicon: Lexicon,
    loop: StateGraph,
    check: bool,
) -> UtteranceAlignment | Issue:
    if not np.isfinite(frames).all():
        return Issue("not-finite", NOT_FINITE)
    topology = hmm.topology
    graphs = [transcript_graph(words, lexicon, topology) for words in transcripts]
    scores = hmm.recording_scores(frames)
    found = align_utterance(scores, graphs[0], topology, hmm.self_loops)
    if isinstance(found, Issue):
        return found
    free = free_path(scores, loop, topology, hmm.self_loops)
    if isinstance(free, Issue):
        return free
    fit = score_utterance(scores, graphs, loop, topology, hmm.self_loops, free) if check else None
    if isinstance(fit, Issue):
        return fit
    if fit is not None:
        fit = replace(fit, edits=edit_margins(scores, transcripts, lexicon, topology, hmm.self_loops))
    words, states = word_segments(found.path, graphs[0], topology), frame_states(found.path, graphs[0], topology)
    below = scores[np.arange(len(scores)), states] - scores.max(axis=1)
    n_silence = len(topology.silence_states)
    like_silence = scores[:, :n_silence].max(axis=1) >= scores[:, n_silence:].max(axis=1)
    return UtteranceAlignment(
        words,
        phone_segments(found.path, graphs[0], topology),
        known_states(states, hmm),
        fit,
        interval_trust(scores, found.path, graphs[0], free, loop, topology, hmm.self_loops),
        [float(below[word.start : word.end].mean()) for word in words],
        int((like_silence & (states < n_silence)).sum()),
    )


def _known(times: UtteranceAlignment, unknown: Collection[str]) -> UtteranceAlignment:
    """Return the words of an utterance and the phones in them, without unknown words."""
    if not unknown:
        return times
    kept = [word.label not in unknown for word in times.words]
    spans = {(word.start, word.end) for word in times.words if word.label in unknown}
    return replace(
        times,
        words=list(compress(times.words, kept)),
        phones=[phone for phone in times.phones if (phone.start, phone.end) not in spans],
        word_fits=list(compress(times.word_fits, kept)),
    )
