"""The whole way through the command line, from a corpus to word errors, on speech made for the purpose."""

import json
import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
from praatio import textgrid

from asr.alignment.ctm import CtmRow, read_ctm
from asr.corpus.htk_labels import read_labels
from asr.corpus.kaldi_ark import read_matrix
from asr.scoring.files import read_transcripts
from discriminants.serialization.model_file import load_arrays
from tests.toy_corpus import LEXICON

Asr = Callable[..., tuple[int, str, str]]
MODELS = ("gmm.safetensors", "model.safetensors")


def train(asr: Asr, corpus: Path, work_dir: Path, *more: object, data: str = "train") -> None:
    status, out, err = asr(
        "train", "--data", corpus / data, "--lexicon", corpus / "lexicon.txt", "--work-dir", work_dir,
        "--config", corpus / "settings.toml", *more,
    )  # fmt: skip
    assert status == 0, err
    assert out == f"{work_dir / 'model.safetensors'}\n"


def by_utterance(path: Path) -> dict[str, list[CtmRow]]:
    rows: dict[str, list[CtmRow]] = {}
    for row in read_ctm(path):
        rows.setdefault(row.utterance, []).append(row)
    return rows


@pytest.fixture(scope="module")
def decoded(toy_corpus: Path, toy_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Output directory of `asr decode --data`, run as a process of its own."""
    out = tmp_path_factory.mktemp("decoded")
    command = [sys.executable, "-m", "asr.cli", "decode", "--model", toy_model, "--out", out]
    finished = subprocess.run(
        [*map(str, command), "--data", str(toy_corpus / "test"), "--jobs", "2", "--format", "mlf,textgrid"],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert finished.stdout == (out / "hyp.txt").read_text()
    done, _, speed = finished.stderr.partition(", ")
    assert done == f"10 utterances in {out / 'hyp.txt'}"
    assert re.fullmatch(r"\d+\.\d{3} CPU seconds per second of audio\n", speed)
    return out


@pytest.fixture(scope="module")
def aligned(toy_corpus: Path, toy_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Output directory of `asr align --format textgrid`, run as a process of its own."""
    out = tmp_path_factory.mktemp("aligned")
    command = [sys.executable, "-m", "asr.cli", "align", "--format", "textgrid", "--model", toy_model, "--out", out]
    subprocess.run([*map(str, command), "--data", str(toy_corpus / "test")], cwd=Path(__file__).parents[2], check=True)
    return out


@pytest.mark.slow
def test_the_hybrid_hears_at_least_95_percent_of_unknown_speakers_words(
    asr: Asr, toy_corpus: Path, decoded: Path
) -> None:
    status, out, err = asr("score", toy_corpus / "test" / "text", decoded / "hyp.txt")
    assert (status, err) == (0, "")
    found = re.match(r"WER (\d+\.\d\d) %", out)
    assert found is not None
    assert float(found.group(1)) <= 5.0


def test_the_baseline_beside_it_recognizes_too(asr: Asr, toy_corpus: Path, toy_run: Path, tmp_path: Path) -> None:
    status, _, _ = asr(
        "decode", "--model", toy_run / "gmm.safetensors", "--out", tmp_path, "--data", toy_corpus / "test"
    )
    assert status == 0
    _, out, _ = asr("score", toy_corpus / "test" / "text", tmp_path / "hyp.txt")
    assert float(out.split()[1]) <= 10.0


def test_the_words_of_hyp_txt_are_those_of_hyp_ctm_in_order(toy_corpus: Path, decoded: Path) -> None:
    hypotheses = read_transcripts(decoded / "hyp.txt")
    assert list(hypotheses) == sorted(read_transcripts(toy_corpus / "test" / "text"))
    rows = by_utterance(decoded / "hyp.ctm")
    assert {name: tuple(row.label for row in rows.get(name, [])) for name in hypotheses} == hypotheses
    for spoken in rows.values():
        for row, following in pairwise(spoken):
            assert row.start + row.duration <= following.start + 1e-9


def test_hyp_mlf_has_the_words_and_times_of_hyp_ctm(decoded: Path) -> None:
    rows = by_utterance(decoded / "hyp.ctm")
    labels = read_labels(decoded / "hyp.mlf")
    assert read_transcripts(decoded / "hyp.mlf") == read_transcripts(decoded / "hyp.txt")
    for name, found in labels.items():
        assert [(label.label, label.start, label.end) for label in found] == [
            (row.label, row.start, round(row.start + row.duration, 7)) for row in rows.get(name, [])
        ]


def test_a_name_that_no_pattern_can_hold_costs_its_utterance_the_mlf_alone(
    asr: Asr, toy_corpus: Path, toy_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorded = sorted((toy_corpus / "audio" / "test").glob("test0-*.wav"))[0]
    files = [Path(shutil.copy(recorded, tmp_path / name)) for name in ("plain.wav", "what?.wav")]
    status, _, err = asr("decode", "--model", toy_model, "--out", tmp_path, *files, "--format", "mlf")
    assert status == 0, err
    assert "hyp.mlf: 1 utterance" in caplog.text
    assert [*read_transcripts(tmp_path / "hyp.txt")] == ["plain", "what?"]
    assert [*read_transcripts(tmp_path / "hyp.mlf")] == ["plain"]


def test_words_do_not_depend_on_jobs(
    asr: Asr, toy_corpus: Path, toy_model: Path, decoded: Path, tmp_path: Path
) -> None:
    asr("decode", "--model", toy_model, "--out", tmp_path, "--data", toy_corpus / "test", "--jobs", "1")
    for name in ("hyp.txt", "hyp.ctm"):
        assert (tmp_path / name).read_bytes() == (decoded / name).read_bytes()


def test_the_grammar_of_the_run_is_the_model_s_own(
    asr: Asr, toy_corpus: Path, toy_run: Path, decoded: Path, tmp_path: Path
) -> None:
    asr(
        "decode", "--model", toy_run / "model.safetensors", "--out", tmp_path, "--data", toy_corpus / "test",
        "--grammar", toy_run / "grammar.arpa",
    )  # fmt: skip
    assert (tmp_path / "hyp.ctm").read_bytes() == (decoded / "hyp.ctm").read_bytes()


@pytest.mark.slow
def test_aligned_words_are_the_transcript_and_phones_their_pronunciations(toy_corpus: Path, aligned: Path) -> None:
    transcripts = read_transcripts(toy_corpus / "test" / "text")
    words, phones = by_utterance(aligned / "words.ctm"), by_utterance(aligned / "phones.ctm")
    assert {name: tuple(row.label for row in rows) for name, rows in words.items()} == transcripts
    for name, rows in phones.items():
        spoken = tuple(row.label for row in rows if row.label not in ("SIL", "SP"))
        assert spoken == tuple(phone for word in transcripts[name] for phone in LEXICON[word])


def test_aligned_phones_fill_the_audio_and_words_begin_and_end_with_phones(toy_corpus: Path, aligned: Path) -> None:
    words, phones = by_utterance(aligned / "words.ctm"), by_utterance(aligned / "phones.ctm")
    with np.load(aligned / "states.npz") as states:
        assert sorted(states.files) == sorted(phones)
        for name in states.files:
            starts = [round(row.start, 3) for row in phones[name]]
            ends = [round(row.start + row.duration, 3) for row in phones[name]]
            assert [0.0, *ends[:-1]] == starts
            (audio,) = (toy_corpus / "audio").rglob(f"{name}.wav")
            assert ends[-1] == pytest.approx(soundfile.info(audio).duration, abs=6e-4)
            for row in words[name]:
                assert round(row.start, 3) in starts
                assert round(row.start + row.duration, 3) in ends


def test_a_state_a_frame_agrees_with_the_phones(aligned: Path) -> None:
    names = ("SIL", *sorted({phone for phones in LEXICON.values() for phone in phones}))
    phones = by_utterance(aligned / "phones.ctm")
    with np.load(aligned / "states.npz") as states:
        for name in states.files:
            assert states[name].dtype == np.int32
            for row in phones[name]:
                first, last = (round(100 * max(0.0, time - 0.0075)) for time in (row.start, row.start + row.duration))
                spoken = {names[state // 3] for state in states[name][first:last]}
                assert spoken == {"SIL" if row.label == "SP" else row.label}
                assert np.all(np.diff(states[name][first:last]) >= 0)


def test_textgrids_hold_the_same_times_as_the_ctm_files(aligned: Path) -> None:

    words, phones = by_utterance(aligned / "words.ctm"), by_utterance(aligned / "phones.ctm")
    assert {path.stem for path in (aligned / "textgrid").iterdir()} == set(words)
    for name in words:
        grid = textgrid.openTextgrid(str(aligned / "textgrid" / f"{name}.TextGrid"), includeEmptyIntervals=False)
        for tier, rows in (("words", words[name]), ("phones", phones[name])):
            found = [(entry.start, entry.end, entry.label) for entry in grid.getTier(tier).entries]
            assert [label for _, _, label in found] == [row.label for row in rows]
            np.testing.assert_allclose([start for start, _, _ in found], [row.start for row in rows], atol=1e-6)
            np.testing.assert_allclose([end for _, end, _ in found], [r.start + r.duration for r in rows], atol=6e-4)
            if tier == "phones":
                assert found[-1][1] == grid.maxTimestamp


def test_alignment_of_a_known_word_sequence_lies_close_to_the_decoded_times(decoded: Path, aligned: Path) -> None:
    heard, known = by_utterance(decoded / "hyp.ctm"), by_utterance(aligned / "words.ctm")
    distances = [
        abs(row.start - other.start)
        for name in known
        if [row.label for row in heard[name]] == [row.label for row in known[name]]
        for row, other in zip(heard[name], known[name], strict=True)
    ]
    assert distances
    assert np.median(distances) <= 0.02


def test_info_names_the_classifier_and_the_features(asr: Asr, toy_run: Path) -> None:
    status, out, _ = asr("info", toy_run / "model.safetensors")
    assert status == 0
    assert "classifier: discriminants.sparse.sparse_logistic.SparseKernelLogisticClassifier\n" in out
    assert "  n_centers: 100\n" in out
    assert "  sample_rate: 8000\n" in out
    description = json.loads(asr("info", "--json", toy_run / "model.safetensors")[1])
    assert (description["kind"], description["words"], description["phones"]) == ("hybrid", 5, 6)
    assert description["states"] == 21
    assert json.loads(asr("info", "--json", toy_run / "gmm.safetensors")[1])["kind"] == "gmm"


@pytest.mark.slow
def test_the_same_run_with_more_jobs_gives_the_same_bytes(
    asr: Asr, toy_corpus: Path, toy_run: Path, tmp_path: Path
) -> None:
    train(asr, toy_corpus, tmp_path / "run", "--jobs", "2")
    for name in (*MODELS, "grammar.arpa"):
        assert (tmp_path / "run" / name).read_bytes() == (toy_run / name).read_bytes()


@pytest.mark.slow
def test_archived_features_train_the_same_models_as_audio(
    asr: Asr, toy_corpus: Path, toy_run: Path, decoded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    corpus = tmp_path / "features"
    for split in ("train", "test"):
        status, printed, err = asr(
            "features", "--data", toy_corpus / split, "--out", corpus / split, "--config", toy_corpus / "settings.toml"
        )
        assert (status, printed, err) == (0, f"{corpus / split / 'feats.scp'}\n", "")
        assert (corpus / split / "text").read_text() == (toy_corpus / split / "text").read_text()
    for name in ("lexicon.txt", "settings.toml"):
        shutil.copy(toy_corpus / name, corpus)
    with caplog.at_level(logging.INFO, "asr"):
        train(asr, corpus, tmp_path / "run")
    assert f"{corpus / 'train' / 'feats.scp'}: " in caplog.text
    for name in MODELS:
        arrays, metadata = load_arrays(tmp_path / "run" / name)
        expected_arrays, expected_metadata = load_arrays(toy_run / name)
        assert metadata == expected_metadata | {"source": "archive"}
        assert arrays.keys() == expected_arrays.keys()
        for key in arrays:
            np.testing.assert_array_equal(arrays[key], expected_arrays[key])

    model = tmp_path / "run" / "model.safetensors"
    assert asr("decode", "--model", model, "--out", tmp_path / "out", "--data", corpus / "test")[0] == 0
    assert (tmp_path / "out" / "hyp.ctm").read_bytes() == (decoded / "hyp.ctm").read_bytes()


def test_an_archive_holds_one_row_of_13_numbers_every_10_ms(asr: Asr, toy_corpus: Path, tmp_path: Path) -> None:
    asr("features", "--data", toy_corpus / "test", "--out", tmp_path, "--config", toy_corpus / "settings.toml")
    entries = [line.split() for line in (tmp_path / "feats.scp").read_text().splitlines()]
    assert [name for name, _ in entries] == sorted(read_transcripts(toy_corpus / "test" / "text"))
    for name, place in entries:
        path, offset = place.rsplit(":", 1)
        matrix = read_matrix(tmp_path.parent / path, int(offset))
        samples = (toy_corpus / "audio" / "test" / f"{name}.wav").stat().st_size // 2 - 22
        assert matrix.shape == (1 + (samples - 200) // 80, 13)


def test_an_archive_can_be_put_into_the_data_directory_it_was_made_from(
    asr: Asr, toy_corpus: Path, toy_model: Path, decoded: Path, tmp_path: Path
) -> None:
    data = tmp_path / "test"
    shutil.copytree(toy_corpus / "test", data)
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    status, _, _ = asr(
        "features", "--data", data, "--root", toy_corpus, "--out", data, "--config", toy_corpus / "settings.toml"
    )
    assert status == 0
    assert {path.name for path in data.iterdir()} - set(before) == {"feats.ark", "feats.scp", "failed.tsv"}
    assert all((data / name).read_bytes() == content for name, content in before.items())
    # If both exist, a model uses the kind of its training.
    status, _, err = asr(
        "decode", "--model", toy_model, "--data", data, "--root", toy_corpus, "--out", tmp_path / "out"
    )
    assert status == 0, err
    assert (tmp_path / "out" / "hyp.ctm").read_bytes() == (decoded / "hyp.ctm").read_bytes()
