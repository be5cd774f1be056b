"""The recognizer as an object: the same words as the command, from whatever holds audio, under any grammar."""

import io
import json
import logging
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr import AsrError, Recognizer, Result
from asr.acoustic.model_file import SearchSettings, load_model
from asr.grammar import one_word
from asr.recognition.input_network import n_steps
from asr.util.errors import AlignmentError, ConfigError, CorpusError, FeatureError, GrammarError, LexiconError
from tests.toy_corpus import RATE


def test_a_file_becomes_words_with_their_times(recognizer, wavs, said):
    result = recognizer.recognize(wavs[0])
    assert result.text == said[wavs[0].stem]
    assert result.source == str(wavs[0])
    assert result.seconds == pytest.approx(soundfile.info(wavs[0]).duration, abs=1e-3)
    for word, following in zip(result.words, result.words[1:], strict=False):
        assert 0 <= word.start < word.end <= following.start <= result.seconds
    assert json.loads(json.dumps(result.to_dict())) == {
        "text": result.text,
        "words": [{"word": word.word, "start": word.start, "end": word.end} for word in result.words],
        "seconds": result.seconds,
        "source": str(wavs[0]),
        "error": None,
        "warnings": [],
    }


def test_the_words_and_times_are_those_of_the_command(recognizer, wavs, toy_model, tmp_path, asr):
    status, out, err = asr("decode", "--model", toy_model, "--out", tmp_path, wavs[0], "--jobs", 1)
    assert status == 0, err
    result = recognizer.recognize(wavs[0])
    assert out.split()[1:] == result.text.split()
    times = [line.split()[2:4] for line in (tmp_path / "hyp.ctm").read_text().splitlines()]
    for (start, duration), word in zip(times, result.words, strict=True):
        assert float(start) == pytest.approx(word.start, abs=1e-3)
        assert float(duration) == pytest.approx(word.end - word.start, abs=2e-3)


@pytest.mark.parametrize(
    "form", ["text", "path", "float64", "float32", "int16", "pair", "stereo", "bytes", "open file"]
)
def test_audio_may_come_in_any_form(recognizer, wavs, form):
    expected = recognizer.recognize(wavs[1]).words
    floats, _ = soundfile.read(wavs[1])
    integers, _ = soundfile.read(wavs[1], dtype="int16")
    if form == "open file":
        with wavs[1].open("rb") as file:
            found = recognizer.recognize(file)
        assert found.words == expected
        return
    audio, rate = {
        "text": (str(wavs[1]), None),
        "path": (wavs[1], None),
        "float64": (floats, RATE),
        "float32": (floats.astype(np.float32), RATE),
        "int16": (integers, RATE),
        "pair": ((integers, RATE), None),
        "stereo": (np.stack([floats, floats], axis=1), RATE),
        "bytes": (io.BytesIO(wavs[1].read_bytes()), None),
    }[form]
    assert recognizer.recognize(audio, rate=rate).words == expected


def test_an_array_of_a_higher_rate_is_converted_as_a_file_is(recognizer, wavs, tmp_path):
    samples, rate = soundfile.read(wavs[1], dtype="int16")
    faster = np.repeat(samples, 2)
    soundfile.write(tmp_path / "faster.wav", faster, 2 * rate)
    from_file = recognizer.recognize(tmp_path / "faster.wav")
    assert recognizer.recognize(faster, rate=2 * rate).words == from_file.words


@pytest.mark.parametrize(
    ("audio", "rate", "kind", "texts"),
    [
        (np.zeros(8000), None, CorpusError, "rate=16000"),
        (np.zeros(8000), 10, CorpusError, "rate is 10.* 1000 to 768000"),
        (np.zeros(8000), "8000", CorpusError, r"rate is '8000' \(str\)"),
        ((np.zeros(8000), "8000"), None, CorpusError, r"rate is '8000' \(str\)"),
        (np.zeros(8000), np.nan, CorpusError, "rate is nan"),
        ((np.zeros(8000), RATE), RATE, CorpusError, "rate 8000"),
        (b"RIFF", None, CorpusError, r"4 bytes \(bytes\) are not audio.*io\.BytesIO"),
        (b"RIFF", RATE, CorpusError, r"io\.BytesIO"),
        (None, None, CorpusError, r"None \(NoneType\) is not audio.* rate"),
        (None, RATE, CorpusError, r"None \(NoneType\) is not audio"),
        (7, None, CorpusError, r"7 \(int\) is not audio"),
        ({"samples": [0.0]}, RATE, CorpusError, r"\(dict\) is not audio"),
        ([[0.0, 0.0], [0.0]], RATE, CorpusError, "array of numbers"),
        (np.zeros(8000, np.int64), RATE, CorpusError, "int64"),
        (np.zeros((2, 8000)), RATE, CorpusError, r"\(2, 8000\)"),
        (np.zeros(0), RATE, CorpusError, "no samples"),
        (np.full(8000, np.nan), RATE, CorpusError, "not finite"),
        (np.r_[np.zeros(4000), -np.inf, np.zeros(4000)], RATE, CorpusError, "not finite.* sample 4000 .*-inf"),
        (np.full(8000, 20000.0), RATE, CorpusError, "32768"),
        (np.broadcast_to(np.float32(0), (2**40,)), RATE, CorpusError, "too long"),
        (np.zeros(50), RATE, FeatureError, "shorter than one window"),
        ("nowhere.wav", None, CorpusError, "nowhere.wav does not exist"),
        ("nowhere.wav", RATE, CorpusError, "contain their rate"),
        (io.BytesIO(b"no audio"), None, CorpusError, "file object: cannot be read as audio"),
        (io.StringIO("text"), None, CorpusError, "'rb'"),
    ],
)
def test_audio_that_cannot_be_used_is_refused_in_a_sentence(recognizer, audio, rate, kind, texts):
    with pytest.raises(kind, match=texts):
        recognizer.recognize(audio, rate=rate)


def test_many_are_recognized_in_order_and_a_bad_one_costs_itself_alone(recognizer, wavs):
    audios = [wavs[0], "nowhere.wav", (np.zeros(10), RATE), wavs[1]]
    results = list(recognizer.recognize_all(audios))
    assert [result.error and result.error.code for result in results] == [None, "missing-file", "too-short", None]
    assert [results[0], results[3]] == [recognizer.recognize(wavs[0]), recognizer.recognize(wavs[1])]
    assert results[1].to_dict()["error"] == {"code": "missing-file", "reason": "nowhere.wav does not exist"}
    assert list(recognizer.recognize_all(audios, jobs=3)) == results


@pytest.mark.parametrize("options", [{}, {"jobs": 2}, {"speakers": "one"}])
def test_what_is_no_audio_costs_itself_alone_too(recognizer, wavs, options):
    wrong = [None, 7, b"RIFF", np.zeros(8000), (np.zeros(8000), "8000"), [[0.0], []]]
    results = list(recognizer.recognize_all([wavs[0], *wrong, wavs[1]], **options))
    assert results[0].text and results[-1].text
    assert [result.source for result in results[1:-1]] == ["NoneType", "int", "bytes", "array", "array", "array"]
    assert [result.error.code for result in results[1:-1]] == [*3 * ["unreadable"], "no-rate", "bad-rate", "no-rate"]


def test_whoever_has_audio_of_a_lower_rate_is_told_what_takes_it(toy_model, recognizer, wavs):
    samples, _ = soundfile.read(wavs[0])
    with pytest.raises(CorpusError, match=r"Recognizer\.load\(\.\.\., upsample=True\)"):
        recognizer.recognize(samples[::2], rate=RATE // 2)
    assert Recognizer.load(toy_model, upsample=True).recognize(samples[::2], rate=RATE // 2).seconds


def test_audio_is_taken_as_results_are_asked_for(recognizer, wavs):
    taken = []

    def endless():
        while True:
            taken.append(wavs[0])
            yield wavs[0]

    results = recognizer.recognize_all(endless())
    assert not taken
    assert next(results).text
    assert len(taken) == 1


def test_utterances_of_a_speaker_are_normalized_together(recognizer, wavs, toy_corpus, toy_model, tmp_path, asr):
    asr("decode", "--model", toy_model, "--out", tmp_path, "--data", toy_corpus / "test", "--jobs", 1)
    expected = dict(line.split(maxsplit=1) for line in (tmp_path / "hyp.txt").read_text().splitlines())
    speakers = [wav.stem.partition("-")[0] for wav in wavs]
    results = recognizer.recognize_all([*wavs, "nowhere.wav"], speakers=[*speakers, "nobody"], jobs=2)
    found = {Path(result.source).stem: result for result in results}
    assert found.pop("nowhere").error
    assert {name: result.text for name, result in found.items()} == expected
    times = [line.split() for line in (tmp_path / "hyp.ctm").read_text().splitlines()]
    starts = [word.start for name in sorted(found) for word in found[name].words]
    assert starts == pytest.approx([float(fields[2]) for fields in times], abs=1e-3)


def test_adaptation_needs_speakers_and_speakers_need_one_an_utterance(recognizer, wavs):
    for options, message in (
        ({"adapt": True}, "speakers="),
        ({"speakers": ["a", "b", "c"]}, "3 speakers for 2 utterances"),
        ({"speakers": {"a": "x", "b": "x"}}, "speakers.*list of text"),
        ({"speakers": [None, None]}, "speakers.*list of text"),
        ({"speakers": ["a", 2]}, "speakers.*list of text"),
        ({"speaker_transforms": "maps"}, "speakers="),
        ({"speakers": "one", "adapt": "magic"}, "adapt.*'magic'"),
    ):
        with pytest.raises(ConfigError, match=message):
            recognizer.recognize_all(wavs[:2], **options)
    with pytest.raises(ConfigError, match=r"adapt.*'fmlr'"):
        recognizer.recognize_all([], adapt="fmlr")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="used together"):
        recognizer.recognize(wavs[0], speaker="one")
    adapted = list(recognizer.recognize_all(wavs, speakers="one", adapt=True))
    assert all(isinstance(result, Result) and result.text for result in adapted)


def test_adaptation_from_a_program_logs_its_progress(recognizer, wavs, caplog):
    with caplog.at_level(logging.DEBUG, logger="asr.runs.progress"):
        list(recognizer.recognize_all(wavs[:3], speakers="one", adapt=True))
    assert [line.rpartition(" in ")[0] for line in caplog.messages] == [
        "features: 3", f"adaptation and recognition: steps: {n_steps(3)}"
    ]  # fmt: skip


def test_one_utterance_is_adapted_to_as_the_only_one_of_its_speaker(recognizer, wavs):
    assert [recognizer.recognize(wavs[0], adapt=True)] == list(
        recognizer.recognize_all([wavs[0]], speakers="anna", adapt="input-network")
    )
    with pytest.raises(CorpusError, match="does not exist"):
        recognizer.recognize("nowhere.wav", adapt=True)


def test_maps_of_speakers_serve_program_and_command_alike(toy_model, toy_corpus, wavs, tmp_path, asr):
    mixtures, maps = toy_model.with_name("gmm.safetensors"), tmp_path / "maps"
    decode = ["decode", "--model", mixtures, "--adapt", "fmllr", "--data", toy_corpus / "test", "--jobs", 1]
    status, out, err = asr(*decode, "--out", tmp_path / "out", "--speaker-transforms", maps)
    assert status == 0, err
    expected, before = dict(line.split(maxsplit=1) for line in out.splitlines()), maps.read_bytes()
    speakers = [wav.stem.partition("-")[0] for wav in wavs]
    program = Recognizer.load(mixtures)
    results = list(program.recognize_all(wavs, speakers=speakers, adapt="fmllr", speaker_transforms=maps))
    assert {Path(result.source).stem: result.text for result in results} == expected
    assert maps.read_bytes() == before
    one = program.recognize(wavs[0], adapt="fmllr", speaker=speakers[0], speaker_transforms=maps)
    assert set(one.text.split()) & set(results[0].text.split())
    assert maps.read_bytes() == before


def test_a_recognizer_shows_its_model_its_words_and_its_search(recognizer, toy_model):
    shown = repr(recognizer.with_grammar(["NO", "ONE TWO"]).with_settings(lm_scale=5))
    assert shown.startswith(f"<Recognizer {toy_model}: hybrid of SparseKernelLogisticClassifier, 21 states; ")
    assert "; grammar of 2 sentences, 3 words (NO ONE TWO); 8000 Hz; lm_scale 5, insertion_penalty " in shown
    mixtures = Recognizer.load(toy_model.with_name("gmm.safetensors"), grammar="loop")
    assert ": mixtures, 21 states; grammar loop, 5 words (NO ONE SEVEN TWO WISE); " in repr(mixtures)
    assert "in memory: mixtures" in repr(Recognizer(mixtures.model))


def test_a_grammar_decides_what_can_be_said(recognizer, wavs, said, tmp_path):
    text = said[wavs[0].stem]
    listed = recognizer.with_grammar([text, "NO NO", ["ONE", "TWO"]])
    assert listed.recognize(wavs[0]).text == text
    assert recognizer.with_grammar(["NO", "TWO"]).recognize(wavs[0]).text in ("NO", "TWO")
    assert len(recognizer.with_grammar("one").recognize(wavs[0]).words) == 1
    assert len(recognizer.with_grammar(one_word(["SEVEN"])).recognize(wavs[0]).words) == 1
    assert recognizer.with_grammar("loop").recognize(wavs[0]).text == text
    (tmp_path / "sentences.txt").write_text("NO NO NO\n")
    assert recognizer.with_grammar(str(tmp_path / "sentences.txt")).recognize(wavs[0]).text == "NO NO NO"
    assert listed.model.hmm is recognizer.model.hmm
    assert recognizer.recognize(wavs[0]).text == text
    assert listed.with_grammar(None).recognize(wavs[0]) == recognizer.recognize(wavs[0])


def test_a_grammar_that_cannot_be_used_is_refused_at_once(recognizer, tmp_path):
    for wrong, message in (
        (["ONE HYBRID"], "no pronunciation for HYBRID"),
        (["one"], "letter case matters"),
        ([], ""),
        (tmp_path / "nowhere.arpa", r"nowhere\.arpa"),
    ):
        with pytest.raises(GrammarError, match=message):
            recognizer.with_grammar(wrong)


@pytest.mark.parametrize("wrong", [-4, 0, 1001, 2.0, True, {"NO": 1}, b"NO", object()])
def test_what_is_no_grammar_is_refused_with_what_would_be_one(recognizer, wrong):
    with pytest.raises(GrammarError, match="is not a grammar"):
        recognizer.with_grammar(wrong)


@pytest.mark.parametrize("wrong", [5, None, ["NO", 2]])
def test_what_is_no_sentence_of_a_grammar_is_refused(recognizer, wrong):
    with pytest.raises(GrammarError, match="is not a sentence"):
        recognizer.with_grammar(["NO", wrong])


def test_settings_can_be_given_when_loading_and_later(toy_model, recognizer):
    loaded = Recognizer.load(toy_model, grammar="loop", beam=50, lm_scale=2.5, insertion_penalty=-3, max_active=500)
    assert loaded.search.model_dump() == {
        "lm_scale": 2.5, "insertion_penalty": -3.0, "filler_penalty": loaded.model.search.filler_penalty, "beam": 50.0,
        "max_active": 500,
    }  # fmt: skip
    graph = loaded.graph
    narrow = loaded.with_settings(beam=30)
    assert narrow.search == loaded.search.model_copy(update={"beam": 30.0})
    assert narrow.graph is graph
    with pytest.raises(ConfigError, match="beam"):
        recognizer.with_settings(beam=-1)


def test_a_grammar_is_asked_for_by_the_number_of_its_words(recognizer, wavs):
    for number in (2, "2", np.int64(2)):
        assert len(recognizer.with_grammar(number).recognize(wavs[0]).words) == 2


@pytest.mark.parametrize("grammar", [None, "loop", "one"])
def test_a_word_added_can_be_recognized(toy_model, wavs, said, grammar):
    recognizer = Recognizer.load(toy_model, grammar=grammar)
    number, text = next((n, said[wav.stem]) for n, wav in enumerate(wavs) if "ONE" in said[wav.stem])
    recognizer.add_word("UNO", "W AH N S UW")  # unlike any existing name
    before = recognizer.recognize(wavs[number])
    assert "UNO" in recognizer.words
    assert "UNO" in recognizer.graph.words
    assert recognizer.with_grammar(["UNO"]).recognize(wavs[number]).text == "UNO"
    if grammar is None:
        assert before.text == text


def test_a_pronunciation_added_stands_beside_the_others(toy_model, wavs):
    recognizer = Recognizer.load(toy_model)
    other = recognizer.with_grammar(None)
    recognizer.add_word("ONE", ["UW", "N"])
    assert recognizer.model.lexicon["ONE"] == (("W", "AH", "N"), ("UW", "N"))
    assert other.model.lexicon["ONE"] == (("W", "AH", "N"),)
    recognizer.add_word("ONE", "W N", probability=0.25)
    assert recognizer.model.lexicon.probabilities == {("ONE", ("W", "N")): 0.25}
    with pytest.raises(LexiconError, match=r"'ONE'.*2\.0"):
        recognizer.add_word("ONE", "N", probability=2.0)


def test_stress_digits_are_left_out_where_the_model_has_none(toy_model):
    recognizer = Recognizer.load(toy_model)
    recognizer.add_word("NEW", "N UW1")
    assert recognizer.model.lexicon["NEW"] == (("N", "UW"),)


def test_small_own_grammar_is_searched_widely_by_default(toy_model):
    narrow = replace(load_model(toy_model), search=SearchSettings(beam=50.0, max_active=100))
    for recognizer, width in (
        (Recognizer(narrow), (50.0, 100)),
        (Recognizer(narrow, grammar="loop"), (400.0, 3000)),
        (Recognizer(narrow).with_grammar(["ONE TWO"]), (400.0, 3000)),
        (Recognizer(narrow, beam=60.0).with_grammar(["ONE TWO"]), (60.0, 100)),
        (Recognizer(narrow, grammar="loop").with_settings(max_active=200), (50.0, 200)),
    ):
        search = recognizer._ready()[0].search
        assert (search.beam, search.max_active) == width


def test_a_pronunciation_of_phones_that_the_model_lacks_is_refused(recognizer):
    for word, phones, message in (
        ("HYBRID", "HH AY B R AH D", "'HH', .* AH IY N S UW W"),
        ("SILENCE", "", "no phones"),
        ("TWO WORDS", "W AH N", "white space"),
    ):
        with pytest.raises(LexiconError, match=message):
            recognizer.add_word(word, phones)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("<s>", "the beginning or end of a sentence"),
        ("SENT-END", "the beginning or end of a sentence"),
        ("!NULL", "no word"),
        ("<eps>", "no word"),
        ("#0", "a symbol of automata"),
        ("<unk>", "any unknown word"),
        ("<NOISE>", "angle brackets.*allow_oov_phones=True"),
    ],
)
def test_a_mark_is_not_added_as_a_word(recognizer, word, reason):
    with pytest.raises(LexiconError, match=f"'{word}' cannot be added as a word.*{reason}"):
        recognizer.add_word(word, "W AH N")
    assert word not in recognizer.words


def test_a_name_in_angle_brackets_is_added_where_all_words_are_recognized(toy_model):
    recognizer = Recognizer.load(toy_model, allow_oov_phones=True)
    recognizer.add_word("<NOISE>", "W AH N")
    assert "<NOISE>" in recognizer.with_grammar("loop").graph.words


def test_a_pronunciation_that_can_only_be_aligned_is_told_so(toy_model, caplog):
    model = replace(Recognizer.load(toy_model).model, untrained=("IY",))
    Recognizer(model).add_word("SUNNY", "S AH N IY")
    (line,) = caplog.messages
    assert line.startswith("This pronunciation of SUNNY ") and "untrained phones IY" in line
    caplog.clear()
    Recognizer(model).add_word("SUN", "S AH N")
    Recognizer(model, allow_oov_phones=True).add_word("SUNNY", "S AH N IY")
    assert not caplog.messages


def test_alignment_gives_times_of_words_and_phones(recognizer, wavs, said, toy_corpus, toy_model, tmp_path, asr):
    alignment = recognizer.align(wavs[0], said[wavs[0].stem])
    assert [word.word for word in alignment.words] == said[wavs[0].stem].split()
    assert (alignment.phones[0].start, alignment.phones[-1].end) == (0.0, alignment.seconds)
    for phone, following in zip(alignment.phones, alignment.phones[1:], strict=False):
        assert phone.end == following.start
    assert json.dumps(alignment.to_dict())
    for text, kind, message in (
        ("ONE HYBRID", LexiconError, "no pronunciation for HYBRID. Use add_word"),
        ("ONE seven", LexiconError, "no pronunciation for seven; letter case matters, .* has seven as SEVEN"),
        ("SEVEN " * 100, AlignmentError, "too short for its transcript"),
        ("", AlignmentError, "words="),
    ):
        with pytest.raises(kind, match=message):
            recognizer.align(wavs[0], text)


def test_threads_may_share_a_recognizer_that_learns_words_meanwhile(toy_model, wavs):
    alone = Recognizer.load(toy_model)
    expected = [alone.recognize(wav).text for wav in wavs]
    shared = Recognizer.load(toy_model)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(shared.recognize, wav) for wav in wavs]
        for number in range(5):
            shared.add_word(f"NEVER{number}", "UW UW UW UW IY IY IY IY")
        assert [future.result().text for future in found] == expected
    assert {f"NEVER{number}" for number in range(5)} <= set(shared.words)


def test_a_model_of_archived_features_takes_no_audio(toy_model, wavs):
    model = replace(Recognizer.load(toy_model).model, source="archive")
    with pytest.raises(ConfigError, match=r"feats\.scp"):
        Recognizer(model).recognize(wavs[0])


def test_loading_tells_what_is_wrong_with_the_file(tmp_path, toy_model):
    shutil.copy(toy_model, tmp_path / "cut.safetensors")
    (tmp_path / "cut.safetensors").write_bytes((tmp_path / "cut.safetensors").read_bytes()[:1000])
    with pytest.raises(AsrError, match=r"cut\.safetensors"):
        Recognizer.load(tmp_path / "cut.safetensors")
