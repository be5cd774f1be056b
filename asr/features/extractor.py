"""The user's own features: classes that compute static features from samples, by name.

A package registers a class through the entry-point group `asr.features`, or the user names it as
`package.module:Class`. Its name is part of the settings and of the model. A model's own features are computed only
after the user has named them in the same process, unless they are registered.
"""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from asr.features.config import FeatureConfig
from asr.util.errors import ConfigError, FeatureError
from asr.util.named_objects import imported, is_import_path

GROUP = "asr.features"
FULL_SCALE = 32768.0
_MAX_SHIFT_DIFFERENCE = 1e-6  # seconds


class Extractor(Protocol):
    """Own static features. The class is made without arguments, once in each process.

    Attributes
    ----------
    sample_rate : int
        Rate of the samples in Hz.
    frame_shift : float
        Seconds between frames.
    dimension : int
        Columns of the features.
    """

    sample_rate: int
    frame_shift: float
    dimension: int

    def extract(self, samples: np.ndarray) -> np.ndarray:
        """Return the features, float (n_frames, dimension), of samples, float32 (n,) with full scale 1."""


_given: dict[str, Callable[[], Extractor]] = {}  # named by the user in this process
_made: dict[str, Extractor] = {}


def give_extractor(name: str) -> Extractor:
    """Import an extractor that the user names, so that models with this name can use it; return it.

    Raises ConfigError if it is neither registered nor `package.module:Class`, or if it cannot be imported or lacks an
    attribute.
    """
    if is_import_path(name) and name not in _given:
        _given[name] = imported(name, "extractor")
    return _extractor(name)


def factory_of(config: FeatureConfig) -> Callable[[], Extractor] | None:
    """Return the class of the settings' extractor, for other processes; None for built-in features.

    Raises ConfigError if the class is unknown, or has another rate or frame shift than the settings.
    """
    name = config.extractor
    if name is None:
        return None
    extractor = _extractor(name)
    shift = config.shift_samples / config.sample_rate
    if extractor.sample_rate != config.sample_rate or abs(extractor.frame_shift - shift) > _MAX_SHIFT_DIFFERENCE:
        raise ConfigError(
            f"the extractor {name!r} has sample_rate {extractor.sample_rate} and frame_shift {extractor.frame_shift:g} "
            f"s, but [features] has {config.sample_rate} and {shift:g} s. Remove sample_rate and shift_ms"
        )
    return _given[name]


def use_factory(config: FeatureConfig, factory: Callable[[], Extractor]) -> None:
    """Use the class of `factory_of` in this process."""
    if config.extractor is not None:
        _given.setdefault(config.extractor, factory)


def own_features(signal: np.ndarray, config: FeatureConfig, *, source: Path | str) -> np.ndarray:
    """Return the features of the settings' extractor, float32 (n_frames, dimension).

    `signal` has samples (n,) on the 16-bit scale. Raises FeatureError, with `source`, if the extractor fails or returns
    other shapes or values, and ConfigError as `factory_of` does.
    """
    name = config.extractor
    assert name is not None
    factory_of(config)
    extractor = _extractor(name)
    try:
        found = np.ascontiguousarray(extractor.extract(np.asarray(signal, np.float32) / FULL_SCALE), np.float32)
    except Exception as error:  # the code of another package can raise anything
        reason = f"{source}: the extractor {name!r} fails: {type(error).__name__}: {error}"
        raise FeatureError(reason, code="extractor") from error
    if found.ndim != 2 or found.shape[1] != extractor.dimension or not np.isfinite(found).all():
        raise FeatureError(
            f"{source}: the extractor {name!r} returns shape {found.shape}, or values that are not finite. Expected "
            f"finite numbers of shape (n_frames, {extractor.dimension})",
            code="extractor",
        )
    return found


def _extractor(name: str) -> Extractor:
    if name not in _made:
        _made[name] = _checked(name, _factory(name)())
    return _made[name]


def _factory(name: str) -> Callable[[], Any]:
    if name not in _given:
        points = {entry.name: entry for entry in entry_points(group=GROUP)}
        if name not in points:
            raise ConfigError(
                f"the features {name!r} are not known here. A model file never decides which code is imported. If you "
                "trust this class, give it: --extractor MODULE:CLASS (extractor=). Registered features: "
                f"{', '.join(sorted(points)) or 'none'}"
            )
        try:
            _given[name] = points[name].load()
        except (ImportError, AttributeError) as error:
            raise ConfigError(f"features {name!r} cannot be imported from {points[name].value}: {error}") from error
    return _given[name]


def _checked(name: str, made: Any) -> Extractor:
    missing = [each for each in ("sample_rate", "frame_shift", "dimension", "extract") if not hasattr(made, each)]
    if missing:
        raise ConfigError(
            f"the extractor {name!r} lacks {', '.join(missing)}. Expected a class with sample_rate, frame_shift "
            "(seconds), dimension and extract(samples)"
        )
    extractor: Extractor = made
    return extractor
