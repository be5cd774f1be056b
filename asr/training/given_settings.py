"""Settings of a training as a user gives them: an object, a file or tables, and options that replace some of them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asr.acoustic.classifiers import Classifier
from asr.training.config import (
    LexiconSettings,
    SettingsError,
    TrainingConfig,
    check_same_static,
    load_config,
    sets_nothing,
)
from asr.util.errors import ConfigError, Issue, without_place
from asr.util.toml_lines import setting_place
from asr.validation.findings import stopping, warning

CorpusRate = Callable[[], int | None]
"""Function that returns the sampling rate of the corpus, for settings without one."""
ReadSettings = tuple[TrainingConfig | None, list[Issue], set[str]]
"""Settings with defaults for the faulty ones, the findings, and the faulty tables.

The settings are missing (None) if they cannot be read or checked.
"""


@dataclass(frozen=True)
class GivenSettings:
    """Settings as an object, a file or tables (None: the defaults), and the options that replace some of them."""

    config: TrainingConfig | Path | Mapping[str, Any] | None = None
    classifier: str | Classifier | None = None
    strip_stress: bool | None = None
    seed: int | None = None

    @property
    def file(self) -> Path | None:
        """Path of the settings, if they are a file."""
        return self.config if isinstance(self.config, Path) else None

    def read(self, corpus_rate: CorpusRate) -> ReadSettings:
        """Read the settings, with the options in place of theirs."""
        settings, findings, at_fault = _read(self.config, corpus_rate)
        if settings is None:
            return settings, findings, at_fault
        if self.classifier is not None:
            settings = _with_classifier(settings, self.classifier)
        if self.strip_stress is not None:
            stress = LexiconSettings(stress="strip" if self.strip_stress else "keep")
            settings = settings.model_copy(update={"lexicon": stress})
        if self.seed is not None:
            given, of_seed, _ = _read({"seed": self.seed})
            findings += of_seed
            settings = settings.model_copy(update={"seed": settings.seed if given is None else given.seed})
        return settings, findings, at_fault


def _read(
    config: TrainingConfig | Path | Mapping[str, Any] | None, corpus_rate: CorpusRate | None = None
) -> ReadSettings:
    file = config if isinstance(config, Path) else None
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
        line = int(texts[1]) if texts and file is not None else line
        return None, [stopping("settings", place, line, message)], set()
    if file is not None and sets_nothing(file):
        return settings, [warning("settings", file, None, "is empty, so all settings have their defaults")], set()
    return settings, [], set()


def _with_classifier(config: TrainingConfig, classifier: str | Classifier) -> TrainingConfig:
    """Return the settings with another classifier; the parameters of a different classifier are dropped."""
    parameters = (
        config.hybrid.parameters
        if classifier is config.hybrid.classifier
        or (isinstance(classifier, str) and classifier == config.hybrid.classifier_name)
        else {}
    )
    hybrid = config.hybrid.model_copy(update={"classifier": classifier, "parameters": parameters})
    return config.model_copy(update={"hybrid": hybrid})
