"""A hybrid speech recognizer: sparse nonlinear discriminants as acoustic models of hidden Markov models.

    from asr import Recognizer

    recognizer = Recognizer.load("model.safetensors")
    print(recognizer.recognize("speech.flac").text)

Names are loaded when first used, so that `import asr` stays cheap. `docs/how-to/python.md` is their guide.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asr.api.commands import align as align
    from asr.api.commands import combine as combine
    from asr.api.commands import describe as describe
    from asr.api.commands import extract_features as extract_features
    from asr.api.commands import segment as segment
    from asr.api.commands import train as train
    from asr.api.commands import tune as tune
    from asr.api.commands import validate as validate
    from asr.api.preparation import prepare as prepare
    from asr.api.recognizer import Recognizer as Recognizer
    from asr.api.results import Alignment as Alignment
    from asr.api.results import Phone as Phone
    from asr.api.results import Result as Result
    from asr.api.results import Word as Word
    from asr.api.scoring import compare as compare
    from asr.api.scoring import score as score
    from asr.util.errors import AsrError as AsrError
    from asr.util.errors import AudioWarning as AudioWarning

__version__ = "0.1.0"

_NAMES = {
    "asr.util.errors": ["AsrError", "AudioWarning"],
    "asr.api.commands": [
        "align",
        "combine",
        "describe",
        "extract_features",
        "segment",
        "train",
        "tune",
        "validate",
    ],
    "asr.api.preparation": ["prepare"],
    "asr.api.recognizer": ["Recognizer"],
    "asr.api.scoring": ["compare", "score"],
    "asr.api.results": ["Alignment", "Phone", "Result", "Word"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
