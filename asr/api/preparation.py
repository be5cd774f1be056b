"""The command `asr prepare` as a function."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from asr.api.arguments import checked, optional_path
from asr.api.commands import StrPath
from asr.commands.prepare import WORD_FORMATS, Prepared
from asr.commands.prepare import prepare as prepare_corpus
from asr.corpus.formats.source import ReadOptions
from asr.util.text_normalization import TextNormalizer, read_tags


@checked
def prepare(
    format_name: str,
    source: StrPath,
    output: StrPath,
    *,
    audio: StrPath | None = None,
    columns: Mapping[str, str] | None = None,
    tiers: str | None = None,
    transcripts: StrPath | None = None,
    speakers: str | None = None,
    test_speakers: int | Sequence[str] = 0,
    lexicon: StrPath | None = None,
    channel: int | None = None,
    case: Literal["lower", "upper", "keep"] | None = None,
    language: str = "en",
    hyphens: Literal["split", "keep", "join"] = "split",
    tags: StrPath | Mapping[str, str] | None = None,
    spell_numbers: bool = False,
    seed: int = 0,
    dry_run: bool = False,
) -> Prepared:
    """Write a data directory from recordings and transcripts in another format, like the command `asr prepare`.

    `output/prepared.tsv` lists every file, row or segment, with its utterance or the reason why it is left out.

    Parameters
    ----------
    format_name : str
        Name of the format, such as "folder", "table" or "textgrid" (`asr.commands.prepare.FORMATS`).
    source : path
        Folder of recordings, or the table or list.
    output : path
        Data directory to write; with `test_speakers`, or for a corpus with parts, the folder above several.
    audio : path, optional
        Folder of the audio files; default: `source`.
    columns : mapping, optional
        Column of each field of a table, such as `{"file": "path", "text": "sentence"}`; default: usual names.
    tiers : str, optional
        Regular expression for tiers with transcripts; default: all tiers except those of phones.
    transcripts : path, optional
        Transcripts of the formats "htk" and "sphinx"; default: the file next to `source`.
    speakers : str, optional
        "folder", "file", "one", or a regular expression searched in the path of the audio file, whose first group names
        the speaker. Default: the name that the format has, else the folder if there are several, else the file.
    test_speakers : int or list of str
        Speakers of the test, drawn or named; default: none.
    lexicon : path, optional
        Lexicon whose letter case the words take; `missing_words` of the result counts words that it lacks.
    channel : int, optional
        Channel of the recordings, from 1, written to `output/channel-N`; default: the mean of all channels.
    case : "lower", "upper" or "keep", optional
        Letter case of the words; default: lower. The default leaves transcripts of "htk" and "sphinx" as they are,
        because their words are those of a dictionary.
    language, hyphens, tags, spell_numbers
        Rules of the text (`asr.util.text_normalization.TextNormalizer`).
    seed : int
        Seed of the draw of test speakers.
    dry_run : bool
        Whether to write nothing; the result has the changes of the text.

    Returns
    -------
    Prepared
        Utterances used, entries left out, directories, and changes of the text.

    Raises
    ------
    CorpusError
        If the source cannot be read, or nothing of it can be used.
    ConfigError
        If an option is malformed, or the package num2words is missing.

    Examples
    --------
    >>> prepare("folder", "recordings", "data", test_speakers=2)  # doctest: +SKIP
    """
    replacements = tags if isinstance(tags, Mapping) else read_tags(Path(tags)) if tags is not None else {}
    return prepare_corpus(
        format_name,
        Path(source),
        Path(output),
        options=ReadOptions(optional_path(audio), columns or {}, tiers, optional_path(transcripts)),
        normalizer=TextNormalizer(
            case or "lower",
            language,
            hyphens,
            replacements,
            spell_numbers,
            is_active=case is not None or format_name not in WORD_FORMATS,
        ),
        speakers=speakers,
        test_speakers=test_speakers,
        lexicon=optional_path(lexicon),
        channel=channel,
        seed=seed,
        dry_run=dry_run,
    )
