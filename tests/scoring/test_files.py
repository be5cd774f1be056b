import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.scoring.files import read_transcripts, read_utt2spk, write_transcripts
from asr.util.errors import CorpusError
from asr.util.unicode_text import nfc

token = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6).map(nfc)


@pytest.fixture
def write(tmp_path):
    def write_file(content):
        path = tmp_path / "text"
        path.write_bytes(content.encode())
        return path

    return write_file


def test_a_kaldi_file_gives_words_by_utterance(write):
    path = write("u1 ONE TWO\n\nu2\nu3\tTHREE  FOUR \r\n")
    assert read_transcripts(path) == {"u1": ("ONE", "TWO"), "u2": (), "u3": ("THREE", "FOUR")}


def test_a_trn_file_is_recognized_by_the_ids_at_the_line_ends(write):
    path = write("ONE TWO (an4-u1)\n(an4-u2)\nTHREE\t(an4-u3)\n")
    assert read_transcripts(path) == {"an4-u1": ("ONE", "TWO"), "an4-u2": (), "an4-u3": ("THREE",)}


def test_a_word_in_parentheses_does_not_make_a_kaldi_file_trn(write):
    path = write("u1 ONE (noise)\nu2 TWO\nu3 THREE\n")
    assert read_transcripts(path)["u1"] == ("ONE", "(noise)")
    assert read_transcripts(write("u1 ONE (noise)\n"), format="kaldi") == {"u1": ("ONE", "(noise)")}


def test_a_trn_file_with_one_bad_line_is_refused_with_its_line(write):
    with pytest.raises(CorpusError, match=r"text:2: 'TWO u2' does not end in"):
        read_transcripts(write("ONE (u1)\nTWO u2\nTHREE (u3)\n"))
    with pytest.raises(CorpusError, match=r"text:2: .*does not end in"):
        read_transcripts(write("ONE (u1)\nTWO u2\n"), format="trn")


def test_alternatives_of_a_trn_file_are_refused(write):
    with pytest.raises(CorpusError, match=r"text:1: alternatives"):
        read_transcripts(write("{ ONE / WON } (u1)\n"))


def test_a_master_label_file_is_recognized_by_its_first_line(write):
    path = write('#!MLF!#\n"*/u1.lab"\n0 3000000 ONE -12.5\n"2"\n.\n"*/u2.rec"\n.\n')
    assert read_transcripts(path) == read_transcripts(path, format="mlf") == {"u1": ("ONE", "2"), "u2": ()}
    with pytest.raises(CorpusError, match="text:2: the labels of 'u1' do not end"):
        read_transcripts(write('#!MLF!#\n"*/u1.lab"\nONE\n'))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("u1 1 0.210 0.340 ONE\n\nu1 1 0.550 0.300 TWO\nu2 A .5 1.25 ONE 0.98\n", "a CTM file"),
        ('File type = "ooTextFile"\nObject class = "TextGrid"\n', "a TextGrid"),
        ('File type = "ooTextFile short"\n"TextGrid"\n', "a TextGrid"),
        (";; a comment\nrec1 A anna 0.10 2.50 <o,f0,female> ONE TWO\nrec1 A bob 2 3 <o,f0,male>\n", "an STM file"),
        ("rec1 1 anna 0.00 2.50 ONE\nrec1 1 anna 2.5 3.25\n", "an STM file"),
        ("SPEAKER rec1 1 0.50 1.25 <NA> <NA> anna <NA> <NA>\n", "an RTTM file"),
        ("0.000000\t0.250000\tONE\n0.250000\t1.500000\n", "a list of labels"),
        ("u1 rec1 0.35 2.10\nu2 rec1 2.10 4\n", "a list of segments"),
        ("u1 audio/1.WAV\nu2 audio/2.flac\n", "a list of files"),
        ("u1 feats.ark:9\nu2 feats.ark:1200\n", "a list of files"),
        ("u1 sph2pipe -f wav 1.sph |\n", "a list of files"),
        ("".join(f"r{n} A anna {n}.0 {n}.5 ONE\n" for n in range(9)) + "r9 A anna\n", "an STM file"),
        ("1\n00:00:01,000 --> 00:00:02,500\nONE TWO\n", "subtitles"),
        ("WEBVTT\n\n00:01.000 --> 00:02.500\nONE\n", "subtitles"),
        ('{"id": "u1", "text": "ONE"}\n', "JSON lines"),
        ('<?xml version="1.0"?>\n', "an XML file"),
        ("VERSION=1.0\nUTTERANCE=u1\n", "a lattice"),
        ("utterance\tstart\tend\twords\nu1\t0.1\t0.2\tONE:1\n", "confusion networks"),
        ("utterance\trank\tscore\tacoustic\tgrammar\twords\n", "an n-best list"),
        ("utterance\tcode\treason\n", "a list of failed utterances"),
    ],
)
def test_other_results_of_a_recognition_are_no_transcripts(write, content, what):
    with pytest.raises(CorpusError, match=rf"text:[12]: .* is of {what}.*hyp\.txt") as found:
        read_transcripts(write(content))
    assert repr(content.removeprefix(";; a comment\n").split("\n")[0])[1:-1] in str(found.value)


def test_transcripts_of_digits_are_no_ctm_file(write):
    assert read_transcripts(write("u1 1 2 3 4\nu2 5 6 7 8 9\n"))["u1"] == ("1", "2", "3", "4")
    assert read_transcripts(write("u1 A 0.5 1.5 B\nu2 A\n"))["u1"] == ("A", "0.5", "1.5", "B")
    assert read_transcripts(write("u1 2 3 4\nu2 5 6 7\nu3 1.5\nu4 A 2.5 1.5\n"))["u3"] == ("1.5",)
    assert read_transcripts(write("u1 1 2 3 4 5\nu2 5 6 7 8 9\n"))["u1"] == ("1", "2", "3", "4", "5")


def test_a_repeated_utterance_is_refused_with_both_lines(write):
    with pytest.raises(CorpusError, match="text:3: utterance 'u1' appears twice, first on line 1"):
        read_transcripts(write("u1 ONE\nu2 TWO\nu1 THREE\n"))


keys = token.filter(lambda id: not id.startswith(";;"))


@settings(max_examples=50)
@given(st.dictionaries(keys, st.lists(token, max_size=4).map(tuple), max_size=5))
def test_what_is_written_is_read_again(tmp_path_factory, transcripts):
    path = tmp_path_factory.mktemp("transcripts") / "hyp.txt"
    write_transcripts(path, transcripts)
    assert read_transcripts(path, format="kaldi") == transcripts


def test_utterances_are_written_sorted(tmp_path):
    write_transcripts(tmp_path / "hyp.txt", {"b": ["TWO"], "a": ()})
    assert (tmp_path / "hyp.txt").read_text() == "a\nb TWO\n"


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_sentence(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "text"
    path.write_bytes(content)
    try:
        transcripts = read_transcripts(path)
    except CorpusError as error:
        assert str(path) in str(error)
    else:
        assert all(id and all(words) for id, words in transcripts.items())


def test_speakers_are_read_by_utterance(write):
    assert read_utt2spk(write("u1 ann\nu2 bob\n")) == {"u1": "ann", "u2": "bob"}


@pytest.mark.parametrize("content", ["u1\n", "u0 a\nu1 ann bob\n", "u1 a\nu1 b\n"])
def test_a_malformed_list_of_speakers_is_refused_with_its_line(write, content):
    with pytest.raises(CorpusError, match=rf"text:{content.count(chr(10))}: .*u1"):
        read_utt2spk(write(content))


@pytest.mark.parametrize(("id", "reason"), [(";;u1", "begins like a comment"), ("u\x1b1", "cannot be printed")])
def test_a_name_that_no_line_can_begin_with_is_refused_wherever_it_is_read(write, id, reason):
    for read, content in (
        (read_transcripts, f"u0 A\n{id} B\n"),
        (read_transcripts, f"A (u0)\nB ({id})\n"),
        (read_utt2spk, f"u0 ann\n{id} bob\n"),
        (read_utt2spk, f"u0 ann\nu1 {id}\n"),
    ):
        with pytest.raises(CorpusError, match=rf"text:2: .* {reason}"):
            read(write(content))


def test_names_of_other_systems_are_taken_as_they_are(write):
    names = ("ann/u1", "#1", "~u", ".", "a\\b", "u" * 300)
    assert list(read_transcripts(write("".join(f"{name} ONE\n" for name in names)))) == list(names)


def test_comments_of_a_trn_file_are_passed_over(write):
    assert read_transcripts(write(";; by hand\nONE (u1)\nTWO (u2)\n")) == {"u1": ("ONE",), "u2": ("TWO",)}


@pytest.mark.parametrize("transcripts", [{";;u": ["A"]}, {"u 1": ["A"]}, {"": ["A"]}, {"u": ["A B"]}, {"u": [""]}])
def test_what_would_not_be_read_back_is_not_written(tmp_path, transcripts):
    with pytest.raises(CorpusError, match=r"hyp\.txt"):
        write_transcripts(tmp_path / "hyp.txt", transcripts)
    assert not (tmp_path / "hyp.txt").exists()
