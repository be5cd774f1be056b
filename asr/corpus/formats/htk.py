"""HTK: a list of recordings (.scp), and label files or a master label file (.mlf) with their words."""

from collections.abc import Iterator
from pathlib import Path

from asr.corpus.formats.source import AudioFinder, Found, LeftOut, ReadOptions, SourceUtterance
from asr.corpus.htk_labels import read_words
from asr.util.errors import CorpusError, Issue
from asr.util.text_lines import read_text_lines


def read_htk(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the recordings of a list; what follows the first name on a line (HCopy's output) is ignored.

    The words are in `options.transcripts`, else in the master label files (.mlf) next to the list.
    """
    given = options.transcripts
    label_files = [given] if given is not None else sorted(source.parent.glob("*.mlf"))
    if not label_files:
        raise CorpusError(f"{source}: no master label file (.mlf) next to it. Use --transcripts FILE (transcripts=).")
    issues: list[Issue] = []
    words = {name: found for path in label_files for name, found in read_words(path, issues=issues).items()}
    faults = {issue.utterance: issue.message for issue in issues}
    finder = AudioFinder(source.parent, options.audio)
    for number, line in enumerate(read_text_lines(source, CorpusError), 1):
        place, fields = f"{source}:{number}", line.split()
        if not fields:
            continue
        audio = finder.named(fields[0], place)
        if isinstance(audio, LeftOut):
            yield audio
        elif audio.stem in faults:
            yield LeftOut(place, "bad-line", faults[audio.stem])
        elif audio.stem not in words:
            yield LeftOut(place, "no-transcript", f"no labels of '{audio.stem}' in {', '.join(map(str, label_files))}")
        else:
            yield SourceUtterance(audio, " ".join(words[audio.stem]), place)
