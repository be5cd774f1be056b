"""Tuning on held-out speech: pooled over twins, the error reported was not minimized over, any workers."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from asr.acoustic.composite import CompositeAcousticModel, Stream
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.model_file import load_model, save_model
from asr.commands.tune import tune_model
from asr.recognition.decoder import recognize
from asr.scoring.wer import score_utterances
from asr.training.config import TuningSettings
from asr.training.dataset import Dataset
from asr.training.tuning.grid import ErrorGrid, choose
from asr.training.tuning.search import FoldScores, TuningResult, search_batch, tune
from asr.util.errors import ConfigError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers

ONE = TuningSettings(scale_factors=(1.0,), penalty_factors=(0.0,))
SETTINGS = TuningSettings(scale_factors=(0.5, 1.0, 2.0), penalty_factors=(-2.0, 0.0, 2.0))


def tune_search(model, held_out, graph, settings, workers=None) -> TuningResult:
    return tune([FoldScores.of(model, held_out, graph, workers or SerialWorkers())], settings)


def parts(dataset: Dataset) -> list[Dataset]:
    ids = dataset.static.ids
    return [dataset.where(lambda name, _, own=set(ids[start::2]): name in own) for start in (0, 1)]


def test_the_error_reported_is_of_words_recognized_without_their_own_say(model, graph, held_out) -> None:
    tuned = tune_search(model, held_out, graph, SETTINGS)
    assert tuned.report.words == sum(map(len, held_out.references.values()))
    assert tuned.hypotheses.keys() == held_out.references.keys()
    assert tuned.report.errors == score_utterances(held_out.references, tuned.hypotheses).errors
    assert tuned.standard_error >= 0
    # By hand: every utterance with the search chosen by the counts of the others (few speakers: one by one).
    naive = {}
    for name, words in held_out.references.items():
        others = held_out.where(lambda each, _, own=name: each != own)
        search = tune_search(model, others, graph, SETTINGS).search
        own = held_out.where(lambda each, _, own=name: each == own)
        naive[name] = recognize(model, own.static, graph, search).hypotheses.get(name, ())
        assert len(words) > 0
    assert abs(tuned.report.errors - score_utterances(held_out.references, naive).errors) <= 2


def test_every_search_tells_how_many_utterances_it_has_searched(model, graph, held_out, caplog) -> None:
    with caplog.at_level(logging.DEBUG, logger="asr.runs.progress"):
        tune_search(model, held_out, graph, SETTINGS)
    n = len(held_out.references)
    texts = [message.rpartition(" in ")[0] for message in caplog.messages]
    assert f"speech scored: utterances: {n}" in texts
    assert f"1 searches: utterances: {n}" in texts  # the initial settings
    assert sum(int(text.rpartition(" ")[2]) for text in texts if text.startswith("1 searches")) >= 2 * n


def test_two_twins_with_half_the_speech_each_choose_as_one_with_all_of_it(model, graph, held_out) -> None:
    whole = tune_search(model, held_out, graph, SETTINGS)
    pooled = tune([FoldScores.of(model, part, graph) for part in parts(held_out)], SETTINGS)
    assert pooled.search == whole.search
    assert pooled.report.words == whole.report.words


def test_the_choice_does_not_depend_on_the_workers(model, graph, held_out) -> None:
    alone = tune_search(model, held_out, graph, SETTINGS)
    shared = tune_search(model, held_out, graph, SETTINGS, workers=LocalWorkers(2))
    assert alone.search == shared.search
    assert alone.hypotheses == shared.hypotheses


class Interrupted(SerialWorkers):
    """Workers that count the batches searched, and are stopped after some."""

    def __init__(self, last: int | None = None) -> None:
        self.last, self.n_searched = last, 0

    def map(self, function, items, *shared):
        for result in super().map(function, items, *shared):
            if function is search_batch:
                if self.n_searched == self.last:
                    raise KeyboardInterrupt
                self.n_searched += 1
            yield result


def tuned_with(workers: Interrupted, model, held_out, graph, kept: Path | None):
    shares = parts(held_out)
    return tune([FoldScores.of(model, part, graph, workers, kept) for part in shares], SETTINGS)


@pytest.fixture
def kept_at_once(monkeypatch) -> None:
    """Search in this thread and keep every result."""
    monkeypatch.setattr("asr.training.tuning.search.in_threads", lambda workers: workers)


@pytest.mark.usefixtures("kept_at_once")
def test_searches_go_on_after_an_interruption(model, graph, held_out, tmp_path) -> None:
    undisturbed = Interrupted()
    expected = tuned_with(undisturbed, model, held_out, graph, None)
    n_searched = 0
    for last in (3, 0, undisturbed.n_searched // 2, None):
        workers = Interrupted(last)
        if last is None:
            found = tuned_with(workers, model, held_out, graph, tmp_path / "kept")
            assert (found.search, found.hypotheses) == (expected.search, expected.hypotheses)
        else:
            with pytest.raises(KeyboardInterrupt):
                tuned_with(workers, model, held_out, graph, tmp_path / "kept")
        n_searched += workers.n_searched
    assert n_searched <= undisturbed.n_searched + 3  # only interrupted batches are searched again


@pytest.mark.usefixtures("kept_at_once")
def test_searches_kept_damaged_are_made_again(model, graph, held_out, tmp_path) -> None:
    first, again, other = Interrupted(), Interrupted(), Interrupted()
    expected = tuned_with(first, model, held_out, graph, tmp_path)
    damaged = max(tmp_path.glob("*.json"), key=lambda path: path.stat().st_size)
    said = next(word for word in model.lexicon.words if f'"{word}"' in damaged.read_text())
    damaged.write_text(damaged.read_text().replace(f'"{said}"', '"OTHER"', 1))
    assert tuned_with(again, model, held_out, graph, tmp_path).hypotheses == expected.hypotheses
    assert 0 < again.n_searched < first.n_searched
    loops = replace(model.hmm, self_loops=0.9 * model.hmm.self_loops)
    tuned_with(other, replace(model, hmm=loops), held_out, graph, tmp_path)
    assert other.n_searched == first.n_searched


def test_the_errors_weighed_are_those_of_the_searches_tried(model, graph, held_out) -> None:
    errors = np.zeros((len(held_out.references), 3, 3), np.int64)
    imbalance = np.zeros_like(errors)
    for i, factor in enumerate(SETTINGS.scale_factors):
        for j, ratio in enumerate(SETTINGS.penalty_factors):
            scale = factor * model.search.lm_scale
            search = model.search.model_copy(update={"lm_scale": scale, "insertion_penalty": ratio * scale})
            report = score_utterances(held_out.references, recognize(model, held_out.static, graph, search).hypotheses)
            by_name = {utterance.id: utterance.counts for utterance in report.utterances}
            for k, name in enumerate(held_out.references):
                errors[k, i, j] = by_name[name].errors
                imbalance[k, i, j] = by_name[name].insertions - by_name[name].deletions
    names = np.array(list(held_out.references))
    surface = ErrorGrid(names, np.array([0.5, 1, 2]), np.array([-2.0, 0, 2]), errors, imbalance)
    choice = choose(surface, model.search.insertion_penalty / model.search.lm_scale)
    if choice.at_edge == (0, 0):
        tuned = tune_search(model, held_out, graph, SETTINGS)
        assert tuned.search.lm_scale == pytest.approx(choice.scale * model.search.lm_scale, rel=0.01)
        assert tuned.search.insertion_penalty == pytest.approx(
            choice.penalty * tuned.search.lm_scale, rel=0.02, abs=0.1
        )


def test_few_words_are_said_to_tell_little(model, graph, held_out) -> None:
    one = held_out.where(lambda name, _: name == held_out.static.ids[0])
    assert any("do not determine" in remark for remark in tune_search(model, one, graph, SETTINGS).remarks)


def test_of_two_streams_the_share_with_the_fewest_errors_is_stored(model, toy_corpus, tmp_path) -> None:
    n_features = model.front_end.n_features_
    n_states = model.hmm.topology.n_states
    random = np.random.default_rng(0)
    noise = GaussianMixtures(
        np.zeros((n_states, 1)), random.normal(size=(n_states, 1, n_features)), np.ones((n_states, 1, n_features))
    )
    streams = [Stream(model.hmm.acoustic_model, 0, n_features, 1.0), Stream(noise, 0, n_features, 1.0)]
    given, output = tmp_path / "given.safetensors", tmp_path / "tuned.safetensors"
    save_model(given, replace(model, hmm=replace(model.hmm, acoustic_model=CompositeAcousticModel(streams))))
    tuned = tune_model(
        given, toy_corpus / "test", output, grammar="loop", stream_weights=True, settings=ONE, overwrite=True
    )
    errors = {one.share: one.errors for one in tuned.shares}
    assert list(errors) == [0.5, 0.4, 0.6, 0.3, 0.7]
    assert errors[0.3] < errors[0.5] < errors[0.7]
    assert tuned.share == min(errors, key=lambda share: (errors[share], abs(share - 0.5)))
    assert tuned.errors == errors[tuned.share]
    weights = [stream.weight for stream in load_model(output).hmm.acoustic_model.streams]
    assert weights == pytest.approx([2 - 2 * tuned.share, 2 * tuned.share])


def test_a_model_of_one_stream_has_no_share_to_choose(toy_model, toy_corpus, tmp_path) -> None:
    with pytest.raises(ConfigError, match="the model has 1 stream,"):
        tune_model(toy_model, toy_corpus / "test", tmp_path / "tuned.safetensors", stream_weights=True)


def test_a_search_far_from_the_initial_settings_is_reported(model, graph, held_out) -> None:
    strange = replace(model, search=model.search.model_copy(update={"insertion_penalty": -30 * model.search.lm_scale}))
    settings = TuningSettings(scale_factors=(1.0,), penalty_factors=(-2.0, 0.0, 2.0))
    remarks = tune_search(strange, held_out, graph, settings).remarks
    assert any("insertion_penalty is" in remark for remark in remarks)
