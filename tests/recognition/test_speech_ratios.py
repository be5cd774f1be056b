"""Likelihood ratios of words: sums of frames are scores of paths, and utterances below a limit are rejected."""

import json

import numpy as np
import pytest

from asr import Recognizer
from asr.acoustic.model_file import load_model
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.transcript_graph import transcript_graph
from asr.alignment.transcript_scores import phone_loop, score_utterance
from asr.corpus.data_directory import read_data_directory
from asr.decode.token_passing import best_path
from asr.features.extraction import extract_static
from asr.recognition.speaker_transforms import frames_of
from asr.recognition.speech_ratios import frame_scores, speech_ratios


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
        found = frame_scores(path, loop, scores, model.hmm)
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
    assert kept.text and kept.phone_llr is None
    rejected = Recognizer.load(toy_model, confidence=True, ratios=True, **{limit: 1e6}).recognize(wav)
    assert rejected.text == "" and [word.is_filler for word in rejected.words] == [True]
    assert rejected.phone_llr is not None
    assert (rejected.words[0].start, rejected.words[0].end) == (kept.words[0].start, kept.words[-1].end)
    option = "--" + limit.replace("_", "-")
    status, _, err = asr("decode", "--model", toy_model, "--out", tmp_path, wav, option, "1000000", "-j", 1)
    assert status == 0, err
    assert (tmp_path / "hyp.txt").read_text() == f"{wav.stem}\n"
    assert "[unk]" in (tmp_path / "hyp.ctm").read_text()
