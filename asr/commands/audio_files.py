"""Audio files as a corpus: names, folders, file name patterns, and speakers."""

import glob
import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from asr.corpus.audio_kinds import READABLE
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.identifiers import fault_in_name
from asr.util.counted_text import count
from asr.util.errors import ConfigError, CorpusError, Issue, printable
from asr.util.unicode_text import nfc
from discriminants.util.paths import exists, is_dir, is_file

log = logging.getLogger(__name__)

ENDINGS = frozenset(".wav .flac .sph .wv1 .nist .ogg .oga .opus .mp3 .aif .aiff .aifc .au .snd .caf .w64 .rf64".split())
"""Endings of the audio files in a folder; files given by name may have any ending."""
MATRIX_ENDINGS = frozenset((".ark", ".scp", ".npz", ".npy"))
LISTS = ("wav.scp", "feats.scp")


def files_as_corpus(audio: Sequence[Path], speakers: str = "file") -> DataDirectory:
    """Return a corpus of audio files, one utterance per file, named without the ending.

    If names in several folders are equal, all names are prefixed with enough folders to make them unique.

    Parameters
    ----------
    audio : paths
        Files, folders or patterns (`*`, `?`, `[...]`) that the shell did not expand. Folders are searched recursively;
        their files are named by the relative path with `_` as separator.
    speakers : str
        "file": each file is a speaker; "directory": each folder; "one": a single speaker. A regular expression is
        searched in each path, and its group is the speaker.

    Returns
    -------
    DataDirectory
        Its problems list missing files, names or speakers that cannot be determined, folders without audio, and
        patterns without a match.

    Raises
    ------
    ConfigError
        If the regular expression is invalid or does not have exactly one group.
    CorpusError
        If two names cannot be made unique, or a folder is a data directory.
    """
    speaker_of = _speaker_rule(speakers)
    utterances, problems = [], []
    files = _expanded(audio)
    for name, (path, _, fault) in zip(_names(files), files, strict=True):
        bad_name, speaker = fault_in_name(name), speaker_of(path)
        if bad_name is not None:
            problems.append(
                Issue("bad-name", f"{path}: the file name without its extension {bad_name}", utterances=(name,))
            )
        elif fault:
            problems.append(Issue("missing-file", f"{path}: {fault}").for_utterance(name))
        elif not is_file(path):
            found = "is not a regular file" if exists(path) else "does not exist"
            problems.append(
                Issue("unreadable" if exists(path) else "missing-file", f"{path} {found}", utterances=(name,))
            )
        elif path.suffix in MATRIX_ENDINGS:
            reason = f"{path} has matrices, not audio. Use --scores (scores=) for state scores"
            problems.append(Issue("unreadable", reason, utterances=(name,)))
        elif speaker is None:
            problems.append(
                Issue(
                    "no-speaker",
                    f"{path}: the path does not match the speaker pattern {speakers!r}",
                    utterances=(name,),
                )
            )
        else:
            utterances.append(Utterance(name, speaker, None, audio=path))
    return DataDirectory(Path("the audio files"), tuple(sorted(utterances, key=lambda u: u.id)), {}, tuple(problems))


def is_pattern(path: Path) -> bool:
    """Whether a path that does not exist is a file name pattern."""
    return not exists(path) and glob.has_magic(str(path))


def _expanded(audio: Sequence[Path]) -> list[tuple[Path, Path, str]]:
    """Return each file with the base folder of its name, and a problem, or ""."""
    files: list[tuple[Path, Path, str]] = []
    for path in audio:
        matching = [path]
        if is_pattern(path):
            matching = sorted(Path(found) for found in glob.glob(str(path), recursive=True))  # noqa: PTH207 (also from /)
            if not matching:
                files.append((path, path.parent, "no file name matches the pattern"))
        for found in matching:
            files += _of_folder(found) if is_dir(found) else [(found, found.parent, "")]
    return files


def _of_folder(folder: Path) -> list[tuple[Path, Path, str]]:
    for name in LISTS:
        if is_file(folder / name):
            raise CorpusError(f"{folder} is a data directory, because it has {name}. Use --data DIR (data=)")
    files = sorted(path for path in folder.rglob("*") if is_file(path))
    found = [path for path in files if path.suffix.lower() in ENDINGS]
    if not found:
        return [(folder, folder.absolute().parent, f"is a folder without audio files ({', '.join(sorted(ENDINGS))})")]
    others = [path for path in files if path.suffix.lower() not in ENDINGS and not path.name.startswith(".")]
    if others:
        message = f"{folder}: {count(len(others), 'file')} of other types ignored, such as {others[0].name}"
        log.info("%s", printable(f"{message}. Audio types: {READABLE}"))
    return [(path, folder, "") for path in found]


def _names(files: Sequence[tuple[Path, Path, str]]) -> list[str]:
    """Return unique names: paths relative to their folders, prefixed with parent folders if necessary."""
    names: list[str] = []
    for n_folders in range(max((len(base.absolute().parts) for _, base, _ in files), default=1)):
        earlier, names = names, [_name(path, base, n_folders) for path, base, _ in files]
        if len(set(names)) == len(names):
            if n_folders:
                same = next(name for name in earlier if earlier.count(name) > 1)
                message = (
                    f"File name {same!r} exists in several folders, so all names include their folders: {names[0]!r}"
                )
                log.info("%s", printable(message))
            return names
    known: dict[str, Path] = {}
    for name, (path, base, _) in zip(names, files, strict=True):
        if name in known:
            first, second = known[name].absolute(), path.absolute()
            if first == second:
                raise CorpusError(f"{first} is listed twice")
            raise CorpusError(
                f"Two files have the name {_name(path, base, 0)!r}: {first} and {second}. Rename one of them"
            )
        known[name] = path
    raise AssertionError("names that are not all different have a first one that another has")


def _name(path: Path, base: Path, n_folders: int) -> str:
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
            f"--speakers (speakers=): {speakers!r} is not a valid pattern: {error}. Expected 'file', 'directory', "
            "'one' or a regular expression"
        ) from error
    if pattern.groups != 1:
        raise ConfigError(
            f"--speakers (speakers=): the pattern {speakers!r} has {pattern.groups} groups. Expected one group in "
            "parentheses for the speaker, such as '([a-z]+)_[0-9]+'"
        )

    def searched(path: Path) -> str | None:
        match = pattern.search(str(path))
        return match[1] or None if match else None

    return searched
