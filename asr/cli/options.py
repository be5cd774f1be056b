"""Options shared by several commands, and checks before slow imports."""

import os
import re
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

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
    typer.Option("--data", metavar="DIR", help=f"{_LISTS}; to decode, the first is enough.", show_default=False),
]
Model = Annotated[
    Path,
    typer.Option(
        "--model", metavar="FILE", help="Model file that asr train or asr tune has written.", show_default=False
    ),
]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Folder from which relative paths in wav.scp or feats.scp start. A file that is not there is looked for "
        "in the folder above the data directory, then in the data directory itself.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="File with settings, in TOML; those that it lacks keep their defaults.",
        show_default=False,
    ),
]


Lexicon = Annotated[
    Path,
    typer.Option(
        "--lexicon",
        metavar="FILE|graphemes",
        help="Pronunciations, in the format of Kaldi, HTK or the CMU dictionary; or 'graphemes': the words of the "
        "transcripts with a phone for each letter.",
        show_default=False,
    ),
]
Upsample = Annotated[
    bool,
    typer.Option(
        "--upsample",
        help="Convert audio of a lower sampling rate than that of the features instead of refusing it. Such audio has "
        "nothing in the upper part of the band, so more words are recognized wrongly.",
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
        help="How many cores of this machine to work on; the result is the same for any number.",
    ),
]

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="Work on the machines of this dask scheduler instead of this one. Start `dask scheduler` once, and `dask "
        "worker ADDRESS --nthreads 1` for every core; asr must be installed there, and find the files at the same "
        "paths. The result is the same.",
        show_default=False,
    ),
]

_MAX_PIPED = 64 << 20  # bytes; each reader has its own limit


def require_directory(path: Path | None, option: str, error: type[AsrError] = CorpusError) -> None:
    """Raise `error` unless `path` is None or a directory."""
    if path is None or is_dir(path):
        return
    found = "is a file" if exists(path) else "does not exist"
    raise error(f"{option}: '{path}' {found}; a directory is needed")


def require_corpus(path: Path | None, option: str) -> None:
    """Raise CorpusError unless `path` is None or a directory with lists; name the `asr prepare` command if possible."""
    require_directory(path, option)
    if path is None or any(exists(path / name) for name in ("wav.scp", "feats.scp", "utt2spk", "text")):
        return
    from asr.corpus.formats.detect import prepare_command

    command = prepare_command(path)
    if command is not None:
        raise CorpusError(f"{option}: '{path}' has no list wav.scp or feats.scp. Make a data directory: {command}.")


def require_file(path: Path | None, option: str, error: type[AsrError] = ConfigError) -> None:
    """Raise `error` unless `path` is None or a file; a shell pipe (`<(command)`) is copied to a file."""
    if path is None or is_file(path):
        return
    if path.is_fifo():
        _keep_what_is_piped(path, option, error)
        return
    found = "is a directory" if is_dir(path) else "is no regular file" if exists(path) else "does not exist"
    raise error(f"{option}: '{path}' {found}; a file is needed")


def require_lexicon(path: Path | None) -> None:
    """Raise LexiconError unless `path` is None, "graphemes" (see `asr.lexicon.graphemes`) or a file."""
    if path != Path("graphemes"):
        require_file(path, "--lexicon", LexiconError)


def _keep_what_is_piped(path: Path, option: str, error: type[AsrError]) -> None:
    """Replace an open pipe with a temporary file that can be read repeatedly."""
    opened = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", "/dev/fd/0" if path == Path("/dev/stdin") else str(path))
    if opened is None or not exists(Path("/proc/self/fd")):
        raise error(f"{option}: '{path}' is a pipe; write what comes through it to a file, and give that")
    with open(int(opened[1]), "rb", closefd=False) as pipe, TemporaryFile() as kept:
        content = pipe.read(_MAX_PIPED + 1)
        if len(content) > _MAX_PIPED:
            size = f"{_MAX_PIPED >> 20} MiB"
            raise error(f"{option}: '{path}' gives more than {size}; write it to a file, and give that")
        if not content:
            raise error(f"{option}: nothing comes through '{path}'; has the command that should write it failed?")
        kept.write(content)
        kept.flush()
        os.dup2(kept.fileno(), pipe.fileno())


def require_model(path: Path, option: str) -> None:
    """Raise ModelFormatError unless `path` is a file."""
    if is_file(path):
        return
    inside = path / "model.safetensors"
    if is_file(inside):
        raise ModelFormatError(f"{option}: '{path}' is a directory; give the model file in it, '{inside}'")
    found = "is a directory" if is_dir(path) else "is no file" if exists(path) else "does not exist"
    raise ModelFormatError(f"{option}: '{path}' {found}; {MODEL_NEEDED}")


def require_grammar(grammar: str | None, option: str = "--grammar") -> None:
    """Raise GrammarError unless the grammar of a command line is None, a name, a number of words, or a file."""
    if grammar is None or grammar in ("loop", "one") or re.fullmatch("[0-9]{1,4}", grammar):
        return
    if not exists(Path(grammar)):
        if re.fullmatch(r"-.*|[+]?[\d.,]+", grammar):
            raise GrammarError(
                f"{option}: '{grammar}' is no number of words; it takes loop (any words in any order), one (exactly "
                "one word), a number from 1 to 1000 (exactly so many words), or the file of a grammar"
            )
        raise GrammarError(
            f"{option}: there is no file '{grammar}'; give loop, one, a number of words, or the file of a grammar"
        )
    require_file(Path(grammar), option, GrammarError)
