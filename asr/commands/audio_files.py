"""Audio files by themselves as a corpus: their names, folders and patterns of them, and who is taken to speak."""

import glob
import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from asr.corpus.audio_kinds import READABLE
from asr.corpus.data_directory import DataDirectory, Problem, Utterance
from asr.corpus.identifiers import fault_in_name
from asr.util.counted_text import count
from asr.util.errors import ConfigError, CorpusError, printable
from asr.util.unicode_text import nfc
from discriminants.util.paths import exists, is_dir, is_file

log = logging.getLogger(__name__)

ENDINGS = frozenset(".wav .flac .sph .wv1 .nist .ogg .oga .opus .mp3 .aif .aiff .aifc .au .snd .caf .w64 .rf64".split())
"""Of the files that are taken from a folder; a file that is named is taken whatever it is called."""
LISTS = ("wav.scp", "feats.scp")


def files_as_corpus(audio: Sequence[Path], speakers: str = "file") -> DataDirectory:
    """The corpus of some audio files, each an utterance named after its file without the ending.

    Where files of several folders have one name, all names begin with as many folders as tell them apart.

    Parameters
    ----------
    audio : paths
        Files; folders, whose audio files are taken with those of the folders inside them, named by the path from the
        folder with `_` between its parts; and patterns (`*`, `?`, `[...]`) that no shell has expanded.
    speakers : str
        "file": every file counts as a speaker; "directory": those of one folder do; "one": all do; or a regular
        expression that is searched in every path, and whose group is the speaker.

    Returns
    -------
    DataDirectory
        A file that is missing, or whose name or speaker cannot be told, is one of its problems, as is a folder without
        audio, or a pattern that matches nothing.

    Raises
    ------
    ConfigError
        For a regular expression that is none, or has not one group.
    CorpusError
        When two files cannot be told apart by their names, or a folder is a data directory.
    """
    speaker_of = _speaker_rule(speakers)
    utterances, problems = [], []
    files = _expanded(audio)
    for name, (path, _, fault) in zip(_names(files), files, strict=True):
        bad_name, speaker = fault_in_name(name), speaker_of(path)
        if bad_name is not None:
            problems.append(Problem(name, "bad-name", f"{path}: the name of the file, without its ending, {bad_name}"))
        elif fault:
            problems.append(Problem(name, "missing-file", f"{path}: {fault}"))
        elif not is_file(path):
            found = "is no regular file" if exists(path) else "does not exist"
            problems.append(Problem(name, "unreadable" if exists(path) else "missing-file", f"{path} {found}"))
        elif speaker is None:
            problems.append(Problem(name, "no-speaker", f"{path}: nothing in its path is like {speakers!r}"))
        else:
            utterances.append(Utterance(name, speaker, None, audio=path))
    return DataDirectory(Path("the audio files"), tuple(sorted(utterances, key=lambda u: u.id)), {}, tuple(problems))


def is_pattern(path: Path) -> bool:
    """Whether a path that leads nowhere is a pattern of file names."""
    return not exists(path) and glob.has_magic(str(path))


def _expanded(audio: Sequence[Path]) -> list[tuple[Path, Path, str]]:
    """Every file, the folder below which its path is its name, and what is wrong with it before it is looked at."""
    files: list[tuple[Path, Path, str]] = []
    for path in audio:
        matching = [path]
        if is_pattern(path):
            matching = sorted(Path(found) for found in glob.glob(str(path), recursive=True))  # noqa: PTH207 (also from /)
            if not matching:
                files.append((path, path.parent, "no file has a name like that"))
        for found in matching:
            files += _of_folder(found) if is_dir(found) else [(found, found.parent, "")]
    return files


def _of_folder(folder: Path) -> list[tuple[Path, Path, str]]:
    for name in LISTS:
        if is_file(folder / name):
            raise CorpusError(f"{folder}: is a data directory, as it holds {name}; give it as --data (data=)")
    files = sorted(path for path in folder.rglob("*") if is_file(path))
    found = [path for path in files if path.suffix.lower() in ENDINGS]
    if not found:
        return [(folder, folder.absolute().parent, f"is a folder without audio files ({', '.join(sorted(ENDINGS))})")]
    others = [path for path in files if path.suffix.lower() not in ENDINGS and not path.name.startswith(".")]
    if others:
        message = f"{folder}: {count(len(others), 'file')} of other kinds passed over, such as {others[0].name}"
        log.info("%s", printable(f"{message}; {READABLE} are taken"))
    return [(path, folder, "") for path in found]


def _names(files: Sequence[tuple[Path, Path, str]]) -> list[str]:
    """What the files are called: their paths below their folders, or, where that is not enough, with some of these."""
    names: list[str] = []
    for n_folders in range(max((len(base.absolute().parts) for _, base, _ in files), default=1)):
        earlier, names = names, [_name(path, base, n_folders) for path, base, _ in files]
        if len(set(names)) == len(names):
            if n_folders:
                same = next(name for name in earlier if earlier.count(name) > 1)
                message = (
                    f"files of several folders are named {same!r}, so all are named with their folders: {names[0]!r}"
                )
                log.info("%s", printable(message))
            return names
    known: dict[str, Path] = {}
    for name, (path, base, _) in zip(names, files, strict=True):
        if name in known:
            first, second = known[name].absolute(), path.absolute()
            if first == second:
                raise CorpusError(f"{first} is given twice")
            raise CorpusError(f"two files are named {_name(path, base, 0)!r}: {first} and {second}; rename one")
        known[name] = path
    raise AssertionError("names that are not all different have a first one that another has")


def _name(path: Path, base: Path, n_folders: int) -> str:
    """Of a file, with so many of the folders above its own part of the path."""
    folders = base.absolute().parts[1:]
    own = path.absolute().relative_to(base.absolute())
    parts = (*folders[max(len(folders) - n_folders, 0) :], *own.parent.parts, own.stem)
    return nfc("_".join("_".join(parts).split()))


def _speaker_rule(speakers: str) -> Callable[[Path], str | None]:
    if speakers == "one":
        return lambda path: "speaker"
    if speakers == "file":
        return str
    if speakers == "directory":
        return lambda path: str(path.parent)
    try:
        pattern = re.compile(speakers)
    except re.error as error:
        raise ConfigError(
            f"--speakers (speakers=): {speakers!r} is neither one, file, directory nor a pattern: {error}"
        ) from error
    if pattern.groups != 1:
        raise ConfigError(
            f"--speakers (speakers=): the pattern {speakers!r} has {pattern.groups} groups; one, in parentheses, must "
            "be the speaker, as in '([a-z]+)_[0-9]+'"
        )

    def searched(path: Path) -> str | None:
        match = pattern.search(str(path))
        return match[1] or None if match else None

    return searched
