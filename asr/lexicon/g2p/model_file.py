"""File of a converter from letters to phones: arrays and metadata, checked when they are read."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from asr.lexicon.g2p.model import GraphemeToPhoneme
from asr.lexicon.g2p.ngram import FIRST_GRAPHONE, GraphoneNgram
from asr.util.errors import ModelFormatError
from asr.util.unicode_text import fault_in_word
from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.util.errors import DiscriminantError

FORMAT = "hybrid-asr grapheme-to-phoneme 1"
_NGRAM = {
    "token": np.int32,
    "first_child": np.int32,
    "shorter": np.int32,
    "log_probability": np.float32,
    "back_off": np.float32,
}


def save(model: GraphemeToPhoneme, path: str | os.PathLike[str]) -> None:
    """Write the model."""
    arrays = {name: getattr(model.ngram, name) for name in _NGRAM}
    metadata = {
        "format": FORMAT,
        "letters": list(model.letters),
        "phones": list(model.phones),
        "max_letters": model.max_letters,
        "order": model.ngram.order,
    }
    save_arrays(Path(path), {**arrays, "graphones": model.graphones}, metadata)


def load(path: str | os.PathLike[str]) -> GraphemeToPhoneme:
    """Read a file of `save`; raise ModelFormatError if it is damaged or not a model of this kind."""
    try:
        arrays, metadata = load_arrays(Path(path))
    except FileNotFoundError as error:
        raise ModelFormatError(f"{path} does not exist. Expected a model of asr lexicon") from error
    except DiscriminantError as error:
        raise ModelFormatError(str(error)) from error
    except OSError as error:
        reason = f"{path}: cannot be read ({error.strerror}). Expected a model of asr lexicon"
        raise ModelFormatError(reason) from error
    if metadata.get("format") != FORMAT:
        raise ModelFormatError(
            f"{path}: format is {metadata.get('format')!r}. Expected {FORMAT!r}, a model of asr lexicon"
        )
    try:
        return _rebuilt(arrays, metadata)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFormatError(f"{path}: the parts of the model are inconsistent: {error}") from error


def _rebuilt(arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> GraphemeToPhoneme:
    letters, phones = (_names(metadata[name]) for name in ("letters", "phones"))
    max_letters, order = metadata["max_letters"], metadata["order"]
    if type(max_letters) is not int or type(order) is not int:
        raise ValueError("max_letters and order must be integers")
    graphones = arrays["graphones"]
    if graphones.ndim != 2 or graphones.dtype != np.int32 or not 1 <= max_letters < graphones.shape[1] <= 100:
        raise ValueError(f"graphones is {graphones.dtype} of shape {graphones.shape}")
    first, last = graphones[:, :max_letters], graphones[:, max_letters:]
    _check_range("letters of graphones", first, len(letters) + 1)
    _check_range("phones of graphones", last, len(phones) + 1)
    if not len(graphones) or not np.all(first[:, 0] > 0):
        raise ValueError("a graphone has no letters")
    ngram = GraphoneNgram(order, *(arrays[name] for name in _NGRAM))
    _check_tree(ngram, FIRST_GRAPHONE + len(graphones))
    return GraphemeToPhoneme(letters, phones, graphones, max_letters, ngram)


def _names(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("letters and phones must be lists of names")
    if not values or len(set(values)) < len(values):
        raise ValueError("letters and phones must be different names")
    fault = next((f"{value!r} {fault}" for value in values if (fault := fault_in_word(value)) is not None), None)
    if fault is not None:
        raise ValueError(fault)
    return tuple(values)


def _check_range(name: str, values: np.ndarray, end: int) -> None:
    if values.size and not (values.min() >= 0 and values.max() < end):
        raise ValueError(f"{name} has values outside 0 to {end - 1}")


def _check_tree(ngram: GraphoneNgram, n_tokens: int) -> None:
    """Raise ValueError unless every step of a search stays inside the tree and ends.

    Children follow their parent and are sorted by token. Shorter n-grams precede longer ones. The node of every token
    exists.
    """
    n_nodes = len(ngram.token)
    for name, dtype in _NGRAM.items():
        array = getattr(ngram, name)
        shape = (n_nodes + 1,) if name == "first_child" else (n_nodes,)
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}. Expected {np.dtype(dtype)} of {shape}")
    first, nodes = ngram.first_child, np.arange(n_nodes)
    _check_range("token", ngram.token, n_tokens)
    _check_range("shorter", ngram.shorter, n_nodes)
    _check_range("first_child", first, n_nodes + 1)
    if not (n_nodes > n_tokens and np.all(np.diff(first) >= 0) and first[-1] == n_nodes and np.all(first[:-1] > nodes)):
        raise ValueError("first_child is not that of a tree")
    if first[0] != 1 or first[1] != n_tokens + 1 or np.any(ngram.token[1 : n_tokens + 1] != np.arange(n_tokens)):
        raise ValueError("the tree must have a unigram of each token")
    if not np.all(ngram.shorter[1:] < nodes[1:]):
        raise ValueError("shorter n-grams must precede longer ones")
    parents = np.repeat(nodes, np.diff(first))
    siblings = parents[1:] == parents[:-1]
    if np.any(siblings & (np.diff(ngram.token[1:]) <= 0)):
        raise ValueError("children are not sorted by token")
    for name in ("log_probability", "back_off"):
        array = getattr(ngram, name)
        if not (np.all(np.isfinite(array)) and np.all(np.abs(array) <= 1000.0)):
            raise ValueError(f"{name} has values outside -1000 to 1000")
