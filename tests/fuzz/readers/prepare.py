"""The formats of `asr prepare`: each source with one file spoilt, up to the data directory."""

import shutil
from functools import partial
from pathlib import Path

from asr.commands.prepare import FILE_FORMATS, prepare, summary
from asr.corpus.data_directory import read_data_directory
from asr.corpus.formats.source import ReadOptions
from asr.util.text_normalization import TextNormalizer
from tests.fuzz.mutators.text_mutators import TEXT
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader
from tests.fuzz.readers.corpora import checked
from tests.source_formats import CORPORA, WRITERS


def _seeds(folder: Path, *, name: str) -> Seeds:
    source = folder / "source"
    source.mkdir()
    (WRITERS[name][1] if name in WRITERS else CORPORA[name][0])(source)
    files = [path for path in sorted(source.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): _relative(path.read_bytes(), folder) for path in files}


def _relative(content: bytes, folder: Path) -> bytes:
    """Return the content without the folder in which it was written."""
    return content.replace(f"{folder}/source/".encode(), b"")


def _use(folder: Path, *, name: str) -> None:
    format_name = WRITERS[name][0] if name in WRITERS else name
    source, out = folder / "source", folder / "data"
    if format_name in FILE_FORMATS or name == "lhotse-cuts":
        source = next(source.rglob(_SOURCES[name]))
    shutil.rmtree(out, ignore_errors=True)
    result = prepare(format_name, source, out, options=ReadOptions(), normalizer=TextNormalizer())
    for line in summary(result, out):
        if not line.isprintable():
            raise Unsound(f"a line that no terminal can show: {line[:200]!r}")
    for directory in result.directories:
        if checked(read_data_directory(directory)).problems:
            raise Unsound(f"an utterance of {directory} that cannot be used")


_SOURCES = {
    "table": "table.csv", "nemo": "manifest.json", "lhotse-cuts": "cuts.jsonl", "htk": "all.scp",
    "sphinx": "all.fileids", "sphinx-features": "all.fileids",
}  # fmt: skip
_TEXTS = (
    "*.txt", "*.csv", "*.TextGrid", "*.eaf", "*.vtt", "*.srt", "*.json", "*.jsonl", "*.mlf", "*.scp", "*.fileids",
    "*.transcription", "*.mfc", "*.TXT", "*.tsv", "*PROMPTS",
)  # fmt: skip
for _name in (*WRITERS, *CORPORA):
    if _name != "tidigits":  # it has no file of text
        reader(f"prepare-{_name}", partial(_seeds, name=_name), TEXT, tree=True, targets=_TEXTS, writes=True)(
            partial(_use, name=_name)
        )
