"""Options shared by several commands, and checks before slow imports."""

import os
import re
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Literal

import typer

from asr.runs.cores import ALL_CORES as ALL_CORES
from asr.util.errors import (
    MODEL_NEEDED,
    AsrError,
    ConfigError,
    CorpusError,
    GrammarError,
    LexiconError,
    ModelFormatError,
)
from discriminants.util.paths import exists, is_dir, is_file

_LISTS = "Kaldi data directory: a folder with the lists wav.scp (or feats.scp), utt2spk and text"
Data = Annotated[Path, typer.Option("--data", metavar="DIR", help=f"{_LISTS}.", show_default=False)]
OptionalData = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help=f"{_LISTS}. Decoding needs only the first.", show_default=False),
]
Model = Annotated[
    Path,
    typer.Option("--model", metavar="FILE", help="Model file written by asr train or asr tune.", show_default=False),
]


def _give_classifier(name: str | None) -> str | None:
    if name is not None:
        from asr.acoustic.classifiers import give_classifier

        give_classifier(name)
    return name


ClassifierOfModel = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="MODULE:CLASS",
        callback=_give_classifier,
        help="Class of the model's own classifier, as given to asr train. A model file alone imports no code.",
        show_default=False,
    ),
]


def _give_extractor(name: str | None) -> str | None:
    if name is not None:
        from asr.features.extractor import give_extractor

        give_extractor(name)
    return name


ExtractorOfModel = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        metavar="MODULE:CLASS",
        callback=_give_extractor,
        help="Class of the model's own features, as in the settings of its training.",
        show_default=False,
    ),
]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Root folder of relative paths in wav.scp or feats.scp. Files that are not found there are searched for "
        "in the parent of the data directory, then in the data directory.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="TOML file with settings. Missing settings have their defaults.",
        show_default=False,
    ),
]


Lexicon = Annotated[
    Path | None,
    typer.Option(
        "--lexicon",
        metavar="FILE|graphemes[:TABLE]",
        help="Pronunciations, in the format of Kaldi, HTK or the CMU dictionary; or 'graphemes': the words of the "
        "transcripts with a phone for each letter, or with a table of asr lexicon --multigraphs.",
        show_default=False,
    ),
]
Unit = Annotated[
    Literal["word", "phone"],
    typer.Option(
        "--unit",
        help="Units of the transcripts. With 'phone', each word is a phone or a mark of silence (such as sil or h#), "
        "and no lexicon is needed.",
    ),
]
Upsample = Annotated[
    bool,
    typer.Option(
        "--upsample",
        help="Convert audio with a lower sampling rate than the features instead of refusing it. The upper part of "
        "the band is then empty, so word errors increase.",
    ),
]

StripStress = Annotated[
    bool | None,
    typer.Option(
        "--strip-stress/--keep-stress",
        help="Remove stress digits from the phones of the lexicon (AH0 and AH1 become AH), or keep them.  [default: "
        "remove them if the phones are the CMU dictionary's]",
        show_default=False,
    ),
]

Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        show_default="all cores",
        help="Number of CPU cores of this machine. The result does not depend on it.",
    ),
]

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="Run on the machines of this dask scheduler instead of this one. Start `dask scheduler` once, and `dask "
        "worker ADDRESS --nthreads 1` for every core. asr must be installed there, with the files at the same "
        "paths. The result is the same.",
        show_default=False,
    ),
]

UttToSpeaker = Annotated[
    Path | None,
    typer.Option(
        "--utt2spk",
        metavar="FILE",
        help="Speakers of the utterances; adds results per speaker. STM files have their own.",
        show_default=False,
    ),
]
IgnoreCase = Annotated[bool, typer.Option("--ignore-case", help="Ignore letter case when comparing words.")]
Fold = Annotated[
    str | None,
    typer.Option(
        "--fold",
        metavar="FILE[:COLUMN]",
        help="Replace symbols on both sides before scoring, for example phones by their class. A line has a symbol and "
        "its class; without a class, the symbol is deleted. With more columns (phones.60-48-39.map), COLUMN is the "
        "number of the one to use.",
        show_default=False,
    ),
]
Level = Annotated[
    float, typer.Option("--level", min=0.5, max=0.999, metavar="X", help="Confidence level of the intervals.")
]

_MAX_PIPED = 64 << 20  # bytes; each reader has its own limit


def require_directory(path: Path | None, option: str, error: type[AsrError] = CorpusError) -> None:
    """Raise `error` if `path` is not a directory; None is accepted."""
    if path is None or is_dir(path):
        return
    found = "is a file" if exists(path) else "does not exist"
    raise error(f"{option}: '{path}' {found}. Expected a directory")


def require_corpus(path: Path | None, option: str) -> None:
    """Raise CorpusError for a `path` that is not a directory with lists; name the `asr prepare` command if possible."""
    require_directory(path, option)
    if path is None or any(exists(path / name) for name in ("wav.scp", "feats.scp", "utt2spk", "text")):
        return
    parts = sorted(below.parent.name for name in ("wav.scp", "feats.scp") for below in path.glob(f"*/{name}"))
    if parts:
        raise CorpusError(f"{option}: '{path}' has the data directories {' and '.join(parts)}. Use {path / parts[0]}.")
    from asr.corpus.formats.detect import prepare_command

    command = prepare_command(path)
    if command is not None:
        raise CorpusError(f"{option}: '{path}' has no list wav.scp or feats.scp. Make a data directory: {command}.")


def require_file(path: Path | None, option: str, error: type[AsrError] = ConfigError) -> None:
    """Raise `error` if `path` is not a file; None is accepted, and a shell pipe (`<(command)`) is copied to a file."""
    if path is None or is_file(path):
        return
    if path.is_fifo():
        _keep_what_is_piped(path, option, error)
        return
    found = "is a directory" if is_dir(path) else "is not a regular file" if exists(path) else "does not exist"
    raise error(f"{option}: '{path}' {found}. Expected a file")


def lexicon_of(lexicon: Path | None, unit: Literal["word", "phone"]) -> Path:
    """Return the lexicon of the options --lexicon and --unit, which must exist."""
    if unit == "phone":
        if lexicon is not None:
            raise ConfigError(f"--lexicon {lexicon}: not used with --unit phone. Remove one of them")
        return Path("phones")
    if lexicon is None:
        raise ConfigError("--lexicon is missing. Expected a file or 'graphemes', or --unit phone")
    require_lexicon(lexicon)
    return lexicon


def require_lexicon(path: Path | None) -> None:
    """Raise LexiconError for a `path` other than a file or a name of `asr.lexicon.named`."""
    if path in (Path("graphemes"), Path("phones")):
        return
    if path is not None and str(path).startswith("graphemes:"):
        path = Path(str(path).removeprefix("graphemes:"))
    if path is not None and not exists(path) and get_close_matches(path.name, ["graphemes"], cutoff=0.8):
        raise LexiconError(f"--lexicon: '{path}' does not exist. Did you mean graphemes?")
    require_file(path, "--lexicon", LexiconError)


def _keep_what_is_piped(path: Path, option: str, error: type[AsrError]) -> None:
    """Replace an open pipe with a temporary file that can be read repeatedly."""
    opened = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", "/dev/fd/0" if path == Path("/dev/stdin") else str(path))
    if opened is None or not exists(Path("/proc/self/fd")):
        raise error(f"{option}: '{path}' is a pipe. Expected a file: write the output of the pipe to a file first")
    with open(int(opened[1]), "rb", closefd=False) as pipe, TemporaryFile() as kept:
        content = pipe.read(_MAX_PIPED + 1)
        if len(content) > _MAX_PIPED:
            size = f"{_MAX_PIPED >> 20} MiB"
            raise error(f"{option}: '{path}' has more than {size}, too much for a pipe. Write it to a file first")
        if not content:
            raise error(f"{option}: the pipe '{path}' is empty. Check the command that writes to it")
        kept.write(content)
        kept.flush()
        os.dup2(kept.fileno(), pipe.fileno())


def require_model(path: Path, option: str) -> None:
    """Raise ModelFormatError unless `path` is a file."""
    if is_file(path):
        return
    inside = path / "model.safetensors"
    if is_file(inside):
        raise ModelFormatError(f"{option}: '{path}' is a directory. Use the model file in it, '{inside}'")
    found = "is a directory" if is_dir(path) else "is not a regular file" if exists(path) else "does not exist"
    raise ModelFormatError(f"{option}: '{path}' {found}. {MODEL_NEEDED}")


def require_grammar(grammar: str | None, option: str = "--grammar") -> None:
    """Raise GrammarError for a grammar that is not a name, a number of words, or a file; None is accepted."""
    if grammar is None or grammar in ("loop", "one") or re.fullmatch("[0-9]{1,4}", grammar):
        return
    if not exists(Path(grammar)):
        if re.fullmatch(r"-.*|[+]?[\d.,]+", grammar):
            raise GrammarError(
                f"{option}: '{grammar}' is not a number of words from 1 to 1000. Expected loop (any words in any "
                "order), one (exactly one word), a number of words, or a grammar file"
            )
        raise GrammarError(
            f"{option}: '{grammar}' does not exist. Expected loop, one, a number of words, or a grammar file"
        )
    require_file(Path(grammar), option, GrammarError)
