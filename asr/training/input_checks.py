"""What a training is given, checked before its first stage: all that is wrong is logged at once."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from asr.corpus.data_directory import Problem
from asr.corpus.rates import CorpusRate, rate_of_corpus
from asr.runs.progress import counted
from asr.training.config import (
    LexiconSettings,
    SettingsError,
    TrainingConfig,
    check_same_static,
    load_config,
    sets_nothing,
)
from asr.util.counted_text import count
from asr.util.errors import AsrError, ConfigError, CorpusError, Fault, LexiconError, printable
from asr.validation import Finding, Report, validate
from asr.validation.directory import read_directory_past_faults
from asr.validation.findings import lines_by_kind, stopping, warning, without_place
from asr.validation.settings import check_classifier, setting_place
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

_SHOWN = 5  # of every code
_CAUSE = "mixed-stress"  # told first: where there are too many phones, others tell of those that are never heard
_TOLD = 5  # in the sentence that ends the command; of more the first, after a line of the log for each


def check_inputs(
    data: Path,
    lexicon: Path,
    config: TrainingConfig | Path | Mapping[str, Any] | None,
    *,
    root: Path | None = None,
    tests: Iterable[Path] = (),
    classifier: str | None = None,
    strip_stress: bool | None = None,
    seed: int | None = None,
    samples_too: bool = True,
    despite_settings: bool = True,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> tuple[Report, TrainingConfig]:
    """Validate a corpus, its lexicon and settings, which may be a file or its tables; returns the settings too.

    Where settings are not an object yet, `sample_rate` may be "auto", and is unless it is set: the
    settings returned hold the rate that suits the corpus (see `asr.corpus.rates`), which is logged.
    Settings that are wrong are findings like any other, each with its line, and the rest is checked as far as it does
    not depend on them; the defaults are returned in their place; audio is then read only `despite_settings`.
    `classifier`, `strip_stress` and `seed` take the place of those in the settings.
    """
    file = config if isinstance(config, Path) else None
    chosen: CorpusRate | None = None

    def corpus_rate() -> int | None:
        nonlocal chosen
        chosen = rate_of_corpus(read_directory_past_faults(data, root).usable.values(), workers=workers)
        return None if chosen is None else chosen.rate

    settings, findings, at_fault = _read_settings(config, file, corpus_rate)
    if chosen is not None:
        log.info("%s", chosen)
    if settings is not None:
        if classifier is not None:
            settings = with_classifier(settings, classifier)
        if strip_stress is not None:
            stress = LexiconSettings(stress="strip" if strip_stress else "keep")
            settings = settings.model_copy(update={"lexicon": stress})
        if seed is not None:
            given, of_seed, _ = _read_settings({"seed": seed}, None, None)
            findings += of_seed
            settings = settings.model_copy(update={"seed": settings.seed if given is None else given.seed})
    known = None if _FOR_THE_CORPUS & at_fault else settings
    if known is None and settings is not None:
        findings += check_classifier(settings, file)
    stops = any(finding.stops for finding in findings)
    samples_too = samples_too and (despite_settings or not stops)
    report = validate(
        data,
        lexicon,
        known,
        root=root,
        tests=tests,
        config_file=file,
        samples_too=samples_too,
        workers=workers,
        follow=lambda total: counted(total, "audio and features checked" if samples_too else "headers checked"),
    )
    whole = TrainingConfig() if stops or settings is None else settings
    return replace(report, findings=(*sorted(findings, key=_line), *report.findings)), whole


_FOR_THE_CORPUS = {"features", "hybrid_features", "lexicon", "states_per_phone"}
"""Tables and settings without which what is wrong with a corpus cannot be told."""


def _read_settings(
    config: TrainingConfig | Path | Mapping[str, Any] | None,
    file: Path | None,
    corpus_rate: Callable[[], int | None] | None,
) -> tuple[TrainingConfig | None, list[Finding], set[str]]:
    """The settings with defaults in the place of those at fault, what is wrong, and the tables in which it is.

    None where they cannot be read, or nothing is known of those that are right.
    """
    try:
        if isinstance(config, TrainingConfig):
            check_same_static(config.features, config.hybrid_features)
            return config, [], set()
        settings = load_config(config, corpus_rate=corpus_rate)
    except SettingsError as error:
        findings = [stopping("settings", *setting_place(file, fault.name), fault.phrase) for fault in error.faults]
        return error.sound, findings, {fault.name.partition(".")[0] for fault in error.faults}
    except ConfigError as error:
        place, line = setting_place(file, "")
        message = str(error) if file is None else without_place(error, file)
        texts = re.search(r"\bline (\d+)", message)
        return (
            None,
            [stopping("settings", place, int(texts[1]) if texts and file is not None else line, message)],
            set(),
        )
    if file is not None and sets_nothing(file):
        return settings, [warning("settings", file, None, "sets nothing, so that every setting has its default")], set()
    return settings, [], set()


def _line(finding: Finding) -> int:
    return finding.line or 0


def with_classifier(config: TrainingConfig, classifier: str) -> TrainingConfig:
    """The settings with another classifier: parameters in them are those of the classifier that they name."""
    parameters = config.hybrid.parameters if classifier == config.hybrid.classifier else {}
    hybrid = config.hybrid.model_copy(update={"classifier": classifier, "parameters": parameters})
    return config.model_copy(update={"hybrid": hybrid})


def log_findings(report: Report, *, of_lists: bool = False) -> None:
    """Log what is wrong, the first few of every code, before anything takes long.

    Of the faults that stop a training, those that the error tells are not logged as well. With `of_lists`, audio was
    not read, so that it is not told how many utterances will be left out.

    Raises
    ------
    ConfigError, LexiconError, CorpusError
        When nothing can be trained, with all reasons for it (the first few, where there are many; all are logged).
    """
    stops = report.stopping
    if len(stops) > _TOLD:
        for line in lines_by_kind(sorted(stops, key=lambda finding: finding.of_settings)):
            log.error("%s", line)
    lost = [finding for finding in report.errors if not finding.stops]
    if lost:
        if not of_lists:
            log.warning(
                "%s of %s will be left out: %s",
                count(len(report.left_out), "utterance"), f"{report.summary.listed:,}",
                codes_line(report.left_out.values()),
            )  # fmt: skip
        _log_first(lost)
    if report.warnings:
        log.warning("%s before training: %s", count(len(report.warnings), "warning"), codes_line(report.warnings))
        _log_first(report.warnings)
    if lost or report.warnings:
        log.warning("asr validate --json or as_json() of asr.validate lists all of them")
    if report.summary.without_words:
        log.warning("%s of these for an empty transcript", f"{report.summary.without_words:,}")
    for remark in report.remarks:
        log.info("%s", printable(remark))
    if stops:
        raise _error(stops)


def codes_line(alike: Iterable[Finding | Fault | Problem]) -> str:
    """How many there are of every code, the most frequent first: `2 too-short, 1 unknown-word`."""
    found = Counter(one.code for one in alike)
    return ", ".join(f"{n:,} {code}" for code, n in found.most_common())


def _log_first(findings: Sequence[Finding]) -> None:
    by_code = defaultdict(list)
    for finding in findings:
        by_code[finding.code].append(finding)
    for code in sorted(by_code, key=lambda code: code != _CAUSE):
        group = by_code[code]
        for line in lines_by_kind(group[:_SHOWN]):
            log.warning("  %s", line)
        if len(group) > _SHOWN:
            log.warning("  and %s more of %s", f"{len(group) - _SHOWN:,}", group[0].code)


def _error(stops: Sequence[Finding]) -> AsrError:
    """One sentence with every reason, or, where these are many, with the first: the log has all of them."""
    first = stops[0]
    kind: type[AsrError] = CorpusError
    if first.of_settings:
        kind = ConfigError
    elif first.code in ("not-a-lexicon", "reserved-phone", "silence-entry"):
        kind = LexiconError
    shown = stops if len(stops) <= _TOLD else stops[:1]
    room = 900 // len(shown)
    last = {(finding.code, finding.remedy): finding for finding in shown}  # which tells the remedy of all alike
    texts = [
        printable(
            f"{finding.place}: {finding.message if last[finding.code, finding.remedy] is finding else finding.fact}",
            room,
        )
        for finding in shown
    ]
    more = f"; and {len(stops) - 1:,} faults more, which the log lists" if len(stops) > _TOLD else ""
    return kind("; ".join(texts) + more)
