"""Recognition of mapped frames: better for speakers unlike those of training, and maps that a later run takes over."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from asr import Recognizer
from asr.acoustic.fmllr_prior import FmllrPrior
from asr.acoustic.model_file import SpeechModel, describe_model, load_model, save_model
from asr.corpus.data_directory import read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.features.warping import warping_matrix
from asr.grammar import word_loop
from asr.recognition.decoder import recognize
from asr.recognition.speaker_transforms import adaptable, add_maps, load_maps, recognized_maps, save_maps
from asr.scoring.wer import score_utterances
from asr.util.errors import ConfigError, ModelFormatError
from discriminants.logistic.affine_transform import AffineTransform, identity_map
from discriminants.parallel.workers import LocalWorkers
from discriminants.serialization.model_file import load_arrays, save_arrays


@pytest.fixture(scope="module")
def mixtures_path(toy_model) -> Path:
    return toy_model.with_name("gmm.safetensors")


@pytest.fixture(scope="module")
def mixtures(mixtures_path) -> SpeechModel:
    return load_model(mixtures_path)


@pytest.fixture(scope="module")
def graph(mixtures):
    return compile_graph(mixtures.lexicon, word_loop(mixtures.lexicon.words), mixtures.hmm.topology)


@pytest.fixture(scope="module")
def strangers(toy_corpus, mixtures) -> FrameTable:
    """The test speakers with vocal tracts much shorter than any in training."""
    config = mixtures.front_end.config
    static, _ = extract_static(read_data_directory(toy_corpus / "test"), config)
    frames = np.array(static.frames)
    frames[:, :12] = frames[:, :12] @ warping_matrix(0.75, config).T.astype(np.float32)
    return FrameTable(static.ids, static.speakers, frames, static.offsets)


@pytest.mark.parametrize("maps", ["fmllr", "vtln"])
def test_strange_speakers_are_recognized_better_through_their_maps(mixtures, graph, strangers, toy_corpus, maps):
    references = {one.id: one.words for one in read_data_directory(toy_corpus / "test").utterances}
    before = score_utterances(references, recognize(mixtures, strangers, graph).hypotheses).errors
    mapped = recognize(adaptable(mixtures, maps), strangers, graph)
    assert score_utterances(references, mapped.hypotheses).errors < before
    assert recognize(adaptable(mixtures, maps), strangers, graph, workers=LocalWorkers(2)).words == mapped.words


def test_the_identity_leaves_the_words_of_the_mixtures(mixtures, graph, strangers):
    maps = {speaker: identity_map(39) for speaker in strangers.speakers}
    assert (
        recognize(adaptable(mixtures), strangers, graph, maps=maps).words == recognize(mixtures, strangers, graph).words
    )


def test_known_maps_stay_and_others_do_not_depend_on_them(mixtures, graph, strangers):
    model = adaptable(mixtures)
    every, seconds = recognized_maps(model, strangers, graph)
    first, *others = sorted(every)
    own = AffineTransform(2 * np.eye(39), np.ones(39))
    again, _ = recognized_maps(model, strangers, graph, known={first: own})
    assert again[first] is own
    assert seconds > 0
    for name in others:
        np.testing.assert_array_equal(again[name].matrix, every[name].matrix)
    assert recognized_maps(model, strangers, graph, known=every) == (every, 0.0)


def test_frames_of_a_hybrid_that_was_trained_without_maps_are_not_mapped(toy_model, tmp_path, toy_corpus):
    recognizer = Recognizer.load(toy_model)
    with pytest.raises(ConfigError, match="trained with speaker transforms"):
        recognizer.decode(tmp_path, data=toy_corpus / "test", adapt="fmllr")
    with pytest.raises(ConfigError, match="Use --adapt fmllr or vtln"):
        recognizer.decode(tmp_path, data=toy_corpus / "test", speaker_transforms=tmp_path / "maps")
    with pytest.raises(ConfigError, match="input-network"):
        recognizer.decode(tmp_path, data=toy_corpus / "test", adapt="magic")


def test_a_model_of_one_kind_of_maps_is_written_and_read_and_not_adapted_by_the_other(mixtures, strangers, tmp_path):
    written = {}
    for maps in ("fmllr", "vtln"):
        model = adaptable(mixtures, maps)
        save_model(tmp_path / maps, model)
        again = load_model(tmp_path / maps)
        save_model(tmp_path / "again", again)
        assert (tmp_path / "again").read_bytes() == (tmp_path / maps).read_bytes()
        states = np.arange(strangers.n_frames, dtype=np.int32) % model.hmm.topology.n_states
        expected = model.speakers.of_states(strangers, states)
        for name, found in again.speakers.of_states(strangers, states).items():
            np.testing.assert_array_equal(found.matrix, expected[name].matrix)
        assert describe_model(tmp_path / maps)["speakers"]["maps"] == maps
        assert adaptable(again, maps) is again
        with pytest.raises(ConfigError, match=f"transforms '{maps}'"):
            adaptable(again, "vtln" if maps == "fmllr" else "fmllr")
        written[maps] = load_arrays(tmp_path / maps)
    # For fMLLR, the file is the same as when it was the only kind.
    assert set(written["fmllr"][1]["speakers"]) == {"front_end", "search", "settings"}
    arrays, metadata = written["vtln"]
    metadata["speakers"]["front_end"]["config"]["n_cepstra"] = 11
    save_arrays(tmp_path / "vtln", arrays, metadata)
    with pytest.raises(ModelFormatError, match="needs 12 columns"):
        load_model(tmp_path / "vtln")


def test_the_command_maps_speakers_writes_their_maps_and_reads_them(asr, mixtures_path, mixtures, toy_corpus, tmp_path):
    decode = ["decode", "--model", mixtures_path, "--data", toy_corpus / "test", "--grammar", "loop"]
    maps = tmp_path / "maps.safetensors"
    code, _, err = asr(*decode, "--out", tmp_path / "one", "--adapt", "fmllr", "--speaker-transforms", maps)
    assert code == 0, err
    written = load_maps(maps, adaptable(mixtures).speakers)
    assert sorted(written) == sorted({one.speaker for one in read_data_directory(toy_corpus / "test").utterances})
    before = maps.read_bytes()
    code, _, err = asr(*decode, "--out", tmp_path / "two", "--adapt", "fmllr", "--speaker-transforms", maps)
    assert code == 0, err
    assert maps.read_bytes() == before
    assert (tmp_path / "two" / "hyp.ctm").read_bytes() == (tmp_path / "one" / "hyp.ctm").read_bytes()
    code, _, err = asr(*decode, "--out", tmp_path / "three", "--adapt", "fmllr", "input-network")
    assert code == 2
    assert "--adapt" in err


def test_archives_give_the_words_of_their_audio(asr, mixtures, toy_corpus, tmp_path):
    config = ["--config", toy_corpus / "settings.toml"]
    code, _, err = asr("features", "--data", toy_corpus / "test", "--out", tmp_path / "archive", *config)
    assert code == 0, err
    for source, data in (("audio", toy_corpus / "test"), ("archive", tmp_path / "archive")):
        path = tmp_path / f"{source}.safetensors"
        save_model(path, replace(adaptable(mixtures, "fmllr"), source=source))
        code, _, err = asr("decode", "--model", path, "--data", data, "--grammar", "loop", "--out", tmp_path / source)
        assert code == 0, err
    assert (tmp_path / "archive" / "hyp.txt").read_bytes() == (tmp_path / "audio" / "hyp.txt").read_bytes()


def test_speakers_whom_a_file_of_maps_lacks_are_named_with_the_names_nearest_to_theirs(
    mixtures_path, mixtures, toy_corpus, tmp_path, caplog
):
    wav = next((toy_corpus / "audio" / "test").glob("*.wav"))
    recognizer, maps = Recognizer.load(mixtures_path), tmp_path / "maps"
    save_maps(maps, dict.fromkeys(["rec/anna", "boris", "x"], identity_map(39)), adaptable(mixtures).speakers)
    speakers = ["/rec/anna", "bors", "nobody at all"]
    results = list(recognizer.recognize_all([wav] * 3, speakers=speakers, adapt="fmllr", speaker_transforms=maps))
    (texts,) = [
        record.getMessage() for record in caplog.records if "has transforms of 3 speakers" in record.getMessage()
    ]
    assert texts.endswith("/rec/anna is similar to rec/anna; bors is similar to boris")
    assert {*load_maps(maps, adaptable(mixtures).speakers)} == {"rec/anna", "boris", "x", *speakers}
    assert results[0].text == recognizer.recognize(wav, adapt="fmllr").text


def test_progress_counts_every_search_of_the_passes(mixtures, graph, strangers):
    done: list[int] = []
    maps, _ = recognized_maps(adaptable(mixtures), strangers, graph, progress=done.append)
    assert done == sorted(done) and done[-1] == 2 * len(strangers)
    done.clear()
    recognize(adaptable(mixtures), strangers, graph, maps=maps, progress=done.append)
    assert done == sorted(done) and done[-1] == len(strangers)


def test_a_word_after_adapt_is_the_method_only_where_it_is_no_file(asr, toy_model, mixtures_path, toy_corpus, tmp_path):
    wav = next((toy_corpus / "audio" / "test").glob("*.wav"))
    for model, method in (
        (toy_model, ["input-network"]),
        (toy_model, []),
        (mixtures_path, ["fmllr"]),
        (mixtures_path, ["vtln"]),
    ):
        code, out, err = asr("decode", "--model", model, "--out", tmp_path / "out", "--adapt", *method, wav)
        assert code == 0, err
        assert out.startswith(wav.stem)
    code, _, err = asr("decode", "--model", toy_model, "--out", tmp_path / "out", "--adapt", "fmlr", wav)
    assert code == 2
    assert "'fmlr' is not a file or a method" in " ".join(err.replace("│", " ").split())


def test_a_model_of_mapped_frames_says_whose_files_are_taken_for_one_speakers(
    asr, mixtures, toy_corpus, tmp_path, caplog
):
    wavs = sorted((toy_corpus / "audio" / "test").glob("*.wav"))[:2]
    mapped = adaptable(mixtures)
    assert mapped.speakers is not None
    prior = FmllrPrior(np.eye(39, 40, dtype=np.float32), np.full((1, 39, 40), 0.01, np.float32))

    def texts(name: str, *arguments: object) -> str:
        caplog.clear()
        code, _, err = asr("decode", "--model", tmp_path / name, "--out", tmp_path / "out", *arguments)
        assert code == 0, err
        return caplog.text

    for name, own, words in (("few", None, "files of a folder count as one"), ("many", prior, "Every file counts as")):
        save_model(tmp_path / name, replace(mapped, speakers=replace(mapped.speakers, prior=own)))
        assert words in texts(name, *wavs)
        assert words not in texts(name, *wavs, "--speakers", "one")
    assert "Every file counts as" not in texts("many", wavs[0])
    assert describe_model(tmp_path / "few")["features"]["normalize"] == mixtures.front_end.config.normalize


def test_who_speaks_in_a_data_directory_is_not_said_a_second_time(toy_model, toy_corpus, tmp_path):
    with pytest.raises(ConfigError, match=r"of .*test are those of its utt2spk"):
        Recognizer.load(toy_model).decode(tmp_path / "out", data=toy_corpus / "test", speakers="file")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"format": "other"}, "a file of speaker transforms"),
        ({"found by": "other"}, "of another model"),
        ({"speakers": ["a", "a"]}, "different names"),
        ({"speakers": ["a"]}, "inconsistent"),
    ],
)
def test_a_file_of_other_maps_is_refused(mixtures, tmp_path, changed, words):
    speakers = adaptable(mixtures).speakers
    maps = {"b": AffineTransform(2 * np.eye(39), np.ones(39)), "a": identity_map(39)}
    save_maps(tmp_path / "maps", maps, speakers)
    again = load_maps(tmp_path / "maps", speakers)
    assert list(again) == ["a", "b"]
    np.testing.assert_array_equal(again["b"].matrix, maps["b"].matrix)
    arrays, metadata = load_arrays(tmp_path / "maps")
    save_arrays(tmp_path / "maps", arrays, metadata | changed)
    with pytest.raises(ModelFormatError, match=words):
        load_maps(tmp_path / "maps", speakers)
    (tmp_path / "maps").write_bytes(b"spoilt")
    with pytest.raises(ModelFormatError):
        load_maps(tmp_path / "maps", speakers)


def test_add_maps_at_the_same_time_keeps_all_speakers(mixtures, tmp_path):
    speakers = adaptable(mixtures).speakers
    names = [f"speaker-{number}" for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda name: add_maps(tmp_path / "maps", {name: identity_map(39)}, speakers), names))
    assert sorted(load_maps(tmp_path / "maps", speakers)) == sorted(names)
    other = {names[0]: AffineTransform(2 * np.eye(39), np.ones(39))}
    add_maps(tmp_path / "maps", other, speakers)
    np.testing.assert_array_equal(load_maps(tmp_path / "maps", speakers)[names[0]].matrix, np.eye(39))
