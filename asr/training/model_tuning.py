"""`asr tune`: scale, penalty, width and confidences of the search of a finished model, chosen on a data directory."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from asr.acoustic.model_file import SearchSettings, load_model, save_model
from asr.corpus.data_directory import Problem
from asr.decode.graph_compiler import compile_graph
from asr.errors import ConfigError
from asr.recognition.decoding import chosen_grammar, corpus_for, static_frames
from asr.recognition.material import Material, trainable
from asr.recognition.vocabulary import recognizable
from asr.training.confidence_fit import confidence_on
from asr.training.config import TuningSettings
from asr.training.search_width import SWEPT_ACTIVE, choose_width
from asr.training.tuning import Scored, Twin, tune
from discriminants.parallel.workers import SerialWorkers, Workers


@dataclass(frozen=True)
class TunedModel:
    """What tuning chose.

    Attributes
    ----------
    model : path of the model file with the new settings
    search : SearchSettings
    before : SearchSettings
        Those of the model that was given.
    errors, words : int
        Word errors on the data, each speaker's under the scale and penalty that the others choose, and reference
        words: no error of theirs was minimized over.
    wer : float
        Their rate in %, as the tuning reports it.
    n_utterances : int
        Those that this was chosen on.
    failures : list of Problem
        Utterances of the data that could not be used, with the reason.
    remarks : tuple of str
        What should be known of the choice: whether it is far from what the model had, or at an end of what was tried.
    """

    model: Path
    search: SearchSettings
    before: SearchSettings
    errors: int
    words: int
    wer: float
    n_utterances: int
    failures: list[Problem]
    remarks: tuple[str, ...] = ()


def tune_model(
    model: Path,
    data: Path,
    output: Path,
    *,
    grammar: str | os.PathLike[str] | None = None,
    root: Path | None = None,
    settings: TuningSettings = TuningSettings(),  # noqa: B008 (frozen)
    overwrite: bool = False,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> TunedModel:
    """Choose scale, penalty, beam and `max_active` on transcribed speech, fit the confidences of words to it, and write
    the model with these to `output`.

    Parameters
    ----------
    model : path of a model file; it stays as it is
    data : path of a Kaldi data directory of speakers who are neither in training nor in the test
    grammar : "loop", "one", or the path of a grammar file; None for the model's own
        What is chosen suits this grammar. The grammar that the model keeps stays its own.
    overwrite : bool
        Whether `output` may be a file already.

    Raises
    ------
    ConfigError
        If `output` is there already, or is the model itself.
    AsrError
        One of its other kinds, if model, data or grammar cannot be used.
    """
    check_output(model, output, overwrite=overwrite)
    given = load_model(model)
    listed = corpus_for(given, data, root)
    corpus, problems = trainable(listed, given.lexicon)
    lexicon = recognizable(given)
    graph = compile_graph(lexicon, chosen_grammar(given, lexicon, grammar), given.hmm.topology)
    static, failed = static_frames(given, corpus, workers)
    transcripts = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    material = Material(static, transcripts, given.front_end.config.shift_ms / 1000.0, corpus)
    scored = [Scored.of(Twin(given, material, graph), workers)]
    tuned = tune(scored, settings, most_active=SWEPT_ACTIVE)
    search = choose_width(scored, tuned.search)
    search = search.model_copy(update={"confidence": confidence_on(scored, search)})
    save_model(output, replace(given, search=search))
    report = tuned.report
    return TunedModel(
        output,
        search,
        given.search,
        report.errors,
        report.words,
        report.wer,
        len(static),
        [*problems, *failed],
        tuned.remarks,
    )


def check_output(model: Path, output: Path, *, overwrite: bool) -> None:
    """Refuse, with ConfigError, to write over a file unless told to, and over the model itself in any case."""
    if output.is_dir():
        raise ConfigError(f"the output '{output}' is a directory; give the name of a file, such as tuned.safetensors")
    if output.exists() and model.exists() and output.samefile(model):
        raise ConfigError(f"the output '{output}' is the model itself; give another name, since it stays as it is")
    if output.exists() and not overwrite:
        raise ConfigError(f"the output '{output}' exists already; give another name, or --overwrite (overwrite=True)")
