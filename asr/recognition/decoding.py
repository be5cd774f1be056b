"""`asr decode`: audio files or a data directory to words."""

import logging
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from asr.acoustic.model_file import SearchSettings, SpeechModel, load_model
from asr.align.ctm import CtmRow, ctm_rows, write_ctm
from asr.align.frame_times import frame_times
from asr.corpus.data_directory import DataDirectory, Problem, Utterance, read_data_directory
from asr.corpus.names import fault_in_name
from asr.decode.graph_compiler import compile_graph
from asr.errors import ConfigError, CorpusError, DecodeError, GrammarError, printable
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.grammar import Grammar, arpa_grammar, one_word, read_grammar, word_loop
from asr.grammar.arpa_file import parse_arpa
from asr.hmm.state_graph import StateGraph
from asr.recognition.adaptation import recognize_adapted
from asr.recognition.material import require_some
from asr.recognition.recognition import recognize
from asr.runs.outcome import Outcome, account
from asr.runs.progress import counted
from asr.score.files import write_transcripts
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)


def decode(
    model: Path | SpeechModel,
    *,
    audio: Sequence[Path] = (),
    data: Path | None = None,
    root: Path | None = None,
    grammar: str | Path | None = None,
    out: Path,
    lm_scale: float | None = None,
    insertion_penalty: float | None = None,
    beam: float | None = None,
    max_active: int | None = None,
    adapt: bool = False,
    graph: StateGraph | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> Outcome:
    """Recognize, and write `out/hyp.txt` and `out/hyp.ctm`.

    Parameters
    ----------
    audio : paths of audio files
        Each is an utterance named after its file; together they count as one speaker.
    data : path of a Kaldi data directory, instead of `audio`
    grammar : "loop", "one", or the path of an ARPA or word-pair file; None for the model's own
    lm_scale, insertion_penalty, beam, max_active : instead of the model's own settings
    adapt : whether to adapt the model to every speaker, see `asr.recognition.adaptation`
    graph : what the grammar was compiled to before, instead of `grammar`

    Raises
    ------
    AsrError
        One of its kinds; DecodeError if no utterance at all could be decoded.
    """
    speech_model = model if isinstance(model, SpeechModel) else load_model(model)
    corpus = _files_as_corpus(audio) if data is None else corpus_for(speech_model, data, root)
    search = chosen_search(
        speech_model, lm_scale=lm_scale, insertion_penalty=insertion_penalty, beam=beam, max_active=max_active
    )
    if graph is None:
        graph = compile_graph(speech_model.lexicon, chosen_grammar(speech_model, grammar), speech_model.hmm.topology)
    static, problems = static_frames(speech_model, corpus, workers)
    recognition = (recognize_adapted if adapt else recognize)(speech_model, static, graph, search, workers=workers)
    failures = [
        *corpus.problems,
        *problems,
        *(Problem(name, *fault) for name, fault in recognition.failed.items()),
    ]
    account(corpus.listed, recognition.words, failures, out)
    if not recognition.words:
        raise DecodeError(f"no utterance could be decoded; the first: {failures[0].utterance_id}: {failures[0].reason}")
    times = frame_times(speech_model.front_end.config, corpus.utterances, static)
    rows: list[CtmRow] = []
    for name, segments in recognition.words.items():
        rows += ctm_rows(name, segments, times[name])
    out.mkdir(parents=True, exist_ok=True)
    write_transcripts(out / "hyp.txt", recognition.hypotheses)
    write_ctm(out / "hyp.ctm", rows)
    audio_seconds = sum(utterance.duration for utterance in times.values())
    return Outcome(len(recognition.words), failures, recognition.cpu_seconds / audio_seconds)


def chosen_search(model: SpeechModel, **wanted: float | None) -> SearchSettings:
    """The model's search settings, with what is wanted and not None in its place; ConfigError for a bad one."""
    given = {name: value for name, value in wanted.items() if value is not None}
    try:
        return SearchSettings.model_validate(model.search.model_dump() | given)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigError(f"{problem['loc'][0]} is {problem['input']}: {problem['msg']}") from error


def corpus_for(model: SpeechModel, data: Path, root: Path | None) -> DataDirectory:
    """A data directory's audio or archived features, whichever the model was trained on if there are both."""
    return read_data_directory(data, root=root, prefer="features" if model.source == "archive" else "audio")


def static_frames(model: SpeechModel, corpus: DataDirectory, workers: Workers) -> tuple[FrameTable, list[Problem]]:
    """Static features of a corpus as the model needs them.

    Raises
    ------
    CorpusError
        If the model was trained on archived features and the corpus is audio, or the other way round.
    """
    require_some(corpus.path, corpus.utterances, corpus.problems)
    archived = any(utterance.archive is not None for utterance in corpus.utterances)
    if archived != (model.source == "archive"):
        had, given = ("feats.scp", "audio") if model.source == "archive" else ("audio", "feats.scp")
        raise CorpusError(
            f"{corpus.path}: gives {given}, but the model was trained on {had}; features must be made the same way"
        )
    with counted(len(corpus.utterances), "features") as finished:
        return extract_static(corpus, model.front_end.config, workers=workers, progress=finished)


def chosen_grammar(model: SpeechModel, wanted: str | Path | None) -> Grammar:
    """The grammar that a command line asks for: "loop", "one", a file, or None for the model's own.

    Raises GrammarError when the file is no grammar, or shares no word with the model's lexicon.
    """
    words = model.lexicon.words
    if wanted is None:
        return (
            word_loop(words)
            if model.arpa is None
            else arpa_grammar(parse_arpa(model.arpa.splitlines(), "the model's own grammar"), words)
        )
    if wanted == "loop":
        return word_loop(words)
    if wanted == "one":
        return one_word(words)
    try:
        found = read_grammar(Path(wanted), vocabulary=words)
    except GrammarError as error:
        # What is wrong with the grammar under this vocabulary is said without the name of its file.
        raise error if str(wanted) in str(error) else GrammarError(f"{wanted}: {error}") from error
    if not found.words:
        raise GrammarError(f"{wanted}: shares no word with the model's lexicon")
    if found.left_out:
        log.warning("%s", printable(f"{wanted}: the model has no pronunciation for {' '.join(found.left_out)}"))
    return found


def _files_as_corpus(audio: Sequence[Path]) -> DataDirectory:
    named: dict[str, Path] = {}
    utterances, problems = [], []
    for path in audio:
        name = "_".join(path.stem.split())
        if name in named:
            raise CorpusError(
                f"two files are named {name!r}: {named[name].absolute()} and {path.absolute()}; rename one"
            )
        named[name] = path
        bad_name = fault_in_name(name)
        if bad_name is not None:
            problems.append(Problem(name, "bad-name", f"{path}: the name of the file, without its ending, {bad_name}"))
        elif not path.is_file():
            found = "is no regular file" if path.exists() else "does not exist"
            problems.append(Problem(name, "unreadable" if path.exists() else "missing-file", f"{path} {found}"))
        else:
            utterances.append(Utterance(name, "speaker", None, audio=path))
    return DataDirectory(Path("AUDIO"), tuple(sorted(utterances, key=lambda u: u.id)), {}, tuple(problems))
