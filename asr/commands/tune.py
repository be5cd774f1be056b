"""`asr tune`: scale, penalty, width and confidences of the search of a finished model, chosen on a data directory."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from asr.acoustic.composite import share_of_second, with_share_of_second
from asr.acoustic.model_file import SearchSettings, SpeechModel, load_model, save_model
from asr.acoustic.model_metadata import HeldOutErrors, Rejection
from asr.commands.decode import corpus_for, static_frames
from asr.corpus.data_directory import DataDirectory, Problem
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
from asr.training.tuning.search import FoldScores, HeldOutModel, TuningResult, score_held_out, tune
from asr.util.counted_text import count
from asr.util.errors import ConfigError, GrammarError, printable
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import exists, is_dir

log = logging.getLogger(__name__)

SHARE_STEPS = (-0.2, -0.1, 0.1, 0.2)
"""From the present share of the second stream to the others that are tried."""
_SHOWN = 5  # words before the place where a transcript leaves the grammar
_MIN_SHARE, _MAX_SHARE = 0.05, 0.95
MAX_ACCEPTED = 0.25
"""Share of the other recordings above which the result has a warning."""
MIN_RECORDINGS = 10
"""Right commands, and other recordings, below which the result has a warning."""


@dataclass(frozen=True)
class TriedShare:
    """A share of the second stream, and the word errors with it, under scale and penalty chosen for it."""

    share: float
    errors: int


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
        words: no error of theirs was minimized over, but for the shares.
    wer : float
        Their rate in %, as the tuning reports it.
    n_utterances : int
        Those that this was chosen on.
    failures : list of Problem
        Utterances of the data that could not be used, with the reason.
    shares : tuple of TriedShare
        Shares of the second stream that were tried, the present one first; empty if none were.
    share : float or None
        The one chosen.
    remarks : tuple of str
        What should be known of the choice: whether it is far from what the model had, or at an end of what was tried.
    rejection : Rejection or None
        How commands and other recordings fare under it; None without other recordings.
    """

    model: Path
    search: SearchSettings
    before: SearchSettings
    errors: int
    words: int
    wer: float
    n_utterances: int
    failures: list[Problem]
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
    """Choose scale, penalty, beam and `max_active` on transcribed speech, fit the confidences of words to it, and write
    the model with these to `output`.

    Parameters
    ----------
    model : path of a model file; it stays as it is
    data : path of a Kaldi data directory of speakers who are neither in training nor in the test
    grammar : str, int, path, list of sentences, Grammar, or None for the model's own
        As of `Recognizer.with_grammar`. What is chosen suits this grammar. The model keeps its own grammar.
    others : path of a data directory of recordings without a sentence of the grammar, optional
        Other speech and noise, like those that will occur. Their transcripts do not matter. What rejects them is
        fitted: the filler penalty under a grammar with a filler, the least likelihood ratios under another.
    stream_weights : bool
        Whether to choose the share of the second stream too: a few around the present one are tuned, and the one
        with the fewest errors is kept, the present one among equals.
    overwrite : bool
        Whether `output` may be a file already.

    Raises
    ------
    ConfigError
        If `output` is there already, or is the model itself; if `stream_weights` and the model has not two streams.
    GrammarError
        If the grammar is none, or can say no transcript of the data.
    AsrError
        One of its other kinds, if model, data or grammar cannot be used.
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
                f"the model was trained on utterances of {data}, such as {', '.join(trained[:3])}: on speech that "
                "it has heard it makes fewer errors and is surer than elsewhere; give data of other speakers"
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
        (*tuned.remarks, *_barely_separated(rejection)),
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
        raise GrammarError(f"the grammar has no filler: {SPELLING}, and not {misspelt[0]}")


def _named(choice: GrammarChoice) -> str:
    if choice is None:
        return "the model's own grammar"
    return f"the grammar '{choice}'" if isinstance(choice, str | os.PathLike) else "the grammar"


def _barely_separated(found: Rejection | None) -> Iterator[str]:
    """A sentence where too many other recordings are accepted."""
    if found is not None and found.accepted > MAX_ACCEPTED * found.others:
        means = "a grammar with [unk] or $other" if found.by == "ratios" else "longer commands"
        yield (
            f"{found.accepted} of {found.others} other recordings are still recognized as words of the grammar. Check "
            f"that they contain no commands; {means} or a model trained on more speech may help"
        )
    if found is not None and min(found.commands, found.others) < MIN_RECORDINGS:
        yield (
            f"rejection was fitted to {found.commands} right commands and {count(found.others, 'other recording')}: "
            f"fewer than {MIN_RECORDINGS} of one kind tell little; give more"
        )


def _best_share(
    candidates: dict[float | None, SpeechModel],
    dataset: Dataset,
    graph: StateGraph,
    settings: TuningSettings,
    workers: Workers,
) -> tuple[SpeechModel, list[FoldScores], TuningResult, float | None, tuple[TriedShare, ...]]:
    """Tune every candidate; return the one with the fewest errors, its share, and the shares tried."""
    best: tuple[SpeechModel, list[FoldScores], TuningResult, float | None] | None = None
    shares = []
    for share, candidate in candidates.items():
        scored = score_held_out([HeldOutModel(candidate, dataset, graph)], workers)
        tuned = tune(scored, settings, most_active=SWEPT_ACTIVE)
        if share is not None:
            log.info("share %g of the second stream: %s", share, count(tuned.report.errors, "error"))
            shares.append(TriedShare(share, tuned.report.errors))
        if best is None or tuned.report.errors < best[2].report.errors:
            best = candidate, scored, tuned, share
    assert best is not None
    return *best, tuple(shares)


def _without_filler(candidates: dict[float | None, SpeechModel]) -> dict[float | None, SpeechModel]:
    """The models with all rejection switched off, since scale and penalty are chosen for the commands alone."""
    without = {"filler_penalty": NO_FILLER, "min_phone_llr": None, "min_silence_llr": None}
    return {
        share: replace(model, search=model.search.model_copy(update=without)) for share, model in candidates.items()
    }


def _rejection(
    commands: FoldScores, others: Path, root: Path | None, search: SearchSettings, has_filler: bool, workers: Workers
) -> tuple[SearchSettings, Rejection, list[Problem]]:
    """Fit what rejects other recordings: the filler penalty, or limits of the likelihood ratios.

    Also returns the recordings that cannot be used.
    """
    model = commands.fold_model.model
    corpus = corpus_for(model, others, root)
    _require_others(corpus, commands.fold_model.held_out.corpus)
    static, failed = static_frames(model, corpus, workers)
    dataset = Dataset(static, dict.fromkeys(static.ids, ()), model.front_end.config.shift_ms / 1000.0)
    if has_filler:
        (scored,) = score_held_out([HeldOutModel(model, dataset, commands.fold_model.graph)], workers)
        search, found = fit_penalty(commands, scored, search)
    else:
        search, found = fit_limits(commands.fold_model, dataset, search, workers)
    if not found.commands:
        raise ConfigError(
            f"no sentence of the data is recognized right ({count(found.errors, 'error')} in "
            f"{count(found.words, 'word')}), so no rejection can be fitted; check transcripts and grammar"
        )
    return search, found, [*corpus.problems, *failed]


def _require_others(others: DataDirectory, commands: DataDirectory | None) -> None:
    """Raise ConfigError if some of the other recordings are commands."""
    known = {one.audio for one in (() if commands is None else commands.utterances)}
    shared = [one for one in others.utterances if one.audio is not None and one.audio in known]
    if shared:
        raise ConfigError(
            f"{others.path}: {count(len(shared), 'recording')}, such as {shared[0].id}, are in the commands' data too; "
            "give recordings without commands"
        )


def _check_sentences(grammar: Grammar, name: str, corpus: DataDirectory) -> set[str]:
    """The utterances whose transcripts the grammar cannot say.

    Their number is logged, where the first of them fails, and how many word errors follow at least.

    Raises
    ------
    GrammarError
        When it can say none: whatever is chosen, no sentence could be right.
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
        raise GrammarError(f"{name} can say none {message}; give a grammar of such sentences, or data that suits it")
    all_words = sum(len(one.words or ()) for one in corpus.utterances)
    shares = f"{sum(len(one.words or ()) for one, _ in refused):,} of {count(all_words, 'word')}"
    # A word that the grammar does not have is always an error; of the others it is known that not all can be right.
    errors = sum(max(1, sum(word not in grammar.labels for word in one.words or ())) for one, _ in refused)
    inevitable = f"each of these ({shares}) will have at least one error, {count(errors, 'error')} or more in all"
    left_out = "confidences are fitted without them"
    log.warning("%s", printable(f"{name} cannot say {len(refused):,} {message}; {inevitable}; {left_out}"))
    return {one.id for one, _ in refused}


def _with_shares(model: SpeechModel) -> dict[float | None, SpeechModel]:
    """The model with some shares of its second stream, the present one first."""
    present = share_of_second(model.hmm.acoustic_model)
    found: dict[float | None, SpeechModel] = {present: model}
    for step in sorted(SHARE_STEPS, key=abs):
        share = round(min(max(present + step, _MIN_SHARE), _MAX_SHARE), 3)
        acoustic = with_share_of_second(model.hmm.acoustic_model, share)
        found.setdefault(share, replace(model, hmm=replace(model.hmm, acoustic_model=acoustic)))
    return found


def check_output(model: Path, output: Path, *, overwrite: bool) -> None:
    """Refuse, with ConfigError, to write over a file unless told to, and over the model itself in any case."""
    if is_dir(output):
        raise ConfigError(f"the output '{output}' is a directory; give the name of a file, such as tuned.safetensors")
    if exists(output) and exists(model) and output.samefile(model):
        raise ConfigError(f"the output '{output}' is the model itself; give another name, since it stays as it is")
    if exists(output) and not overwrite:
        raise ConfigError(f"the output '{output}' exists already; give another name, or --overwrite (overwrite=True)")
