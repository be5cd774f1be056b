"""Validation report: findings sorted by place, and a summary of the corpus."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from asr.util.counted_text import count
from asr.util.errors import Issue, printable
from asr.validation.findings import lines_by_kind, of_settings

_COLUMN = 14


@dataclass(frozen=True)
class SummaryOfTest:
    """Summary of a test directory."""

    path: str
    listed: int  # utterances in its lists
    usable: int  # utterances that its lists make usable
    speakers: int
    words: int  # running words of all transcripts
    known: int | None  # running words in the lexicon; None if it is unreadable
    findings: int

    def __str__(self) -> str:
        words = count(self.words, "word")
        if self.known is not None and self.words:
            words += f" ({100 * self.known / self.words:.2f} % of them in the lexicon)"
        of_all = "" if self.usable == self.listed else f" of {self.listed:,}"
        utterances = f"{self.usable:,}{of_all} {'utterance' if self.listed == 1 else 'utterances'}"
        found = f"{count(self.findings, 'finding')} above" if self.findings else "no findings"
        return f"{self.path}: {utterances}, {count(self.speakers, 'speaker')}, {words}; {found}"


@dataclass(frozen=True)
class Summary:
    """Summary of a training corpus.

    Attributes
    ----------
    listed, usable : int
        Utterances in the lists, and those that training can use.
    without_words : int
        Utterances with an empty transcript, which training leaves out.
    seconds : float or None
        Duration of the usable utterances; None if the matrices of archives were not read.
    speakers : int
        Speakers of the usable utterances.
    words, fewest_words, most_words : int
        Running words of the usable utterances, and of the speakers with the fewest and the most.
    rates : mapping of Hz to utterances
    vocabulary : int
        Distinct words of all transcripts.
    coverage : float
        Fraction of the running words of all transcripts that the lexicon has.
    lexicon_words, unheard_words : int
        Words of the lexicon, and those without a usable utterance.
    phones : mapping of phone to count
        Counts in usable transcripts with each word's first pronunciation, in descending order; then the lexicon's other
        phones with 0.
    sample_rate : int or None
        Sampling rate of the features in Hz; None without settings or audio.
    stress : str
        Treatment of the lexicon's stress digits, if any.
    numbers : str
        Treatment of the lexicon's columns of numbers, if any.
    tests : tuple of SummaryOfTest
        Test directories in the given order.

    Examples
    --------
    >>> import asr
    >>> report = asr.validate("data/train", "lexicon.txt", config={"features": {"sample_rate": 8000}}, jobs=1)
    >>> report.summary.vocabulary
    5
    """

    listed: int = 0
    usable: int = 0
    without_words: int = 0
    seconds: float | None = None
    speakers: int = 0
    words: int = 0
    fewest_words: int = 0
    most_words: int = 0
    rates: Mapping[int, int] = field(default_factory=dict)
    vocabulary: int = 0
    coverage: float = 1.0
    lexicon_words: int = 0
    unheard_words: int = 0
    phones: Mapping[str, int] = field(default_factory=dict)
    sample_rate: int | None = None
    stress: str = ""
    numbers: str = ""
    tests: tuple[SummaryOfTest, ...] = ()

    def lines(self, *, stopped: bool = False) -> Iterator[str]:
        """Yield a line for each subject; `stopped` if errors prevent training."""
        if_fixed = " after fixing the errors that prevent training" if stopped and self.usable else ""
        silent = f"; {self.without_words:,} without words" if self.without_words else ""
        rows = {
            "utterances": f"{self.usable:,} of {self.listed:,} can be used{if_fixed}{silent}",
            "duration": "unknown" if self.seconds is None else f"{self.seconds / 3600:.2f} h",
            "speakers": f"{self.speakers:,}",
            "words": f"{self.words:,}, {self._per_speaker} per speaker",
            "rates": ", ".join(f"{rate} Hz ({n:,})" for rate, n in sorted(self.rates.items())) or "no audio",
            "features": "" if self.sample_rate is None else f"{self.sample_rate} Hz",
            "vocabulary": f"{self.vocabulary:,} words in all transcripts; "
            f"the lexicon has {100 * self.coverage:.2f} % of the running words",
            "lexicon": f"{self.lexicon_words:,} words, {self.unheard_words:,} of them in no usable transcript",
            "stress": self.stress,
            "numbers": self.numbers,
            "phones": f"{len(self.phones)}: " + " ".join(f"{phone} {n:,}" for phone, n in self.phones.items()),
        }
        for name, text in rows.items():
            if text:
                yield printable(f"{name:{_COLUMN}}{text}", limit=100_000)
        for test in self.tests:
            yield printable(f"{'test':{_COLUMN}}{test}")

    @property
    def _per_speaker(self) -> str:
        if self.fewest_words == self.most_words:
            return f"{self.most_words:,}"
        return f"{self.fewest_words:,} to {self.most_words:,} ({self.words / max(1, self.speakers):.1f} on average)"


@dataclass(frozen=True)
class Report:
    """All findings by file and line, the summary, and remarks on the corpus as a whole.

    Attributes
    ----------
    findings : tuple of Issue
        Sorted by file and line.
    summary : Summary
        Size of the corpus.
    remarks : tuple of str
        Remarks on the corpus as a whole.

    Examples
    --------
    >>> import asr
    >>> report = asr.validate("data/train", "lexicon.txt", config={"features": {"sample_rate": 8000}}, jobs=1)
    >>> report.errors
    ()
    """

    findings: tuple[Issue, ...]
    summary: Summary = Summary()
    remarks: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Issue, ...]:
        """Findings that training cannot use."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Issue, ...]:
        """Findings that training accepts."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def stopping(self) -> tuple[Issue, ...]:
        """Errors that prevent training."""
        return tuple(finding for finding in self.findings if finding.stops)

    @cached_property
    def left_out(self) -> dict[str, Issue]:
        """Utterances that training leaves out, sorted, with the first reason."""
        found: dict[str, Issue] = {}
        for finding in self.errors:
            for name in finding.utterances:
                found.setdefault(name, Issue(finding.code, f"{finding.place}: {finding.message}", utterances=(name,)))
        return dict(sorted(found.items()))

    @property
    def counts(self) -> dict[str, int]:
        """Number of findings by code, errors first, the most frequent first."""
        found = Counter(finding.code for finding in self.errors)
        found.update(Counter(finding.code for finding in self.warnings))
        severe = {finding.code for finding in self.errors}
        return dict(sorted(found.items(), key=lambda item: (item[0] not in severe, -item[1], item[0])))

    def lines(self) -> Iterator[str]:
        """Yield the report as text: findings by kind, summary and remarks."""
        yield from lines_by_kind(sorted(self.findings, key=lambda finding: (finding.severity, of_settings(finding))))
        if self.findings:
            yield ""
        yield from self.summary.lines(stopped=bool(self.stopping))
        verdict = f"{count(len(self.errors), 'error')}, {count(len(self.warnings), 'warning')}"
        kinds = ", ".join(f"{n:,} {code}" for code, n in self.counts.items())
        yield f"{'findings':{_COLUMN}}{verdict}{f' ({kinds})' if kinds else ''}"
        for remark in self.remarks:
            yield printable(f"{'remark':{_COLUMN}}{remark}")

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            "errors": len(self.errors),
            "warnings": len(self.warnings),
            "counts": self.counts,
            "findings": [
                {
                    "severity": finding.severity,
                    "code": finding.code,
                    "file": str(finding.path),
                    "line": finding.line,
                    "message": finding.message,
                    "utterances": list(finding.utterances),
                    "stops": finding.stops,
                }
                for finding in self.findings
            ],
            "summary": asdict(self.summary),
            "remarks": list(self.remarks),
        }
