"""Sphinx corpora as data directories: what belongs together, what is left out, and two real ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from asr.corpus.data_directory import DataDirectory, read_data_directory
from asr.corpus.kaldi_ark import read_matrix
from asr.corpus.sphinx_corpus import read_sphinx_corpus
from asr.corpus.sphinx_features import write_sphinx_features
from asr.corpus.writing import write_data_directory
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.util.errors import CorpusError
from asr.validation import validate

CEPSTRA = np.random.default_rng(4).normal(size=(9, 13)).astype(np.float32)
CONFIG = FeatureConfig()


def make(tmp_path: Path, fileids: str, transcription: str, files: Sequence[str]) -> tuple[Path, Path, Path]:
    for number, name in enumerate(files):
        write_sphinx_features(tmp_path / "feat" / name, CEPSTRA + number)
    (tmp_path / "x.fileids").write_text(fileids)
    (tmp_path / "x.transcription").write_text(transcription)
    return tmp_path / "x.fileids", tmp_path / "x.transcription", tmp_path / "feat"


def reasons(corpus: DataDirectory) -> Mapping[str, str]:
    return {problem.utterance: problem.message for problem in corpus.problems}


def codes(corpus: DataDirectory) -> Mapping[str, str]:
    return {problem.utterance: problem.code for problem in corpus.problems}


def words(corpus: DataDirectory) -> Mapping[str, str]:
    return {utterance.id: " ".join(utterance.words or ()) for utterance in corpus.utterances}


def test_utterances_have_speaker_words_and_features(tmp_path: Path) -> None:
    given = make(tmp_path, "bob/s2\nann/s1\n", "<s> TWO(2) </s> (s2)\nONE (ann/s1)\n", ["bob/s2.mfc", "ann/s1.mfc"])
    corpus = read_sphinx_corpus(*given)
    assert [(u.id, u.speaker, u.words) for u in corpus.utterances] == [
        ("ann-s1", "ann", ("ONE",)),
        ("bob-s2", "bob", ("TWO",)),
    ]
    assert not corpus.problems
    table, problems = extract_static(corpus, CONFIG)
    assert table.ids == ("ann-s1", "bob-s2") and not problems
    np.testing.assert_array_equal(table.utterance("ann-s1"), CEPSTRA + 1)
    assert read_sphinx_corpus(given[0], None, given[2]).utterances[0].words is None


def test_data_directory_written_of_it_gives_the_same_features(tmp_path: Path) -> None:
    given = make(tmp_path, "a/x\nb/y\n", "ONE (x)\nTWO (y)\n", ["a/x.mfc", "b/y.MFC"])
    corpus = read_sphinx_corpus(*given)
    write_data_directory(tmp_path / "train", corpus.utterances)
    again = read_data_directory(tmp_path / "train")
    found, expected = ([(u.id, u.speaker, u.words) for u in each.utterances] for each in (again, corpus))
    assert found == expected
    tables = [extract_static(each, CONFIG)[0] for each in (corpus, again)]
    np.testing.assert_array_equal(tables[0].frames, tables[1].frames)
    (tmp_path / "lexicon.txt").write_text("ONE W AH N\nTWO T UW\n")
    assert not validate(tmp_path / "train", tmp_path / "lexicon.txt").errors
    (tmp_path / "feat/a/x.mfc").write_bytes(b"\0\0\0\x0d")
    report = validate(tmp_path / "train", tmp_path / "lexicon.txt")
    assert report.counts["truncated"] == 1 and report.summary.usable == 1


def test_missing_files_are_all_named_and_the_others_remain(tmp_path: Path) -> None:
    fileids = "a/x\na/gone\nnowhere/y\na/empty\na/mute\nalone\nb/broken\n"
    transcription = "X (x)\nX (gone)\nX (y)\nX (empty)\nX (alone)\nX (broken)\n"
    given = make(tmp_path, fileids, transcription, ["a/x.mfc", "a/mute.mfc", "alone.mfc"])
    (tmp_path / "feat/a/empty.mfc").touch()
    (tmp_path / "feat/b/broken.mfc").mkdir(parents=True)
    corpus = read_sphinx_corpus(*given)
    assert words(corpus) == {"a-x": "X"}
    assert codes(corpus) == {
        "a-gone": "missing-file", "nowhere-y": "missing-file", "a-empty": "empty-file", "a-mute": "no-transcript",
        "alone": "no-speaker", "b-broken": "unreadable",
    }  # fmt: skip
    assert str(tmp_path / "feat/a/gone.mfc") in reasons(corpus)["a-gone"]
    assert str(tmp_path / "feat/nowhere/y.mfc") in reasons(corpus)["nowhere-y"]
    assert corpus.listed == sorted(fileid.replace("/", "-") for fileid in fileids.split())


def test_a_file_that_cannot_be_read_costs_its_utterance_alone(tmp_path: Path) -> None:
    given = make(tmp_path, "a/x\na/y\n", "X (x)\nY (y)\n", ["a/x.mfc", "a/y.mfc"])
    whole = (tmp_path / "feat/a/x.mfc").read_bytes()
    (tmp_path / "feat/a/x.mfc").write_bytes(whole[:-4])
    table, problems = extract_static(read_sphinx_corpus(*given), CONFIG)
    assert table.ids == ("a-y",)
    assert [(problem.utterance, problem.code) for problem in problems] == [("a-x", "truncated")]


def test_where_no_name_is_spelled_so_letter_case_does_not_count(tmp_path: Path) -> None:
    files = ["ADG0/SR1.MFC", "ADG0/sr2.mfc", "ADG0/SR2.MFC", "twice/Sr3.mfc", "twice/SR3.mfc"]
    given = make(tmp_path, "adg0/sr1\nADG0/sr2\nadg0/sr4\ntwice/sr3\n", "A (SR1)\nB (Sr2)\nC (SR3)\n", files)
    corpus = read_sphinx_corpus(*given)
    assert [(u.id, u.source.relative_to(given[2]).as_posix(), u.words) for u in corpus.utterances] == [
        ("ADG0-sr2", "ADG0/sr2.mfc", ("B",)),
        ("adg0-sr1", "ADG0/SR1.MFC", ("A",)),
    ]
    assert "letter case" in reasons(corpus)["adg0-sr4"]
    assert "'SR3.mfc' and 'Sr3.mfc'" in reasons(corpus)["twice-sr3"]


def test_lists_with_the_same_ids_line_by_line_belong_together_line_by_line(tmp_path: Path) -> None:
    given = make(tmp_path, "a/1\nb/1\na/2\n", "ONE (1)\nEINS (1)\nTWO (2)\n", ["a/1.mfc", "b/1.mfc", "a/2.mfc"])
    assert words(read_sphinx_corpus(*given)) == {"a-1": "ONE", "b-1": "EINS", "a-2": "TWO"}


def test_otherwise_an_id_of_several_transcripts_must_have_the_same_words(tmp_path: Path) -> None:
    transcription = "TWO (2)\nSAME (3)\nSAME(2) (3)\nONE (1)\nEINS (1)\nUN (c/1)\n"
    fileids = ["a/1", "b/1", "c/1", "a/2", "a/3", "b/3"]
    given = make(tmp_path, "\n".join(fileids), transcription, [f"{fileid}.mfc" for fileid in fileids])
    corpus = read_sphinx_corpus(*given)
    assert words(corpus) == {"a-2": "TWO", "a-3": "SAME", "b-3": "SAME", "c-1": "UN"}
    assert codes(corpus) == {"a-1": "no-transcript", "b-1": "no-transcript"}
    assert "lines 4 and 5" in reasons(corpus)["a-1"]


def test_the_speaker_may_be_another_folder_than_the_first(tmp_path: Path) -> None:
    given = make(tmp_path, "clstk/ann/1\nbob/1\n", "", ["clstk/ann/1.mfc", "bob/1.mfc"])[::2]
    assert [u.speaker for u in read_sphinx_corpus(given[0], None, given[1]).utterances] == ["bob", "clstk"]
    last = read_sphinx_corpus(given[0], None, given[1], speaker_folder=-1)
    assert [u.speaker for u in last.utterances] == ["bob", "ann"]
    second = read_sphinx_corpus(given[0], None, given[1], speaker_folder=1)
    assert codes(second)["bob-1"] == "no-speaker"


def test_bad_names_are_left_out_and_lists_at_fault_stop(tmp_path: Path) -> None:
    fileids, transcription, root = make(tmp_path, ";;a/1\na\\b/2\nok/3\n", "X (1)\nX (2)\nX (3)\n", ["ok/3.mfc"])
    corpus = read_sphinx_corpus(fileids, transcription, root)
    assert words(corpus) == {"ok-3": "X"}
    assert set(codes(corpus).values()) == {"bad-name"}
    fileids.write_text("a-b/c\na/b-c\n")
    with pytest.raises(CorpusError, match=r"x\.fileids:2: 'a/b-c' has the same id as line 1"):
        read_sphinx_corpus(fileids, transcription, root)
    with pytest.raises(CorpusError, match="nowhere: is not a directory"):
        read_sphinx_corpus(fileids, transcription, tmp_path / "nowhere")


@pytest.mark.corpus
@pytest.mark.parametrize(("split", "n_frames"), [("train", 27_284), ("test", 9_106)])
def test_sample_of_rm1_gives_its_frames(rm1_sample: Path, tmp_path: Path, split: str, n_frames: int) -> None:
    speakers = dict(line.split() for line in (rm1_sample / split / "utt2spk").read_text().splitlines())
    (tmp_path / "x.fileids").write_text("".join(f"{name.replace('-', '/')}\n" for name in speakers))
    corpus = read_sphinx_corpus(tmp_path / "x.fileids", None, rm1_sample / "cepstra")
    assert {utterance.id: utterance.speaker for utterance in corpus.utterances} == speakers and not corpus.problems
    table, problems = extract_static(corpus, CONFIG)
    assert table.frames.shape == (n_frames, 13) and not problems


@pytest.mark.corpus
def test_the_lists_of_an4_give_the_utterances_of_its_data_directory(speech_data: Path, tmp_path: Path) -> None:
    """The same corpus, whose Sphinx files were packed into an archive; here they are unpacked again."""
    kaldi = read_data_directory(speech_data / "an4" / "test")
    stem = speech_data / "an4" / "etc" / "an4_test"
    sources = {utterance.id: utterance for utterance in kaldi.utterances}
    names = {}
    for fileid in stem.with_suffix(".fileids").read_text().split():
        folder, speaker, name = fileid.split("/")
        number, _, last = name.rsplit("-", 2)
        names[f"{folder}-{speaker}-{name}"] = source = sources[f"{speaker}-{number}-{last}"]
        (tmp_path / fileid).parent.mkdir(parents=True, exist_ok=True)
        write_sphinx_features(tmp_path / f"{fileid}.mfc", read_matrix(source.source, source.offset))
    corpus = read_sphinx_corpus(
        stem.with_suffix(".fileids"), stem.with_suffix(".transcription"), tmp_path, speaker_folder=-1
    )
    assert len(corpus) == len(kaldi) == len(names) and not corpus.problems
    for utterance in corpus.utterances:
        assert utterance.speaker == names[utterance.id].speaker
        assert utterance.words == names[utterance.id].words
