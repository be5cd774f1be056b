"""Validation of training inputs before the first stage; all problems are logged at once."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from asr.corpus.rates import CorpusRate, rate_of_corpus
from asr.lexicon.phone_units import is_phones
from asr.runs.progress import counted
from asr.training.config import TrainingConfig, for_phones
from asr.training.given_settings import GivenSettings
from asr.util.counted_text import count
from asr.util.errors import AsrError, ConfigError, CorpusError, Issue, LexiconError, printable
from asr.validation import Report, validate
from asr.validation.directory import collect_lists
from asr.validation.findings import lines_by_kind, of_settings
from asr.validation.settings import check_classifier
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

_CAUSE = "mixed-stress"  # reported first: it also causes errors about untrained phones
_TOLD = 5  # reasons in the final error; with more, the first is given and all are logged


def check_inputs(
    data: Path,
    lexicon: Path,
    given: GivenSettings,
    *,
    root: Path | None = None,
    tests: Iterable[Path] = (),
    samples_too: bool = True,
    despite_settings: bool = True,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> tuple[Report, TrainingConfig]:
    """Validate a corpus, its lexicon and the settings; return the settings too.

    If settings are not an object, a missing `sample_rate` means "auto". The returned settings then have the rate that
    suits the corpus (`asr.corpus.rates`), which is logged. Invalid settings are findings with line numbers. They are
    replaced by defaults and the checks go on; the audio is then read only `despite_settings`. For phones as units the
    search has its own defaults.
    """
    chosen: CorpusRate | None = None

    def corpus_rate() -> int | None:
        nonlocal chosen
        chosen = rate_of_corpus(collect_lists(data, root)[0].usable.values(), workers=workers)
        return None if chosen is None else chosen.rate

    settings, findings, at_fault = given.read(corpus_rate)
    if chosen is not None:
        log.debug("%s", chosen)
    if settings is not None and is_phones(lexicon):
        settings = for_phones(settings)
    known = None if _FOR_THE_CORPUS & at_fault else settings
    if known is None and settings is not None:
        findings += check_classifier(settings, given.file)
    stops = any(finding.stops for finding in findings)
    samples_too = samples_too and (despite_settings or not stops)
    report = validate(
        data,
        lexicon,
        known,
        root=root,
        tests=tests,
        config_file=given.file,
        samples_too=samples_too,
        workers=workers,
        follow=lambda total: counted(total, "audio and features checked" if samples_too else "headers checked"),
    )
    whole = TrainingConfig() if stops or settings is None else settings
    return replace(report, findings=(*sorted(findings, key=_line), *report.findings)), whole


_FOR_THE_CORPUS = {"features", "hybrid_features", "lexicon", "states_per_phone"}
"""Tables and settings that the checks of a corpus depend on."""


def _line(finding: Issue) -> int:
    return finding.line or 0


def log_findings(report: Report, *, of_lists: bool = False) -> None:
    """Log the number of findings and the first of each code; all others are details.

    Findings that the raised error contains are not logged too. With `of_lists`, the audio was not read, so the number
    of unusable utterances is unknown and not logged.

    Raises
    ------
    ConfigError, LexiconError, CorpusError
        If training is impossible, with all reasons (only the first few if there are many; all are logged).
    """
    stops = report.stopping
    if len(stops) > _TOLD:
        for line in lines_by_kind(sorted(stops, key=of_settings)):
            log.error("%s", line)
    lost = [finding for finding in report.errors if not finding.stops]
    if lost:
        if not of_lists:
            log.warning(
                "%s of %s will be left out: %s; failed.tsv lists them",
                count(len(report.left_out), "utterance"), f"{report.summary.listed:,}",
                codes_line(report.left_out.values()),
            )  # fmt: skip
        _log_first(lost)
    if report.warnings:
        log.warning(
            "%s: %s; asr validate lists them", count(len(report.warnings), "warning"), codes_line(report.warnings)
        )
        _log_first(report.warnings)
    if report.summary.without_words:
        log.warning("%s without words in the transcript", count(report.summary.without_words, "utterance"))
    for remark in report.remarks:
        log.debug("%s", printable(remark))
    if stops:
        raise _error(stops)


def codes_line(alike: Iterable[Issue]) -> str:
    """Count the findings by code, the most frequent first: `2 too-short, 1 unknown-word`."""
    found = Counter(one.code for one in alike)
    return ", ".join(f"{n:,} {code}" for code, n in found.most_common())


def _log_first(findings: Sequence[Issue]) -> None:
    by_code = defaultdict(list)
    for finding in findings:
        by_code[finding.code].append(finding)
    for code in sorted(by_code, key=lambda code: code != _CAUSE):
        for number, finding in enumerate(by_code[code]):
            log.log(logging.DEBUG if number else logging.WARNING, "  %s", finding)


def _error(stops: Sequence[Issue]) -> AsrError:
    """Return one error with every reason, or with the first if there are many (all are logged)."""
    first = stops[0]
    kind: type[AsrError] = CorpusError
    if of_settings(first):
        kind = ConfigError
    elif first.code in ("not-a-lexicon", "reserved-phone", "silence-entry"):
        kind = LexiconError
    shown = stops if len(stops) <= _TOLD else stops[:1]
    room = 900 // len(shown)
    last = {(finding.code, finding.remedy): finding for finding in shown}  # the last of each group states the remedy
    texts = [
        printable(
            f"{finding.place}: {finding.message if last[finding.code, finding.remedy] is finding else finding.fact}",
            room,
        )
        for finding in shown
    ]
    more = f"; {len(stops) - 1:,} more are in the log" if len(stops) > _TOLD else ""
    return kind("; ".join(texts) + more)
