"""What is told where one fault lies beside others, or only looks like one."""

import re

from tests.validation.corpora import Corpus


def test_unknown_words_beside_other_case_are_told_one_by_one(clean: Corpus) -> None:
    for line, word in enumerate(("one", "two", "seven", "ELEVEN", "TWELVE"), 1):
        clean.append_word(line, word)
    assert clean.validate().counts == {"unknown-word": 5}


def test_other_letter_case_is_one_finding_beside_unknown_words(clean: Corpus) -> None:
    lines = [line.split() for line in clean.lines("train/text")]
    clean.write("train/text", [" ".join([name, *map(str.lower, words)]) for name, *words in lines])
    for line, word in enumerate(("ELEVEN", "TWELVE", "TWENTY", "FORTY"), 1):
        clean.append_word(line, word)
    found = clean.validate().errors
    assert sorted(finding.code for finding in found) == ["nothing-left", *["unknown-word"] * 5]
    (cased,) = [finding for finding in found if "letter case" in finding.message and finding.utterances]
    assert len(cased.utterances) == 9 and "python3 -c" in cased.message


def test_a_lexicon_of_other_words_or_of_words_as_phones_is_taken_for_one(clean: Corpus) -> None:
    clean.write("lexicon.txt", [f"{word} N OW" for word in ("ALPHA", "BRAVO", "CHARLIE", "DELTA", "ECHO")])
    assert "not-a-lexicon" not in clean.validate().counts
    words = sorted({word for line in clean.lines("train/text") for word in line.split()[1:]})
    clean.write("lexicon.txt", [f"{word} {word}" for word in words])  # a model of every word
    assert not clean.validate().findings


def test_pronunciations_that_only_stress_tells_apart_are_no_fault(clean: Corpus) -> None:
    stressed = [re.sub(r"(AH|UW|IY)", r"\g<1>1", line) for line in clean.lines("lexicon.txt")]
    others = [f"{word}(2) {phones.replace('1', '0')}" for word, phones in (line.split(maxsplit=1) for line in stressed)]
    clean.write("lexicon.txt", [*stressed, *others])
    assert not clean.validate().findings
    clean.append("lexicon.txt", stressed[0].replace(" ", "(3) ", 1))
    (only,) = clean.validate().findings
    assert (only.code, only.line) == ("duplicate-pronunciation", 2 * len(stressed) + 1)
    word, phones = stressed[0].split(maxsplit=1)
    assert only.fact == f"'{word} {phones}' is already on line 1"


def test_a_lexicon_that_begins_with_the_word_for_a_bracket_is_one(clean: Corpus) -> None:
    clean.write("lexicon.txt", ["( N OW", *clean.lines("lexicon.txt")])
    assert "not-a-lexicon" not in clean.validate().counts


def test_silence_that_prints_nothing_in_a_lexicon_of_htk_is_no_fault(clean: Corpus) -> None:
    words = [f"{line} sp" for line in clean.lines("lexicon.txt")]
    clean.write("lexicon.txt", [*words, "SENT-END [] sil", "SENT-START [] sil"])
    assert not clean.validate().findings
    clean.append("lexicon.txt", "!ENTER sil")
    assert clean.validate().counts == {"silence-entry": 1}


def test_missing_segments_are_told_once(clean: Corpus) -> None:
    clean.join()
    (clean.folder / "train/segments").unlink()
    report = clean.validate()
    assert report.counts["no-audio"] == 1
    (found,) = [finding for finding in report.findings if finding.code == "no-audio"]
    assert "segments" in found.message
    assert set(found.utterances) > set(clean.names)
