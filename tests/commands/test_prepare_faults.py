"""Faults of the sources of `asr prepare`: each is named with its place, and the other entries are used."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

import asr
from asr.alignment.label_files import PREPARED
from asr.cli import main
from asr.commands.prepare import summary
from asr.corpus.data_directory import read_data_directory
from asr.util.errors import AsrError, ConfigError, CorpusError
from tests.source_formats import CORPORA, RATE, WRITERS, write_sound

Change = Callable[[Path], object]
LATIN_1 = "déjà".encode("latin-1")


def write(name: str, content: str | bytes) -> Change:
    """Return a change that writes a file."""
    return lambda root: (root / name).write_bytes(content.encode() if isinstance(content, str) else content)


def append(name: str, content: str) -> Change:
    return lambda root: (root / name).write_text((root / name).read_text("utf-8") + content, "utf-8")


def replace(name: str, old: str, new: str) -> Change:
    def change(root: Path) -> None:
        text = (root / name).read_text("utf-8")
        assert old in text
        (root / name).write_text(text.replace(old, new, 1), "utf-8")

    return change


def remove(name: str) -> Change:
    return lambda root: (root / name).unlink()


def sound(name: str, **options: object) -> Change:
    return lambda root: write_sound(root / name, **options)


def no_samples(root: Path) -> None:
    soundfile.write(root / "anna" / "a1.wav", np.zeros(0), RATE)


def linked(root: Path) -> None:
    (root / "anna" / "a1.wav").unlink()
    (root / "anna" / "a1.wav").symlink_to(root / "none.wav")


def linked_folder(root: Path) -> None:
    write_sound(root.parent / "elsewhere" / "x.wav")
    (root / "linked").symlink_to(root.parent / "elsewhere")


def folder_for_audio(root: Path) -> None:
    (root / "anna" / "a1.wav").unlink()
    (root / "anna" / "a1.wav").mkdir()


def ambiguous(root: Path) -> None:
    for folder in ("x", "y"):
        write_sound(root / folder / "twice.wav")
    (root / "anna" / "twice.txt").write_text("twice")


def large(root: Path) -> None:
    os.truncate(root / "anna" / "a1.txt", 65 << 20)


def json_row(name: str, **values: object) -> Change:
    return append(name, json.dumps(values) + "\n")


def grid(*intervals: tuple[float, float, str], kind: str = "IntervalTier", tier: str = "said") -> Change:
    def change(root: Path) -> None:
        lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "0", "9", "<exists>", "1", f'"{kind}"']
        lines += [f'"{tier}"', "0", "9", str(len(intervals))]
        for start, end, text in intervals:
            lines += [str(start), *([str(end)] if kind == "IntervalTier" else []), f'"{text}"']
        (root / "anna" / "a1.TextGrid").write_text("\n".join(lines) + "\n")

    return change


EAF, SRT, TXT = "anna/a1.eaf", "boris/b1.srt", "anna/a1.txt"
CSV, JSON = "anna/a1.csv", "anna/a1.json"
FAULTS: dict[str, tuple[str, Change, dict[str, str]]] = {
    # name: format, change of the source, code at the end of each place
    "latin-1 transcript": ("folder", write(TXT, LATIN_1), {TXT: "unreadable"}),
    "damaged utf-16": ("folder", write(TXT, b"\xff\xfea\0b"), {TXT: "unreadable"}),
    "null byte": ("folder", write(TXT, "a\0b"), {TXT: "unreadable"}),
    "too large": ("folder", large, {TXT: "unreadable"}),
    "empty transcript": ("folder", write(TXT, " \n"), {TXT: "no-words"}),
    "punctuation only": ("folder", write(TXT, "?!"), {TXT: "no-words"}),
    "control characters only": ("folder", write(TXT, "\x07\x1b"), {TXT: "no-words"}),
    "digits": ("folder", write(TXT, "in 1984"), {TXT: "digits"}),
    "unintelligible": ("folder", write(TXT, "xxx"), {TXT: "unintelligible"}),
    "unknown tag only": ("folder", write(TXT, "[cough]"), {TXT: "no-words"}),
    "no audio": ("folder", remove("anna/a1.wav"), {TXT: "no-audio"}),
    "no transcript": ("folder", remove(TXT), {"anna/a1.wav": "no-transcript"}),
    "damaged audio": ("folder", write("anna/a1.wav", "RIFF"), {TXT: "unreadable"}),
    "empty audio": ("folder", write("anna/a1.wav", ""), {TXT: "empty-file"}),
    "no samples": ("folder", no_samples, {TXT: "empty-file"}),
    "dangling link": ("folder", linked, {TXT: "unreadable"}),
    "linked folder": ("folder", linked_folder, {"source/linked": "linked-folder"}),
    "folder for audio": ("folder", folder_for_audio, {TXT: "no-audio"}),
    "two audio files": ("folder", ambiguous, {
        "twice.txt": "ambiguous-audio", "x/twice.wav": "no-transcript", "y/twice.wav": "no-transcript",
    }),
    "other file types": ("folder", write("anna/a3.m4a", "x"), {"a3.m4a": "other-file"}),
    "row with too many columns": ("table", append("table.csv", "anna/a1.wav,a,anna,more\n"), {"csv:8": "bad-line"}),
    "open quote": ("table", replace("table.csv", "ขอบคุณ", '"ขอบคุณ'), {"csv:7": "open-quote"}),
    "row without text": ("table", append("table.csv", "anna/a1.wav\n"), {"csv:8": "no-words"}),
    "row without file": ("table", append("table.csv", ",a,anna\n"), {"csv:8": "no-audio"}),
    "file of a row missing": ("table", append("table.csv", "none.wav,a,anna\n"), {"csv:8": "no-audio"}),
    "folder in a row": ("table", append("table.csv", "anna,a,anna\n"), {"csv:8": "no-audio"}),
    "audio twice": ("table", append("table.csv", "anna/a1.wav,a,anna\n"), {"csv:8": "duplicate-audio"}),
    "speaker is no name": ("table", replace("table.csv", "anna\n", "..\n"), {"csv:2": "bad-name"}),
    "overlapping times": ("audacity", append(TXT, "0.2\t0.45\tmore\n"), {"txt:2": "overlap"}),
    "times beyond the audio": ("audacity", append(TXT, "2\t3\tmore\n"), {"txt:2": "bad-segment"}),
    "end before start": ("audacity", append(TXT, "0.45\t0.41\tmore\n"), {"txt:2": "bad-time"}),
    "negative time": ("audacity", append(TXT, "-1\t0.1\tmore\n"), {"txt:2": "bad-time"}),
    "time not a number": ("audacity", append(TXT, "nan\t0.1\tmore\n"), {"txt:2": "bad-time"}),
    "label without times": ("audacity", append(TXT, "more\n"), {"txt:2": "bad-line"}),
    "label without text": ("audacity", append(TXT, "0.41\t0.45\t\n"), {"txt:2": "no-words"}),
    "csv label without a tier": ("csv", replace(CSV, "words,", ","), {"csv:2": "bad-line", "a1.csv": "no-tier"}),
    "csv label with a wrong time": ("csv", replace(CSV, "0.0000", "nan"), {"csv:2": "bad-time", "a1.csv": "no-tier"}),
    "csv label that ends first": ("csv", replace(CSV, "0.0000", "0.45"), {"csv:2": "bad-time", "a1.csv": "no-tier"}),
    "csv with an open quote": ("csv", append(CSV, 'words,anna,0.41,0.45,"a\n'), {"csv:4": "open-quote"}),
    "csv without a column": ("csv", replace(CSV, "label", "lab"), {CSV: "unreadable"}),
    "empty csv": ("csv", write(CSV, ""), {CSV: "unreadable"}),
    "csv of phones": ("csv", replace(CSV, "words,", "phones,"), {"a1.csv": "no-tier"}),
    "json that is cut": ("json", write(JSON, '{"tiers": ['), {JSON: "unreadable"}),
    "json without tiers": ("json", write(JSON, "[1]"), {JSON: "unreadable"}),
    "json tier without labels": ("json", replace(JSON, "labels", "label"), {
        "tier 1": "bad-line", "a1.json": "no-tier",
    }),
    "json label that is a number": ("json", write(JSON, '{"tiers": [{"labels": [1]}]}'), {
        "tier 1:1": "bad-line", "a1.json": "no-tier",
    }),
    "json time that is too large": ("json", replace(JSON, "0.4", "1e999"), {
        "tier 1:1": "bad-time", "a1.json": "no-tier",
    }),
    "broken time line": ("subtitles", replace(SRT, "00:00:00,000", "00:00"), {"srt:2": "bad-time"}),
    "cue without text": ("subtitles", append(SRT, "\n2\n00:00:00,400 --> 00:00:00,450\n"), {"srt:6": "no-words"}),
    "broken xml": ("elan", write(EAF, "<ANNOTATION_DOCUMENT><TIER>"), {EAF: "unreadable"}),
    "document type": ("elan", write(EAF, "<!DOCTYPE x><a/>"), {EAF: "unreadable"}),
    "latin-1 xml": ("elan", write(EAF, LATIN_1), {EAF: "unreadable"}),
    "xml without tiers": ("elan", write(EAF, "<ANNOTATION_DOCUMENT/>"), {EAF: "unreadable"}),
    "time slot missing": ("elan", replace(EAF, 'REF1="ts1"', 'REF1="ts9"'), {EAF: "unreadable"}),
    "empty annotation": ("elan", replace(EAF, "Cafe\u0301, a\u0300 la carte!", ""), {"said:0.000": "no-words"}),
    "damaged TextGrid": ("textgrid", write("anna/a1.TextGrid", "nothing"), {"a1.TextGrid": "unreadable"}),
    "overlapping intervals": (
        "textgrid", grid((0, 0.3, "a"), (0.1, 0.4, "b")), {"a1.TextGrid": "unreadable"}
    ),
    "interval beyond the audio": ("textgrid", grid((0, 0.3, "a"), (3, 4, "b")), {"said:3.000": "bad-segment"}),
    "tier of points": ("textgrid", grid((0.1, 0, "a"), kind="TextTier"), {"a1.TextGrid:said": "point-tier"}),
    "tier of phones only": ("textgrid", grid((0, 0.3, "a"), tier="phones"), {"a1.TextGrid": "no-tier"}),
    "not JSON": ("nemo", append("manifest.json", "{\n"), {"json:7": "bad-line"}),
    "not an object": ("nemo", append("manifest.json", "[1]\n"), {"json:7": "bad-line"}),
    "missing key": ("nemo", json_row("manifest.json", text="a"), {"json:7": "bad-line"}),
    "wrong type": ("nemo", json_row("manifest.json", audio_filepath=[1], text="a"), {"json:7": "bad-line"}),
    "wrong type of time": (
        "nemo", json_row("manifest.json", audio_filepath="anna/a1.wav", text="a", offset="x"), {"json:7": "bad-line"}
    ),
    "cut without supervisions": ("lhotse-cuts", json_row("cuts.jsonl", id="x"), {"jsonl:7": "no-transcript"}),
    "supervision not an object": ("lhotse-cuts", json_row("cuts.jsonl", supervisions=[1]), {"jsonl:7": "bad-line"}),
    "recording without id": ("lhotse", json_row("recordings.jsonl", sources=[]), {"jsonl:7": "bad-line"}),
    "time not a number in HTK": ("htk", replace("words.mlf", "café", "1e999 2 café"), {"scp:1": "bad-line"}),
    "end before start in HTK": ("htk", replace("words.mlf", "café", "9 2 café"), {"scp:1": "bad-line"}),
    "labels twice": ("htk", append("words.mlf", '"*/a1.lab"\na\n.\n'), {"scp:1": "bad-line"}),
    "labels missing": ("htk", replace("words.mlf", '"*/a1.lab"', '"*/other.lab"'), {"scp:1": "no-transcript"}),
    "fileid leaves the folder": ("sphinx", append("etc/all.fileids", "../x\n"), {"fileids:7": "bad-line"}),
    "transcription without id": (
        "sphinx", replace("etc/all.transcription", " (c2)", ""),
        {"transcription:6": "bad-line", "fileids:6": "no-transcript"},
    ),
    "second microphone": ("vctk", sound("wav48/p225/p225_002_mic2.flac"), {
        "p225_001_mic2.flac": "other-channel", "p225_002_mic2.flac": "other-channel",
    }),
    "sentence without audio": ("vctk", write("txt/p225/p225_009.txt", "a"), {
        "p225_001_mic2.flac": "other-channel", "p225_009.txt": "no-audio",
    }),
    "latin-1 prompts": ("voxforge", write("anna-20110503-abc/etc/PROMPTS", LATIN_1), {
        "abc/etc/PROMPTS": "unreadable", "anna-20110503-abc/wav/a0001.wav": "no-transcript",
    }),
    "latin-1 chapter": ("librispeech", write("test-clean/61/1240/61-1240.trans.txt", LATIN_1), {
        "61-1240.trans.txt": "unreadable", "61-1240-0000.flac": "no-transcript",
    }),
    "sentence without samples": ("timit", write("TEST/DR1/MDAB0/SX37.TXT", "She"), {"MDAB0/SX37.TXT": "bad-line"}),
    "clip missing": ("common-voice", remove("clips/test.mp3"), {"test.tsv:2": "no-audio"}),
    "name not of digits": ("tidigits", sound("train/man/ae/hello.wav"), {"hello.wav": "no-transcript"}),
    "line without columns": ("ljspeech", append("metadata.csv", "x\n"), {"csv:2": "bad-line", "csv:3": "bad-line"}),
    "background noise": ("speech-commands", sound("yes/x.wav"), {
        "pink.wav": "no-transcript", "x.wav": "no-transcript",
    }),
}  # fmt: skip


def made(name: str, tmp_path: Path) -> Path:
    """Write a source; return the folder or file for `prepare`."""
    root = tmp_path / "source"
    root.mkdir()
    return WRITERS[name][1](root) if name in WRITERS else CORPORA[name][0](root) or root


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named_and_other_entries_are_used(fault: str, tmp_path: Path) -> None:
    name, change, expected = FAULTS[fault]
    format_name = WRITERS[name][0] if name in WRITERS else name
    source = made(name, tmp_path)
    whole = asr.prepare(format_name, source, tmp_path / "whole")
    change(tmp_path / "source")
    result = asr.prepare(format_name, source, tmp_path / "data")
    rows = [line.split("\t") for line in (tmp_path / "data" / PREPARED).read_text("utf-8").splitlines()[1:]]
    left_out = [row for row in rows if row[2] != "used"]
    assert len(rows) == result.n_found == len(result.utterances) + len(left_out)
    left_out = [row for row in left_out if row[2] != "other-tier"]  # glosses
    assert len(left_out) == len(expected)
    for end, code in expected.items():
        assert [row[2] for row in left_out if row[0].endswith(end)] == [code]
    assert all(row[3] for row in left_out)
    assert len(result.utterances) >= max(1, len(whole.utterances) - 1)
    for directory in result.directories:
        assert not read_data_directory(directory).problems


WHOLE: dict[str, tuple[str, Change, str]] = {
    # name: format, change of the source, key of the message
    "column missing": ("table", replace("table.csv", "Transcript", "x"), "csv:1: no column for text"),
    "table empty": ("table", write("table.csv", ""), "empty"),
    "one column": ("table", write("table.csv", "a\n"), "csv:1: one column"),
    "open quote in the header": ("table", write("table.csv", '"file,text\n'), "csv:1"),
    "latin-1 table": ("table", write("table.csv", LATIN_1), "line 1"),
    "label file without header": ("htk", replace("words.mlf", "#!MLF!#\n", ""), "mlf:1"),
    "label file without end": ("htk", append("words.mlf", '"*/x.lab"\na\n'), "words.mlf:27: .*full stop"),
    "label file missing": ("htk", remove("words.mlf"), "--transcripts"),
    "transcription missing": ("sphinx", remove("etc/all.transcription"), "all.transcription"),
    "manifest missing": ("lhotse", remove("recordings.jsonl"), "recordings"),
    "tables missing": ("common-voice", lambda root: [path.unlink() for path in root.glob("*.tsv")], "train.tsv"),
    "metadata missing": ("ljspeech", remove("metadata.csv"), "metadata.csv"),
    "nothing there": ("folder", shutil.rmtree, "not a folder|needs a folder"),
}


@pytest.mark.parametrize("fault", WHOLE)
def test_unreadable_source_is_named(fault: str, tmp_path: Path) -> None:
    name, change, message = WHOLE[fault]
    source = made(name, tmp_path)
    change(tmp_path / "source")
    with pytest.raises(AsrError, match=message):
        asr.prepare(WRITERS[name][0] if name in WRITERS else name, source, tmp_path / "data")


def test_ids_that_occur_twice_are_renamed_and_listed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_sound(tmp_path / "anna" / f"{name}.wav")
    rows = "".join(f"anna/{name}.wav,hello,anna,same\n" for name in "ab")
    (tmp_path / "table.csv").write_text(f"file,text,speaker,id\n{rows}")
    result = asr.prepare("table", tmp_path / "table.csv", tmp_path / "data")
    assert len(result.utterances) == 2 and list(result.renamed.values()) == ["anna_same"]
    (row,) = [line for line in (tmp_path / "data" / PREPARED).read_text().splitlines() if "renamed" in line]
    assert "table.csv:3" in row and "anna_same" in row
    assert any("renamed" in line and "table.csv:3" in line for line in summary(result, tmp_path))


@pytest.fixture
def stereo(tmp_path: Path) -> Path:
    """A folder with a recording of two channels and one of one channel at another rate."""
    (tmp_path / "talk").mkdir()
    samples = np.stack([np.full(RATE, 0.25), np.full(RATE, -0.5)], axis=1)
    soundfile.write(tmp_path / "talk" / "both.wav", samples, RATE)
    soundfile.write(tmp_path / "talk" / "one.wav", samples[:, 0], 2 * RATE)
    for name in ("both", "one"):
        (tmp_path / "talk" / f"{name}.txt").write_text("hello")
    return tmp_path / "talk"


def test_channel_by_number_is_written(stereo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["prepare", "folder", str(stereo), str(tmp_path / "data"), "--channel", "2"])
    assert done.value.code == 0
    (only,) = read_data_directory(tmp_path / "data").utterances
    samples, rate = soundfile.read(only.source)
    assert rate == RATE and samples.shape == (RATE,) and np.allclose(samples, -0.5)
    assert "bad-channel" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="--channel"):
        asr.prepare("folder", stereo, tmp_path / "data", channel=0)


def test_channels_and_rates_are_reported(stereo: Path, tmp_path: Path) -> None:
    lines = list(summary(asr.prepare("folder", stereo, tmp_path / "data"), tmp_path))
    assert any("--channel" in line for line in lines)
    assert any(f"{RATE} Hz (1), {2 * RATE} Hz (1)" in line for line in lines)


def test_features_of_sphinx_are_used(tmp_path: Path) -> None:
    source = made("sphinx-features", tmp_path)
    write_sound(tmp_path / "source" / "wav" / "anna" / "a1.wav")
    mixed = asr.prepare("sphinx", source, tmp_path / "mixed")
    assert (len(mixed.utterances), [one.code for one in mixed.left_out]) == (1, ["no-audio"] * 5)
    shutil.rmtree(tmp_path / "source" / "wav")
    (tmp_path / "source" / "feat" / "chai" / "c2.mfc").write_bytes(b"\0\0\0")
    with pytest.raises(SystemExit) as done:
        main(["prepare", "sphinx", str(source), str(tmp_path / "data")])
    assert done.value.code == 0
    corpus = read_data_directory(tmp_path / "data")
    assert len(corpus.utterances) == 5 and all(one.archive is not None for one in corpus.utterances)
    with pytest.raises(CorpusError, match="channel"):
        asr.prepare("sphinx", source, tmp_path / "other", channel=1)


def test_tiers_left_out_are_listed(tmp_path: Path) -> None:
    result = asr.prepare("elan", made("elan", tmp_path), tmp_path / "data")
    assert {(one.code, one.place.rpartition(":")[2]) for one in result.left_out} == {("other-tier", "gloss")}
