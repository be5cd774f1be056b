"""What a training is given, checked before its first stage: all that is wrong is logged at once."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from asr.corpus.rates import CorpusRate, rate_of_corpus
from asr.errors import AsrError, ConfigError, CorpusError, LexiconError, printable
from asr.runs.progress import counted
from asr.training.config import LexiconSettings, TrainingConfig, check_same_static, load_config
from asr.validation import Finding, Report, validate
from asr.validation.directory import read_directory_past_faults
from asr.validation.findings import count, lines_by_kind, stopping, without_place
from asr.validation.settings import setting_place
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

_SHOWN = 5  # of every code
_CAUSE = "mixed-stress"  # told first: where there are too many phones, others tell of those that are never heard
_TOLD = 5  # in the sentence that ends the command


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
    Settings that cannot be read are a finding like any other, and the rest is checked without them; the defaults are
    returned in their place; audio is then read only `despite_settings`. `classifier`, `strip_stress` and `seed` take
    the place of those in the settings.
    """
    file = config if isinstance(config, Path) else None
    settings: TrainingConfig | None = None
    findings: list[Finding] = []
    chosen: CorpusRate | None = None

    def corpus_rate() -> int | None:
        nonlocal chosen
        chosen = rate_of_corpus(read_directory_past_faults(data, root).usable.values(), workers=workers)
        return None if chosen is None else chosen.rate

    try:
        settings = config if isinstance(config, TrainingConfig) else load_config(config, corpus_rate=corpus_rate)
        if chosen is not None:
            log.info("%s", chosen)
        if classifier is not None:
            settings = with_classifier(settings, classifier)
        if strip_stress is not None:
            stress = LexiconSettings(stress="strip" if strip_stress else "keep")
            settings = settings.model_copy(update={"lexicon": stress})
        if seed is not None:
            settings = settings.model_copy(update={"seed": load_config({"seed": seed}).seed})
        check_same_static(settings.features, settings.hybrid_features)
    except ConfigError as error:
        findings.append(_of_settings(error, file))
    samples_too = samples_too and (despite_settings or not findings)
    report = validate(
        data,
        lexicon,
        settings if not findings else None,
        root=root,
        tests=tests,
        config_file=file,
        samples_too=samples_too,
        workers=workers,
        follow=lambda total: counted(total, "audio and features checked" if samples_too else "headers checked"),
    )
    return replace(report, findings=(*findings, *report.findings)), settings or TrainingConfig()


def with_classifier(config: TrainingConfig, classifier: str) -> TrainingConfig:
    """The settings with another classifier: parameters in them are those of the classifier that they name."""
    parameters = config.hybrid.parameters if classifier == config.hybrid.classifier else {}
    hybrid = config.hybrid.model_copy(update={"classifier": classifier, "parameters": parameters})
    return config.model_copy(update={"hybrid": hybrid})


def _of_settings(error: ConfigError, file: Path | None) -> Finding:
    place, line = setting_place(file, "")
    message = str(error) if file is None else without_place(error, file)
    if file is not None:
        told = re.search(r"\bline (\d+)", message)
        differing = re.search(r"differ in (\w+)", message)
        name = re.match(r"[\w.]+", message)
        if told:
            line = int(told[1])
        elif differing:
            place, line = setting_place(file, f"hybrid_features.{differing[1]}")
        elif name:
            place, line = setting_place(file, name[0])
    return stopping("settings", place, line, message)


def log_findings(report: Report) -> None:
    """Log what is wrong, the first few of every code, before anything takes long.

    Raises
    ------
    ConfigError, LexiconError, CorpusError
        When nothing can be trained, with all reasons for it (the first few, where there are many; all are logged).
    """
    stops = report.stopping
    if len(stops) > 1:
        for line in lines_by_kind(sorted(stops, key=lambda finding: finding.of_settings)):
            log.error("%s", line)
    lost = [finding for finding in report.errors if not finding.stops]
    if lost:
        log.warning(
            "%s of %s will be left out: %s",
            count(len(report.left_out), "utterance"), f"{report.summary.listed:,}", _counts(lost),
        )  # fmt: skip
        _log_first(lost)
    if report.warnings:
        log.warning("%s before training: %s", count(len(report.warnings), "warning"), _counts(report.warnings))
        _log_first(report.warnings)
    if lost or report.warnings:
        log.warning("asr validate lists all of them")
    if report.summary.without_words:
        log.warning("%s left out for an empty transcript", count(report.summary.without_words, "utterance"))
    for remark in report.remarks:
        log.info("%s", printable(remark))
    if stops:
        raise _error(stops)


def _counts(findings: Sequence[Finding]) -> str:
    found = Counter(finding.code for finding in findings)
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
    """One sentence with every reason; what does not fit in is in the log."""
    first = stops[0]
    kind: type[AsrError] = CorpusError
    if first.of_settings:
        kind = ConfigError
    elif first.code in ("reserved-phone", "silence-entry", "probability-column"):
        kind = LexiconError
    shown = stops[:_TOLD]
    room = 900 // len(shown)
    last = {(finding.code, finding.remedy): finding for finding in shown}  # which tells the remedy of all alike
    told = [
        printable(
            f"{finding.place}: {finding.message if last[finding.code, finding.remedy] is finding else finding.fact}",
            room,
        )
        for finding in shown
    ]
    more = f"; and {len(stops) - _TOLD} more, which the log lists" if len(stops) > _TOLD else ""
    return kind("; ".join(told) + more)
