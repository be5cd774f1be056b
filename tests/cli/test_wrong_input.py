"""What is wrong with the input is told in one clear sentence with status 1, or the utterance is left out and listed."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.cli.place import Asr, Bin, check_one_sentence

DATA_DIRECTORY = {
    "no lists": (lambda p: [(p.data / name).unlink() for name in ("wav.scp", "utt2spk")], ("wav.scp",)),
    "a pipe": (
        lambda p: p.edit("test/wav.scp", f"audio/test/{p.names[2]}.wav", "sox in.wav -t wav - |"),
        ("wav.scp:3", "pipe", "sox in.wav"),
    ),
    "not UTF-8": (lambda p: p.write("test/text", b"test0-000 \xff\n"), ("text", "0xff")),
    "all audio gone": (lambda p: shutil.rmtree(p.folder / "audio"), ("none of the", "does not exist")),
    "all audio rubbish": (
        lambda p: [p.wav(number).write_bytes(b"rubbish" * 99) for number in range(len(p.names))],
        ("cannot be read as audio",),
    ),
}


@pytest.mark.parametrize("fault", DATA_DIRECTORY)
@pytest.mark.parametrize("command", ["features", "train", "align", "decode"])
def test_data_directory_fault_is_named(asr: Asr, place: Bin, tmp_path: Path, fault: str, command: str) -> None:
    spoil, parts = DATA_DIRECTORY[fault]
    spoil(place)
    if command == "train":  # which looks at all lines first, as `asr validate` does
        parts = tuple("10 of 10 lines have the same problem" if part == "none of the" else part for part in parts)
    check_one_sentence(asr(*place.command(command, tmp_path / "out")), *parts)


@pytest.mark.parametrize("command", ["features", "train", "align", "decode", "tune"])
def test_root_of_missing_files_is_named_by_every_command(asr: Asr, place: Bin, tmp_path: Path, command: str) -> None:
    (place.folder / "deeper").mkdir()
    data = place.data.rename(place.folder / "deeper" / "test")
    arguments = [data if each == place.data else each for each in place.command(command, tmp_path / "out")]
    check_one_sentence(asr(*arguments), f"--root {place.folder} (root=)")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ONE W AH N\nTWO\n", ("lexicon.txt:2", "'TWO'", "no phones")),
        (b"\x80\x04\x95ONE\n", ("lexicon.txt",)),
        ("ELEVEN IH L EH V AH N\n", ("none of its", "no pronunciation for")),
    ],
)
def test_a_fault_of_the_lexicon_is_named(
    asr: Asr, place: Bin, tmp_path: Path, text: str | bytes, parts: tuple[str, ...]
) -> None:
    place.write("lexicon.txt", text)
    check_one_sentence(asr(*place.command("train", tmp_path / "run")), *parts)


def test_a_phone_that_the_model_does_not_know_is_named_with_its_word(asr: Asr, place: Bin, tmp_path: Path) -> None:
    place.edit("lexicon.txt", "TWO S UW", "TWO T UW")
    finished = asr(*place.command("align", tmp_path / "out", "--lexicon", place.folder / "lexicon.txt"))
    check_one_sentence(finished, "lexicon.txt", "'TWO'", "'T'", "AH IY N S")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[features]\nsample_rat = 8000\n", ("features.sample_rat is not a setting",)),
        ("[features]\nhigh_hz = 9000\n", ("high_hz",)),
        ("[hybrid]\nclassifier = 'forest'\n", ("'forest' is unknown", "kernel-logistic")),
        ("[hybrid]\nclassifier = 'kernel-logstic'\n", ("Did you mean kernel-logistic?",)),
        ("[hybrid.parameters]\nn_centers = -5\n", ("'kernel-logistic'", "n_centers", "-5")),
    ],
)
def test_a_fault_of_the_settings_is_named_before_any_work(
    asr: Asr, place: Bin, tmp_path: Path, text: str, parts: tuple[str, ...]
) -> None:
    place.write("settings.toml", text)
    check_one_sentence(asr(*place.command("train", tmp_path / "run")), *parts)
    assert not (tmp_path / "run").exists()


def test_a_classifier_is_looked_for_before_any_work(asr: Asr, place: Bin, tmp_path: Path) -> None:
    train = place.command("train", tmp_path / "run")[:-2]  # without settings
    for name in ("perceptron", "sklearn.svm.NoSuch", "sklearn.nothing.At", "os.system", "sklearn.cluster.KMeans"):
        check_one_sentence(asr(*train, "--classifier", name), name.rpartition(".")[2])
    assert not (tmp_path / "run").exists()


AUDIO = {
    "zero bytes": (lambda path: path.write_bytes(b""), "is an empty file"),
    "no samples": (lambda path: soundfile.write(path, np.zeros(0), 8000), "holds no samples"),
    "less than a window": (lambda path: soundfile.write(path, np.full(150, 0.1), 8000), "shorter than one window"),
    "no audio": (lambda path: path.write_text("To whom it may concern"), "cannot be read as audio"),
    "not a number": (
        lambda path: soundfile.write(path, np.full(8000, np.nan), 8000, subtype="FLOAT"),
        "not finite numbers",
    ),
    "broken off in its header": (lambda path: path.write_bytes(path.read_bytes()[:30]), "cannot be read as audio"),
}


@pytest.mark.parametrize("fault", AUDIO)
def test_a_single_audio_file_with_a_fault_is_named(asr: Asr, place: Bin, tmp_path: Path, fault: str) -> None:
    spoil, reason = AUDIO[fault]
    spoil(place.wav(0))
    check_one_sentence(asr(*place.decode(tmp_path / "out")), str(place.wav(0)), reason)
    (listed,) = (tmp_path / "out").iterdir()
    assert [line.split("\t")[0] for line in listed.read_text().splitlines()] == ["utterance", place.names[0]]


@pytest.mark.parametrize("fault", AUDIO)
@pytest.mark.parametrize("command", ["features", "align", "decode"])
def test_faulty_utterance_is_left_out(asr: Asr, place: Bin, tmp_path: Path, fault: str, command: str) -> None:
    spoil, reason = AUDIO[fault]
    spoil(place.wav(0))
    status, _, err = asr(*place.command(command, tmp_path))
    assert status == 0, err
    assert "asr: 1 utterance left out:\n" in err
    listed = err.splitlines()[-1]
    assert listed.startswith(f"  {place.names[0]}: ")
    assert reason in listed
    written = {"features": "feats.scp", "align": "words.ctm", "decode": "hyp.txt"}[command]
    found = {line.split()[0] for line in (tmp_path / written).read_text().splitlines()}
    assert found == set(place.names[1:])


def test_empty_file_has_one_code_alone_and_in_a_directory(asr: Asr, place: Bin, tmp_path: Path) -> None:
    place.wav(0).write_bytes(b"")
    listed = []
    for arguments in (["--data", place.data], [place.wav(0), place.wav(1)]):
        status, _, err = asr("decode", "--model", place.model, "--out", tmp_path, "--jobs", 1, *arguments)
        assert status == 0, err
        listed.append((tmp_path / "failed.tsv").read_text().splitlines()[1])
    assert listed[0] == listed[1] == f"{place.names[0]}\tempty-file\t{place.wav(0)} is an empty file"


def test_silence_and_clicks_are_no_fault(asr: Asr, place: Bin, tmp_path: Path) -> None:
    soundfile.write(place.wav(0), np.zeros(8000), 8000)
    click = np.zeros(8000)
    click[4000] = 1.0
    soundfile.write(place.wav(1), click, 8000)
    soundfile.write(place.wav(2), np.full(200, 0.5), 8000)  # a single frame
    status, out, err = asr("decode", "--model", place.model, "--out", tmp_path, *(place.wav(n) for n in range(3)))
    assert status == 0, err
    assert [line.split()[0] for line in out.splitlines()] == place.names[:2]
    assert "1 not-decoded" in err
    assert "no sentence of the grammar fits the 1 frames" in (tmp_path / "failed.tsv").read_text()


def test_align_utterance_too_short_is_listed(asr: Asr, place: Bin, tmp_path: Path) -> None:
    soundfile.write(place.wav(0), np.random.default_rng(0).normal(0, 0.1, 1000), 8000)
    status, _, err = asr(*place.command("align", tmp_path))
    assert status == 0
    assert f"  {place.names[0]}: 11 frames" in err
    assert not any(line.startswith(place.names[0]) for line in (tmp_path / "words.ctm").read_text().splitlines())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hello there\n", ("is not a grammar", "Hello there")),
        (">SENTENCE-END\n ELEVEN\n>ELEVEN\n SENTENCE-END\n", ("grammar",)),
        ("\\data\\\nngram 1=3\n\n\\1-grams:\n-1 <s>\n", ("at its end", "its header has 3")),
        ("VERSION=1.0\nN=2 L=1\nJ=0 S=0 E=1 W=ELEVEN\n", ("no sentence", "ELEVEN")),
    ],
)
def test_a_fault_of_the_grammar_is_named(
    asr: Asr, place: Bin, tmp_path: Path, text: str, parts: tuple[str, ...]
) -> None:
    grammar = place.write("grammar", text)
    check_one_sentence(asr(*place.decode(tmp_path / "o", "--grammar", grammar)), str(grammar), *parts)


def test_a_word_network_says_what_can_be_recognized(asr: Asr, place: Bin, tmp_path: Path) -> None:
    network = place.write("network.slf", "VERSION=1.0\nN=2 L=1\nI=0 W=!NULL\nI=1 W=ONE\nJ=0 S=0 E=1\n")
    status, out, err = asr(*place.decode(tmp_path, "--grammar", network))
    assert status == 0, err
    assert out.split()[1:] == ["ONE"]


def test_words_outside_the_lexicon_are_told(
    asr: Asr, place: Bin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs = place.write("grammar", ">SENTENCE-END\n ONE\n ELEVEN\n>ONE\n SENTENCE-END\n>ELEVEN\n SENTENCE-END\n")
    status, out, err = asr(*place.decode(tmp_path, "--grammar", pairs))
    assert status == 0, err
    assert out.split()[1:] == ["ONE"]
    assert caplog.messages == [f"{pairs}: the model has no pronunciation for ELEVEN"]


def test_words_left_out_are_printable(asr: Asr, place: Bin, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    odd = "E" * 5000 + "\x1b[2J"
    pairs = place.write("grammar", f">SENTENCE-END\n ONE\n {odd}\n>ONE\n SENTENCE-END\n>{odd}\n SENTENCE-END\n")
    status, _, err = asr(*place.decode(tmp_path, "--grammar", pairs))
    assert status == 0, err
    assert len(caplog.messages) == 1
    assert caplog.messages[0].isprintable() and len(caplog.messages[0]) < 2000


def test_a_file_after_a_switch_that_takes_none_is_told(asr: Asr, place: Bin, tmp_path: Path) -> None:
    decode = place.command("decode", tmp_path / "out")
    status, _, err = asr(*decode, "--confidence", "words.ctm")
    assert status == 2
    assert "--data DIR ('words.ctm'" in " ".join(err.split())


def test_an_infinite_beam_is_the_widest(asr: Asr, place: Bin, tmp_path: Path) -> None:
    widths = (asr(*place.decode(tmp_path, "--beam", width))[:2] for width in ("inf", "1e6"))
    assert next(widths) == next(widths) != (1, "")


def test_features_of_another_kind_than_the_model_s_are_refused(asr: Asr, place: Bin, tmp_path: Path) -> None:
    features = tmp_path / "features"
    asr(*place.command("features", features))
    finished = asr("decode", "--model", place.model, "--out", tmp_path / "out", "--data", features)
    check_one_sentence(finished, "feats.scp", "trained on audio")


def test_a_feature_archive_broken_off_loses_one_utterance(asr: Asr, place: Bin, tmp_path: Path) -> None:
    features = tmp_path / "features"
    asr(*place.command("features", features))
    archive = features / "feats.ark"
    archive.write_bytes(archive.read_bytes()[:-20])
    status, _, err = asr("features", "--data", features, "--out", tmp_path / "again")
    assert status == 0
    assert "asr: 1 utterance left out:\n" in err
    assert place.names[-1] in err


@pytest.mark.parametrize(("option", "value"), [("--lm-scale", "inf"), ("--beam", "0"), ("--insertion-penalty", "nan")])
def test_a_search_setting_out_of_range_is_named(asr: Asr, place: Bin, tmp_path: Path, option: str, value: str) -> None:
    check_one_sentence(asr(*place.decode(tmp_path / "out", option, value)), option[2:].replace("-", "_"), value)


def test_two_audio_files_of_one_name_and_folder_are_refused(asr: Asr, place: Bin, tmp_path: Path) -> None:
    same = shutil.copy(place.wav(0), tmp_path / "one.wav"), shutil.copy(place.wav(0), tmp_path / "one.flac")
    finished = asr("decode", "--model", place.model, "--out", tmp_path / "out", *same)
    check_one_sentence(finished, str(same[0]), str(same[1]), "Rename one")


def test_an_output_directory_that_cannot_be_made_is_named(asr: Asr, place: Bin) -> None:
    blocked = place.write("blocked", "")
    commands = (place.command(name, blocked) for name in ("align", "features", "train"))
    for arguments in (place.decode(blocked), *commands):
        check_one_sentence(asr(*arguments), str(blocked))


@pytest.mark.parametrize(
    ("reference", "hypothesis", "part"),
    [
        ("a one two\n", "\x00\x01", "null byte"),
        ("", "a one\n", "ref"),
        ("a one two\n", "b one two\n", "hyp"),
    ],
)
def test_wrong_transcript_is_named(
    asr: Asr, tmp_path: Path, reference: str, hypothesis: str | bytes, part: str
) -> None:
    (tmp_path / "ref").write_text(reference)
    (tmp_path / "hyp").write_bytes(hypothesis if isinstance(hypothesis, bytes) else hypothesis.encode())
    check_one_sentence(asr("score", tmp_path / "ref", tmp_path / "hyp"), part)


def test_the_json_of_info_stays_json_for_models_of_any_classifier(asr: Asr, place: Bin) -> None:
    status, out, _ = asr("info", "--json", place.model)
    assert status == 0
    assert json.loads(out)["kind"] == "hybrid"
