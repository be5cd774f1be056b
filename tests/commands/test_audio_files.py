"""Audio files by themselves as a corpus."""

import logging
from pathlib import Path

import pytest

from asr.commands.audio_files import files_as_corpus
from asr.util.errors import ConfigError, CorpusError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("anna/one.wav", "anna/two.FLAC", "boris/one_2.sph", "boris/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


def speakers(corpus) -> dict[str, str]:
    return {utterance.id: utterance.speaker for utterance in corpus.utterances}


def test_every_file_is_a_speaker_by_itself_unless_the_user_says_otherwise(folder: Path):
    files = [folder / "anna" / "one.wav", folder / "anna" / "two.FLAC", folder / "boris" / "one_2.sph"]
    assert len(set(speakers(files_as_corpus(files)).values())) == 3
    assert len(set(speakers(files_as_corpus(files, "one")).values())) == 1
    by_directory = speakers(files_as_corpus(files, "directory"))
    assert by_directory["one"] == by_directory["two"] != by_directory["one_2"]


def test_a_pattern_s_group_is_the_speaker_and_files_without_it_are_left_out(folder: Path):
    files = [folder / "anna" / "one.wav", folder / "boris" / "one_2.sph"]
    corpus = files_as_corpus(files, r"/(an+)a/")
    assert speakers(corpus) == {"one": "ann"}
    assert [(problem.utterance, problem.code) for problem in corpus.problems] == [("one_2", "no-speaker")]


@pytest.mark.parametrize(
    ("pattern", "said"), [("(a", "not a valid pattern"), ("a", "has 0 groups"), ("(a)(b)", "2 gro")]
)
def test_a_rule_that_is_none_is_refused(folder: Path, pattern: str, said: str):
    with pytest.raises(ConfigError, match=said):
        files_as_corpus([folder / "anna" / "one.wav"], pattern)


def test_a_folder_gives_its_audio_files_by_their_paths_within_it(folder: Path):
    assert list(speakers(files_as_corpus([folder]))) == ["anna_one", "anna_two", "boris_one_2"]


def test_files_of_other_kinds_in_a_folder_are_counted_in_one_line(folder: Path, caplog: pytest.LogCaptureFixture):
    (folder / "anna" / "video.m4a").write_bytes(b"x")
    (folder / ".hidden").write_bytes(b"x")
    with caplog.at_level(logging.INFO):
        files_as_corpus([folder])
        files_as_corpus([folder / "anna" / "one.wav"])
    (line,) = caplog.messages
    assert line.startswith(f"{folder}: 2 files of other types ignored, such as video.m4a. Audio types: WAV, ")


def test_files_of_one_name_are_told_apart_by_as_many_folders_as_it_takes(
    folder: Path, caplog: pytest.LogCaptureFixture
):
    (folder / "boris" / "one.wav").write_bytes(b"x")
    with caplog.at_level(logging.INFO):
        names = list(speakers(files_as_corpus([folder / "*" / "one.wav", folder / "boris" / "one_2.sph"])))
    assert names == ["anna_one", "boris_one", "boris_one_2"]
    (line,) = caplog.messages
    assert line == "File name 'one' exists in several folders, so all names include their folders: 'anna_one'"
    assert list(speakers(files_as_corpus([folder / "anna", folder / "boris"]))) == [
        *("anna_one", "anna_two", "boris_one", "boris_one_2")
    ]
    (folder / "anna" / "x").mkdir()
    (folder / "boris" / "x").mkdir()
    deep = [folder / one / "x" / "a b.wav" for one in ("anna", "boris")]
    assert [problem.utterance for problem in files_as_corpus(deep).problems] == ["anna_x_a_b", "boris_x_a_b"]


def test_files_that_no_folder_tells_apart_are_refused(folder: Path):
    (folder / "anna" / "one.flac").write_bytes(b"x")
    with pytest.raises(CorpusError, match=r"name 'one': .*one.wav and .*one.flac"):
        files_as_corpus([folder / "anna" / "one.wav", folder / "anna" / "one.flac"])
    with pytest.raises(CorpusError, match=r"one.wav is listed twice"):
        files_as_corpus([folder / "anna" / "two.FLAC", *[folder / "anna" / "one.wav"] * 2])


def test_a_pattern_that_no_shell_expanded_gives_the_files_it_matches(folder: Path):
    assert list(speakers(files_as_corpus([folder / "*" / "one*"]))) == ["one", "one_2"]
    (problem,) = files_as_corpus([folder / "*.mp3"]).problems
    assert "no file name matches the pattern" in problem.message


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path):
    (tmp_path / "take[1].wav").write_bytes(b"x")
    assert list(speakers(files_as_corpus([tmp_path / "take[1].wav"]))) == ["take[1]"]


def test_a_folder_without_audio_costs_no_other_file(folder: Path):
    (folder / "empty").mkdir()
    corpus = files_as_corpus([folder / "empty", folder / "anna" / "one.wav"])
    assert list(speakers(corpus)) == ["one"]
    assert "folder without audio files" in corpus.problems[0].message


def test_a_data_directory_is_refused_with_the_remedy(folder: Path):
    (folder / "wav.scp").write_text("a b\n")
    with pytest.raises(CorpusError, match="Use --data DIR"):
        files_as_corpus([folder])
