"""Training on frames that a program gives as arrays, and recognition of such frames."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import asr
from asr.acoustic.model_file import load_model
from asr.cli import main
from asr.corpus.data_directory import read_data_directory
from asr.corpus.kaldi_ark import write_archive
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.training.config import load_config
from asr.util.errors import ConfigError, CorpusError, FeatureError
from discriminants.serialization.model_file import load_arrays

SETTINGS = {
    "features": {"sample_rate": 8000},
    "gmm": {"mixtures": [1], "iterations": [2], "flat_start_restarts": 0},
    "speakers": {"maps": "none"},
    "hybrid": {"vtlp_warps": [], "mixtures": 0, "classifier": "sklearn.naive_bayes.GaussianNB"},
    "tuning": {"held_out": 0},
}


def own_frames(data: Path, config: FeatureConfig) -> dict[str, np.ndarray]:
    table, _ = extract_static(read_data_directory(data), config)
    return {name: table.utterance(name).copy() for name in table.ids}


@pytest.fixture
def toy_frames(toy_corpus: Path) -> dict[str, np.ndarray]:
    """Features of the toy model's test data, made outside of the recognizer."""
    return own_frames(toy_corpus / "test", load_config(toy_corpus / "settings.toml").features)


def test_frames_are_recognized_as_their_audio(
    toy_corpus: Path, toy_model: Path, toy_frames: dict[str, np.ndarray]
) -> None:
    recognizer = asr.Recognizer.load(toy_model)
    utterance = read_data_directory(toy_corpus / "test").utterances[0]
    of_audio = recognizer.recognize(utterance.source)
    of_frames = recognizer.recognize(frames=toy_frames[utterance.id])
    assert of_frames.text == of_audio.text != ""
    assert of_frames.source == "frames"
    names = list(toy_frames)[:3]
    together = recognizer.recognize_all(frames=(toy_frames[name] for name in names), speakers="anna")
    alone = recognizer.recognize_all(frames=[toy_frames[name] for name in names], jobs=2)
    assert [one.text for one in together] == [one.text for one in alone]


@pytest.mark.parametrize(
    "frames",
    [
        np.zeros(13),
        np.zeros((0, 13)),
        *(np.full((30, 13), x) for x in (np.nan, 1e9)),
        np.zeros((30, 12)),
        np.array([["a"]]),
    ],
)
def test_frames_of_other_shape_or_values_are_refused(toy_model: Path, frames: np.ndarray) -> None:
    recognizer = asr.Recognizer.load(toy_model)
    with pytest.raises(FeatureError):
        recognizer.recognize(frames=frames)
    assert next(iter(recognizer.recognize_all(frames=[frames]))).error is not None


def test_audio_and_frames_together_are_refused(toy_model: Path, toy_frames: dict[str, np.ndarray]) -> None:
    recognizer = asr.Recognizer.load(toy_model)
    given = next(iter(toy_frames.values()))
    with pytest.raises(asr.AsrError, match="frames="):
        recognizer.recognize("a.wav", frames=given)
    with pytest.raises(asr.AsrError, match="frames="):
        recognizer.recognize_all(["a.wav"], frames=[given])


def test_frames_of_no_utterance_are_refused(tiny_corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="nobody"):
        asr.train(
            tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / "run", config=SETTINGS, jobs=1,
            frames={"nobody": np.zeros((20, 13))},
        )  # fmt: skip


def test_training_frames_of_other_shapes_are_left_out(
    tiny_corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frames = own_frames(tiny_corpus / "train", load_config(SETTINGS).features)
    narrow, infinite, missing, *_ = sorted(frames)
    frames[narrow] = frames[narrow][:, 1:]
    frames[infinite] = np.full((30, 13), np.inf)
    del frames[missing]
    trained = asr.train(
        tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / "run", config=SETTINGS, jobs=1, until="gmm",
        frames=frames,
    )  # fmt: skip
    codes = {narrow: "other-dimension", infinite: "not-finite", missing: "no-features"}
    assert {one.utterance: one.code for one in trained.outcome.failures} == codes == failed(tmp_path / "run")
    assert trained.outcome.n_done == len(frames) - 2
    reason = next(one.message for one in trained.outcome.failures if one.utterance == missing)
    assert "frames=" in reason and "feats.scp" not in reason
    written = caplog.text + (tmp_path / "run" / "failed.tsv").read_text()
    assert missing in written and "12 features" in written


@pytest.mark.slow
def test_given_mfccs_train_the_model_of_built_in_mfccs(tiny_corpus: Path, tmp_path: Path) -> None:
    without_audio = tmp_path / "data"
    without_audio.mkdir()
    for name in ("text", "utt2spk"):
        shutil.copy(tiny_corpus / "train" / name, without_audio)
    frames = own_frames(tiny_corpus / "train", load_config(SETTINGS).features)
    options = {"config": SETTINGS, "jobs": 1}
    of_audio = asr.train(tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / "audio", **options)
    of_frames = asr.train(without_audio, tiny_corpus / "lexicon.txt", tmp_path / "frames", frames=frames, **options)
    for name in ("model", "gmm"):
        expected, _ = load_arrays(tmp_path / "audio" / f"{name}.safetensors")
        found, _ = load_arrays(tmp_path / "frames" / f"{name}.safetensors")
        assert expected.keys() == found.keys()
        for key, array in expected.items():
            np.testing.assert_array_equal(found[key], array, err_msg=key)
    name = next(iter(frames))
    assert of_frames.load().recognize(frames=frames[name]).text == of_audio.load().recognize(frames=frames[name]).text
    again = asr.train(without_audio, tiny_corpus / "lexicon.txt", tmp_path / "frames", frames=frames, **options)
    assert again.outcome == of_frames.outcome
    changed = {**frames, name: frames[name] + 1}
    with pytest.raises(asr.AsrError, match="data"):
        asr.train(without_audio, tiny_corpus / "lexicon.txt", tmp_path / "frames", frames=changed, **options)


@pytest.fixture
def toy_scores(toy_model: Path, toy_frames: dict[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """The toy model's own scores of each kind, by utterance."""
    model = load_model(toy_model)
    table = FrameTable.from_utterances(toy_frames, ["s"] * len(toy_frames), toy_frames.values())
    frames = model.front_end.transform(table)
    logs = {name: model.hmm.acoustic_model.log_posterior(frames.utterance(name)) for name in frames.ids}
    return {
        "posteriors": {name: np.exp(own) for name, own in logs.items()},
        "log-posteriors": logs,
        "log-likelihoods": {name: model.hmm.recording_scores(frames.utterance(name)) for name in logs},
    }


@pytest.mark.parametrize("kind", ["posteriors", "log-posteriors", "log-likelihoods"])
def test_given_scores_give_the_words_of_the_features(
    toy_model: Path, toy_frames: dict[str, np.ndarray], toy_scores: dict[str, dict[str, np.ndarray]], kind
) -> None:
    of_features = asr.Recognizer.load(toy_model).recognize_all(frames=toy_frames.values(), speakers="s")
    of_scores = asr.Recognizer.load(toy_model, scores=kind).recognize_all(frames=toy_scores[kind].values())
    assert [one.text for one in of_scores] == [one.text for one in of_features]


def decoded(model: Path, out: Path, scores: Path) -> object:
    """Exit status of `asr decode` with posteriors."""
    with pytest.raises(SystemExit) as stop:
        main(["decode", "--model", str(model), "--out", str(out), "--scores", "posteriors", str(scores)])
    return stop.value.code


@pytest.mark.parametrize("kind", ["npz", "folder", "ark", "scp"])
def test_decode_reads_files_of_scores(
    toy_model: Path, toy_scores: dict[str, dict[str, np.ndarray]], tmp_path: Path, kind: str
) -> None:
    given = toy_scores["posteriors"]
    np.savez_compressed(tmp_path / "given.npz", **given)
    (tmp_path / "folder").mkdir()
    for name, matrix in given.items():
        np.save(tmp_path / "folder" / f"{name}.npy", np.asfortranarray(matrix, np.float64))
    write_archive(tmp_path / "given.ark", tmp_path / "given.scp", given.items())
    source = tmp_path / ("folder" if kind == "folder" else f"given.{kind}")
    assert decoded(toy_model, tmp_path / "out", source) == 0
    results = asr.Recognizer.load(toy_model, scores="posteriors").recognize_all(frames=given.values())
    expected = {name: one.text for name, one in zip(given, results, strict=True)}
    lines = (tmp_path / "out" / "hyp.txt").read_text().splitlines()
    assert {line.partition(" ")[0]: line.partition(" ")[2] for line in lines} == expected


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (lambda own: own[:, 1:], "the model's states"),
        (lambda own: 2 * own, "sum to 2"),
        (lambda own: own - 0.5, "posterior of state"),
        (lambda own: np.where(own > 0.5, np.nan, own), "not finite"),
    ],
)
def test_wrong_scores_are_refused_with_their_utterance(
    toy_model: Path,
    toy_scores: dict[str, dict[str, np.ndarray]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoiled: Callable[[np.ndarray], np.ndarray],
    message: str,
) -> None:
    name, matrix = next(iter(toy_scores["posteriors"].items()))
    with pytest.raises(asr.AsrError, match=message):
        asr.Recognizer.load(toy_model, scores="posteriors").recognize(frames=spoiled(matrix))
    np.savez(tmp_path / "given.npz", **{name: spoiled(matrix)})
    assert decoded(toy_model, tmp_path / "out", tmp_path / "given.npz") == 1
    printed = capsys.readouterr().err
    assert message in printed and name in printed


def test_recognizer_of_scores_names_its_input(toy_model: Path, toy_scores: dict[str, dict[str, np.ndarray]]) -> None:
    recognizer = asr.Recognizer.load(toy_model, scores="log-posteriors")
    with pytest.raises(ConfigError, match="scores="):
        recognizer.recognize("a.wav")
    with pytest.raises(asr.AsrError, match="logarithms"):
        recognizer.recognize(frames=next(iter(toy_scores["posteriors"].values())))
    with np.errstate(divide="ignore"):
        certain = np.log(np.eye(len(recognizer.states))[np.zeros(20, int)])
    assert recognizer.recognize(frames=certain).seconds > 0  # minus infinity is a score


def test_states_are_the_columns_of_scores(toy_model: Path, toy_scores: dict[str, dict[str, np.ndarray]]) -> None:
    recognizer = asr.Recognizer.load(toy_model)
    matrix = next(iter(toy_scores["posteriors"].values()))
    assert len(recognizer.states) == len(set(recognizer.states)) == matrix.shape[1]
    assert recognizer.states[:3] == ("SIL_1", "SIL_2", "SIL_3")
    assert recognizer.states[3].startswith(recognizer.phones[0])


def failed(folder: Path) -> dict[str, str]:
    """The reason code of each utterance left out."""
    rows = (folder / "failed.tsv").read_text().splitlines()[1:]
    return {row.split("\t")[0]: row.split("\t")[1] for row in rows}


@pytest.mark.parametrize("ending", ["npz", "ark", "scp"])
def test_wrong_scores_leave_out_their_utterances_only(
    toy_model: Path,
    toy_scores: dict[str, dict[str, np.ndarray]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ending: str,
) -> None:
    matrix = next(iter(toy_scores["posteriors"].values()))
    spoiled = matrix.copy()
    spoiled[5, 3] = np.nan
    given = {"columns": matrix[:, 1:], "good": matrix, "nan": spoiled, "sum": 2 * matrix}
    np.savez(tmp_path / "given.npz", **given)
    write_archive(tmp_path / "given.ark", tmp_path / "given.scp", given.items())
    assert decoded(toy_model, tmp_path / "out", tmp_path / f"given.{ending}") == 0
    assert failed(tmp_path / "out") == {"columns": "other-dimension", "nan": "not-finite", "sum": "no-features"}
    assert (tmp_path / "out" / "hyp.txt").read_text().startswith("good ")
    written = (tmp_path / "out" / "failed.tsv").read_text() + capsys.readouterr().err
    assert "asr-frames" not in written and "utt2spk" not in written


def test_failed_decode_removes_earlier_results(
    toy_model: Path, toy_scores: dict[str, dict[str, np.ndarray]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, matrix = next(iter(toy_scores["posteriors"].items()))
    out, given = tmp_path / "out", tmp_path / "given.npz"
    for spoiled in (matrix[:, 1:], 2 * matrix):  # refused before and in the search
        np.savez(given, **{name: matrix})
        assert decoded(toy_model, out, given) == 0
        np.savez(given, **{name: spoiled})
        assert decoded(toy_model, out, given) == 1
        assert sorted(file.name for file in out.iterdir()) == ["failed.tsv", "hyp.txt.old"]
    with pytest.raises(SystemExit):
        main(["decode", "--model", str(toy_model), "--out", str(out), str(given)])
    assert "--scores" in capsys.readouterr().err


def test_posteriors_need_state_priors(toy_model: Path) -> None:
    with pytest.raises(ConfigError, match="hybrid"):
        asr.Recognizer.load(toy_model.with_name("gmm.safetensors"), scores="posteriors")
