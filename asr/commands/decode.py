"""`asr decode`: audio files or a data directory to words."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict, TypeGuard, Unpack

from pydantic import ValidationError

from asr.acoustic.model_file import SearchSettings, SpeechModel, load_model
from asr.alignment.ctm import ctm_rows
from asr.alignment.frame_times import frame_times
from asr.commands.audio_files import files_as_corpus, is_pattern
from asr.corpus.data_directory import DataDirectory, Problem, read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.grammar import Grammar, arpa_grammar, one_word, read_grammar, word_loop, word_string
from asr.grammar.arpa_file import parse_arpa
from asr.grammar.filler import FILLER_WORD
from asr.grammar.sentences import read_sentences
from asr.hmm.state_graph import StateGraph
from asr.lexicon import Lexicon
from asr.recognition.audio_checks import warn_of_few_words, warn_of_levels, warn_of_sound
from asr.recognition.hypotheses import RATIOS, write_ratios, write_words
from asr.recognition.lattice_outputs import LatticeOptions, with_lattices, write_lattices
from asr.recognition.multipass import AdaptationMethod, adaptable_model, recognize_speakers
from asr.recognition.vocabulary import other_case, recognizable, tell_left_out
from asr.runs.outcome import Outcome, account, accounted
from asr.runs.progress import counted
from asr.training.dataset import require_some
from asr.util.config_base import faults
from asr.util.errors import ConfigError, CorpusError, DecodeError, GrammarError, printable
from asr.util.text_lines import read_text_lines
from asr.validation.findings import count, some
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import exists, is_dir

log = logging.getLogger(__name__)

_NAMED = 20
"""Words of a grammar that are named, of those that the lexicon lacks: a large n-gram may have thousands."""


class SearchOptions(TypedDict, total=False):
    """Search settings that take the place of a model's own, unless None; see `SearchSettings`."""

    lm_scale: float | None
    insertion_penalty: float | None
    filler_penalty: float | None
    min_phone_llr: float | None
    min_silence_llr: float | None
    beam: float | None
    max_active: int | None


def decode(
    model: Path | SpeechModel,
    *,
    audio: Sequence[Path] = (),
    speakers: str | None = None,
    data: Path | None = None,
    root: Path | None = None,
    grammar: str | os.PathLike[str] | None = None,
    out: Path,
    adapt: bool | AdaptationMethod = False,
    speaker_transforms: Path | None = None,
    upsample: bool = False,
    allow_oov_phones: bool = False,
    mlf: bool = False,
    lattices: LatticeOptions = LatticeOptions(),  # noqa: B008 (frozen)
    ratios: bool = False,
    graph: StateGraph | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    **search: Unpack[SearchOptions],
) -> Outcome:
    """Recognize, and write `out/hyp.txt`, `out/hyp.ctm` and what else is asked for.

    Parameters
    ----------
    audio : paths of audio files, of folders of them, or patterns
        Each is an utterance named after its file.
    speakers : "file", "directory", "one" or a regular expression
        Whose files count as one speaker's, see `asr.commands.audio_files`; by default every file by itself, so that
        what is recognized in it does not depend on the others, or, where the model is adapted to the speaker, or was
        trained with maps of few speakers, those of a directory
    data : path of a Kaldi data directory, instead of `audio`
    grammar : "loop", "one", a number of words such as "7", or the path of a file `asr.grammar.read_grammar` takes; None
        for the model's own
    search : settings instead of the model's own, see `SearchSettings`
    adapt : how to adapt the model to every speaker, "input-network" (or True), "fmllr" or "vtln"; frames of
        a model that was trained on mapped ones are mapped in any case
    transforms : path of a file of the speakers' maps; speakers whom it has are not adapted to again, others are added
    upsample : whether to convert audio of a lower rate than the model's, which is refused otherwise
    allow_oov_phones : whether words may be recognized that training says nothing of, see `asr.recognition.vocabulary`
    mlf : whether to write words and times as HTK's master label file too
    lattices : what is wanted of lattices, see `asr.recognition.lattice_outputs`; none are made by default
    ratios : whether to write the likelihood ratios of utterances and words, see `asr.recognition.speech_ratios`
    graph : what the grammar was compiled to before, instead of `grammar`

    Raises
    ------
    AsrError
        One of its kinds; DecodeError if no utterance at all could be decoded.
    """
    if data is not None and speakers is not None:
        raise ConfigError(
            f"speakers={speakers!r} (--speakers) says who speaks in audio files; of {data} its utt2spk says it: a "
            "copy of the directory with another utt2spk has other speakers"
        )
    speech_model = model if isinstance(model, SpeechModel) else load_model(model)
    speech_model = adaptable_model(speech_model, adapt, speaker_transforms)
    needs_minutes = adapt or (speech_model.speakers is not None and speech_model.speakers.prior is None)
    rule = speakers or ("directory" if needs_minutes else "file")
    if data is None and speakers is None:
        _tell_whose_files(speech_model, rule, audio)
    corpus = files_as_corpus(audio, rule) if data is None else corpus_for(speech_model, data, root)
    settings = chosen_search(speech_model, **search)
    if graph is None:
        lexicon = recognizable(speech_model, allow_oov_phones=allow_oov_phones)
        graph = compile_graph(lexicon, chosen_grammar(speech_model, lexicon, grammar), speech_model.hmm.topology)
    with accounted(corpus.listed, corpus.problems, out):
        static, problems = static_frames(speech_model, corpus, workers, upsample=upsample)
    warn_of_levels(speech_model, static)
    times = frame_times(speech_model.front_end.config, corpus.utterances, static)
    warn_of_few_words({name: utterance.duration for name, utterance in times.items()}, graph)
    recognition = recognize_speakers(
        speech_model,
        static,
        graph,
        settings,
        adapt=adapt,
        speaker_transforms=speaker_transforms,
        lattice_beam=lattices.lattice_beam(settings),
        ratios=ratios,
        workers=workers,
    )
    recognition = with_lattices(recognition, lattices, settings)
    failures = [
        *corpus.problems,
        *problems,
        *(Problem(name, *fault) for name, fault in recognition.failed.items()),
    ]
    account(corpus.listed, recognition.words, failures, out)
    if not recognition.words:
        raise DecodeError(f"no utterance could be decoded; the first: {failures[0].utterance_id}: {failures[0].reason}")
    wordless = [name for name, words in recognition.hypotheses.items() if not words]
    if wordless:
        log.info(
            "no word was heard in %d of %d utterances; the first: %s",
            len(wordless), len(recognition.words), printable(wordless[0]),
        )  # fmt: skip
    rows = {name: ctm_rows(name, segments, times[name]) for name, segments in recognition.words.items()}
    write_words(out, rows, mlf=mlf)
    if ratios:
        write_ratios(out / RATIOS, recognition.words, recognition.ratios, times)
    write_lattices(lattices, recognition.lattices, times, out, settings)
    audio_seconds = sum(utterance.duration for utterance in times.values())
    return Outcome(len(recognition.words), failures, recognition.cpu_seconds / audio_seconds)


def _tell_whose_files(model: SpeechModel, rule: str, audio: Sequence[Path]) -> None:
    """Log what is taken for one speaker's, where it matters and was not said."""
    if rule == "directory":
        log.info("files of a folder count as one speaker's, whom the model adapts to; others by --speakers, speakers=")
    elif model.speakers is not None and (len(audio) > 1 or any(is_dir(path) or is_pattern(path) for path in audio)):
        log.info(
            "every file counts as a speaker of its own; where several are of one speaker, --speakers (speakers=) says "
            "so, by directory for example, and most speakers are recognized better by all of their files"
        )


def chosen_search(model: SpeechModel, **wanted: Unpack[SearchOptions]) -> SearchSettings:
    """The model's search settings, with what is wanted and not None in its place.

    Raises ConfigError for a value out of range, TypeError for a name that is none.
    """
    known = SearchOptions.__annotations__
    for name in wanted:
        if name not in known:
            raise TypeError(f"there is no keyword {name!r}; those of the search are {', '.join(known)}")
    given = {name: value for name, value in wanted.items() if value is not None}
    try:
        return SearchSettings.model_validate(model.search.model_dump() | given)
    except ValidationError as error:
        raise ConfigError("; ".join(fault.phrase for fault in faults(error))) from error


def corpus_for(model: SpeechModel, data: Path, root: Path | None) -> DataDirectory:
    """A data directory's audio or archived features, whichever the model was trained on if there are both."""
    if is_dir(data) and not exists(data / "utt2spk"):
        log.warning(
            "%s", printable(f"{data / 'utt2spk'}: No such file; every utterance counts as a speaker of its own")
        )
    prefer: Literal["features", "audio"] = "features" if model.source == "archive" else "audio"
    return read_data_directory(data, root=root, prefer=prefer, needs_speakers=False)


def static_frames(
    model: SpeechModel, corpus: DataDirectory, workers: Workers, *, upsample: bool = False
) -> tuple[FrameTable, list[Problem]]:
    """Static features of a corpus as the model needs them; what sounds unlike speech is logged (see `hearing`).

    Audio of a lower rate than the model's is refused, unless `upsample` or the model's own settings say otherwise.

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
            f"{corpus.path}: gives {given}, but the model was trained on {had}; features must be made the same way, so "
            f"give a data directory with {had}, or train on {given}"
        )
    config = model.front_end.config
    if not archived:
        warn_of_sound(corpus, config, workers=workers)
    config = config.model_copy(update={"upsample": upsample or config.upsample})
    with counted(len(corpus.utterances), "features") as finished:
        return extract_static(corpus, config, workers=workers, progress=finished)


def chosen_grammar(model: SpeechModel, lexicon: Lexicon, wanted: str | os.PathLike[str] | None) -> Grammar:
    """The grammar that a command line asks for: "loop", "one", a number of words, a file, or None for the model's own.

    `lexicon` has the words that can be recognized (`asr.recognition.vocabulary`); which others the grammar has is
    logged. Raises GrammarError when the file is no grammar, or shares no word with it.
    """
    words = lexicon.words
    if wanted in (None, "loop", "one") or is_number(wanted):
        tell_left_out(model, lexicon)
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
    if is_number(wanted):
        return word_string(words, int(wanted))
    _require_grammar_file(wanted)
    try:
        found = read_grammar(Path(wanted), vocabulary=words)
    except GrammarError as error:
        there = _words_of(Path(wanted))
        tell_left_out(model, lexicon, there)
        # What is wrong with the grammar under this vocabulary is said without the name of its file.
        named = str(error) if str(wanted) in str(error) else f"{wanted}: {error}"
        hint = other_case(there, model.lexicon)
        raise GrammarError(f"{named}; {hint}" if hint else named) from error
    tell_left_out(model, lexicon, found.left_out)
    if not found.words:
        raise GrammarError(f"{wanted}: shares no word with the model's lexicon")
    unknown = [word for word in found.left_out if word not in model.lexicon]  # of the others was told
    reasons = []
    if unknown:
        reasons.append(f"the model has no pronunciation for {some(unknown, _NAMED)}")
        reasons.append(other_case(unknown, model.lexicon))
    if found.name == "sentences":
        reasons.insert(0, _left_out_sentences(Path(wanted), {*words, FILLER_WORD}))
    message = "; ".join(filter(None, reasons))
    if message:
        log.warning("%s", printable(f"{wanted}: {message}"))
    return found


def is_number(wanted: str | os.PathLike[str] | None) -> TypeGuard[str]:
    """Whether a grammar is asked for by the number of its words; a file with such a name is `./7`."""
    return isinstance(wanted, str) and wanted.isascii() and wanted.isdecimal() and len(wanted) < 5


def _require_grammar_file(wanted: str | os.PathLike[str]) -> None:
    """GrammarError unless there is such a file; text that is no path was probably meant as a sentence."""
    if os.path.exists(wanted):  # noqa: PTH110 (of any text, also of what no path can be)
        return
    if isinstance(wanted, str):
        shown = printable(repr(wanted), 300)
        raise GrammarError(
            f"the grammar {shown} was taken for the path of a file, and there is none: text is 'loop', 'one', a number "
            "of words or the path of a grammar file; sentences come as a file with one a line, or from Python as a "
            f"list, [{shown}]"
        )
    raise GrammarError(f"the grammar {os.fspath(wanted)!r} was given as the path of a file, and there is none")


def _left_out_sentences(path: Path, known: set[str]) -> str:
    """How many sentences of a grammar file hold words that cannot be recognized, and the first of them; maybe empty."""
    sentences = read_sentences(path)
    left_out = [" ".join(sentence) for sentence in sentences if not known.issuperset(sentence)]
    if not left_out:
        return ""
    shown = some((repr(sentence) for sentence in left_out), 3)
    return f"{len(left_out):,} of {count(len(sentences), 'sentence')} cannot be said and are left out: {shown}"


def _words_of(path: Path) -> set[str]:
    """Whatever may be a word of a grammar file that could not be used."""
    try:
        lines = read_text_lines(path, GrammarError)
        return {field.removeprefix(">").removeprefix("W=") for line in lines for field in line.split()}
    except GrammarError:
        return set()
