"""Settings of a training run, from defaults, a TOML file or a recipe."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from asr.acoustic.gmm_training import GmmSettings, TiedGmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import MAX_PENALTY, MAX_SCALE, SearchSettings
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.acoustic.vtln import why_no_warps
from asr.features.config import FeatureConfig
from asr.features.extractor import give_extractor
from asr.hmm.phone_questions import PhoneQuestion, read_questions
from asr.util.config_base import CONFLICT, Settings, faults, faults_in_value, refuse
from asr.util.errors import ConfigError, Issue
from asr.util.text_lines import read_text

MAX_FILE = 1 << 16  # bytes; a file with every setting has about 3000
MAX_TIED_STATES = 100_000
DYNAMIC_RANGE_DB = 35.0
MIN_RANGE_DB = 10.0  # a smaller range removes most of the speech
MAX_LINE_LENGTH = 2000  # characters; the parser takes minutes for names with thousands of dots


class TuningSettings(Settings):
    """Choice of the search's scale and penalty on held-out training speakers."""

    held_out: float = Field(0.2, ge=0, lt=1)
    """Fraction of the training speakers held out per fold (of the utterances, with fewer than four speakers); 0
    disables tuning.
    """
    words: int = Field(1000, ge=1, le=10**9)
    """Sufficient number of held-out words: folds are added until they have this many."""
    scale_factors: tuple[Annotated[float, Field(gt=0, le=1000)], ...] = Field(
        (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8), min_length=1, max_length=100
    )
    """Candidate language-model scales, as multiples of `lm_scale` in the search settings."""
    penalty_factors: tuple[Annotated[float, Field(ge=-1000, le=1000)], ...] = Field(
        (-4.0, -2.5, -1.25, 0.0, 1.25, 2.5), min_length=1, max_length=100
    )
    """Candidate insertion penalties, as multiples of the language-model scale."""
    tune_beam: bool = True
    """Whether `asr train` also narrows the beam and `max_active` while the held-out words stay the same (see
    `asr.training.tuning.beam`); recipes keep their own values.
    """


class LexiconSettings(Settings):
    """Options for reading the pronunciations."""

    stress: Literal["auto", "strip", "keep"] = "auto"
    """Whether stress digits (AH0, AH1) are removed. `auto` removes them in the format of the CMU dictionary, and if all
    phones are CMU phones and every vowel has a digit.
    """

    @property
    def strip_stress(self) -> bool | None:
        """Value of the parameter `strip_stress` of `asr.lexicon.read_lexicon`."""
        return None if self.stress == "auto" else self.stress == "strip"


class TrainingConfig(Settings):
    """All settings of `asr train`; the TOML file has one table for each part."""

    seed: int = Field(0, ge=0, le=2**32 - 1)
    """Seed of all random choices: held-out speech, the classifier's initial values, its subset of frames, and noise."""
    states_per_phone: int = Field(3, ge=1, le=100)
    """Number of HMM states of a phone, from left to right."""
    context: Literal["auto", 1, 3] = "auto"
    """Number of phones that a state depends on: 1 (the phone itself) or 3 (with both neighbors, states tied by decision
    trees). "auto" is 3 with at least half an hour of speech, or if an option of context-dependent states is set. The
    context of the classifier's frames is `hybrid_features.context`.
    """
    tied_states: Annotated[int, Field(ge=1, le=MAX_TIED_STATES)] | Literal["auto"] = "auto"
    """Number of states of all phones with context = 3. "auto": one per 1000 frames, at most 600, at least the number
    without context.
    """
    questions: tuple[PhoneQuestion, ...] = ()
    """Questions about neighboring phones for the trees (context = 3), in addition to the automatic ones. As a file:
    HTK's (lines `QS "name" { n-*, m-* }`) or Kaldi's (the phones of one question per line).
    """
    alignment: str = ""
    """CTM file with the phones of the training utterances, such as hand labels. Their boundaries are kept, and there is
    no flat start. Models with context = 3 and speaker transforms realign.
    """
    ngram_order: int = Field(2, ge=1, le=10)
    """Order of the default grammar, estimated from the training transcripts."""
    lexicon: LexiconSettings = LexiconSettings()
    """How the pronunciations are read."""
    features: FeatureConfig = FeatureConfig(
        dynamic_range_db=DYNAMIC_RANGE_DB, normalize="speaker", speaker_statistics="matched"
    )
    """Features of the Gaussian mixtures."""
    hybrid_features: FeatureConfig = FeatureConfig(
        dynamic_range_db=DYNAMIC_RANGE_DB,
        normalize="speaker",
        speaker_statistics="matched",
        context=7,
        lda_dimension=60,
    )
    """Features of the classifier; the settings of static features must agree with `features`."""
    gmm: GmmSettings = GmmSettings(silence_gaussian_ratio=4, flat_start_restarts=1, recording_noise_model=True)
    """Gaussian mixtures, and their flat start."""
    tied_gmm: TiedGmmSettings = TiedGmmSettings(silence_gaussian_ratio=4, recording_noise_model=True)
    """Mixtures of the tied states (context = 3), grown from the alignment by the mixtures of `gmm`."""
    speakers: SpeakerSettings = SpeakerSettings()
    """Transforms of speakers."""
    hybrid: HybridSettings = HybridSettings(
        mixtures=16,
        silence_gaussian_ratio=4,
        augment_as_unadapted=True,
        augment_silence_ms=100.0,
        prior_ceiling=2.0,
        smbr_epochs="auto",
        recording_noise_model=True,
    )
    """The classifier, its training data and its scores."""
    gmm_search: SearchSettings = SearchSettings(lm_scale=10.0, insertion_penalty=-25.0)
    """Search with the Gaussian mixtures."""
    hybrid_search: SearchSettings = SearchSettings(insertion_penalty=-16.0)
    """Search with the hybrid."""
    tuning: TuningSettings = TuningSettings()
    """Choice of the search's settings on held-out speech."""

    @field_validator("questions", mode="before")
    @classmethod
    def _of_file(cls, value: Any) -> Any:
        if not isinstance(value, str | Path):
            return value
        try:
            return read_questions(Path(value))
        except ConfigError as error:
            raise PydanticCustomError("file", "{reason}", {"reason": str(error)}) from error

    @field_validator("features", "hybrid_features")
    @classmethod
    def _enough_range(cls, features: FeatureConfig) -> FeatureConfig:
        # The field itself has no such bound because models of any range are read.
        if 0 < features.dynamic_range_db < MIN_RANGE_DB:
            why = (
                f"dynamic_range_db {features.dynamic_range_db:g} must be 0 (no limit) or at least {MIN_RANGE_DB:g}; "
                f"{DYNAMIC_RANGE_DB:g} is usual"
            )
            refuse(FeatureConfig, features, [("dynamic_range_db", why)])
        return features

    @field_validator("tied_states", mode="before")
    @classmethod
    def _of_all_phones(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and not 1 <= value <= MAX_TIED_STATES:
            raise ValueError(
                f"must be the total number of states, from 1 to {MAX_TIED_STATES}, or 'auto' (by the amount of speech)"
            )
        return value

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of a setting and its conflict with another one, as for every table of settings."""
        if self.features.lda_dimension is not None:
            yield (
                "features.lda_dimension",
                "features.lda_dimension: the first mixtures cannot use LDA; set it in [hybrid_features] only",
            )
        if self.hybrid.vtlp_warps not in ("auto", ()) and not self.features.has_cepstra:
            yield "hybrid.vtlp_warps", "hybrid.vtlp_warps: warps need cepstra; remove vtlp_warps, or kind and extractor"
        if self.context == 1:
            for name, given, reason in (
                ("tied_states", self.tied_states != "auto", "states do not depend on neighboring phones"),
                ("questions", bool(self.questions), "decision trees are not used"),
            ):
                if given:
                    yield name, f"{name}: {reason} with context = 1; remove context, or set it to 3"
        if self.speakers.maps == "vtln":
            for name, unfit in self._why_no_warps():
                yield name, f"speakers.maps = 'vtln': {unfit}"
        scale, penalty = max(self.tuning.scale_factors), max(map(abs, self.tuning.penalty_factors))
        for name in ("gmm_search", "hybrid_search"):
            lm_scale = getattr(self, name).lm_scale
            if lm_scale * scale > MAX_SCALE or lm_scale * penalty > MAX_PENALTY:
                yield (
                    f"{name}.lm_scale",
                    f"{name}.lm_scale {lm_scale:g} times the largest of tuning.scale_factors and penalty_factors is "
                    f"beyond {MAX_SCALE:g} and {MAX_PENALTY:g}",
                )

    def _why_no_warps(self) -> Iterator[tuple[str, str]]:
        unfit = why_no_warps(self.features)
        if unfit is not None:
            yield "speakers.maps", unfit
        for name, settings in ({"gmm": self.gmm} | ({} if self.context == 1 else {"tied_gmm": self.tied_gmm})).items():
            if settings.transform != "none":
                yield (
                    f"{name}.transform",
                    f"VTLN needs cepstra and their differences, without {name}.transform; use maps = 'fmllr'",
                )

    @property
    def asks_for_context(self) -> bool:
        """Whether an option of context-dependent states is set."""
        return bool(self.tied_states != "auto" or self.questions)


_PHONE_SEARCH = {"gmm_search": SearchSettings(lm_scale=4.0), "hybrid_search": SearchSettings(lm_scale=2.0)}
"""Defaults of the search if words are phones: a penalty for words would delete phones."""


def for_phones(config: TrainingConfig) -> TrainingConfig:
    """Return the settings for transcripts of phones: default search tables get those for phones."""
    defaults = TrainingConfig()
    changed = {
        name: search for name, search in _PHONE_SEARCH.items() if getattr(config, name) == getattr(defaults, name)
    }
    return config.model_copy(update=changed)


AUTO = "auto"


class SettingsError(ConfigError):
    """Invalid settings.

    Attributes
    ----------
    faults : tuple of Issue
        All faults found together.
    sound : TrainingConfig or None
        Settings with defaults for the faulty ones; None if they cannot be checked.
    """

    def __init__(self, named: str, found: Sequence[Issue], sound: TrainingConfig | None) -> None:
        super().__init__(named + "; ".join(issue.message for issue in found))
        self.faults, self.sound = tuple(found), sound


def load_config(
    source: Path | Mapping[str, Any] | None,
    *,
    corpus_rate: Callable[[], int | None] | None = None,
    auto_by_default: bool = True,
) -> TrainingConfig:
    """Read settings from a TOML file or from equivalent tables; None gives the defaults.

    Parameters
    ----------
    source : path, mapping or None
        TOML file, or tables as in such a file.
    corpus_rate : callable, optional
        Returns the rate in Hz for `sample_rate = "auto"`; called only for "auto". If it is missing or returns None,
        "auto" is the default rate.
    auto_by_default : bool
        Whether a missing rate means "auto", given a `corpus_rate`.

    Returns
    -------
    TrainingConfig
        The settings.

    Raises
    ------
    ConfigError
        Names the file and every unknown key and invalid value. It is a SettingsError if the file could be read.

    Examples
    --------
    >>> from asr.training.config import load_config
    >>> load_config({"gmm": {"mixtures": [1, 2]}}).gmm.mixtures
    (1, 2)
    """
    if source is None and (corpus_rate is None or not auto_by_default):
        return TrainingConfig()
    values = _read_toml(source) if isinstance(source, Path) else deepcopy(dict(source or {}))
    named = f"{source}: " if isinstance(source, Path) else ""
    # Python tables are not searched because they may contain themselves.
    unwritable = faults_in_value(values, finite=False) if isinstance(source, Path) else ()
    found = [Issue("settings", f"{name}: {fault}", setting=name) for name, fault in unwritable]
    try:
        _resolve_extractor(values)
        _resolve_rates(values, corpus_rate, auto_by_default)
    except ConfigError as error:
        raise ConfigError(f"{named}{error}") from error
    config = _sound(values, found)
    if config is None or found:
        raise SettingsError(named, found, config)
    return config


def sets_nothing(path: Path) -> bool:
    """Whether a readable settings file sets nothing."""
    return not _read_toml(path)


def _sound(values: dict[str, Any], found: list[Issue]) -> TrainingConfig | None:
    """Return the settings with defaults for the faulty ones; None if the faults do not end.

    Faulty values are removed and the rest is checked again, which also finds conflicts between valid settings. New
    faults are added to `found`. In a faulty table only the faulty values are removed because a default may conflict
    with the rest.
    """
    at_fault: set[str] = set()
    _leave_out(values, found, at_fault)
    for _ in range(4):
        try:
            config = TrainingConfig.model_validate(with_shared_features(values))
        except ValidationError as error:
            new = _once(faults(error, TrainingConfig))
            found += [
                fault
                for fault in new
                if fault not in found and not (fault.code == CONFLICT and fault.setting.partition(".")[0] in at_fault)
            ]
            _leave_out(values, new, at_fault)
            continue
        different = _different_static(config.features, config.hybrid_features)
        if different is not None and "hybrid_features" not in at_fault:
            found.append(different)
        return config
    return None


def _once(found: Iterable[Issue]) -> list[Issue]:
    """Remove duplicate faults shared by both front ends."""
    found = list(found)
    names = {fault.setting for fault in found}
    return [fault for fault in found if fault.setting.removeprefix("hybrid_") not in names - {fault.setting}]


def _leave_out(values: dict[str, Any], found: Iterable[Issue], at_fault: set[str]) -> None:
    """Remove faulty settings, or their whole table if removing the setting was not enough last time."""
    before = set(at_fault)
    for fault in found:
        table, _, rest = fault.setting.partition(".")
        key = rest.partition(".")[0]
        of_table = values.get(table)
        # Parameters belong to the classifier named in the same table.
        if isinstance(of_table, dict) and key and table not in before and fault.setting != "hybrid.classifier":
            values[table] = {name: value for name, value in of_table.items() if name != key}
        else:
            values.pop(table, None)
        at_fault |= {table} | ({"hybrid_features"} if table == "features" else set())


def _resolve_extractor(values: dict[str, Any]) -> None:
    """Import own features, and set their rate and frame shift."""
    features = values.get("features")
    name = features.get("extractor") if isinstance(features, dict) else None
    if isinstance(features, dict) and isinstance(name, str) and name:
        extractor = give_extractor(name)
        shift_ms = 1000.0 * extractor.frame_shift
        own = {"sample_rate": extractor.sample_rate, "shift_ms": shift_ms, "window_ms": max(25.0, shift_ms)}
        values["features"] = own | features


def _resolve_rates(values: dict[str, Any], corpus_rate: Callable[[], int | None] | None, by_default: bool) -> None:
    """Replace `sample_rate = "auto"`, and a missing rate `by_default`, with a number."""
    features = values.setdefault("features", {})
    tables = [table for table in (features, values.get("hybrid_features")) if isinstance(table, dict)]
    unset = all("sample_rate" not in table for table in tables)
    if unset and by_default and corpus_rate is not None and isinstance(features, dict):
        features["sample_rate"] = AUTO
    asking = [table for table in tables if table.get("sample_rate") == AUTO]
    found = corpus_rate() if asking and corpus_rate is not None else None
    for table in asking:
        table["sample_rate"] = FeatureConfig().sample_rate if found is None else found


def with_shared_features(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables of settings over the defaults; `features` gives shared options to both front ends."""
    values = dict(tables)
    shared = values.get("features")
    for name, default in TrainingConfig():
        own = values.get(name, {})
        if isinstance(default, Settings) and isinstance(own, dict):
            common = shared if name == "hybrid_features" and isinstance(shared, dict) else {}
            values[name] = {**default.model_dump(exclude_unset=True), **common, **own}
    return values


def _read_toml(path: Path) -> dict[str, Any]:
    text = read_text(path, ConfigError, largest=MAX_FILE)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE_LENGTH:
            raise ConfigError(f"{path}, line {number}: has {len(line)} characters. Expected at most {MAX_LINE_LENGTH}")
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # integers with thousands of digits; deeply nested brackets
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from error
    return values


def check_same_static(first: FeatureConfig, second: FeatureConfig) -> None:
    """Raise ConfigError unless both front ends can share one table of static features."""
    different = _different_static(first, second)
    if different is not None:
        raise ConfigError(different.message)


def _different_static(first: FeatureConfig, second: FeatureConfig) -> Issue | None:
    later = {
        "delta_window", "delta_order", "normalize", "speaker_prior", "speaker_statistics", "context", "lda_dimension",
        "append_static",
    }  # fmt: skip
    differing = sorted(
        key for key, value in first.model_dump(exclude=later).items() if value != second.model_dump(exclude=later)[key]
    )
    if not differing:
        return None
    return Issue(
        CONFLICT,
        f"features and hybrid_features differ in {', '.join(differing)}; static features are computed only once",
        setting=f"hybrid_features.{differing[0]}",
    )
