"""Likelihood ratios of words: sums of frames are scores of paths, and utterances below a limit are rejected."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from asr import Recognizer
from asr.acoustic.model_file import load_model, save_model
from asr.acoustic.model_metadata import Rejection
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.transcript_graph import transcript_graph
from asr.alignment.transcript_scores import phone_loop, score_utterance
from asr.corpus.data_directory import read_data_directory
from asr.decode.path_segments import frame_scores
from asr.decode.token_passing import best_path
from asr.features.extraction import extract_static
from asr.recognition.speaker_transforms import frames_of
from asr.recognition.speech_ratios import checksum, speech_ratios, warn_of_rejection


@pytest.fixture(scope="module")
def model(toy_model):
    return load_model(toy_model)


@pytest.fixture(scope="module")
def scored(toy_corpus, model):
    """Words and state scores of a few utterances."""
    corpus = read_data_directory(toy_corpus / "test", root=toy_corpus)
    static, _ = extract_static(corpus, model.front_end.config)
    frames = frames_of(model, static, {})
    words = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    return [
        (words[name], model.hmm.recording_scores(frames.utterance(number)))
        for number, name in enumerate(static.ids[:4])
    ]


def test_frame_scores_of_path_add_up_to_its_score(model, scored):
    loop = phone_loop(model.hmm.topology)
    for _, scores in scored:
        path = best_path(scores, loop, model.hmm.topology.unit_state, model.hmm.self_loops)
        found = frame_scores(path, loop, scores, model.hmm.topology, model.hmm.self_loops)
        assert found.shape == (len(scores),)
        assert found.sum() == pytest.approx(path.score, rel=1e-6)


def test_speech_ratios_of_alignment_are_those_of_align(model, scored):
    topology, self_loops = model.hmm.topology, model.hmm.self_loops
    loop = phone_loop(topology)
    for words, scores in scored:
        graph = transcript_graph(words, model.lexicon, topology)
        aligned = align_utterance(scores, graph, topology, self_loops)
        ratios = speech_ratios(aligned.path, graph, scores, model.hmm, loop)
        expected = score_utterance(scores, [graph], loop, topology, self_loops)
        assert ratios.whole().phone_llr == pytest.approx(expected.score, abs=1e-4)
        states = topology.unit_state[np.repeat(*aligned.runs)]
        silent = [scores[frame, topology.silence_states].max() for frame in range(len(scores))]
        naive = [scores[frame, states[frame]] - silent[frame] for frame in np.flatnonzero(ratios.speech)]
        assert ratios.whole().silence_llr == pytest.approx(np.mean(naive), rel=1e-5)
        assert ratios.between(3, 9).phone_llr == pytest.approx(ratios.phones[3:9].mean())


@pytest.fixture(scope="module")
def wav(toy_corpus):
    return sorted((toy_corpus / "audio" / "test").glob("*.wav"))[0]


def test_results_have_ratios_if_asked(toy_model, wav, tmp_path, asr):
    plain, found = (Recognizer.load(toy_model, ratios=ratios).recognize(wav) for ratios in (False, True))
    assert plain.phone_llr is None and "phone_llr" not in plain.to_dict()
    assert found.text == plain.text and found.phone_llr <= 0 < found.silence_llr
    shown = json.loads(json.dumps(found.to_dict()))
    assert shown["silence_llr"] == found.silence_llr
    assert [word["phone_llr"] for word in shown["words"]] == [word.phone_llr for word in found.words]

    status, _, err = asr("decode", "--model", toy_model, "--out", tmp_path, wav, "--ratios", "--mbr", "-j", 1)
    assert status == 0, err
    header, whole, *words = [line.split("\t") for line in (tmp_path / "ratios.tsv").read_text().splitlines()]
    assert header == ["utterance", "start", "end", "word", "phone_llr", "silence_llr"]
    assert [whole[0], whole[3], *map(float, whole[4:])] == [
        wav.stem, "", pytest.approx(found.phone_llr, abs=1e-4), pytest.approx(found.silence_llr, abs=1e-4)
    ]  # fmt: skip
    assert [word[3] for word in words] == [word.word for word in found.words]


@pytest.mark.parametrize("limit", ["min_phone_llr", "min_silence_llr"])
def test_utterance_below_limit_has_no_words(limit, toy_model, wav, tmp_path, asr):
    kept = Recognizer.load(toy_model, **{limit: -100.0}).recognize(wav)
    assert kept.text and kept.phone_llr is not None
    rejected = Recognizer.load(toy_model, confidence=True, ratios=True, **{limit: 1e6}).recognize(wav)
    assert rejected.text == "" and [word.is_filler for word in rejected.words] == [True]
    assert rejected.phone_llr is not None
    assert (rejected.words[0].start, rejected.words[0].end) == (kept.words[0].start, kept.words[-1].end)
    option = "--" + limit.replace("_", "-")
    status, _, err = asr("decode", "--model", toy_model, "--out", tmp_path, wav, option, "1000000", "-j", 1)
    assert status == 0, err
    assert (tmp_path / "hyp.txt").read_text() == f"{wav.stem}\n"
    assert "[unk]" in (tmp_path / "hyp.ctm").read_text()


def test_rejected_utterance_keeps_lattice_best_sentences_and_confidence(toy_model, wav, tmp_path, asr):
    options = ["--min-phone-llr", "100", "--n-best", "2", "--confidence", "--lattices", tmp_path / "lattices"]
    status, _, err = asr("decode", "--model", toy_model, "--out", tmp_path, wav, *options, "-j", 1)
    assert status == 0, err
    best = Recognizer.load(toy_model).recognize(wav).text
    assert (tmp_path / "hyp.txt").read_text() == f"{wav.stem}\n"
    assert (tmp_path / "nbest.tsv").read_text().splitlines()[1].split("\t")[-1] == best
    assert (tmp_path / "lattices" / f"{wav.stem}.lat").is_file()
    fields = (tmp_path / "hyp.ctm").read_text().splitlines()[-1].split()
    assert fields[4] == "[unk]" and 0.0 <= float(fields[5]) <= 1.0


def test_rejected_utterances_are_counted_apart_from_those_without_words(toy_model, wav, tmp_path, caplog):
    with caplog.at_level("INFO", logger="asr"):
        Recognizer.load(toy_model, min_phone_llr=100).decode(tmp_path, audio=[wav])
    assert any(message.startswith("only other speech or noise in 1 of 1 ") for message in caplog.messages)


def test_minus_infinity_switches_a_limit_of_the_model_off(toy_model, wav, tmp_path, asr):
    model = load_model(toy_model)
    strict = Recognizer(replace(model, search=model.search.with_options(min_phone_llr=100.0)))
    assert "min_phone_llr 100" in repr(strict)
    assert strict.recognize(wav).text == ""
    lenient = strict.with_settings(min_phone_llr=float("-inf"))
    assert lenient.search.min_phone_llr is None
    assert lenient.recognize(wav).text == Recognizer.load(toy_model).recognize(wav).text
    save_model(tmp_path / "strict.safetensors", strict.model)
    given = ["--model", tmp_path / "strict.safetensors", "--out", tmp_path, wav, "-j", 1]
    assert asr("decode", *given, "--min-phone-llr", "-inf")[0] == 0
    assert len((tmp_path / "hyp.txt").read_text().split()) > 1


FITTED = {
    "by": "ratios", "grammar_words": 2, "commands": 9, "lost": 0, "others": 9, "accepted": 0, "accepted_without": 9,
    "words": 9, "errors": 0,
}  # fmt: skip


def _graph(words, most_words=1):
    return SimpleNamespace(words=words, most_words=most_words)


@pytest.mark.parametrize(
    ("by", "fitted_for", "grammar", "token"),
    [
        ("ratios", ["ONE", "TWO"], ["ONE", "TWO"], None),
        ("ratios", ["ONE", "TWO"], ["ONE", "SIX"], "-inf"),
        ("filler", ["ONE", "[unk]"], ["ONE", "TWO"], "[unk]"),
        ("filler", ["ONE", "[unk]"], ["ONE", "[unk]"], None),
        ("filler", ["ONE", "[unk]"], ["TWO", "[unk]"], "another grammar"),
        (None, [], ["ONE", "[unk]"], "asr tune"),
        (None, [], ["ONE"], None),
    ],
)
def test_rejection_fitted_to_another_grammar_is_told(model, by, fitted_for, grammar, token, caplog):
    fitted = (
        None if by is None else Rejection.model_validate({**FITTED, "by": by, "grammar": checksum(_graph(fitted_for))})
    )
    search = model.search.with_options(min_phone_llr=-1.0 if by == "ratios" else None)
    warn_of_rejection(replace(model, rejection=fitted, search=search), _graph(grammar))
    assert bool(caplog.messages) == (token is not None)
    assert token is None or token in caplog.messages[0]
