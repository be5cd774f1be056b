"""Checks of settings that training would use late: classifier, noise, copies."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol

from asr.acoustic.hybrid_training import HybridSettings, NoiseSettings, classifier_of
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.corpus.audio_stats import measure
from asr.corpus.data_directory import Utterance
from asr.corpus.list_file import refuse_pipe
from asr.features.config import FeatureConfig
from asr.hmm.phone_questions import PhoneQuestion
from asr.lexicon import Lexicon
from asr.util.counted_text import count, some
from asr.util.errors import ConfigError, CorpusError, Issue, attempt
from asr.validation.findings import stopping, warning, without_place
from asr.validation.lists import check_format, read_list_past_faults
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


def setting_place(file: Path | None, name: str) -> tuple[Path, int | None]:
    """Return file and line of the setting `name` ("hybrid.classifier"), or of its table.

    The text is searched because TOML parsers do not return lines.
    """
    if file is None:
        return Path("settings"), None
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return file, None
    while name:
        line = _line_of(lines, name)
        if line is not None:
            return file, line
        name = name.rpartition(".")[0]
    return file, None


def _line_of(lines: Sequence[str], name: str) -> int | None:
    table, _, key = name.rpartition(".")
    here = ""
    for number, line in enumerate(lines, 1):
        heading = re.match(r"\s*\[\[?([^\[\]]+)\]", line)
        if heading:
            here = re.sub(r"[\s\"']", "", heading[1])
            if here == name:
                return number
            continue
        written = re.match(r"\s*([\w.\"'\s-]+?)\s*=(.*)", line)
        if written is None:
            continue
        full = f"{here}.".removeprefix(".") + re.sub(r"[\s\"']", "", written[1])
        inside = full == table and re.search(rf"[{{,]\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", written[2])
        if full == name or inside:
            return number
    return None


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
            message = f"{name} changes audio, but these features come from an archive; leave it out, or give audio"
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
                f"warps need the {expected} columns that [features] describes, but the archive has {n_archived}; set "
                f"{without}, or n_cepstra to what it holds"
            )
            yield stopping("settings", *setting_place(file, name), message)


def check_questions(config: Settings, lexicon: Lexicon, file: Path | None) -> Iterator[Issue]:
    """Check that questions refer to phones of the lexicon."""
    phones = tuple(lexicon.phones)
    idle = [question.name for question in config.questions if not question.answers(phones).any()]
    if not idle:
        return
    place = setting_place(file, "questions")
    message = f"{some(idle)}: {count(len(idle), 'question')} of {len(config.questions)} about no phone of the lexicon"
    if len(idle) == len(config.questions):
        yield stopping("settings", *place, f"{message}, which has {some(phones)}; write the phones as it does")
    else:
        yield warning("settings", *place, message)


def check_noise(noise: NoiseSettings, rate: int, file: Path | None, *, samples_too: bool) -> Iterator[Issue]:
    """Check that the noise folder exists, and that its clips are readable and not silent."""
    listed = noise.directory / "noise.scp"
    if not is_file(listed):
        message = f"the noise folder {noise.directory} has no list noise.scp of its clips ('ID PATH' a line)"
        yield stopping("noise", *setting_place(file, "hybrid.noise"), message)
        return
    clips = read_list_past_faults(listed)
    yield from (finding for finding in check_format(clips) if finding.severity == "error")
    for name, (line, value) in clips.entries.items():
        if not value:
            continue
        try:
            refuse_pipe(listed, line, name, value)
        except CorpusError as error:
            yield stopping("pipe", listed, line, without_place(error, listed, line))
            continue
        path = noise.directory / value
        if not is_file(path):
            yield stopping("noise", listed, line, f"the clip '{name}' should be {path}, which is no file")
            continue
        found = attempt(measure, Utterance(name, "", None, audio=path), rate, samples_too)
        if isinstance(found, Issue):
            yield stopping("noise", listed, line, found.message)
        elif found.constant:
            message = f"the clip '{name}' is silent, so that no gain brings it to any level; remove it"
            yield stopping("noise", listed, line, message)
