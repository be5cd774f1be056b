import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.corpus.htk_labels import LabelSegment, fault_in_pattern, read_labels, read_words, write_mlf
from asr.util.errors import CorpusError
from asr.util.htk_strings import is_htk_number, read_htk_string, write_htk_string
from asr.util.unicode_text import nfc
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.text_mutators import spoil_text

names = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6).map(nfc)
labels = names | st.sampled_from(["7", "-1", "1e5", ".", "///", "'TIS", '"', "\\", "\\101", "DON'T", "ice cream", " "])
units = st.integers(0, 10**15)
times = (st.just((None, None)) | st.tuples(units, st.none()) | st.tuples(units, units).map(sorted).map(tuple)).map(
    lambda pair: tuple(None if time is None else time / 10**7 for time in pair)
)
segments = st.builds(
    lambda label, span, score: LabelSegment(label, *span, score),
    labels,
    times,
    st.none() | st.integers(-(10**9), 10**9).map(lambda value: value / 1000),
)

HVITE = """#!MLF!#
"*/anna-1.rec"
0 3100000 sil -2010.5 SENT-START
3100000 4000000 w -900.25 ONE -1600.75
4000000 5100000 ah -400.5
5100000 6000000 n -300
6000000 6000000 sp 0
6000000 7000000 t -123 TWO
.
"C:\\data\\test/bert.2.lab"
ONE
"7"
'\\303\\251t\\303\\251'
.
"*/empty.rec"
.
"""


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="words.mlf"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(names.filter(lambda name: not fault_in_pattern(name)), st.lists(segments, max_size=5), max_size=4)
)
def test_what_is_written_is_read_back(tmp_path_factory, written):
    path = tmp_path_factory.getbasetemp() / "round.mlf"
    write_mlf(path, written)
    assert read_labels(path) == written
    assert list(read_labels(path)) == list(written)


@given(labels)
def test_a_written_name_is_read_back_and_is_no_number(name):
    text = write_htk_string(name)
    assert read_htk_string(f"{text} x", 0) == (name, len(text))
    assert text.startswith('"') or not is_htk_number(text)


@settings(max_examples=100, deadline=None)
@given(names.filter(lambda name: not fault_in_pattern(name)), labels)
def test_bytes_beyond_ascii_may_be_octal_escapes_in_patterns_and_labels(tmp_path_factory, name, label):
    def escaped(text):
        return "".join(chr(byte) if byte < 0x80 else f"\\{byte:o}" for byte in text.encode())

    path = tmp_path_factory.getbasetemp() / "escaped.mlf"
    path.write_text(f'#!MLF!#\n"*/{escaped(name)}.rec"\n{escaped(write_htk_string(label))}\n.\n', encoding="ascii")
    assert read_labels(path) == {name: [LabelSegment(label)]}


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (r"*/\303\251t\303\251.rec", "été"),
        (r"C:\data\303\251.rec", "251"),
        (r"C:/data\303\u-1.rec", "u-1"),
        (r"*/\101\102.rec", "102"),
    ],
)
def test_pattern_backslash_separates_folders_or_escapes(write, pattern, name):
    assert list(read_labels(write(f'#!MLF!#\n"{pattern}"\nONE\n.\n'))) == [name]


def test_phones_have_times_and_scores(write):
    found = read_labels(write(HVITE))
    assert list(found) == ["anna-1", "bert.2", "empty"]
    assert found["anna-1"][1] == LabelSegment("w", 0.31, 0.4, -900.25)
    assert [segment.label for segment in found["anna-1"]] == ["sil", "w", "ah", "n", "sp", "t"]
    assert found["bert.2"] == [LabelSegment("ONE"), LabelSegment("7"), LabelSegment("été")]
    assert found["empty"] == []


def test_a_word_above_phones_lasts_until_the_next(write):
    found = read_labels(write(HVITE.split('"C:')[0]), level=2)
    assert found["anna-1"] == [
        LabelSegment("SENT-START", 0.0, 0.31),
        LabelSegment("ONE", 0.31, 0.6, -1600.75),
        LabelSegment("TWO", 0.6, 0.7),
    ]
    with pytest.raises(CorpusError, match=r"words.mlf:3: no line has a label of level 3"):
        read_labels(write(HVITE.split('"C:')[0]), level=3)


def test_a_word_cannot_end_with_a_phone_before_it(write):
    with pytest.raises(CorpusError, match=r"words.mlf:4: '0 2 ah' ends before the start of the label of level 2"):
        read_labels(write('#!MLF!#\n"*/u.rec"\n5 9 w -1 ONE\n0 2 ah\n.\n'), level=2)


def test_words_are_transcripts(write):
    assert read_words(write(HVITE))["bert.2"] == ("ONE", "7", "été")
    with pytest.raises(CorpusError, match=r"the label 'ice cream' of 'u' is not one word"):
        read_words(write('#!MLF!#\n"*/u.lab"\n"ice cream"\n.\n'))


@pytest.mark.parametrize("name", ["anna-1.lab", "anna-1.lab.gz", "anna-1"])
def test_a_label_file_is_the_utterance_of_its_name(write, name):
    content = b"0 100 ONE\r\n\n100 250 TWO\r\n"
    path = write(gzip.compress(content) if name.endswith("gz") else content, name)
    assert read_labels(path) == {"anna-1": [LabelSegment("ONE", 0.0, 1e-5), LabelSegment("TWO", 1e-5, 2.5e-5)]}


def test_an_mlf_has_the_lines_that_hvite_writes(tmp_path):
    path = tmp_path / "words.mlf"
    write_mlf(path, {"u1": [LabelSegment("ONE", 0.3, 0.55, -12.5), LabelSegment("7")], "u2": []})
    assert path.read_text() == ('#!MLF!#\n"*/u1.rec"\n3000000 5500000 ONE -12.500000\n"7"\n.\n"*/u2.rec"\n.\n')


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("ONE", "x.mlf:2: 'ONE' is not a pattern"),
        ('"*/u.lab', "x.mlf:2: .* is not a pattern"),
        ('"*/u.lab" -> "labels"', "x.mlf:2: '-> \\\"labels\\\"' follows the pattern"),
        ('"*/u.lab" => "labels"', "follows the pattern"),
        ('"*/u?.lab"\nONE\n.', r"x.mlf:2: the utterance 'u\?' contains a quote"),
        ('"*/*.lab"\nONE\n.', "wildcard"),
        ('""\nONE\n.', "must be one word"),
        ('"*/a b.lab"\nONE\n.', "must be one word"),
        ('"*/u.lab"\nONE', "x.mlf:2: the labels of 'u' do not end"),
        ('"*/u.lab"\nONE\n.\n"x/u.rec"\nTWO\n.', "x.mlf:5: the utterance 'u' appears twice"),
        ('"*/u.lab"\nONE\n///\nTWO\n.', r"x.mlf:4: alternatives \(///\)"),
        ('"*/u.lab"\n0 1\n.', "x.mlf:3: '0 1' is not a label"),
        ('"*/u.lab"\n0 1 2 ONE\n.', "x.mlf:3: .* is not a label"),
        ('"*/u.lab"\nONE 1 2\n.', "x.mlf:3: .* is not a label"),
        ('"*/u.lab"\n0 1 ""\n.', "x.mlf:3: .* is not a label"),
        ('"*/u.lab"\n5 1 ONE\n.', "x.mlf:3: '5 1 ONE' ends before its start"),
        ('"*/u.lab"\n-5 1 ONE\n.', "x.mlf:3: the time is -5"),
        ('"*/u.lab"\n0 1e300 ONE\n.', r"x.mlf:3: the time is 1e\+300"),
        ('"*/u.lab"\n0 1e999 ONE\n.', "x.mlf:3: HTK reads '1e999' as a number"),
        ('"*/u.lab"\n0 1-2 ONE\n.', "x.mlf:3: HTK reads '1-2' as a number"),
        ('"*/u.lab"\n0 1 ONE 1e300\n.', r"x.mlf:3: the score is 1e\+300"),
        ('"*/u.lab"\n0 1 "ONE\n.', 'x.mlf:3: the quote " is not closed'),
        ('"*/u.lab"\n0 1 "ONE"TWO\n.', "x.mlf:3: 'TWO' follows a quoted label"),
        ('"*/u.lab"\n0 1 \\400\n.', r"x.mlf:3: the octal escape"),
    ],
)
def test_a_malformed_line_is_refused_with_its_number(write, lines, reason):
    with pytest.raises(CorpusError, match=reason):
        read_labels(write(f"#!MLF!#\n{lines}\n", "x.mlf"))


@pytest.mark.parametrize(
    ("name", "segment", "reason"),
    [
        ("u*", LabelSegment("a"), r"'u\*' cannot be written"),
        ("u 1", LabelSegment("a"), "must be one word"),
        ("u", LabelSegment(""), "is empty"),
        ("u", LabelSegment("a\nb"), "line break"),
        ("u", LabelSegment("a", 2.0, 1.0), "increasing times"),
        ("u", LabelSegment("a", None, 1.0), "increasing times"),
        ("u", LabelSegment("a", float("nan"), 1.0), "increasing times"),
        ("u", LabelSegment("a", -1.0), "increasing times"),
        ("u", LabelSegment("a", score=float("inf")), "the score of 'u' is inf"),
    ],
)
def test_what_would_not_be_read_back_is_not_written(tmp_path, name, segment, reason):
    with pytest.raises(CorpusError, match=reason):
        write_mlf(tmp_path / "x.mlf", {name: [segment]})
    assert list(tmp_path.iterdir()) == []


def test_a_level_below_the_first_is_an_error_of_the_program(write):
    with pytest.raises(ValueError, match="at least 1"):
        read_labels(write(HVITE), level=0)


def test_spoilt_files_give_labels_or_a_corpus_error(tmp_path):
    chance = random.Random(0)
    path = tmp_path / "spoilt.mlf"
    for number in range(200):
        spoil = spoil_bytes if number % 4 == 0 else spoil_text
        path.write_bytes(spoil(chance, HVITE.encode(), [b"0 100 ONE\n"]))
        for level in (1, 2):
            try:
                found = read_labels(path, level=level)
            except CorpusError as error:
                assert str(path) in str(error)
            else:
                assert not any(map(fault_in_pattern, found))
