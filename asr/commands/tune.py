"""`asr tune`: tune scale, penalty, width and confidences of a model's search on a data directory."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from asr.acoustic.composite import share_of_second, with_share_of_second
from asr.acoustic.model_file import SearchSettings, SpeechModel, load_model, save_model
from asr.acoustic.model_metadata import HeldOutErrors, Rejection
from asr.commands.decode import corpus_for, static_frames
from asr.corpus.data_directory import DataDirectory
from asr.decode.graph_compiler import compile_graph
from asr.grammar import Grammar
from asr.grammar.filler import FILLER_WORD, SPELLING, is_misspelt_filler
from asr.grammar.scoring import refused_at
from asr.hmm.state_graph import StateGraph
from asr.recognition.grammars import GrammarChoice, grammar_for, settled
from asr.recognition.vocabulary import recognizable
from asr.training.config import TuningSettings
from asr.training.dataset import Dataset, trainable
from asr.training.fingerprint import trained_utterances
from asr.training.tuning.beam import SWEPT_ACTIVE, choose_width
from asr.training.tuning.confidence import confidence_on
from asr.training.tuning.rejection import NO_FILLER, fit_limits, fit_penalty
from asr.training.tuning.search import FoldScores, TuningResult, tune
from asr.util.counted_text import count
from asr.util.errors import ConfigError, GrammarError, Issue, printable
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import exists, is_dir

log = logging.getLogger(__name__)

SHARE_STEPS = (-0.2, -0.1, 0.1, 0.2)
"""Differences between candidate weights of the second stream and its current weight."""
_SHOWN = 5  # words before the point where a transcript leaves the grammar
_MIN_SHARE, _MAX_SHARE = 0.05, 0.95
MAX_ACCEPTED = 0.25
"""Share of the other recordings above which the result has a warning."""
MIN_RECORDINGS = 10
"""Right commands, and other recordings, below which the result has a warning."""


@dataclass(frozen=True)
class TriedShare:
    """Weight of the second stream, and the word errors with the scale and penalty tuned for it."""

    share: float
    errors: int


@dataclass(frozen=True)
class TunedModel:
    """Result of tuning.

    Attributes
    ----------
    model : Path
        Model file with the new settings.
    search : SearchSettings
    before : SearchSettings
        Settings of the given model.
    errors, words : int
        Word errors and reference words of the data. Each speaker is recognized with the scale and penalty tuned on the
        others, so only the choice of `share` biases the errors.
    wer : float
        Word error rate in %.
    n_utterances : int
        Number of utterances used.
    failures : list of Issue
        Unusable utterances, with reasons.
    shares : tuple of TriedShare
        Tried weights of the second stream, the current one first; may be empty.
    share : float or None
        The chosen one.
    remarks : tuple of str
        Remarks on the choice, such as a value far from the initial one or at the end of the tried range.
    rejection : Rejection or None
        Results for commands and other recordings; None without other recordings.
    """

    model: Path
    search: SearchSettings
    before: SearchSettings
    errors: int
    words: int
    wer: float
    n_utterances: int
    failures: list[Issue]
    shares: tuple[TriedShare, ...] = ()
    share: float | None = None
    remarks: tuple[str, ...] = ()
    rejection: Rejection | None = None


def tune_model(
    model: Path,
    data: Path,
    output: Path,
    *,
    grammar: GrammarChoice = None,
    root: Path | None = None,
    settings: TuningSettings = TuningSettings(),  # noqa: B008 (frozen)
    others: Path | None = None,
    stream_weights: bool = False,
    overwrite: bool = False,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> TunedModel:
    """Tune scale, penalty, beam and `max_active`, calibrate confidences, and write the model to `output`.

    Parameters
    ----------
    model : Path
        Model file; not changed.
    data : Path
        Kaldi data directory, with speakers of neither the training nor the test set.
    grammar : str, int, path, list of sentences, Grammar, or None for the model's own
        As in `Recognizer.with_grammar`. The settings are tuned for this grammar. The model keeps its own grammar.
    others : Path, optional
        Data directory of representative other speech and noise, without sentences of the grammar; its transcripts are
        ignored. Rejection is fitted to it: the filler penalty if the grammar has a filler, otherwise the minimum
        likelihood ratios.
    stream_weights : bool
        Whether to choose the second stream's weight too: a few values are tuned, and the one with the fewest errors is
        kept, in a tie the current one.
    overwrite : bool
        Whether `output` may exist.

    Raises
    ------
    ConfigError
        If `output` exists or is the model itself, or with `stream_weights` and a model without two streams.
    GrammarError
        If the grammar is invalid or accepts no transcript of the data.
    AsrError
        Another subclass, if model, data or grammar cannot be used.
    """
    choice = settled(grammar)
    check_output(model, output, overwrite=overwrite)
    given = load_model(model)
    candidates: dict[float | None, SpeechModel] = _with_shares(given) if stream_weights else {None: given}
    listed = corpus_for(given, data, root)
    corpus, problems = trainable(listed, given.lexicon)
    lexicon = recognizable(given)
    wanted = grammar_for(given, lexicon, choice)
    refused = _check_sentences(wanted, _named(choice), corpus)
    graph = compile_graph(lexicon, wanted, given.hmm.topology)
    static, failed = static_frames(given, corpus, workers)
    transcripts = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    dataset = Dataset(static, transcripts, given.front_end.config.shift_ms / 1000.0, corpus)
    trained = trained_utterances(given.trained_on, dataset)
    if trained:
        log.warning(
            "%s",
            printable(
                f"the model was trained on utterances of {data}, such as {', '.join(trained[:3])}. Use data of other "
                "speakers, because the errors and confidences are biased"
            ),
        )
    has_filler = FILLER_WORD in wanted.words
    if others is not None and not has_filler:
        _require_no_misspelt_filler(wanted)
    if others is not None and has_filler:
        candidates = _without_filler(candidates)
    chosen, scored, tuned, share, shares = _best_share(candidates, dataset, graph, settings, workers)
    search, rejection = tuned.search, None
    if others is not None:
        search, rejection, unusable = _rejection(scored[0], others, root, search, has_filler, workers)
        failed = [*failed, *unusable]
    search = choose_width(scored, search)
    search = search.model_copy(update={"confidence": confidence_on(scored, search, leave_out=refused)})
    report = tuned.report
    held_out = None
    if report.words:
        held_out = HeldOutErrors(
            words=report.words,
            errors=report.errors,
            standard_error=round(tuned.standard_error, 2),
            cross_validated=False,
            own_grammar=choice is None,
        )
    save_model(
        output, replace(chosen, search=search, held_out=held_out, rejection=rejection or _still_holding(given, search))
    )
    return TunedModel(
        output,
        search,
        given.search,
        report.errors,
        report.words,
        report.wer,
        len(static),
        [*problems, *failed],
        shares,
        share,
        (*tuned.remarks, *_rejection_remarks(rejection)),
        rejection,
    )


def _still_holding(given: SpeechModel, search: SearchSettings) -> Rejection | None:
    """The rejection of the model, unless scale or penalty are others than it was fitted with."""
    same = (search.lm_scale, search.insertion_penalty) == (given.search.lm_scale, given.search.insertion_penalty)
    return given.rejection if same else None


def _require_no_misspelt_filler(grammar: Grammar) -> None:
    """Raise GrammarError if a filler was meant and is another word: limits would be fitted in its place."""
    misspelt = [word for word in grammar.left_out if is_misspelt_filler(word)]
    if misspelt:
        raise GrammarError(f"the grammar has {misspelt[0]}, which is not a filler. Expected: {SPELLING}")


def _named(choice: GrammarChoice) -> str:
    if choice is None:
        return "the model's own grammar"
    return f"the grammar '{choice}'" if isinstance(choice, str | os.PathLike) else "the grammar"


def _rejection_remarks(found: Rejection | None) -> Iterator[str]:
    """Yield remarks on too many accepted recordings, and on too few to fit to."""
    if found is not None and found.accepted > MAX_ACCEPTED * found.others:
        means = "a grammar with [unk] or $other" if found.by == "ratios" else "longer commands"
        yield (
            f"{found.accepted} of {found.others} other recordings are recognized as words of the grammar. Check "
            f"that they contain no commands, or use {means} or a model trained on more speech"
        )
    if found is not None and min(found.commands, found.others) < MIN_RECORDINGS:
        yield (
            f"rejection was fitted to {found.commands} correct commands and {count(found.others, 'other recording')}. "
            f"Use at least {MIN_RECORDINGS} of each"
        )


def _best_share(
    candidates: dict[float | None, SpeechModel],
    dataset: Dataset,
    graph: StateGraph,
    settings: TuningSettings,
    workers: Workers,
) -> tuple[SpeechModel, list[FoldScores], TuningResult, float | None, tuple[TriedShare, ...]]:
    """Tune every candidate; return the one with the fewest errors, its share, and all tried shares."""
    best: tuple[SpeechModel, list[FoldScores], TuningResult, float | None] | None = None
    shares = []
    for share, candidate in candidates.items():
        scored = [FoldScores.of(candidate, dataset, graph, workers)]
        tuned = tune(scored, settings, max_active=SWEPT_ACTIVE)
        if share is not None:
            log.debug("share %g of the second stream: %s", share, count(tuned.report.errors, "error"))
            shares.append(TriedShare(share, tuned.report.errors))
        if best is None or tuned.report.errors < best[2].report.errors:
            best = candidate, scored, tuned, share
    assert best is not None
    return *best, tuple(shares)


def _without_filler(candidates: dict[float | None, SpeechModel]) -> dict[float | None, SpeechModel]:
    """Return the models without rejection, because scale and penalty are tuned on commands only."""
    without = {"filler_penalty": NO_FILLER, "min_phone_llr": None, "min_silence_llr": None}
    return {
        share: replace(model, search=model.search.model_copy(update=without)) for share, model in candidates.items()
    }


def _rejection(
    commands: FoldScores, others: Path, root: Path | None, search: SearchSettings, has_filler: bool, workers: Workers
) -> tuple[SearchSettings, Rejection, list[Issue]]:
    """Fit the rejection of other recordings: the filler penalty, or limits of the likelihood ratios.

    Also returns the unusable recordings.
    """
    model = commands.model
    corpus = corpus_for(model, others, root)
    _require_others(corpus, commands.held_out.corpus)
    static, failed = static_frames(model, corpus, workers)
    dataset = Dataset(static, dict.fromkeys(static.ids, ()), model.front_end.config.shift_ms / 1000.0)
    if has_filler:
        scored = FoldScores.of(model, dataset, commands.graph, workers)
        search, found = fit_penalty(commands, scored, search)
    else:
        search, found = fit_limits(commands, dataset, search)
    if not found.commands:
        raise ConfigError(
            f"rejection cannot be fitted: no sentence is recognized correctly ({count(found.errors, 'error')} in "
            f"{count(found.words, 'word')}). Check transcripts and grammar"
        )
    return search, found, [*corpus.problems, *failed]


def _require_others(others: DataDirectory, commands: DataDirectory | None) -> None:
    """Raise ConfigError if some of the other recordings are commands."""
    known = {one.audio for one in (() if commands is None else commands.utterances)}
    shared = [one for one in others.utterances if one.audio is not None and one.audio in known]
    if shared:
        raise ConfigError(
            f"{others.path}: {count(len(shared), 'recording')}, such as {shared[0].id}, are also commands. "
            "Expected recordings without commands"
        )


def _check_sentences(grammar: Grammar, name: str, corpus: DataDirectory) -> set[str]:
    """Return the utterances whose transcripts the grammar does not accept.

    Logs their number, the first failure, and a lower bound of the resulting word errors.

    Raises GrammarError if the grammar accepts no transcript.
    """
    places = refused_at(grammar, [utterance.words or () for utterance in corpus.utterances])
    refused = [(one, place) for one, place in zip(corpus.utterances, places, strict=True) if place is not None]
    if not refused:
        return set()
    first, place = refused[0]
    words = first.words or ()
    before = f"{'... ' if place > _SHOWN else ''}{' '.join(words[max(0, place - _SHOWN) : place])}"
    if place == len(words):
        reason = f"no sentence of the grammar ends after '{before}'"
    elif words[place] not in grammar.labels:
        reason = f"the grammar does not have the word '{words[place]}'"
    else:
        reason = f"'{words[place]}' cannot follow '{before}'" if place else f"no sentence begins with '{words[place]}'"
    message = f"of the {count(len(places), 'transcript')} in {corpus.path}; of the first, '{first.id}': {reason}"
    if len(refused) == len(places):
        raise GrammarError(f"{name} accepts none {message}. Use a grammar or data that match")
    all_words = sum(len(one.words or ()) for one in corpus.utterances)
    shares = f"{sum(len(one.words or ()) for one, _ in refused):,} of {count(all_words, 'word')}"
    # Unknown words are always errors; the other sentences have at least one error.
    errors = sum(max(1, sum(word not in grammar.labels for word in one.words or ())) for one, _ in refused)
    inevitable = f"at least {count(errors, 'error')} in these sentences ({shares}), not used for confidences"
    log.warning("%s", printable(f"{name} does not accept {len(refused):,} {message}; {inevitable}"))
    return {one.id for one, _ in refused}


def _with_shares(model: SpeechModel) -> dict[float | None, SpeechModel]:
    """Return the model with several weights of the second stream, the current one first."""
    present = share_of_second(model.hmm.acoustic_model)
    found: dict[float | None, SpeechModel] = {present: model}
    for step in sorted(SHARE_STEPS, key=abs):
        share = round(min(max(present + step, _MIN_SHARE), _MAX_SHARE), 3)
        acoustic = with_share_of_second(model.hmm.acoustic_model, share)
        found.setdefault(share, replace(model, hmm=replace(model.hmm, acoustic_model=acoustic)))
    return found


def check_output(model: Path, output: Path, *, overwrite: bool) -> None:
    """Raise ConfigError if `output` is the model, or exists without `overwrite`."""
    if is_dir(output):
        raise ConfigError(f"the output '{output}' is a directory. Expected a file name such as tuned.safetensors")
    if exists(output) and exists(model) and output.samefile(model):
        raise ConfigError(f"the output '{output}' is the input model. Use another file name")
    if exists(output) and not overwrite:
        raise ConfigError(f"the output '{output}' exists. Use another file name, or --overwrite (overwrite=True)")
