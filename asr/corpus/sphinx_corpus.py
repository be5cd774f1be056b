"""CMU Sphinx corpora: lists of utterances and transcripts, and a folder of feature files."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from asr.corpus.case_insensitive_dir import FoldedTree
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.feature_file import SPHINX_SUFFIX
from asr.corpus.identifiers import fault_in_name
from asr.corpus.places import Places
from asr.corpus.sphinx_lists import FileId, Transcript, read_fileids, read_transcription
from asr.util.errors import CorpusError, Issue, attempt, by_utterance, printable
from discriminants.util.paths import is_dir

Words = tuple[str, ...]


def read_sphinx_corpus(
    fileids: Path | str, transcription: Path | str | None, features_root: Path | str, *, speaker_folder: int = 0
) -> DataDirectory:
    """Read the corpus with the utterances in `fileids`.

    Parameters
    ----------
    fileids : path
        A line `speaker/sentence` for each utterance; its id is this path with `-` for `/`.
    transcription : path, or None if the words are unknown
        Lines `WORD WORD (id)`. An id is a fileid or the last part of one. If both lists have the same ids line by line,
        they are matched by line, as in Sphinx; otherwise by id. Transcripts of other utterances are ignored.
    features_root : path
        Folder with `speaker/sentence.mfc`. Letter case is ignored without an exact match.
    speaker_folder : int
        Index of the speaker's folder in a fileid: 0 the first, -1 the one with the file.

    Returns
    -------
    DataDirectory
        Its `archive`s are the feature files (see `asr.corpus.feature_file`). Unusable utterances (missing or empty
        file, missing or ambiguous transcript, no speaker's folder, invalid name by `asr.corpus.identifiers`) are listed
        in `problems`.

    Raises
    ------
    CorpusError
        For a malformed list (with file, line and value), two fileids with the same id, and a `features_root` that is
        not a folder.
    """
    fileids, root = Path(fileids), Path(features_root)
    if not is_dir(root):
        raise CorpusError(f"{root}: is not a directory. Expected the folder with speaker/sentence.mfc.")
    listed = read_fileids(fileids)
    words = None if transcription is None else _Transcripts(Path(transcription), listed)
    files = _FeatureFiles(root)
    lines: dict[str, int] = {}
    utterances, problems = [], []
    for fileid in listed:
        key = "-".join(fileid.path.parts)
        if key in lines:
            raise CorpusError(
                f"{fileids}:{fileid.line}: '{printable(str(fileid.path), 100)}' has the same id as line {lines[key]}. "
                "Expected unique ids (the path with '-' for '/')."
            )
        lines[key] = fileid.line
        utterance = _utterance(key, fileid, words, files, speaker_folder)
        if isinstance(utterance, Issue):
            problems.append(utterance.for_utterance(key))
        else:
            utterances.append(utterance)
    utterances.sort(key=lambda utterance: utterance.id)
    return DataDirectory(fileids, tuple(utterances), problems=tuple(by_utterance(problems)))


def _utterance(
    key: str, fileid: FileId, transcripts: "_Transcripts | None", files: "_FeatureFiles", speaker_folder: int
) -> Utterance | Issue:
    bad_name = fault_in_name(key)
    if bad_name is not None:
        return Issue("bad-name", f"its name {bad_name}")
    folders = fileid.path.parts[:-1]
    if not -len(folders) <= speaker_folder < len(folders):
        return Issue("no-speaker", f"'{fileid.path}' has only {len(folders)} folders; check speaker_folder")
    speaker = folders[speaker_folder]
    bad_name = fault_in_name(speaker)
    if bad_name is not None:
        return Issue("bad-name", f"the name of its speaker {bad_name}")
    file = files.find(fileid.path)
    if isinstance(file, Issue):
        return file
    words = None if transcripts is None else transcripts.of(fileid)
    return words if isinstance(words, Issue) else Utterance(key, speaker, words, archive=file)


class _Transcripts:
    """Transcripts of the utterances in `listed`."""

    def __init__(self, path: Path, listed: Sequence[FileId]):
        self.path = path
        found = read_transcription(path)
        self.by_line: Mapping[FileId, Words] = {}
        if len(found) == len(listed) and all(map(_names, found, listed)):
            self.by_line = {fileid: transcript.words for fileid, transcript in zip(listed, found, strict=True)}
        self.by_id: dict[str, list[Transcript]] = defaultdict(list)
        self.by_folded_id: dict[str, list[Transcript]] = defaultdict(list)
        for transcript in found:
            self.by_id[transcript.id].append(transcript)
            self.by_folded_id[transcript.id.casefold()].append(transcript)

    def of(self, fileid: FileId) -> Words | Issue:
        """Return the words, or why they are missing."""
        if fileid in self.by_line:
            return self.by_line[fileid]
        whole, last = str(fileid.path), fileid.path.name
        for transcripts in (
            self.by_id.get(whole),
            self.by_id.get(last),
            self.by_folded_id.get(whole.casefold()),
            self.by_folded_id.get(last.casefold()),
        ):
            if transcripts is not None:
                return self._agreed(transcripts)
        return Issue("no-transcript", f"no line of {self.path} has the id '{whole}' or '{last}'")

    def _agreed(self, transcripts: Sequence[Transcript]) -> Words | Issue:
        first = transcripts[0]
        for other in transcripts:
            if other.words != first.words:
                return Issue(
                    "no-transcript",
                    f"{self.path}: lines {first.line} and {other.line} have different words for the id '{other.id}'; "
                    "use whole fileids as ids, or the same order in both lists",
                )
        return first.words


def _names(transcript: Transcript, fileid: FileId) -> bool:
    return transcript.id.casefold() in (str(fileid.path).casefold(), fileid.path.name.casefold())


class _FeatureFiles:
    """Lookup of feature files, case-insensitive if necessary."""

    def __init__(self, root: Path):
        self.root = root.absolute()
        self.places = Places(root)
        self.tree = FoldedTree(self.root)

    def find(self, fileid: PurePosixPath) -> Path | Issue:
        """Return the utterance's file, or why it is unusable."""
        name = f"{fileid}{SPHINX_SUFFIX}"
        exact = self.places.find(str(self.root / name))
        if not isinstance(exact, Issue) or exact.code != "missing-file":
            return exact
        path = attempt(self.tree.find, name)
        if isinstance(path, Issue):
            return path
        if path is None:
            return Issue("missing-file", f"{self.root / name} does not exist in any letter case")
        return self.places.find(str(path))
