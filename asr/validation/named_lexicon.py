"""Lexicons made from the transcripts, in the form that the checks of a corpus need."""

from pathlib import Path

from asr.corpus.data_directory import DataLists
from asr.lexicon.multigraphs import multigraphs_of
from asr.lexicon.named import lexicon_by_name
from asr.lexicon.reading import LexiconFile
from asr.util.errors import Issue, LexiconError
from asr.validation.findings import stopping


def named_lexicon(name: str, directory: DataLists, issues: list[Issue]) -> LexiconFile:
    """Return the lexicon of this name of a data directory, in the form of a dictionary's file."""
    multigraphs_of(name)  # a faulty table is an error of its own
    lexicon = None
    if "text" in directory.lists:  # otherwise the list is reported
        try:
            lexicon = lexicon_by_name(name, directory.words.values())
        except LexiconError as error:
            issues.append(stopping("not-a-lexicon", directory.lists["text"].path, None, str(error)))
    return LexiconFile(Path(name), name, lexicon=lexicon)
