"""A hybrid speech recognizer: sparse nonlinear discriminants as acoustic models of hidden Markov models.

    from asr import Recognizer

    recognizer = Recognizer.load("model.safetensors")
    print(recognizer.recognize("speech.flac").text)

Names are loaded when first used, so that `import asr` stays cheap. `docs/python.md` is their guide.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asr.errors import AsrError as AsrError
    from asr.errors import AudioWarning as AudioWarning
    from asr.interface.commands import align as align
    from asr.interface.commands import combine as combine
    from asr.interface.commands import describe as describe
    from asr.interface.commands import extract_features as extract_features
    from asr.interface.commands import score as score
    from asr.interface.commands import train as train
    from asr.interface.commands import tune as tune
    from asr.interface.commands import validate as validate
    from asr.interface.recognizer import Recognizer as Recognizer
    from asr.interface.results import Alignment as Alignment
    from asr.interface.results import Phone as Phone
    from asr.interface.results import Result as Result
    from asr.interface.results import Word as Word

__version__ = "0.1.0"

_NAMES = {
    "asr.errors": ["AsrError", "AudioWarning"],
    "asr.interface.commands": [
        "align",
        "combine",
        "describe",
        "extract_features",
        "score",
        "train",
        "tune",
        "validate",
    ],
    "asr.interface.recognizer": ["Recognizer"],
    "asr.interface.results": ["Alignment", "Phone", "Result", "Word"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
