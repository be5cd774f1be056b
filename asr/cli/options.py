"""Options of commands, and those that several share.

The options of a command are one class, such as

    class SegmentOptions(Options):
        data: Path = DATA
        min_seconds: float = option("Shortest part.", 2.0, metavar="S")

    @takes(SegmentOptions)
    def segment(given: SegmentOptions) -> None:
        asr.segment(**keywords(given))

so that the name, type, default and help of each option are written once.
"""

from collections.abc import Callable
from copy import copy
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, TypeVar

import typer

from asr.runs.cores import ALL_CORES

API = "api"
"""Receiver of most options: the function of `asr` that does the work of the command."""
COMMAND = "command"
"""Receiver of the options that only the command itself reads."""


class Declared:
    """Declaration of an option: its form on the command line, and the receiver of its value."""

    def __init__(self, info: Any, to: str) -> None:
        self.info, self.to = info, to


class Options:
    """Base of the options of a command; `option`, `flag` or `argument` declares each field, in the help's order."""

    def __init__(self, **values: Any) -> None:
        own = declared(type(self))
        vars(self).update({name: one.info.default for name, one in own.items() if one.info.default is not ...} | values)
        if vars(self).keys() != own.keys():
            raise TypeError(f"missing or unknown: {', '.join(sorted(vars(self).keys() ^ own.keys()))}")


Given = TypeVar("Given", bound=Options)


def option(help: str, default: Any = None, *names: str, to: str = API, **more: Any) -> Any:
    """Declare an option with a value; `...` as the default makes it required.

    Parameters
    ----------
    names : str
        Names on the command line; default: the field's.
    to : str
        Receiver of the value in a call with `keywords`.
    **more
        Keywords of `typer.Option`, such as `metavar` and `min`.
    """
    return Declared(typer.Option(default, *names, help=help, **more), to)


def flag(help: str, *names: str, to: str = API, **more: Any) -> Any:
    """Declare an option without a value, which is off by default."""
    return option(help, False, *names, to=to, **more)


def argument(help: str, metavar: str, default: Any = ..., *, to: str = API) -> Any:
    """Declare a positional argument, required by default."""
    return Declared(typer.Argument(default, metavar=metavar, help=help), to)


def declared(kind: type[Options]) -> dict[str, Declared]:
    """Return the declarations of a class of options by field."""
    return {name: vars(kind)[name] for name in kind.__annotations__}


def takes(kind: type[Given]) -> Callable[[Callable[[Given], None]], Callable[..., None]]:
    """Decorate the function of a command, which takes its options as one object, so that typer sees each of them."""
    parameters = []
    for name, one in declared(kind).items():
        info = copy(one.info)
        if info.default is False and not info.param_decls:
            info.param_decls = (f"--{name.replace('_', '-')}",)  # without the --no-NAME of typer
        annotation = kind.__annotations__[name]
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=info, annotation=annotation))

    def decorate(function: Callable[[Given], None]) -> Callable[..., None]:
        @wraps(function)
        def command(**values: Any) -> None:
            function(kind(**values))

        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = dict(kind.__annotations__)
        return command

    return decorate


def keywords(given: Options, to: str = API, /, **others: Any) -> dict[str, Any]:
    """Return the values for a receiver, with `others` added to them or in their place."""
    return {name: getattr(given, name) for name, one in declared(type(given)).items() if one.to == to} | others


_LISTS = "Kaldi data directory: a folder with the lists wav.scp (or feats.scp), utt2spk and text"
DATA = option(f"{_LISTS}.", ..., metavar="DIR")
OPTIONAL_DATA = option(f"{_LISTS}. Decoding needs only the first.", metavar="DIR")
MODEL = option("Model file written by asr train or asr tune.", ..., metavar="FILE")


def _give_classifier(name: str | None) -> str | None:
    if name is not None:
        from asr.acoustic.classifiers import give_classifier

        give_classifier(name)
    return name


CLASSIFIER_OF_MODEL = option(
    "Class of the model's own classifier, as given to asr train. A model file alone imports no code.",
    metavar="MODULE:CLASS",
    callback=_give_classifier,
    to=COMMAND,  # given to model files by the callback
)


def _give_extractor(name: str | None) -> str | None:
    if name is not None:
        from asr.features.extractor import give_extractor

        give_extractor(name)
    return name


EXTRACTOR_OF_MODEL = option(
    "Class of the model's own features, as in the settings of its training.",
    metavar="MODULE:CLASS",
    callback=_give_extractor,
    to=COMMAND,  # given to model files by the callback
)
ROOT = option(
    "Root folder of relative paths in wav.scp or feats.scp. Files that are not found there are searched for in the "
    "parent of the data directory, then in the data directory.",
    metavar="DIR",
)
CONFIG = option("TOML file with settings. Missing settings have their defaults.", metavar="FILE")
LEXICON = option(
    "Pronunciations, in the format of Kaldi, HTK or the CMU dictionary; or 'graphemes': the words of the transcripts "
    "with a phone for each letter, or with a table of asr lexicon --multigraphs.",
    metavar="FILE|graphemes[:TABLE]",
)
UNIT = option(
    "Units of the transcripts. With 'phone', each word is a phone or a mark of silence (such as sil or h#), and no "
    "lexicon is needed.",
    "word",
    to=COMMAND,  # names the lexicon
)
UPSAMPLE = flag(
    "Convert audio with a lower sampling rate than the features instead of refusing it. The upper part of the band is "
    "then empty, so word errors increase."
)
STRIP_STRESS = option(
    "Remove stress digits from the phones of the lexicon (AH0 and AH1 become AH), or keep them.  [default: remove "
    "them if the phones are the CMU dictionary's]",
    None,
    "--strip-stress/--keep-stress",
)
JOBS = option(
    "Number of CPU cores of this machine. The result does not depend on it.",
    ALL_CORES,
    "--jobs",
    "-j",
    min=1,
    metavar="N",
    show_default="all cores",
)
CLUSTER = option(
    "Run on the machines of this dask scheduler instead of this one. Start `dask scheduler` once, and `dask worker "
    "ADDRESS --nthreads 1` for every core. asr must be installed there, with the files at the same paths. The result "
    "is the same.",
    metavar="tcp://HOST:PORT",
)
SPEAKERS_OF_UTTERANCES = option(
    "Speakers of the utterances; adds results per speaker. STM files have their own.",
    None,
    "--utt2spk",
    metavar="FILE",
)
IGNORE_CASE = flag("Ignore letter case when comparing words.")
FOLD = option(
    "Replace symbols on both sides before scoring, for example phones by their class. A line has a symbol and its "
    "class; without a class, the symbol is deleted. With more columns (phones.60-48-39.map), COLUMN is the number of "
    "the one to use.",
    metavar="FILE[:COLUMN]",
)
LEVEL = option("Confidence level of the intervals.", 0.95, min=0.5, max=0.999, metavar="X")
