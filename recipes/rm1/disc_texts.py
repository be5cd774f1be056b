"""Text files on the discs of Resource Management: lists of tests, prompts, speakers."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from asr.corpus.identifiers import fault_in_name
from asr.util.errors import CorpusError, printable
from asr.util.text_lines import read_text_lines

_QUOTED = 100  # characters of a line quoted in a message
_SEXES = frozenset("mf")


def read_ndx(path: Path | str) -> tuple[PurePosixPath, ...]:
    """Read the recordings in an `.ndx` list: `speaker folder/sentence.sph` at the end of a path below the disc.

    `;` starts a comment, backslashes count as slashes, `.sph` is optional, and a leading slash is the disc's root.
    Raises CorpusError, naming file and line, for a line of several words, a path of fewer than two parts or one that
    leads out of the disc, names that no utterance can have, and a recording listed twice.
    """
    found: dict[str, PurePosixPath] = {}
    for number, text in _lines(path):
        name = PurePosixPath(text.replace("\\", "/").lstrip("/"))
        if name.suffix.lower() != ".sph":
            name = name.with_name(f"{name.name}.sph") if name.name else name
        fault = None
        if text.split() != [text]:
            fault = "has white space. Expected one path per line"
        elif ".." in name.parts:
            fault = "leads out of the disc by '..'"
        elif len(name.parts) < 2:
            fault = "has no folder. Expected the folder of the speaker"
        elif fault_in_name(name.stem) or fault_in_name(name.parts[-2]):
            fault = "is not a valid name of a recording or speaker"
        elif str(name).casefold() in found:
            fault = "is listed twice"
        if fault is not None:
            raise _error(path, number, text, fault, "rm1/ind/.../speaker/sentence.sph")
        found[str(name).casefold()] = name
    return tuple(found.values())


def read_prompts(path: Path | str) -> dict[str, tuple[str, ...]]:
    """Read the prompts (`al_sents.snr`): words in capitals by sentence id in small letters.

    A line is `WORD WORD (ID)`; `;` starts a comment. Raises CorpusError, naming file and line, for a line of another
    form and an id that occurs earlier with other words.
    """
    prompts: dict[str, tuple[str, ...]] = {}
    for number, text in _lines(path):
        said, bracket, rest = text.rpartition("(")
        words, name = tuple(said.upper().split()), rest.removesuffix(")").strip()
        if not (words and bracket and rest.endswith(")") and name.split() == [name]):
            raise _error(path, number, text, "is not a sentence with its id", "WORD WORD (ID)")
        key = name.casefold()
        if prompts.setdefault(key, words) != words:
            raise _error(path, number, text, f"differs from '{name}' above", "one sentence per id")
    return prompts


def read_sexes(path: Path | str) -> dict[str, str]:
    """Read speakers' sex, `m` or `f`, by id in small letters (`al_spkrs.txt`).

    A line has an id, the sex, and fields that are ignored; `;` starts a comment. Lines whose second word is not a sex,
    such as headings, are skipped. Raises CorpusError, naming file and line, for a speaker of both sexes.
    """
    sexes: dict[str, str] = {}
    for number, text in _lines(path):
        fields = text.casefold().split()
        if len(fields) < 2 or fields[1] not in _SEXES:
            continue
        if sexes.setdefault(fields[0], fields[1]) != fields[1]:
            raise _error(path, number, text, "has another sex than a line above", "one line per speaker")
    return sexes


def _lines(path: Path | str) -> Iterator[tuple[int, str]]:
    """Yield numbered nonblank lines without comments."""
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        text = line.split(";", 1)[0].strip()
        if text:
            yield number, text


def _error(path: Path | str, number: int, text: str, fault: str, right: str) -> CorpusError:
    return CorpusError(f"{path}:{number}: '{printable(text, _QUOTED)}' {fault}. Expected '{right}'.")
