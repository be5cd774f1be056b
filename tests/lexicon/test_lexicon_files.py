"""Reading dictionaries in each format, and the errors a user meets."""

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asr.lexicon import Lexicon, read_lexicon, write_lexicon
from asr.lexicon.formats import is_decimal
from asr.lexicon.reading import parse_lexicon
from asr.util.errors import Issue, LexiconError
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word, nfc
from asr.validation.lexicon import collect_lexicon
from tests.conftest import SHARED

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
NAMES = (
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=5)
    .map(nfc)
    .filter(lambda name: fault_in_word(name) is None)
)
VARIANTS = st.dictionaries(
    NAMES.filter(lambda word: not word.startswith(("#", ";;;"))),
    st.lists(st.lists(NAMES, min_size=1, max_size=4).map(tuple), min_size=1, max_size=3).map(tuple),
    min_size=1,
    max_size=6,
)
LEXICONS = st.builds(
    lambda variants, likely: Lexicon(
        variants,
        probabilities={(word, found[0]): p for (word, found), p in zip(variants.items(), likely, strict=False)},
    ),
    VARIANTS,
    st.lists(st.floats(1e-9, 1.0), max_size=6),
)
DICTIONARY_LIKE = st.text(alphabet="AB01.() \t\n\\\"'[];#sp\r", max_size=60)


def saved(folder: Path, text: str) -> Path:
    path = folder / "lexicon.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_kaldi_lines_give_words_variants_and_skip_comments(tmp_path: Path) -> None:
    path = saved(tmp_path, "# a comment\n;;; another\n\nA ah\r\nA ey\nthe\tdh  ax\n")
    assert read_lexicon(path).pronunciations == {"A": (("ah",), ("ey",)), "the": (("dh", "ax"),)}


@pytest.mark.parametrize(
    "text",
    [
        "A 0.4 AH\nA 0.1 EY\nB 0.3 B\n",
        "A\t0.4\t0.2\t1.12\t0.0\tAH\nA\t0.1\t0.0\t0.0\t1.0\tEY\nB\tB\n",
        "A 0.4 AH0\nA 0.1 EY1\nA 0.2 AH1\nB B\n",  # the larger of two that differ in stress
        "A [a] 0.4 AH sp\nA 0.1 EY sp\nB 0.9 B sp\n",
    ],
)
def test_read_lexicon_divides_probabilities_by_the_largest(tmp_path: Path, text: str) -> None:
    lexicon = read_lexicon(saved(tmp_path, text), strip_stress=True)
    assert lexicon.pronunciations == {"A": (("AH",), ("EY",)), "B": (("B",),)}
    assert lexicon.probabilities == {("A", ("EY",)): 0.25}


@pytest.mark.parametrize(
    "text",
    [
        "A 1.0 AH\nA 0.25 EY\nB B\n",  # lexiconp.txt, one line without
        "A\t0.99\t0.2\t1.12\t0.0\tAH\nA\t1e-2\t0.0\t0.0\t1.0\tEY\nB\t1.0\t0.5\t1.0\t1.0\tB\n",  # silence columns
        "A 0.5 AH\nA\t1.0  0.43 1.23 0.85 EY\nB\tB\n",  # all forms mixed
        "A 0.5 AH\nA(2) 0.5 EY\nB B\n",  # CMU's variants
        "A 1 AH\nA 0.0526316 EY\nB 1 B\n",  # awk's format of 1 in Kaldi's lexiconp.txt
        "A 1 0.20 1.00 1.02 AH\nA 5e-05 0.01 1.00 0.97 EY\nB 1 0.20 1.00 1.00 B\n",  # and lexiconp_silprob.txt
    ],
)
def test_read_lexicon_number_columns_are_no_phones(tmp_path: Path, text: str) -> None:
    assert read_lexicon(saved(tmp_path, text)).pronunciations == {"A": (("AH",), ("EY",)), "B": (("B",),)}


def test_read_lexicon_integers_are_phones(tmp_path: Path) -> None:
    assert read_lexicon(saved(tmp_path, "A 1 2\nB 1 3\n"))["A"] == (("1", "2"),)
    assert read_lexicon(saved(tmp_path, "A 1 n\nB 0.5 b 1 n\n"))["A"] == (("1", "n"),)  # B has the phone 1


@pytest.mark.parametrize(
    ("text", "texts"),
    [("A AH\n", ""), ("A 0.5 AH\n", "probabilities"), ("A AH\nB 1 0.2 1.0 1.0 B\n", "silence columns")],
)
def test_read_lexicon_number_columns_are_noted(tmp_path: Path, text: str, texts: str) -> None:
    lexicon = read_lexicon(saved(tmp_path, text))
    assert texts in lexicon.numbers and bool(lexicon.numbers) == bool(texts)
    assert lexicon.notes == ((lexicon.numbers,) if texts else ())


MFA = SHARED / "mfa" / "dictionaries"
KNOWN = {
    "english_us_mfa_reduced.dict": ("'d", {("t",), ("d",), ("\u026a", "\u027e")}),
    "test_mixed_format_dictionary.txt": ("this", {("dh", "ih", "s")}),
    "test_tabbed_dictionary.txt": ("is", {("ih", "z")}),
}


@pytest.mark.corpus
@pytest.mark.skipif(not MFA.is_dir(), reason="the aligner's dictionaries are absent")
@pytest.mark.parametrize("name", KNOWN)
def test_read_lexicon_mfa_dictionary_has_no_number_phones(name: str) -> None:
    lexicon = read_lexicon(MFA / name)
    word, variants = KNOWN[name]
    assert not [phone for phone in lexicon.phones if is_decimal(phone)]
    assert variants <= set(lexicon[word])
    assert "silence columns" in lexicon.numbers
    issues = []
    collect_lexicon(MFA / name, None, issues)
    assert not issues


def test_cmu_variants_join_their_word_and_lose_stress(tmp_path: Path) -> None:
    path = saved(tmp_path, ";;; CMUdict\nREAD  R EH1 D\nREAD(2)  R IY1 D\n#HASH  HH AE1 SH # a mark\n")
    expected = {"READ": (("R", "EH", "D"), ("R", "IY", "D")), "#HASH": (("HH", "AE", "SH"),)}
    assert read_lexicon(path).pronunciations == expected
    assert read_lexicon(path, strip_stress=False)["READ"] == (("R", "EH1", "D"), ("R", "IY1", "D"))


def test_a_dictionary_of_sphinx_is_told_by_its_variants_and_keeps_its_phones(tmp_path: Path) -> None:
    """Tabs or spaces between word and phones, variants counted from 2, and phones with which stops end."""
    lines = ["A\tAX", "A(2)\tEY", "ADD  AE DD", "AT(2) AX TD", "AT   AE TD", "SHERMAN'S  SH ER M AX N Z"]
    lexicon = read_lexicon(saved(tmp_path, "\n".join(lines) + "\n"))
    assert lexicon.pronunciations == {
        "A": (("AX",), ("EY",)),
        "ADD": (("AE", "DD"),),
        "AT": (("AX", "TD"), ("AE", "TD")),
        "SHERMAN'S": (("SH", "ER", "M", "AX", "N", "Z"),),
    }
    assert not lexicon.stress


@pytest.mark.corpus
def test_the_sphinx_dictionary_of_an4_is_its_lexicon(speech_data: Path) -> None:
    dictionary, lexicon = (read_lexicon(speech_data / "an4" / name) for name in ("etc/an4.dic", "lexicon.txt"))
    assert dictionary.pronunciations == lexicon.pronunciations
    assert sum(map(len, dictionary.pronunciations.values())) > len(dictionary.words)


def test_variants_equal_but_for_stress_become_one(tmp_path: Path) -> None:
    path = saved(tmp_path, "A AH0\nA AH1\nB 2 B3\n")
    assert read_lexicon(path, strip_stress=True).pronunciations == {"A": (("AH",),), "B": (("2", "B3"),)}
    assert read_lexicon(path)["A"] == (("AH0",), ("AH1",))


def test_htk_entries_drop_output_symbol_probability_and_closing_pause(tmp_path: Path) -> None:
    path = saved(tmp_path, "SENT-END [] sil\nA [a] 0.6 ax sp\nA 0.4 ey sp\n\\'BOUT b aw t sp\n'it\\'s' ih t s sil\n")
    assert read_lexicon(path).pronunciations == {
        "A": (("ax",), ("ey",)),
        "'BOUT": (("b", "aw", "t"),),
        "it's": (("ih", "t", "s"),),
    }


def test_htk_octal_escapes_are_bytes_of_utf8(tmp_path: Path) -> None:
    assert read_lexicon(saved(tmp_path, "\\303\\251t\\351 ey t\n".replace("\\351", "\\\\")), format="htk").words == (
        "ét\\",
    )


def test_an_htk_word_that_is_a_pause_but_prints_something_stays(tmp_path: Path) -> None:
    assert read_lexicon(saved(tmp_path, "silence [silence] sil\n"))["silence"] == (("sil",),)


def test_a_dictionary_whose_entries_all_end_in_a_pause_is_htk(tmp_path: Path) -> None:
    assert read_lexicon(saved(tmp_path, "A ax sp\nB b iy sp\n"))["B"] == (("b", "iy"),)
    assert read_lexicon(saved(tmp_path, "A ax sp\nB b iy\n"))["A"] == (("ax", "sp"),)


def test_gzip_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.gz"
    path.write_bytes(gzip.compress(b"A EY\n"))
    assert read_lexicon(path).words == ("A",)


@pytest.mark.parametrize(
    ("text", "format", "line", "token"),
    [
        ("A EY\nB\n", "auto", 2, "'B' has no phones"),
        ("A 1.0\nB 0.5 B\n", "kaldi", 1, "'A' has no phones"),
        ("A 1.0 0.5 0.5 0.5\n", "kaldi", 1, "'A' has no phones"),
        ("A A\nB 0.5 0.5 B\n", "auto", 2, "2 numbers"),
        ("A A\nB 0.5 0.5 0.1 0.1 0.2 B\n", "auto", 2, "5 numbers"),
        ("A 0.0 A\n", "auto", 1, "0.0"),
        ("A 1.5 A\n", "auto", 1, "1.5"),
        ("A EY\nB  # nothing\n", "cmu", 2, "'B' has no phones"),
        ("A [] 0.5 0.5 ax\n", "htk", 1, "'A'"),
        ("A [] 2.5 ax\n", "htk", 1, "'2.5'"),
        ("A [a ax\n", "htk", 1, "output symbol"),
        ("'A ax\n", "htk", 1, "quote '"),
        ("A ax\\\n", "htk", 1, "backslash"),
        ("\\777 ax\n", "htk", 1, "octal"),
        ("\\377 ax\n", "htk", 1, "escaped bytes"),
        ("'A B' ax\n", "htk", 1, "'A B'"),
        ("", "auto", None, "no words"),
        ("# only\n", "auto", None, "no words"),
    ],
)
def test_malformed_lexicon_raises_or_is_collected(
    tmp_path: Path, text: str, format: str, line: int | None, token: str
) -> None:
    path = saved(tmp_path, text)
    with pytest.raises(LexiconError, match=re.escape(token)) as raised:
        read_lexicon(path, format=format)  # type: ignore[arg-type]
    issues: list[Issue] = []
    parse_lexicon(path, text.split("\n"), format=format, issues=issues)  # type: ignore[arg-type]
    (issue,) = issues
    assert (issue.code, issue.path, issue.line, issue.stops) == ("malformed", path, line, True)
    assert f"{path}:{line}: " in str(raised.value) or line is None
    assert issue.message in str(raised.value)


def test_unknown_lexicon_format_raises(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="'sphinx'"):
        read_lexicon(saved(tmp_path, "A EY\n"), format="sphinx")  # type: ignore[arg-type]


def test_faulty_lexicon_lines_are_left_out_of_the_others(tmp_path: Path) -> None:
    issues: list[Issue] = []
    found = parse_lexicon(tmp_path, ["A EY", "B", "C SIL K", "D SIL", "E IY"], issues=issues)
    assert [(issue.code, issue.line) for issue in issues] == [("malformed", 2), ("reserved-phone", 3)]
    assert found.lexicon is not None
    assert (found.lexicon.words, found.damaged) == (("A", "E"), {"B", "C"})
    assert [entry.line for entry in found.entries] == [1, 4, 5]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"absent\.txt cannot be read: No such file"):
        read_lexicon(tmp_path / "absent.txt")
    with pytest.raises(LexiconError, match="is not a regular file"):
        read_lexicon(tmp_path)
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"A EY\nCAF\xc9 K\n")
    with pytest.raises(LexiconError, match="line 2: the byte 0xc9 is not UTF-8"):
        read_lexicon(latin)
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(gzip.compress(b"A EY\n" * 100)[:-9])
    with pytest.raises(LexiconError, match="damaged gzip"):
        read_lexicon(damaged)


@settings(SAME_FOLDER, max_examples=40)
@given(lexicon=LEXICONS)
def test_a_written_lexicon_reads_back_equal(tmp_path: Path, lexicon: Lexicon) -> None:
    path = tmp_path / "written.txt"
    try:
        write_lexicon(lexicon, path)
    except LexiconError as refusal:
        assert any(reason in str(refusal) for reason in ("probability", "silence", "CSV"))
        return
    again = read_lexicon(path, format="kaldi", strip_stress=False)
    assert again == lexicon
    assert again.digest() == lexicon.digest()


def test_a_lexicon_that_would_not_read_back_is_not_written(tmp_path: Path) -> None:
    commas = {"A;": (("B",), ("C",), ("D",))}
    for pronunciations in ({"#A": (("B",),)}, {"A": (("0.5", "B"),)}, {"A": (("B", "SIL"),)}, commas):
        with pytest.raises(LexiconError, match="would read as"):
            write_lexicon(Lexicon(pronunciations), tmp_path / "x.txt")
    assert list(tmp_path.iterdir()) == []


@SAME_FOLDER
@given(text=st.text(max_size=60) | DICTIONARY_LIKE, format=st.sampled_from(["auto", "kaldi", "cmu", "htk"]))
def test_any_text_gives_a_lexicon_or_a_lexicon_error(tmp_path: Path, text: str, format: str) -> None:
    issues: list[Issue] = []
    path = saved(tmp_path, text)
    found = parse_lexicon(path, read_text_lines(path, LexiconError, issues), format=format, issues=issues)  # type: ignore[arg-type]
    try:
        lexicon = read_lexicon(path, format=format)  # type: ignore[arg-type]
    except LexiconError:
        assert issues
        return
    assert found.lexicon == lexicon
    assert not issues
    assert all(lexicon[word] for word in lexicon.words)


@SAME_FOLDER
@given(content=st.binary(max_size=40))
def test_any_bytes_give_a_lexicon_or_a_lexicon_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(content)
    try:
        read_lexicon(path)
    except LexiconError:
        return


@pytest.mark.corpus
def test_an4_reads_the_same_from_its_kaldi_and_its_sphinx_file(speech_data: Path) -> None:
    kaldi = read_lexicon(speech_data / "an4" / "lexicon.txt")
    assert kaldi == read_lexicon(speech_data / "an4" / "etc" / "an4.dic")
    text = (speech_data / "an4" / "test" / "text").read_text().splitlines()
    assert kaldi.out_of_vocabulary(line.split()[1:] for line in text) == {}


@pytest.mark.parametrize(
    ("text", "line", "token"),
    [
        ("default: english_us_mfa\n", 1, "YAML"),
        ("\u0111\u1ed9c\t\u0257 o k\n\u0111\u1ed9c\tgi\u1ea3\t\u0257 o k j a\n", 2, "gi\u1ea3"),
        ("new\tN UW\nnew\tyork\tN UW Y AO R K\n", 2, "york"),
    ],
)
def test_file_of_another_form_is_refused_with_its_line(tmp_path: Path, text: str, line: int, token: str) -> None:
    with pytest.raises(LexiconError, match=rf":{line}: .*{token}"):
        read_lexicon(saved(tmp_path, text))
    issues = []
    collect_lexicon(saved(tmp_path, text), None, issues)
    assert [(issue.code, issue.line, token in issue.message) for issue in issues] == [("malformed", line, True)]


def test_tabs_may_stand_between_phones_and_after_numbers(tmp_path: Path) -> None:
    path = saved(tmp_path, "a\t0.5\tx y\nb\tx\ty\nc\tx\ty x\n")
    assert read_lexicon(path).pronunciations == {"a": (("x", "y"),), "b": (("x", "y"),), "c": (("x", "y", "x"),)}


def test_a_1_after_every_word_is_its_probability(tmp_path: Path) -> None:
    found = read_lexicon(saved(tmp_path, "a 1 x y\nb 1 y\nc 1 x\n"))
    assert found.pronunciations == {"a": (("x", "y"),), "b": (("y",),), "c": (("x",),)}
    assert read_lexicon(saved(tmp_path, "a 1 x\nb 1 y\nc 1 1\n")).pronunciations["c"] == (("1", "1"),)
