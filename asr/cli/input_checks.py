"""Checks of files and folders on the command line, before slow imports."""

import os
import re
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

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
