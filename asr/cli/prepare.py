"""`asr prepare`: a data directory from recordings and transcripts."""

from pathlib import Path
from typing import Literal

import typer

from asr.cli.input_checks import require_directory, require_file, require_lexicon
from asr.cli.options import Options, argument, flag, keywords, option, takes
from asr.util.errors import ConfigError, CorpusError
from discriminants.util.paths import exists


class PrepareOptions(Options):
    """Options of `asr prepare`."""

    format_name: str = argument("Format of the source (see above).", "FORMAT")
    source: Path = argument("Folder of recordings, or the table.", "SOURCE")
    output: Path = argument("Data directory to write.", "OUT")
    audio: Path | None = option("Folder of the audio files.  [default: SOURCE]", metavar="DIR")
    speakers: str | None = option(
        "Where the speaker's name is: 'folder' (of the audio file), 'file' (a speaker per file), 'one' (a single "
        "speaker), or a regular expression searched in the path of the audio file, whose first group is the speaker.  "
        "[default: column, tier or participant of the format, else the folder if there are several, else the file]",
        metavar="RULE",
    )
    test_speakers: str | None = option(
        "Number of speakers drawn for a test, or their names with commas: OUT/train and OUT/test are written.",
        metavar="N|NAMES",
    )
    columns: str | None = option(
        "Columns of a table, such as file=path,text=sentence,speaker=client_id.  [default: usual names]",
        metavar="FIELD=NAME,...",
    )
    transcripts: Path | None = option(
        "Transcripts of htk (.mlf) and sphinx (.transcription).  [default: next to SOURCE]", metavar="FILE"
    )
    tiers: str | None = option("Tiers with transcripts.  [default: all tiers except those of phones]", metavar="REGEX")
    lexicon: Path | None = option(
        "Lexicon whose letter case the words take; words that it lacks are counted.", metavar="FILE"
    )
    channel: int | None = option(
        "Channel of the recordings, from 1, written as FLAC to OUT/channel-N.  [default: mean of all channels]",
        metavar="N",
    )
    case: Literal["lower", "upper", "keep"] | None = option(
        "Letter case of the words.  [default: lower; for htk and sphinx, words stay as they are]"
    )
    language: str = option("Language, for spelled numbers and for the case of Turkish i.", "en", metavar="CODE")
    hyphens: Literal["split", "keep", "join"] = option("Whether hyphens divide words, stay, or are removed.", "split")
    tags: Path | None = option(
        "Replacements, one per line: a tag or word, a tab, and words (or nothing). Other tags in [] or <> are removed.",
        metavar="FILE",
    )
    spell_numbers: bool = flag("Spell digits in the language (needs the package num2words).")
    dry_run: bool = flag("Write nothing; print how the text changes: before, after, count.")


@takes(PrepareOptions)
def prepare(given: PrepareOptions) -> None:
    """Write a data directory from recordings with transcripts in another format.

    \b
    FORMAT is one of
      folder     recordings with a .txt or .lab file of the same name
      table      a CSV or TSV file with columns for file, text and speaker, and optionally start and end
      textgrid   recordings with a Praat TextGrid of the same name; a tier per speaker
      elan       recordings with an ELAN file (.eaf); a tier per speaker
      audacity   recordings with a label track (.txt: START, tab, END, tab, TEXT)
      csv, json  recordings with files of asr align or asr decode --format csv or json
      subtitles  recordings with .srt or .vtt
      lhotse     a manifest of cuts (.jsonl, .jsonl.gz), or a folder with recordings and supervisions
      nemo       a manifest of NeMo (.json, .jsonl)
      htk        a list of recordings (.scp) next to a master label file (.mlf)
      sphinx     a list of recordings or feature files (.fileids) next to its .transcription
    or the name of a public corpus, whose folder is SOURCE:
      timit, librispeech, common-voice, speech-commands, tidigits, ljspeech, vctk, voxforge

    Text is normalized: Unicode NFC, lower case, no punctuation. Every file, row or segment that is not used is listed
    with the reason in OUT/prepared.tsv.

    \b
    Examples:
      asr prepare folder recordings data/all
      asr prepare table table.csv data --test-speakers 3
      asr prepare textgrid interviews data/all --tiers 'text|ORT'
    """
    require_directory(given.audio, "--audio")
    require_lexicon(given.lexicon)
    require_file(given.tags, "--tags")
    require_file(given.transcripts, "--transcripts")
    if not exists(given.source):
        raise CorpusError(
            f"{given.source}: not found. Expected the folder or table with the recordings.", code="missing-file"
        )

    import asr
    from asr.commands.prepare import change_table, summary

    columns, test_speakers = _fields(given.columns), _test_speakers(given.test_speakers)
    result = asr.prepare(**keywords(given, columns=columns, test_speakers=test_speakers))
    for line in change_table(result.changes) if given.dry_run else ():
        typer.echo(line)
    for line in summary(result, given.output):
        typer.echo(line)


def _fields(columns: str | None) -> dict[str, str]:
    fields = {}
    for pair in columns.split(",") if columns else ():
        field, sign, name = pair.partition("=")
        if not sign or not name.strip():
            raise ConfigError(f"--columns: '{pair}'. Expected FIELD=NAME, such as file=path.")
        fields[field.strip()] = name.strip()
    return fields


def _test_speakers(text: str | None) -> int | list[str]:
    if text is None:
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else text.split(",")
