"""The lexicon of graphemes, in the form that the checks of a corpus need."""

from pathlib import Path

from asr.lexicon.graphemes import GRAPHEMES, grapheme_lexicon
from asr.util.errors import LexiconError
from asr.validation.directory import Directory
from asr.validation.findings import stopping
from asr.validation.lexicon import LexiconFile


def graphemes_of(directory: Directory) -> LexiconFile:
    """Return the lexicon of the words in the transcripts of a data directory, in the form of a dictionary's file."""
    path = Path(GRAPHEMES)
    if "text" not in directory.lists:  # reported for the list
        return LexiconFile(path, GRAPHEMES, (), (), None, frozenset())
    try:
        lexicon = grapheme_lexicon(directory.words.values())
    except LexiconError as error:
        place = directory.lists["text"].path
        return LexiconFile(
            path, GRAPHEMES, (), (stopping("not-a-lexicon", place, None, str(error)),), None, frozenset()
        )
    return LexiconFile(path, GRAPHEMES, (), (), lexicon, frozenset())
