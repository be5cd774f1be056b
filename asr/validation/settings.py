"""Checks of settings that training would use late: classifier, noise, copies."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol

from asr.acoustic.hybrid_training import HybridSettings, NoiseSettings, classifier_of
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.corpus.audio_stats import measure
from asr.corpus.data_directory import Utterance
from asr.features.augmentation import read_clips
from asr.features.config import FeatureConfig
from asr.hmm.phone_questions import PhoneQuestion
from asr.lexicon import Lexicon
from asr.util.counted_text import count, some
from asr.util.errors import ConfigError, Issue, attempt
from asr.util.toml_lines import setting_place
from asr.validation.findings import stopping, warning
from discriminants.util.paths import is_file


class StressSettings(Protocol):
    """Required settings of a lexicon."""

    @property
    def strip_stress(self) -> bool | None:
        """Whether stress digits are removed; None if this depends on the phones."""


class Settings(Protocol):
    """Required settings of a training, see `asr.training.config.TrainingConfig`."""

    @property
    def states_per_phone(self) -> int:
        """Emitting states per phone."""

    @property
    def context(self) -> int | Literal["auto"]:
        """Number of phones that a state depends on."""

    @property
    def asks_for_context(self) -> bool:
        """Whether an option of context-dependent states is set."""

    @property
    def tied_states(self) -> int | Literal["auto"]:
        """Number of tied states of all phones."""

    @property
    def questions(self) -> Sequence[PhoneQuestion]:
        """Additional questions for the trees."""

    @property
    def features(self) -> FeatureConfig:
        """Features of the Gaussian mixtures."""

    @property
    def hybrid_features(self) -> FeatureConfig:
        """Features of the classifier."""

    @property
    def lexicon(self) -> StressSettings:
        """Options for reading the lexicon."""

    @property
    def speakers(self) -> SpeakerSettings:
        """Options of speaker transforms."""

    @property
    def hybrid(self) -> HybridSettings:
        """Options of the classifier and its copies of the data."""


def check_classifier(config: Settings, file: Path | None) -> Iterator[Issue]:
    """Check that the classifier exists, accepts its parameters and can be saved in a model file."""
    try:
        classifier_of(config.hybrid)
    except ConfigError as error:
        blamed = next((name for name in ("smbr_epochs", "parameters") if name in str(error)), "classifier")
        yield stopping("classifier", *setting_place(file, f"hybrid.{blamed}"), str(error))


def check_copies(config: Settings, file: Path | None, n_archived: int | None) -> Iterator[Issue]:
    """Check copies and speaker warping; `n_archived` is the number of columns of archived features."""
    if n_archived is None:
        return
    for name, wanted in (("speed_perturb", config.hybrid.speed_perturb), ("noise", config.hybrid.noise)):
        if wanted:
            message = f"{name} requires audio, but the features are in an archive; remove it, or train from audio"
            yield stopping("settings", *setting_place(file, f"hybrid.{name}"), message)
    expected = config.features.static_dimension
    if n_archived == expected:
        return
    for name, warped, without in (
        ("hybrid.vtlp_warps", config.hybrid.vtlp_warps not in ("auto", ()), "vtlp_warps = []"),
        ("speakers.maps", config.speakers.maps == "vtln", 'maps = "none"'),
    ):
        if warped:
            message = (
                f"warps require the {expected} columns of [features], but the archive has {n_archived} columns; set "
                f"{without}, or set n_cepstra to match the archive"
            )
            yield stopping("settings", *setting_place(file, name), message)


def check_questions(config: Settings, lexicon: Lexicon, file: Path | None) -> Iterator[Issue]:
    """Check that questions refer to phones of the lexicon."""
    phones = tuple(lexicon.phones)
    idle = [question.name for question in config.questions if not question.answers(phones).any()]
    if not idle:
        return
    place = setting_place(file, "questions")
    message = f"{count(len(idle), 'question')} of {len(config.questions)} about no phone of the lexicon: {some(idle)}"
    if len(idle) == len(config.questions):
        yield stopping("settings", *place, f"{message}. Expected phones such as {some(phones)}")
    else:
        yield warning("settings", *place, message)


def check_noise(noise: NoiseSettings, rate: int, file: Path | None, *, samples_too: bool) -> Iterator[Issue]:
    """Check that the noise folder exists, and that its clips are readable and not silent."""
    listed = noise.directory / "noise.scp"
    if not is_file(listed):
        message = f"{listed} not found. Expected a list of the clips with one line 'ID PATH' for each"
        yield stopping("noise", *setting_place(file, "hybrid.noise"), message)
        return
    issues: list[Issue] = []
    clips = read_clips(noise.directory, issues)
    yield from issues
    for name, (line, path) in clips.items():
        found = attempt(measure, Utterance(name, "", None, audio=path), rate, samples_too)
        if isinstance(found, Issue):
            yield stopping("noise", listed, line, found.message)
        elif found.constant:
            yield stopping("noise", listed, line, f"the clip '{name}' is silent, so it cannot be scaled; remove it")
