"""The lexicon of graphemes, in the form that the checks of a corpus need."""

import os
from pathlib import Path

from asr.corpus.data_directory import DataLists
from asr.lexicon.graphemes import GRAPHEMES, grapheme_lexicon
from asr.lexicon.multigraphs import multigraphs_of
from asr.lexicon.reading import LexiconFile
from asr.util.errors import Issue, LexiconError
from asr.validation.findings import stopping


def graphemes_of(lexicon_name: str | os.PathLike[str], directory: DataLists, issues: list[Issue]) -> LexiconFile:
    """Return the lexicon of the words in the transcripts of a data directory, in the form of a dictionary's file."""
    multigraphs = multigraphs_of(lexicon_name)
    lexicon = None
    if "text" in directory.lists:  # otherwise the list is reported
        try:
            lexicon = grapheme_lexicon(directory.words.values(), multigraphs)
        except LexiconError as error:
            issues.append(stopping("not-a-lexicon", directory.lists["text"].path, None, str(error)))
    return LexiconFile(Path(GRAPHEMES), GRAPHEMES, lexicon=lexicon)
