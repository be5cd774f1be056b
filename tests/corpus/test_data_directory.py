"""Data directories: where files are looked for, what is refused, what is left out."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.corpus.data_directory import Utterance, interpret_lists, read_data_directory, read_lists
from asr.corpus.writing import write_data_directory
from asr.util.errors import CorpusError, Issue
from asr.validation import validate
from asr.validation.directory import collect_lists


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A corpus of two utterances and two speakers, its lists unsorted."""
    folder = tmp_path / "corpus" / "train"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        soundfile.write(folder.parent / f"{name}.wav", np.zeros(800), 8000)
    (folder / "wav.scp").write_text("b-1 b.wav\na-1 a.wav\n")
    (folder / "text").write_text("a-1 ONE  TWO\nb-1\n")
    (folder / "utt2spk").write_text("b-1 b\na-1 a\n")
    (folder / "spk2gender").write_text("a m\nb F\n")
    return folder


def test_utterances_come_sorted_with_speaker_transcript_and_file(data):
    corpus = read_data_directory(data)
    above = data.resolve().parent
    assert corpus.utterances == (
        Utterance("a-1", "a", ("ONE", "TWO"), audio=above / "a.wav"),
        Utterance("b-1", "b", (), audio=above / "b.wav"),
    )
    assert corpus.gender == {"a": "m", "b": "f"} and corpus.problems == () and corpus.speakers == ("a", "b")


def test_files_are_looked_for_under_the_root_then_above_then_inside(data, tmp_path):
    root = tmp_path / "elsewhere"
    root.mkdir()
    for place in (data, data.parent, root):
        soundfile.write(place / "a.wav", np.zeros(800), 8000)
    found = [read_data_directory(data, root=root).utterances[0].audio]
    (root / "a.wav").unlink()
    found.append(read_data_directory(data, root=root).utterances[0].audio)
    (data.parent / "a.wav").unlink()
    found.append(read_data_directory(data).utterances[0].audio)
    assert [path.parent for path in found] == [root, data.resolve().parent, data]


def test_missing_file_is_named_at_every_place_tried(data, tmp_path):
    for name in ("a", "b"):
        (data.parent / f"{name}.wav").unlink()
    above, inside, root = data.resolve().parent / "a.wav", data / "a.wav", tmp_path / "elsewhere" / "a.wav"
    texts = read_data_directory(data).problems[0].message
    assert texts.startswith(f"{above} does not exist (also tried {inside}); use --root DIR (root=)")
    texts = read_data_directory(data, root=root.parent).problems[0].message
    assert texts.startswith(f"{root} does not exist (also tried {above}, {inside}); ")
    assert read_data_directory(data, root=data.parent).problems[0].message.count(str(above)) == 1
    (data / "wav.scp").write_text(f"a-1 {root}\n")
    assert read_data_directory(data).problems[0].message == f"{root} does not exist"


def test_the_root_from_which_most_missing_files_are_found_is_named(data, tmp_path, monkeypatch):
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    (data.parent / "a.wav").rename(elsewhere / "a.wav")
    monkeypatch.chdir(elsewhere)
    remedy = f"; all missing files exist under {elsewhere}: use --root '{elsewhere}' (root=)"
    assert [problem.message.endswith(remedy) for problem in read_data_directory(data).problems] == [True]
    (data.parent / "b.wav").rename(elsewhere / "b.wav")
    reasons = [problem.message for problem in read_data_directory(data).problems]
    assert len(reasons) == 2 and all(reason.endswith(remedy) for reason in reasons)
    assert not read_data_directory(data, root=elsewhere).problems
    (data / "wav.scp").write_text("a-1 a.wav\nb-1 b.wav\nc-1 c.wav\nd-1 /nowhere/d.wav\n")
    texts = {one.utterance: one.message.rpartition("; ")[2] for one in read_data_directory(data).problems}
    most = f"2 of the 3 missing files exist under {elsewhere}: use --root '{elsewhere}' (root=)"
    assert texts == {**dict.fromkeys(("a-1", "b-1", "c-1"), most), "d-1": "/nowhere/d.wav does not exist"}
    (elsewhere / "b.wav").unlink()  # one of three: no root mends most
    assert "; use --root DIR" in read_data_directory(data).problems[0].message


def test_absolute_paths_and_paths_with_spaces_are_taken_as_they_are(data, tmp_path):
    soundfile.write(tmp_path / "one two.wav", np.zeros(800), 8000)
    (data / "wav.scp").write_text(f"a-1 {tmp_path}/one two.wav\nb-1 b.wav\n")
    assert read_data_directory(data).utterances[0].audio == tmp_path / "one two.wav"


def test_utterances_that_cannot_be_used_are_left_out_with_their_reason(data):
    (data.parent / "empty.wav").touch()
    (data / "wav.scp").write_text("a-1 a.wav\nc-1 c.wav\nd-1 empty.wav\ne-1 b.wav\nf-1 b.wav\n")
    (data / "text").write_text("a-1 X\nb-1 X\nc-1 X\nd-1 X\ne-1 X\n")
    (data / "utt2spk").write_text("a-1 a\nb-1 b\nc-1 c\nd-1 d\nf-1 f\n")
    corpus = read_data_directory(data)
    assert [u.id for u in corpus.utterances] == ["a-1"]
    reasons = {problem.utterance: problem.message for problem in corpus.problems}
    assert list(reasons) == ["b-1", "c-1", "d-1", "e-1", "f-1"]
    codes = ["no-audio", "missing-file", "empty-file", "no-speaker", "no-transcript"]
    assert [problem.code for problem in corpus.problems] == codes
    assert "not in wav.scp" in reasons["b-1"] and "empty.wav" not in reasons["c-1"]


def test_segments_give_start_and_end_and_minus_one_means_the_end(data):
    (data / "segments").write_text("a-1 b-1 0.01 0.05\nb-1 b-1 0.05 -1\n")
    first, second = read_data_directory(data).utterances
    assert (first.audio.name, first.start, first.end) == ("b.wav", 0.01, 0.05)
    assert (second.start, second.end) == (0.05, None)


def test_a_segment_of_an_unlisted_recording_is_left_out(data):
    (data / "segments").write_text("a-1 c-1 0 1\nb-1 b-1 0 1\n")
    assert read_data_directory(data).problems[0] == Issue(
        "no-audio", "the recording 'c-1' of 'a-1' is not in wav.scp", "error", data / "segments", 1, ("a-1",)
    )


def test_features_win_over_audio_unless_audio_is_preferred(data):
    (data / "feats.scp").write_text("a-1 train/feats.ark:5\nb-1 train/feats.ark:99\n")
    (data / "feats.ark").write_bytes(b"x" * 200)
    by_default, by_choice = read_data_directory(data), read_data_directory(data, prefer="audio")
    found = [(u.archive.name, u.offset, u.audio) for u in by_default.utterances]
    assert found == [("feats.ark", 5, None), ("feats.ark", 99, None)]
    assert by_choice.utterances[0].archive is None and by_choice.utterances[0].audio.name == "a.wav"


def test_without_text_there_are_no_words_and_no_problem(data):
    (data / "text").unlink()
    assert [u.words for u in read_data_directory(data).utterances] == [None, None]


@pytest.mark.parametrize(
    ("name", "content", "code", "line", "token"),
    [
        ("wav.scp", "a-1 sph2pipe -f wav a.sph |\n", "pipe", 1, "sph2pipe"),
        ("wav.scp", "a-1 a.wav\nb-1 | cat\n", "pipe", 2, "'b-1'"),
        ("wav.scp", "a-1 -\n", "pipe", 1, "'-'"),
        ("wav.scp", "a-1 a.wav\na-1 b.wav\n", "duplicate-id", 2, "line 1"),
        ("wav.scp", "a-1\n", "key-alone", 1, "'a-1'"),
        ("feats.scp", "a-1 copy-feats ark:x ark:- |\n", "pipe", 1, "copy-feats"),
        ("feats.scp", "a-1 x.ark:5[0:10]\n", "malformed", 1, "range"),
        ("feats.scp", "a-1 x.ark:1234567890123456789\n", "malformed", 1, "19 digits"),
        ("utt2spk", "a-1 a b\n", "malformed", 1, "'a-1 a b'"),
        ("utt2spk", "a-1 a\na-1 b\n", "duplicate-id", 2, "line 1"),
        ("segments", "a-1 a-1 0.5\n", "bad-segment", 1, "0.5"),
        ("segments", "a-1 a-1 0.5 0.2\n", "bad-segment", 1, "0.2"),
        ("segments", "a-1 a-1 nan 2\n", "bad-segment", 1, "nan"),
        ("segments", "a-1 a-1 x 2\n", "bad-segment", 1, "x 2"),
        ("spk2gender", "a x\n", "bad-gender", 1, "'x'"),
    ],
)
def test_malformed_lists_raise_or_are_collected(data, name, content, code, line, token):
    (data / name).write_text(content)
    with pytest.raises(CorpusError, match=f"{name}:{line}: .*{re.escape(token)}") as raised:
        read_data_directory(data)
    assert raised.value.code == code
    issues = collect_lists(data)[1]
    assert [(one.code, one.path, one.line) for one in issues] == [(code, data / name, line)]
    assert str(raised.value) == f"{issues[0].place}: {issues[0].message}"


def test_what_is_no_data_directory_is_refused(data):
    with pytest.raises(CorpusError, match="none is not a directory"):
        read_data_directory(data / "none")
    (data / "utt2spk").unlink()
    with pytest.raises(CorpusError, match=r"utt2spk: .*UTTERANCE SPEAKER"):
        read_data_directory(data)
    (data / "wav.scp").unlink()
    with pytest.raises(CorpusError, match=r"neither wav.scp nor feats.scp"):
        read_data_directory(data)


def test_text_that_is_not_utf8_is_refused_with_its_line(data):
    (data / "text").write_bytes(b"a-1 X\nb-1 \xff\n")
    with pytest.raises(CorpusError, match="text, line 2: the byte 0xff"):
        read_data_directory(data)


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["wav.scp", "feats.scp", "text", "utt2spk", "segments", "spk2gender"]),
    content=st.binary(max_size=80),
)
def test_random_list_files_give_a_corpus_or_a_corpus_error(tmp_path_factory, name, content):
    folder = tmp_path_factory.mktemp("random")
    for other in ("wav.scp", "utt2spk"):
        (folder / other).write_text("a a\n")
    (folder / name).write_bytes(content)
    issues = []
    found = interpret_lists(folder, read_lists(folder, needs=("utt2spk",), issues=issues), issues=issues)
    try:
        corpus = read_data_directory(folder)
    except CorpusError as error:
        assert str(issues[0].path) in str(error) and all(issue.stops for issue in issues)
        return
    assert not issues
    assert tuple(found.usable.values()) == corpus.utterances


def test_parts_are_chosen_by_id_and_by_speaker(data):
    corpus = read_data_directory(data)
    assert [u.id for u in corpus.subset(["b-1"]).utterances] == ["b-1"]
    assert corpus.with_speakers(["a"]) == corpus.without_speakers(["b"])
    assert corpus.with_speakers(["a"]).gender == {"a": "m"}
    for choose in (corpus.subset, corpus.with_speakers, corpus.without_speakers):
        with pytest.raises(CorpusError, match="'zz'"):
            choose(["zz"])


def test_the_digest_tells_changed_lists_sizes_and_parts_but_not_places(data, tmp_path):
    corpus = read_data_directory(data)
    digests = {corpus.digest(), corpus.subset(["a-1"]).digest()}
    (data / "text").write_text("a-1 ONE THREE\nb-1\n")
    digests.add(read_data_directory(data).digest())
    soundfile.write(data.parent / "a.wav", np.zeros(801), 8000)
    digests.add(read_data_directory(data).digest())
    (data / "spk2gender").unlink()
    last = read_data_directory(data).digest()
    assert len(digests | {last}) == 5
    data.parent.rename(tmp_path / "moved")
    assert read_data_directory(tmp_path / "moved" / "train").digest() == last


@pytest.mark.parametrize("kind", ["whole", "segments", "features"])
def test_a_directory_that_was_written_is_read_back(tmp_path, kind):
    for name in ("x/a", "y/a"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        soundfile.write(tmp_path / f"{name}.wav", np.zeros(8000), 8000)
    first, second = tmp_path / "x" / "a.wav", tmp_path / "y" / "a.wav"
    if kind == "whole":
        utterances = [Utterance("1", "s", ("A",), audio=first), Utterance("2", "t", ("B", "C"), audio=second)]
    elif kind == "segments":
        utterances = [
            Utterance("1", "s", None, audio=first, start=0.0, end=0.5),
            Utterance("2", "s", None, audio=first, start=0.5, end=1.0),
            Utterance("3", "t", None, audio=second, start=0.25),
        ]
    else:
        utterances = [
            Utterance("1", "s", ("A",), archive=first, offset=3),
            Utterance("2", "t", (), archive=first, offset=40),
        ]
    write_data_directory(tmp_path / "out", reversed(utterances), {"s": "m", "other": "f"})
    corpus = read_data_directory(tmp_path / "out")
    assert corpus.utterances == tuple(utterances) and corpus.gender == {"s": "m"}
    source = "feats.scp" if kind == "features" else "wav.scp"
    assert str(tmp_path) not in (tmp_path / "out" / source).read_text()


def test_files_outside_the_corpus_are_written_by_absolute_path(tmp_path):
    audio = tmp_path / "a.wav"
    soundfile.write(audio, np.zeros(8000), 8000)
    write_data_directory(tmp_path / "corpus" / "train", [Utterance("1", "s", None, audio=audio)])
    assert (tmp_path / "corpus" / "train" / "wav.scp").read_text() == f"1 {audio.resolve()}\n"


def test_utterances_that_do_not_fit_together_are_not_written(tmp_path):
    one, two = (Utterance(name, "s", words, audio=tmp_path / "a") for name, words in (("1", ("A",)), ("2", None)))
    for utterances, message in (
        ([], "no utterances"),
        ([one, one], "twice"),
        ([one, two], "transcript"),
        ([Utterance("a b", "s", None, audio=tmp_path)], "white space"),
        ([two, Utterance("3", "s", None, archive=tmp_path)], "features"),
    ):
        with pytest.raises(CorpusError, match=message):
            write_data_directory(tmp_path / "out", utterances)
    assert not (tmp_path / "out").exists()


def test_fsdd_is_read_whole(speech_data):
    corpus = read_data_directory(speech_data / "fsdd" / "train")
    assert len(corpus) == 2700 and not corpus.problems
    assert len(corpus.speakers) == 6 and set(corpus.gender.values()) == {"m"}
    assert len(corpus.without_speakers(["theo"])) == 2250


@pytest.mark.parametrize("name", ["segments", "spk2gender", "text", "utt2spk", "feats.scp"])
@pytest.mark.parametrize("kind", ["directory", "pipe", "link"])
def test_read_data_directory_lists_that_are_no_files_raise(data: Path, name: str, kind: str) -> None:
    (data / name).unlink(missing_ok=True)
    if kind == "directory":
        (data / name).mkdir()
    elif kind == "pipe":
        os.mkfifo(data / name)
    else:
        (data / name).symlink_to("nowhere")
    with pytest.raises(CorpusError, match=f"{name}: .*{kind if kind != 'pipe' else 'regular'}"):
        read_data_directory(data)
    (data.parent / "lexicon.txt").write_text("ONE W AH N\nTWO T UW\n")
    findings = validate(data, data.parent / "lexicon.txt").findings
    assert [finding.code for finding in findings if finding.path.name == name and finding.stops] == ["unreadable"]
