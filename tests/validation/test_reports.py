"""Reports as a whole: test directories, agreement with training, workers, summaries, hostile lists."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.corpus.data_directory import read_data_directory
from asr.lexicon import read_lexicon
from asr.training.config import TrainingConfig
from asr.training.dataset import trainable
from asr.training.given_settings import GivenSettings
from asr.training.input_checks import check_inputs, log_findings
from asr.training.tuning import folds
from asr.util.errors import AsrError
from asr.validation import Report, Summary, validate
from asr.validation.corpus_size import MIN_SPEAKERS, remarks_on_amount, remarks_on_context
from asr.validation.findings import MAX_LINES, costing, warning
from discriminants.parallel.workers import LocalWorkers
from tests.validation.corpora import Corpus


def codes(report: Report) -> list[tuple[str, str, int | None]]:
    return [(finding.code, finding.path.name, finding.line) for finding in report.findings]


def test_a_speaker_of_training_and_test_is_named(clean: Corpus) -> None:
    for name in ("utt2spk", "spk2gender"):
        clean.write(f"test/{name}", [line.replace("test1", "train1") for line in clean.lines(f"test/{name}")])
    clean.write("test/utt2spk", [f"{line.split()[0]} {line.split()[1]}" for line in clean.lines("test/utt2spk")])
    for name in ("text", "wav.scp", "utt2spk"):
        clean.write(f"test/{name}", [line.replace("train1-", "test1-", 1) for line in clean.lines(f"test/{name}")])
    report = clean.validate(tests=[clean.folder / "test"])
    assert codes(report) == [("shared-speaker", "utt2spk", 3)]
    assert "'train1'" in report.findings[0].message
    assert not report.errors


def test_a_test_directory_is_checked_but_its_unknown_words_are_no_error(clean: Corpus) -> None:
    test = clean.folder / "test"

    def checked() -> tuple[Report, str]:
        report = clean.validate(tests=[test])
        (line,) = [line for line in report.lines() if line.startswith("test  ")]
        return report, line.partition(": ")[2]

    n_words = sum(len(line.split()) - 1 for line in clean.lines("test/text"))
    share = "100.00 % of them in the lexicon"
    assert checked()[1] == f"4 utterances, 2 speakers, {n_words} words ({share}); no findings"
    clean.set_line("test/text", 2, f"{clean.lines('test/text')[1]} ELEVEN")
    clean.set_line("test/wav.scp", 3, f"{clean.lines('test/wav.scp')[2].split()[0]} nothing.wav")
    report, texts = checked()
    faults = [("warning", "unknown-word", 2), ("error", "missing-file", 3)]
    assert [(finding.severity, finding.code, finding.line) for finding in report.findings] == faults
    share = f"{100 * n_words / (n_words + 1):.2f} % of them in the lexicon"
    assert texts == f"3 of 4 utterances, 2 speakers, {n_words + 1} words ({share}); 2 findings above"
    lexicon = clean.lines("lexicon.txt")
    clean.write("lexicon.txt", [])
    assert "words" in checked()[1] and "in the lexicon" not in checked()[1]
    clean.write("lexicon.txt", lexicon)
    (test / "text").unlink()
    clean.set_line("test/wav.scp", 3, None)
    clean.set_line("test/utt2spk", 3, None)
    assert not checked()[0].findings


def test_faults_without_number_are_all_told_at_once(clean: Corpus) -> None:
    clean.set_line("train/utt2spk", 1, clean.names[0])
    clean.set_line("train/wav.scp", 2, f"{clean.names[1]} cat x |")
    clean.set_line("train/spk2gender", 3, "train2 x")
    clean.append("lexicon.txt", "EIGHT")
    clean.settings("seed = 'one'")
    clean.record(5, np.zeros(0))
    report = clean.validate()
    assert codes(report) == [
        ("settings", "settings.toml", 2), ("malformed", "lexicon.txt", 6), ("bad-gender", "spk2gender", 3),
        ("key-alone", "utt2spk", 1), ("single-utterance", "utt2spk", 3), ("pipe", "wav.scp", 2),
        ("empty-file", "wav.scp", 5),
    ]  # fmt: skip
    assert len(report.stopping) == 5
    assert list(report.left_out) == [clean.names[4]]


def test_every_fault_of_the_settings_is_a_finding_with_its_line(clean: Corpus) -> None:
    clean.settings(
        "ngram_order = 99", "[hybrid]", 'classifier = "forest"', "realignments = -1", "noise = {directory = 'no'}",
        "[gmm]", "mixtures = [1, 3]", "iterations = [1]", "[tuning]", "held_oot = 0.1",
    )  # fmt: skip
    assert codes(clean.validate()) == [
        ("settings", "settings.toml", 2), ("settings", "settings.toml", 5), ("settings", "settings.toml", 8),
        ("settings", "settings.toml", 9), ("settings", "settings.toml", 11), ("classifier", "settings.toml", 4),
        ("noise", "settings.toml", 6),
    ]  # fmt: skip
    clean.set_line("settings.toml", 1, "features = {sample_rate = 8000, low_hz = -1.0}")
    assert codes(clean.validate()) == [  # settings that depend on the features are checked later
        ("settings", "settings.toml", 1), ("settings", "settings.toml", 2), ("classifier", "settings.toml", 4),
        ("settings", "settings.toml", 5), ("settings", "settings.toml", 8), ("settings", "settings.toml", 9),
        ("settings", "settings.toml", 11),
    ]  # fmt: skip


def test_settings_that_set_nothing_are_a_warning(clean: Corpus) -> None:
    clean.write("settings.toml", [""])
    report = clean.validate()
    assert [(f.severity, f.code, f.path.name) for f in report.findings] == [("warning", "settings", "settings.toml")]
    assert "have their defaults" in report.findings[0].message


def test_what_is_left_out_is_what_the_readers_of_training_leave_out(clean: Corpus) -> None:
    clean.audio(1).unlink()
    clean.set_line("train/text", 2, clean.names[1])
    clean.set_line("train/text", 3, f"{clean.names[2]} ELEVEN")
    clean.append_word(7, "ELEVEN")
    clean.change("train/utt2spk", 6, " train1", " ..")
    clean.set_line("train/utt2spk", 4, None)
    clean.set_line("train/wav.scp", 5, None)
    clean.append("train/text", "train2-999 ONE")
    report = clean.validate()
    problems = trainable(read_data_directory(clean.folder / "train"), read_lexicon(clean.folder / "lexicon.txt"))[1]
    assert {name: fault.code for name, fault in report.left_out.items()} == {p.utterance: p.code for p in problems}
    assert len(problems) == 7
    assert report.summary.usable == 3 and report.summary.listed == 10


def test_when_nothing_is_left_it_is_said(clean: Corpus) -> None:
    for line in range(1, 10):
        clean.audio(line).unlink() if line % 2 else clean.audio(line).write_bytes(b"")
    report = clean.validate()
    assert [finding.code for finding in report.stopping] == ["nothing-left"]
    assert "none of its 9 utterances can be used" in report.stopping[0].message
    assert len(report.findings) == 10


def test_report_is_the_same_for_any_workers(clean: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    import asr.corpus.audio_stats as measuring

    clean.record(4, np.zeros(12000))
    assert clean.validate() == clean.validate(workers=LocalWorkers(2))
    opened = []
    read = measuring.read_native
    monkeypatch.setattr(measuring, "read_native", lambda path, **more: opened.append(path) or read(path, **more))
    clean.validate()
    assert len(opened) == len(set(opened)) == 9


def test_without_samples_headers_are_read(clean: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    import asr.corpus.audio_stats as measuring

    clean.record(3, np.zeros(12000))
    clean.record(4, np.zeros(0))
    clean.record(5, clean.samples(5), rate=4000)
    clean.record(6, clean.samples(6)[:700])
    monkeypatch.setattr(measuring, "read_native", None)
    assert codes(clean.validate(samples_too=False)) == [
        ("too-short", "text", 6), ("empty-file", "wav.scp", 4), ("low-rate", "wav.scp", 5)
    ]  # fmt: skip


def test_without_settings_nothing_is_said_of_what_they_decide(clean: Corpus) -> None:
    report = validate(clean.folder / "train", clean.folder / "lexicon.txt")
    assert report.findings == ()
    assert [finding.code for finding in validate(
        str(clean.folder / "train"), str(clean.folder / "lexicon.txt"), TrainingConfig()
    ).findings] == ["low-rate"]  # fmt: skip


def test_the_summary_counts_what_there_is(clean: Corpus) -> None:
    clean.append("lexicon.txt", "WON W AH N")
    clean.set_line("train/text", 3, f"{clean.names[2]} ELEVEN")
    said = [line.split() for line in clean.lines("train/text")]
    words = [word for line in said for word in line[1:]]
    summary = clean.validate().summary
    assert (summary.listed, summary.usable, summary.speakers) == (9, 8, 3)
    assert summary.words == len(words) - 1
    assert summary.vocabulary == 6
    assert summary.coverage == pytest.approx(1 - 1 / len(words))
    assert (summary.lexicon_words, summary.unheard_words) == (6, 1)
    assert summary.rates == {8000: 9}
    kept = [word for line in said[:2] + said[3:] for word in line[1:]]
    assert summary.phones["UW"] == sum(word in ("TWO", "NO") for word in kept)


def test_findings_are_fit_for_a_terminal(clean: Corpus) -> None:
    clean.set_line("train/utt2spk", 1, f"{clean.names[0]} a\x1b[2J b")
    clean.append_word(2, "x" * 5000)
    report = clean.validate()
    assert {finding.code for finding in report.findings} >= {"malformed", "unknown-word"}
    for line in report.lines():
        assert line.isprintable() and len(line) < 1500


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(
        [f"train/{name}" for name in ("wav.scp", "text", "utt2spk", "segments", "feats.scp", "spk2gender")]
        + ["lexicon.txt"]
    ),
    content=st.binary(max_size=80) | st.text("ab0 .:-|\n\x1b/", max_size=60).map(str.encode),
)
def test_any_list_gives_a_report_that_stops_where_the_readers_refuse(clean_folder, name, content):
    path = clean_folder / name
    before = path.read_bytes() if path.exists() else None
    path.write_bytes(content)
    try:
        report = validate(clean_folder / "train", clean_folder / "lexicon.txt", samples_too=False)
        refused = True
        with suppress(AsrError):
            trainable(read_data_directory(clean_folder / "train"), read_lexicon(clean_folder / "lexicon.txt"))
            refused = False
    finally:
        path.unlink() if before is None else path.write_bytes(before)
    assert report.stopping or not refused


def test_summary_names_the_rate_of_features_and_stress(clean: Corpus) -> None:
    clean.write("settings.toml", ["seed = 1"])
    stressed = {"AH": "AH1", "IY": "IY0", "UW": "UW2"}
    words = [line.split() for line in clean.lines("lexicon.txt")]
    clean.write("lexicon.txt", [" ".join([word, *(stressed.get(p, p) for p in phones)]) for word, *phones in words])
    report = clean.validate()
    assert not report.findings
    lines = [" ".join(line.split()) for line in report.lines()]
    assert "features 8000 Hz" in lines
    assert "stress stress digits removed from 3 vowels (--keep-stress, strip_stress=False, keeps them)" in lines
    assert "stress stress digits kept, as requested" in [
        " ".join(line.split()) for line in clean.validate(strip_stress=False).lines()
    ]


def test_where_the_rate_of_all_audio_is_refused_no_utterance_can_be_used(clean: Corpus) -> None:
    clean.write("settings.toml", ["features = {sample_rate = 16000}"])
    report = clean.validate()
    assert [finding.code for finding in report.stopping] == ["low-rate"]
    assert (report.summary.usable, len(report.left_out)) == (0, 9)
    assert next(report.summary.lines()).endswith("0 of 9 can be used")


def test_utterances_that_wait_for_an_error_to_be_mended_are_counted_so(clean: Corpus) -> None:
    clean.set_line("train/spk2gender", 3, "train2 x")
    lines = list(clean.validate().lines())
    assert any(line.endswith("9 of 9 can be used after fixing the errors that prevent training") for line in lines)


def test_utterances_without_words_are_counted(clean: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    for line in (2, 5):
        clean.set_line("train/text", line, clean.names[line - 1])
    clean.set_line("test/text", 1, clean.lines("test/text")[0].split()[0])
    report = clean.validate(tests=[clean.folder / "test"])
    assert report.summary.without_words == 2
    assert next(report.summary.lines()).endswith("7 of 9 can be used; 2 without words")
    assert any("test: 1 utterance without words" in remark for remark in report.remarks)
    log_findings(report)
    assert any(message.startswith("2 utterances without words") for message in caplog.messages)


def test_words_count_as_said_where_training_uses_the_utterance(clean: Corpus) -> None:
    words = [line.split()[1:] for line in clean.lines("train/text")]
    with_wise = [number for number, of_line in enumerate(words, 1) if "WISE" in of_line]
    for number in with_wise:
        clean.audio(number).unlink()
    kept = {word for of_line in words if "WISE" not in of_line for word in of_line}
    lost = {"NO", "ONE", "SEVEN", "TWO", "WISE"} - kept
    report = clean.validate()
    assert 0 < len(with_wise) < 9 and "WISE" in lost
    assert report.summary.unheard_words == len(lost)
    assert any(line.endswith(f"{len(lost)} of them in no usable transcript") for line in report.summary.lines())


def test_utterance_with_two_faults_is_left_out_once(clean: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    clean.set_line("train/text", 3, f"{clean.names[2]} ELEVEN")
    clean.set_line("train/text", 4, f"{clean.names[3]} TWELVE")
    clean.audio(4).write_bytes(b"")
    log_findings(clean.validate())
    assert any(message.startswith("2 utterances of 9 will be left out: 2 unknown-word") for message in caplog.messages)
    assert sum("[empty-file]" in message or "[unknown-word]" in message for message in caplog.messages) == 2


def test_little_speech_is_a_remark(clean: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    report = clean.validate()
    assert not report.findings
    amount, speakers = report.remarks
    assert f"{report.summary.words} words in 9 utterances (" in amount
    assert "3 speakers" in speakers
    assert report.as_json()["remarks"] == [amount, speakers]
    assert list(report.lines())[-1].split(maxsplit=1) == ["remark", speakers]
    with caplog.at_level("DEBUG", logger="asr.training"):
        log_findings(report)
    assert amount in caplog.messages
    assert MIN_SPEAKERS == folds.MIN_SPEAKERS


def test_context_that_the_speech_is_too_little_for_is_told_before_training(clean: Corpus) -> None:
    settings = {"sample_rate": 8000}
    for tied, texts in (("auto", "1000 per state"), (18, "tied_states = 18")):
        config = {"context": 3, "tied_states": tied, "features": settings}
        report, _ = check_inputs(clean.folder / "train", clean.folder / "lexicon.txt", GivenSettings(config))
        assert report.remarks[-1].startswith("context = 3 has no effect: the 6 phones have 18 states")
        assert texts in report.remarks[-1]
    for config in ({"context": 3, "tied_states": 19, "features": settings}, {"features": settings}):
        report, _ = check_inputs(clean.folder / "train", clean.folder / "lexicon.txt", GivenSettings(config))
        assert not any(remark.startswith("context") for remark in report.remarks)
    enough = Summary(listed=900, usable=900, words=9000, speakers=30, seconds=250.0, phones={"A": 9, "B": 9})
    assert len(list(remarks_on_context(enough, "auto", 12, 10.0))) == 0
    assert len(list(remarks_on_context(enough, "auto", 13, 10.0))) == 1


def test_what_other_warnings_follow_from_is_logged_first(caplog: pytest.LogCaptureFixture) -> None:
    found = [warning(code, Path("lexicon.txt"), 1, code) for code in ("unheard-phone", "mixed-stress")]
    log_findings(Report(tuple(found), Summary()))
    shown = [record.getMessage().split()[-1] for record in caplog.records if record.getMessage().startswith("  ")]
    assert shown == ["[mixed-stress]", "[unheard-phone]"]


def test_a_large_vocabulary_of_few_words_is_remarked() -> None:
    much = {"listed": 1000, "usable": 1000, "speakers": 30, "seconds": 4000.0, "vocabulary": 957}
    (texts,) = remarks_on_amount(Summary(words=5054, **much))
    assert "5,054 words" in texts and "957" in texts
    assert not list(remarks_on_amount(Summary(words=9570, **much)))
    assert not list(remarks_on_amount(Summary(words=4000, **{**much, "vocabulary": 499})))


def test_nothing_is_remarked_of_enough_speech() -> None:
    assert not list(remarks_on_amount(Summary(listed=1000, usable=1000, words=9000, speakers=30, seconds=4000.0)))
    assert not list(remarks_on_amount(Summary()))
    (only,) = remarks_on_amount(Summary(listed=1000, usable=1000, words=9000, speakers=1))
    assert "1 speaker" in only


def test_shared_remedy_is_told_once_and_settings_come_last(clean: Corpus) -> None:
    clean.settings("seed = 'one'")
    clean.set_line("train/text", 3, f"{clean.names[2]} one")
    clean.set_line("train/text", 1, f"{clean.names[0]} two")
    for line, word in ((2, "ELEVEN"), (4, "TWELVE"), (5, "TWENTY")):
        clean.set_line("train/text", line, f"{clean.names[line - 1]} {word}")
    report = clean.validate()
    lines = list(report.lines())[: len(report.findings) + 1]
    text = f"{clean.folder}/train/text"
    assert [line.partition(": error")[0] for line in lines[:3]] == [f"{text}:{number}" for number in (2, 4, 5)]
    assert [word in line for word, line in zip(("'ELEVEN'", "'TWELVE'", "'TWENTY'"), lines, strict=False)] == [True] * 3
    assert lines[3] == "  for each of these 3: add its pronunciation, or correct the word"
    assert "add its" not in "".join(lines[:3])
    assert lines[4].startswith(f"{text}:1: ") and "TWO" in lines[4]
    assert lines[5].startswith(f"{text}:3: ") and "ONE" in lines[5]
    assert lines[6].startswith(f"{clean.folder}/settings.toml:2: error: seed: ")
    assert report.findings[0].code == "settings"  # in the order of files too


def test_the_sentence_that_ends_a_training_repeats_no_remedy_either(clean: Corpus) -> None:
    for line in (2, 4, 6):
        clean.set_line("train/utt2spk", line, clean.names[line - 1])
    with pytest.raises(AsrError) as raised:
        log_findings(clean.validate())
    texts = str(raised.value)
    assert texts.count("write its value after it") == 1
    assert [f"utt2spk:{line}" in texts for line in (2, 4, 6)] == [True] * 3


def test_report_lines_of_one_kind_are_limited() -> None:
    place = Path("train/text")
    alike = [costing("unknown-word", place, n, f"no word {n}; add it", [f"u{n}"]) for n in range(1, 10_001)]
    others = [costing("too-short", place, n, f"short {n}", [f"u{n}"]) for n in range(1, 4)]
    report = Report(tuple(alike + others))
    lines = [line for line in report.lines() if "train/text" in line or line.startswith("  ")]
    assert len(lines) == MAX_LINES + 2 + 3
    assert "10,000" in lines[MAX_LINES] and "9,980 more" in lines[MAX_LINES + 1]
    assert len(report.as_json()["findings"]) == 10_003


def test_validate_number_columns_are_one_line_and_no_finding(clean: Corpus) -> None:
    lines = [line.split(maxsplit=1) for line in clean.lines("lexicon.txt")]
    clean.write("lexicon.txt", [f"{word} 1 0.20 1.00 0.97 {phones}" for word, phones in lines])
    report = clean.validate()
    assert not report.findings
    assert set(report.summary.phones) == {phone for _, phones in lines for phone in phones.split()}
    assert "silence columns" in report.summary.numbers
    assert sum("silence columns" in line for line in report.lines()) == 1
