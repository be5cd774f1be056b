"""Validation of training inputs before the first stage; all problems are logged at once."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from asr.acoustic.classifiers import Classifier
from asr.corpus.rates import CorpusRate, rate_of_corpus
from asr.lexicon.phone_units import is_phones
from asr.runs.progress import counted
from asr.training.config import (
    LexiconSettings,
    SettingsError,
    TrainingConfig,
    check_same_static,
    for_phones,
    load_config,
    sets_nothing,
)
from asr.util.counted_text import count
from asr.util.errors import AsrError, ConfigError, CorpusError, Issue, LexiconError, printable, without_place
from asr.util.toml_lines import setting_place
from asr.validation import Report, validate
from asr.validation.directory import collect_lists
from asr.validation.findings import lines_by_kind, of_settings, stopping, warning
from asr.validation.settings import check_classifier
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

_CAUSE = "mixed-stress"  # reported first: it also causes errors about untrained phones
_TOLD = 5  # reasons in the final error; with more, the first is given and all are logged


def check_inputs(
    data: Path,
    lexicon: Path,
    config: TrainingConfig | Path | Mapping[str, Any] | None,
    *,
    root: Path | None = None,
    tests: Iterable[Path] = (),
    classifier: str | Classifier | None = None,
    strip_stress: bool | None = None,
    seed: int | None = None,
    samples_too: bool = True,
    despite_settings: bool = True,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> tuple[Report, TrainingConfig]:
    """Validate a corpus, its lexicon and the settings (an object, a file or tables); return the settings too.

    If settings are not an object, a missing `sample_rate` means "auto". The returned settings then have the rate that
    suits the corpus (`asr.corpus.rates`), which is logged. Invalid settings are findings with line numbers. They are
    replaced by defaults and the checks go on; the audio is then read only `despite_settings`. `classifier`,
    `strip_stress` and `seed` override the settings. For phones as units the search has its own defaults.
    """
    file = config if isinstance(config, Path) else None
    chosen: CorpusRate | None = None

    def corpus_rate() -> int | None:
        nonlocal chosen
        chosen = rate_of_corpus(collect_lists(data, root)[0].usable.values(), workers=workers)
        return None if chosen is None else chosen.rate

    settings, findings, at_fault = _read_settings(config, file, corpus_rate)
    if chosen is not None:
        log.debug("%s", chosen)
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
        if is_phones(lexicon):
            settings = for_phones(settings)
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
"""Tables and settings that the checks of a corpus depend on."""


def _read_settings(
    config: TrainingConfig | Path | Mapping[str, Any] | None,
    file: Path | None,
    corpus_rate: Callable[[], int | None] | None,
) -> tuple[TrainingConfig | None, list[Issue], set[str]]:
    """Return the settings with defaults for the faulty ones, the findings, and the faulty tables.

    The settings are missing (None) if they cannot be read or checked.
    """
    try:
        if isinstance(config, TrainingConfig):
            check_same_static(config.features, config.hybrid_features)
            return config, [], set()
        settings = load_config(config, corpus_rate=corpus_rate)
    except SettingsError as error:
        findings = [stopping("settings", *setting_place(file, one.setting), one.message) for one in error.faults]
        return error.sound, findings, {one.setting.partition(".")[0] for one in error.faults}
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
        return settings, [warning("settings", file, None, "is empty, so all settings have their defaults")], set()
    return settings, [], set()


def _line(finding: Issue) -> int:
    return finding.line or 0


def with_classifier(config: TrainingConfig, classifier: str | Classifier) -> TrainingConfig:
    """Return the settings with another classifier; the parameters of a different classifier are dropped."""
    parameters = (
        config.hybrid.parameters
        if classifier is config.hybrid.classifier
        or (isinstance(classifier, str) and classifier == config.hybrid.classifier_name)
        else {}
    )
    hybrid = config.hybrid.model_copy(update={"classifier": classifier, "parameters": parameters})
    return config.model_copy(update={"hybrid": hybrid})


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
