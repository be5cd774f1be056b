"""Documentation of arguments with the same meaning in several public functions."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from discriminants.util.docstrings import completed

SHARED = """
Parameters
----------
model : path or Recognizer
    Model file made by `train` or `tune`, or a loaded recognizer.
data : path
    Kaldi data directory.
lexicon : path
    Pronunciations, in the format of Kaldi, HTK or the CMU dictionary; "graphemes" for letters as phones,
    "phones" for transcripts of phones.
output : path
    Directory for the results.
config : TrainingConfig, path or mapping, optional
    Settings: an object, a TOML file, or tables as in such a file; None for the defaults.
classifier : str or object, optional
    Frame classifier: a name such as "kernel-logistic" or "package.module:Class", or an object like scikit-learn's. None
    for the one in the settings.
grammar : str, int, path, list of sentences, Grammar or None
    As in `Recognizer.with_grammar`.
audio : path, binary file object, array, or (array, rate)
    As in `Recognizer.recognize`.
rate : int, optional
    Sampling rate of an array in Hz.
adapt : bool, "input-network", "fmllr" or "vtln"
    Method of speaker adaptation, as in `Recognizer.recognize_all`.
speaker_transforms : path, optional
    File of speaker transforms. Its speakers keep their transforms; others are added to it.
root : path, optional
    Directory from which relative paths in `wav.scp` and `feats.scp` start.
strip_stress : bool, optional
    Whether to remove stress digits of the lexicon's phones. None removes them if these are the CMU dictionary's.
formats : str or list of str
    Further files for each recording: "textgrid", "elan", "csv", "json" or "audacity".
upsample : bool
    Whether to convert audio with a lower rate than the model's instead of raising an error.
tests : list of paths
    Data directories that models will be tested on.
jobs : int, default=all cores
    Number of cores of this machine; results do not depend on it.
cluster : str, optional
    Address of a dask scheduler, `tcp://HOST:PORT`, whose workers are used instead of this machine.
workers : Workers, default=SerialWorkers()
    Processes or machines that work on utterances, made by `discriminants.parallel.workers.workers_for`.
"""


def complete_docstring(function: Callable[..., Any], docstring: str | None) -> str | None:
    """Return the docstring with descriptions of the shared arguments that it lacks."""
    if not docstring:  # python -OO leaves it out
        return docstring
    documented = [
        each.replace(default=Parameter.empty) if each.name in ("jobs", "workers") else each
        for each in signature(function).parameters.values()
        if each.name not in ("self", "cls") and each.kind is not Parameter.VAR_KEYWORD
    ]
    return completed([docstring, SHARED], documented)
