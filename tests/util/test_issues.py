"""Issues: places, remedies, and collecting or raising them."""

import pickle
from pathlib import Path

import pytest

from asr.util.errors import CorpusError, Issue, by_utterance, report

ISSUE = Issue("pipe", "'a \x1b' is a pipe; store a file.", path=Path("d/wav.scp"), line=3)


def test_issue_shows_place_severity_and_code() -> None:
    assert (ISSUE.place, ISSUE.fact, ISSUE.remedy) == ("d/wav.scp:3", "'a \\x1b' is a pipe", "store a file")
    assert str(ISSUE) == "d/wav.scp:3: error: 'a \\x1b' is a pipe; store a file [pipe]"
    assert str(Issue("silent", "all samples are 0")) == "all samples are 0 [silent]"
    assert (ISSUE.utterance, ISSUE.for_utterance("u").utterance) == ("", "u")


def test_issue_is_a_value_for_workers_and_sets() -> None:
    assert pickle.loads(pickle.dumps(ISSUE)) == ISSUE
    assert {ISSUE, ISSUE.for_utterance("u"), pickle.loads(pickle.dumps(ISSUE))} == {ISSUE, ISSUE.for_utterance("u")}
    assert by_utterance([Issue("b", "x", utterances=("v",)), Issue("a", "x", utterances=("v",)), ISSUE])[0] == ISSUE


def test_report_raises_or_collects() -> None:
    with pytest.raises(CorpusError, match=r"^d/wav\.scp:3: .* is a pipe; store a file$") as raised:
        report(ISSUE, CorpusError, None)
    assert raised.value.code == "pipe"
    issues: list[Issue] = []
    report(ISSUE, CorpusError, issues)
    assert [(issue.message, issue.stops) for issue in issues] == [(ISSUE.message, True)]
