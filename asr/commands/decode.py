"""`asr decode`: recognition of audio files or a data directory."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from asr.acoustic.model_file import SpeechModel
from asr.alignment.ctm import ctm_rows
from asr.alignment.frame_times import FrameTimes, frame_times
from asr.alignment.label_files import label_formats, source_files, write_label_files
from asr.alignment.recording_labels import AlignedUtterance
from asr.commands.audio_files import files_as_corpus, is_pattern
from asr.corpus.data_directory import DataDirectory, Utterance, read_data_directory
from asr.decode.path_segments import Segment
from asr.features.extraction import extract_measured
from asr.features.frame_table import FrameTable
from asr.features.pieces import divided
from asr.hmm.state_graph import StateGraph
from asr.recognition.audio_checks import warn_of_few_words, warn_of_levels, warn_of_sound
from asr.recognition.decoder import Recognition
from asr.recognition.hypotheses import RATIOS, remove_results, write_ratios, write_words
from asr.recognition.lattice_outputs import OutputOptions, with_lattices, write_lattices
from asr.recognition.long_recordings import joined, lattice_parts, searched_seconds
from asr.recognition.multipass import AdaptationMethod, adaptable_model, recognize_speakers
from asr.runs.outcome import Outcome, account, accounted, require_some
from asr.runs.progress import counted
from asr.util.counted_text import count
from asr.util.errors import ConfigError, CorpusError, DecodeError, Issue, printable
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import exists, is_dir

log = logging.getLogger(__name__)


def decode(
    model: SpeechModel,
    graph: StateGraph,
    out: Path,
    *,
    audio: Sequence[Path] = (),
    speakers: str | None = None,
    data: Path | DataDirectory | None = None,
    root: Path | None = None,
    adapt: bool | AdaptationMethod = False,
    speaker_transforms: Path | None = None,
    formats: str | Sequence[str] = (),
    outputs: OutputOptions = OutputOptions(),  # noqa: B008 (frozen)
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> Outcome:
    """Recognize, and write `out/hyp.txt`, `out/hyp.ctm` and further requested files.

    Raises DecodeError if no utterance could be decoded, and other subclasses of AsrError.

    Parameters
    ----------
    graph : StateGraph
        Graph of the grammar, from `compile_graph`.
    audio : paths of audio files, of folders of them, or patterns
        Each file is an utterance named after it.
    speakers : "file", "directory", "one" or a regular expression
        Grouping of files by speaker, see `asr.commands.audio_files`. Default: "file", so results for a file do not
        depend on the others; "directory" if the model is adapted or was trained with transforms of few speakers.
    data : path or DataDirectory
        Kaldi data directory, instead of `audio`.
    adapt : "input-network" (or True), "fmllr" or "vtln"
        Method of speaker adaptation. Models trained on transformed frames always adapt.
    speaker_transforms : path
        File of speaker transforms; its speakers are not adapted again, others are added.
    formats : str or list of str
        Formats of words and times for other programs: names of `asr.alignment.label_files.LABEL_FORMATS`, and "mlf" for
        an HTK master label file.
    outputs : OutputOptions
        Lattices, confidences and likelihood ratios; none by default.
    """
    formats = label_formats(formats, mlf=True)
    if data is not None and speakers is not None:
        place = data.path if isinstance(data, DataDirectory) else data
        raise ConfigError(
            f"--speakers (speakers=) {speakers!r} is for audio files only; the speakers of {place} are those of "
            "its utt2spk. Use a copy of the directory with another utt2spk"
        )
    model = adaptable_model(model, adapt, speaker_transforms)
    needs_minutes = adapt or (model.speakers is not None and model.speakers.prior is None)
    rule = speakers or ("directory" if needs_minutes else "file")
    if data is None and speakers is None:
        _log_speaker_rule(model, rule, audio)
    corpus = files_as_corpus(audio, rule) if data is None else corpus_for(model, data, root)
    with accounted(corpus.listed, corpus.problems, out, remove_results):
        static, problems = static_frames(model, corpus, workers)
    warn_of_levels(model, static)
    times = frame_times(model.front_end.config, corpus.utterances, static)
    warn_of_few_words({name: searched_seconds(utterance.duration) for name, utterance in times.items()}, graph)
    pieces = divided(static, model.front_end.config)
    searched = recognize_speakers(
        model,
        pieces.table,
        graph,
        adapt=adapt,
        speaker_transforms=speaker_transforms,
        lattice_beam=outputs.lattice_beam(model.search),
        ratios=outputs.ratios,
        workers=workers,
    )
    if outputs.any:
        searched = with_lattices(searched, outputs, model.search)
    recognition = joined(searched, pieces)
    failures = [
        *corpus.problems,
        *problems,
        *(fault.for_utterance(name) for name, fault in recognition.failed.items()),
    ]
    account(corpus.listed, recognition.words, failures, out)
    if not recognition.words:
        remove_results(out)
        raise DecodeError(f"No utterance could be decoded. The first: {failures[0].utterance}: {failures[0].message}")
    _log_empty_results(recognition)
    rows = {name: ctm_rows(name, segments, times[name]) for name, segments in recognition.words.items()}
    calibrated = outputs.calibrated(model.search)
    write_words(out, rows, mlf="mlf" in formats, calibrated=calibrated)
    if formats:
        spoken = (
            _labelled(one, recognition.words[one.id], times[one.id], calibrated)
            for one in corpus.utterances
            if one.id in rows
        )
        write_label_files(out, formats, spoken, lambda: {} if data is None else source_files(corpus.path))
    if outputs.ratios:
        write_ratios(out / RATIOS, recognition.words, recognition.ratios, times)
    if outputs.any:
        write_lattices(outputs, lattice_parts(searched, pieces), times, out, model.search)
    audio_seconds = sum(utterance.duration for utterance in times.values())
    return Outcome(len(recognition.words), failures, recognition.cpu_seconds / audio_seconds)


def _labelled(
    utterance: Utterance, words: Sequence[Segment], times: FrameTimes, calibrated: bool | None
) -> AlignedUtterance:
    """Return an utterance with its words and their confidences, if all have one."""
    confidences = [word.confidence for word in words if word.confidence is not None]
    trusts = confidences if len(confidences) == len(words) else ()
    return AlignedUtterance(utterance, words, (), times, word_trusts=trusts, calibrated=calibrated)


def _log_empty_results(found: Recognition) -> None:
    """Log the number of utterances without words of the grammar: other speech or noise, and silence."""
    without = {name: bool(found.words[name]) for name, words in found.hypotheses.items() if not words}
    for is_other, what in ((True, "only other speech or noise"), (False, "no word")):
        names = [name for name, is_filler in without.items() if is_filler == is_other]
        if names:
            log.info(
                "%s in %d of %s; the first: %s",
                what, len(names), count(len(found.words), "utterance"), printable(names[0]),
            )  # fmt: skip


def _log_speaker_rule(model: SpeechModel, rule: str, audio: Sequence[Path]) -> None:
    """Log the default grouping of files by speaker if it matters."""
    if rule == "directory":
        log.info("All files of a folder count as one speaker for adaptation. Change this with --speakers (speakers=)")
    elif model.speakers is not None and (len(audio) > 1 or any(is_dir(path) or is_pattern(path) for path in audio)):
        log.info(
            "Every file counts as a separate speaker. If several files have the same speaker, use --speakers "
            "(speakers=), for example 'directory': the model then adapts to all files of a speaker"
        )


def corpus_for(model: SpeechModel, data: Path | DataDirectory, root: Path | None) -> DataDirectory:
    """Return a data directory with audio or archived features, whichever the model was trained on if there are both."""
    if isinstance(data, DataDirectory):
        return data
    if is_dir(data) and not exists(data / "utt2spk"):
        log.warning("%s", printable(f"{data / 'utt2spk'} not found; every utterance counts as a separate speaker"))
    prefer: Literal["features", "audio"] = "features" if model.source == "archive" else "audio"
    return read_data_directory(data, root=root, prefer=prefer, needs_speakers=False)


def static_frames(model: SpeechModel, corpus: DataDirectory, workers: Workers) -> tuple[FrameTable, list[Issue]]:
    """Return a corpus's static features for the model; log the warnings of `asr.recognition.audio_checks`.

    Raises
    ------
    CorpusError
        If only one of the model and the corpus uses archived features.
    """
    require_some(corpus.path, corpus.utterances, corpus.problems)
    archived = any(utterance.archive is not None for utterance in corpus.utterances)
    if archived != (model.source == "archive"):
        had, given = ("feats.scp", "audio") if model.source == "archive" else ("audio", "feats.scp")
        raise CorpusError(
            f"{corpus.path} has {given}, but the model was trained on {had}. Expected a data directory "
            f"with {had}, or a model trained on {given}"
        )
    config = model.front_end.config
    with counted(len(corpus.utterances), "features") as finished:
        n_columns = model.static_dimension if archived else None
        found = extract_measured(corpus, config, n_columns=n_columns, workers=workers, progress=finished)
    warn_of_sound(found.measured, config)
    return found.static, found.problems
