"""`asr prepare`: a data directory from recordings and transcripts."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from asr.cli.options import require_directory, require_file, require_lexicon
from asr.util.errors import ConfigError, CorpusError
from discriminants.util.paths import exists

FormatName = Annotated[
    str, typer.Argument(metavar="FORMAT", help="Format of the source (see above).", show_default=False)
]
Source = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="Folder of recordings, or the table.", show_default=False)
]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="Data directory to write.", show_default=False)]
AudioFolder = Annotated[
    Path | None,
    typer.Option("--audio", metavar="DIR", help="Folder of the audio files.  [default: SOURCE]", show_default=False),
]
Speakers = Annotated[
    str | None,
    typer.Option(
        "--speakers",
        metavar="RULE",
        help="Where the speaker's name is: 'folder' (of the audio file), 'file' (a speaker per file), 'one' (a "
        "single speaker), or a regular expression searched in the path of the audio file, whose first group is the "
        "speaker.  [default: column, tier or participant of the format, else the folder if there are several, else "
        "the file]",
        show_default=False,
    ),
]
TestSpeakers = Annotated[
    str | None,
    typer.Option(
        "--test-speakers",
        metavar="N|NAMES",
        help="Number of speakers drawn for a test, or their names with commas: OUT/train and OUT/test are written.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="FIELD=NAME,...",
        help="Columns of a table, such as file=path,text=sentence,speaker=client_id.  [default: usual names]",
        show_default=False,
    ),
]
Transcripts = Annotated[
    Path | None,
    typer.Option(
        "--transcripts",
        metavar="FILE",
        help="Transcripts of htk (.mlf) and sphinx (.transcription).  [default: next to SOURCE]",
        show_default=False,
    ),
]
Tiers = Annotated[
    str | None,
    typer.Option(
        "--tiers",
        metavar="REGEX",
        help="Tiers with transcripts.  [default: all tiers except those of phones]",
        show_default=False,
    ),
]
Lexicon = Annotated[
    Path | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="Lexicon whose letter case the words take; words that it lacks are counted.",
        show_default=False,
    ),
]
Channel = Annotated[
    int | None,
    typer.Option(
        "--channel",
        metavar="N",
        help="Channel of the recordings, from 1, written as FLAC to OUT/channel-N.  [default: mean of all channels]",
        show_default=False,
    ),
]
Case = Annotated[
    Literal["lower", "upper", "keep"] | None,
    typer.Option(help="Letter case of the words.  [default: lower; for htk and sphinx, words stay as they are]"),
]
Language = Annotated[
    str, typer.Option(metavar="CODE", help="Language, for spelled numbers and for the case of Turkish i.")
]
Hyphens = Annotated[
    Literal["split", "keep", "join"], typer.Option(help="Whether hyphens divide words, stay, or are removed.")
]
Tags = Annotated[
    Path | None,
    typer.Option(
        "--tags",
        metavar="FILE",
        help="Replacements, one per line: a tag or word, a tab, and words (or nothing). Other tags in [] or <> are "
        "removed.",
        show_default=False,
    ),
]
SpellNumbers = Annotated[
    bool, typer.Option("--spell-numbers", help="Spell digits in the language (needs the package num2words).")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Write nothing; print how the text changes: before, after, count.")
]


def prepare(
    format_name: FormatName,
    source: Source,
    out: Out,
    audio: AudioFolder = None,
    speakers: Speakers = None,
    test_speakers: TestSpeakers = None,
    columns: Columns = None,
    transcripts: Transcripts = None,
    tiers: Tiers = None,
    lexicon: Lexicon = None,
    channel: Channel = None,
    case: Case = None,
    language: Language = "en",
    hyphens: Hyphens = "split",
    tags: Tags = None,
    spell_numbers: SpellNumbers = False,
    dry_run: DryRun = False,
) -> None:
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
    require_directory(audio, "--audio")
    require_lexicon(lexicon)
    require_file(tags, "--tags")
    require_file(transcripts, "--transcripts")
    if not exists(source):
        raise CorpusError(
            f"{source}: not found. Expected the folder or table with the recordings.", code="missing-file"
        )

    import asr
    from asr.commands.prepare import change_table, summary

    result = asr.prepare(
        format_name,
        source,
        out,
        audio=audio,
        columns=_fields(columns),
        tiers=tiers,
        transcripts=transcripts,
        speakers=speakers,
        test_speakers=_test_speakers(test_speakers),
        lexicon=lexicon,
        channel=channel,
        case=case,
        language=language,
        hyphens=hyphens,
        tags=tags,
        spell_numbers=spell_numbers,
        dry_run=dry_run,
    )
    for line in change_table(result.changes) if dry_run else ():
        typer.echo(line)
    for line in summary(result, out):
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
