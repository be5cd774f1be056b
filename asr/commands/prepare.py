"""`asr prepare`: a data directory from recordings and transcripts in a foreign format."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from asr.alignment.label_files import PREPARED
from asr.commands.prepared_audio import Recordings
from asr.corpus.data_directory import Utterance
from asr.corpus.feature_file import SPHINX_SUFFIX
from asr.corpus.formats.source import Found, LeftOut, ReadOptions, SourceUtterance
from asr.corpus.identifiers import MAX_NAME_LENGTH, fault_in_name
from asr.corpus.writing import write_data_directory
from asr.lexicon import read_lexicon
from asr.lexicon.named import is_named
from asr.runs.progress import Progress
from asr.util.counted_text import count, some
from asr.util.errors import ConfigError, CorpusError, printable
from asr.util.files import atomic_write
from asr.util.text_normalization import TextError, TextNormalizer
from discriminants.util.paths import exists, is_dir

FORMATS: Mapping[str, str] = {
    "folder": "folder.read_folder",
    "table": "table.read_table",
    "textgrid": "textgrid.read_textgrids",
    "elan": "elan.read_elan",
    "audacity": "audacity.read_audacity",
    "csv": "labels.read_csv_labels",
    "json": "labels.read_json_labels",
    "subtitles": "subtitles.read_subtitles",
    "lhotse": "json_lines.read_lhotse",
    "nemo": "json_lines.read_nemo",
    "htk": "htk.read_htk",
    "sphinx": "sphinx.read_sphinx",
    "timit": "timit.read_timit",
    "librispeech": "librispeech.read_librispeech",
    "common-voice": "common_voice.read_common_voice",
    "speech-commands": "speech_commands.read_speech_commands",
    "tidigits": "tidigits.read_tidigits",
    "ljspeech": "ljspeech.read_ljspeech",
    "vctk": "vctk.read_vctk",
    "voxforge": "voxforge.read_voxforge",
}
"""Reader of each format, as module and function of `asr.corpus.formats`."""
FILE_FORMATS = frozenset(("table", "nemo", "htk", "sphinx"))
"""Formats whose source is a file; lhotse takes a file or a folder, the others take a folder."""
WORD_FORMATS = frozenset(("htk", "sphinx"))
"""Formats whose transcripts are words as a dictionary has them; by default they stay as they are."""
_SHOWN = 5

Reader = Callable[[Path, ReadOptions], Iterator[Found]]


@dataclass
class Prepared:
    """Result of `prepare`.

    `utterances`, `places` (where each stands in the source) and `parts` are by id; `changes` counts the changes of the
    text by (before, after), `missing_words` the words that the lexicon lacks. `renamed` has, by id, the id that an
    earlier entry had.
    """

    utterances: dict[str, Utterance] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str | None] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    directories: tuple[Path, ...] = ()
    seconds: float = 0.0
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    missing_words: Counter[str] = field(default_factory=Counter)
    speakers_from: str = ""
    renamed: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def n_found(self) -> int:
        """Number of entries of the source."""
        return len(self.utterances) + len(self.left_out)


def prepare(
    format_name: str,
    source: Path,
    out: Path,
    *,
    options: ReadOptions,
    normalizer: TextNormalizer,
    speakers: str | None = None,
    test_speakers: int | Sequence[str] = 0,
    lexicon: Path | None = None,
    channel: int | None = None,
    seed: int = 0,
    dry_run: bool = False,
) -> Prepared:
    """Write a data directory of `source`, and `out/prepared.tsv` with every entry used or left out.

    With `test_speakers`, writes `out/train` and `out/test` instead; if the format divides the corpus, a directory for
    each part. `speakers` is "folder", "file", "one", or a regular
    expression whose first group, found in the path of the audio file, names the speaker; None for the format's own
    names, else the folders, else the files. `channel` is a channel of the recordings, from 1; it is written to
    `out/channel-N`. By default, recordings stay as they are, and channels are averaged when they are read.

    Raises
    ------
    CorpusError
        If the source cannot be read, nothing of it can be used, or `out` has lists that another program wrote.
    ConfigError
        If an option is malformed, or the package num2words is missing.
    """
    if channel is not None and channel < 1:
        raise ConfigError(f"--channel (channel=): {channel}. Expected a number of at least 1.")
    rule, recordings = _speaker_rule(speakers), Recordings(channel)
    vocabulary = None if lexicon is None or is_named(lexicon) else set(read_lexicon(lexicon).words)
    if vocabulary and all(word == word.upper() for word in vocabulary) and any(map(str.isupper, vocabulary)):
        normalizer.case = "upper"
    found = list(_followed(_reader(format_name, source)(source, options), None, "reading"))
    if not found:
        raise CorpusError(f"{source}: nothing in the format '{format_name}' found.", code="empty")
    result = Prepared(changes=normalizer.changes)
    usable = _of_one_kind(list(_usable(found, normalizer, recordings, result)), result)
    named = _with_speakers(usable, source, rule, result)
    _name(named, result)
    result.remarks = tuple(recordings.remarks())
    if vocabulary is not None:
        words = (word for one in result.utterances.values() for word in one.words or ())
        result.missing_words = Counter(word for word in words if word not in vocabulary)
    if not dry_run:
        if result.utterances:
            _use_channel(recordings, out, result)
            result.directories = _write(out, result, test_speakers, seed)
        _write_table(out / PREPARED, result)
    if not result.utterances:
        first = result.left_out[0]
        raise CorpusError(f"{source}: no entry can be used. The first of {len(found)}: {first.place}: {first.reason}.")
    return result


def summary(result: Prepared, out: Path) -> Iterator[str]:
    """Yield the lines that the command prints."""
    names = sorted({one.speaker for one in result.utterances.values()})
    yield printable(
        f"{len(result.utterances):,} of {result.n_found:,} entries used: "
        f"{result.seconds / 60:.1f} minutes, {count(len(names), 'speaker')} ({some(names, 8)})"
    )
    if result.speakers_from:
        yield f"  speakers: {result.speakers_from}. Use --speakers (speakers=) or a column speaker=NAME for others"
    by_code: dict[str, list[LeftOut]] = {}
    for one in result.left_out:
        by_code.setdefault(one.code, []).append(one)
    for code, ones in sorted(by_code.items(), key=lambda item: -len(item[1])):
        yield printable(f"  left out, {code}: {len(ones):,}; the first: {ones[0].place}: {ones[0].reason}")
    yield from (f"  {remark}" for remark in result.remarks)
    if result.renamed:
        first, wanted = next(iter(result.renamed.items()))
        yield printable(
            f"  ids that occur twice, renamed: {len(result.renamed):,}; the first: {result.places[first]}: "
            f"{wanted} is now {first}"
        )
    if result.missing_words:
        words = (f"{word} ({number})" for word, number in result.missing_words.most_common())
        yield printable(f"  not in the lexicon: {count(len(result.missing_words), 'word')}: {some(words, _SHOWN)}")
    speakers: dict[str, set[str]] = {}
    for name, utterance in result.utterances.items():
        speakers.setdefault(result.parts[name] or "", set()).add(utterance.speaker)
    for part in sorted(filter(None, speakers)):
        yield printable(f"  {part}: speakers {some(sorted(speakers[part]), _SHOWN)}")
    if result.directories:
        yield printable(f"written: {', '.join(map(str, result.directories))}; all entries: {out / PREPARED}")


def change_table(changes: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield lines "before, after, count", the most frequent first."""
    yield "before\tafter\tcount"
    for (before, after), number in sorted(changes.items(), key=lambda item: (-item[1], item[0])):
        yield f"{printable(before)}\t{printable(after)}\t{number}"


def _reader(format_name: str, source: Path) -> Reader:
    if format_name not in FORMATS:
        praat = " Use textgrid for Praat." if format_name.lower() == "praat" else ""
        raise ConfigError(f"'{format_name}' is not a format.{praat} Expected one of {', '.join(FORMATS)}.")
    if format_name != "lhotse" and is_dir(source) == (format_name in FILE_FORMATS):
        wanted = "a file" if format_name in FILE_FORMATS else "a folder"
        raise CorpusError(f"{source}: the format '{format_name}' needs {wanted}.", code="missing-file")
    module, function = FORMATS[format_name].split(".")
    reader: Reader = getattr(import_module(f"asr.corpus.formats.{module}"), function)
    return reader


def _followed(items: Iterable[Found], total: int | None, description: str) -> Iterator[Found]:
    """Yield the items and show the progress."""
    with Progress(total, description) as bar:
        for item in items:
            yield item
            bar.advance()


def _usable(
    found: Sequence[Found], normalizer: TextNormalizer, recordings: Recordings, result: Prepared
) -> Iterator[tuple[SourceUtterance, tuple[str, ...]]]:
    """Yield the entries with words and readable audio; the others go to `result.left_out`."""
    for entry in _followed(found, len(found), "checking audio"):
        if isinstance(entry, LeftOut):
            result.left_out.append(entry)
            continue
        try:
            words = normalizer.words(entry.text)
            if not words:
                raise TextError("no-words", "no word is left of the transcript")
            result.seconds += recordings.use(entry)
        except (TextError, CorpusError) as error:
            result.left_out.append(LeftOut(entry.place, error.code, str(error).removesuffix(".")))
            continue
        yield entry, words


def _of_one_kind(
    usable: list[tuple[SourceUtterance, tuple[str, ...]]], result: Prepared
) -> list[tuple[SourceUtterance, tuple[str, ...]]]:
    """Leave out files of features if others are audio, because a data directory has one kind."""
    audio = [pair for pair in usable if pair[0].audio.suffix.lower() != SPHINX_SUFFIX]
    if not audio or len(audio) == len(usable):
        return usable
    reason = "a file of features, but other entries have audio. Expected one kind"
    result.left_out += [LeftOut(one.place, "no-audio", reason) for one, _ in usable if (one, _) not in audio]
    return audio


SpeakerRule = Callable[[SourceUtterance, Path, bool], str | None]


def _usual_speaker(one: SourceUtterance, root: Path, folders: bool) -> str | None:
    return one.speaker or (one.audio.parent.name if folders else one.audio.stem)


def _speaker_rule(speakers: str | None) -> SpeakerRule:
    if speakers is None:
        return _usual_speaker
    if speakers == "folder":
        return lambda one, root, folders: one.audio.parent.name
    if speakers == "file":
        return lambda one, root, folders: one.audio.stem
    if speakers == "one":
        return lambda one, root, folders: "speaker"
    try:
        pattern = re.compile(speakers)
    except re.error as error:
        raise ConfigError(f"--speakers (speakers=): '{speakers}' is not a regular expression ({error}).") from error

    def matched(one: SourceUtterance, root: Path, folders: bool) -> str | None:
        path = one.audio.relative_to(root) if one.audio.is_relative_to(root) else one.audio
        found = pattern.search(path.with_suffix("").as_posix())
        return None if found is None else found[1 if pattern.groups else 0]

    return matched


def _with_speakers(
    usable: Sequence[tuple[SourceUtterance, tuple[str, ...]]], source: Path, rule: SpeakerRule, result: Prepared
) -> list[tuple[SourceUtterance, tuple[str, ...], str]]:
    root = source if is_dir(source) else source.parent
    folders = len({one.audio.parent for one, _ in usable}) > 1
    if rule is _usual_speaker and any(one.speaker is None for one, _ in usable):
        result.speakers_from = "the folder of each file" if folders else "each file is its own speaker"
    named = []
    for one, words in usable:
        speaker = _key(rule(one, root, folders) or "")
        fault = fault_in_name(speaker) if speaker else None
        if fault is not None:
            result.left_out.append(LeftOut(one.place, "bad-name", f"the speaker '{speaker}' {fault}"))
        elif speaker:
            named.append((one, words, speaker))
        else:
            result.left_out.append(
                LeftOut(one.place, "no-speaker", "--speakers (speakers=) matches no part of the path of the audio")
            )
    return named


def _name(named: Sequence[tuple[SourceUtterance, tuple[str, ...], str]], result: Prepared) -> None:
    """Add the utterances with ids SPEAKER_NAME, and a number if a recording has several segments."""
    n_segments: Counter[Path] = Counter()
    n_utterances = Counter(one.audio for one, _, _ in named)
    for one, words, speaker in named:
        name = _key(one.name or one.audio.stem)
        if one.name is None and n_utterances[one.audio] > 1:
            n_segments[one.audio] += 1
            name = f"{name}_{n_segments[one.audio]:04d}"
        if not name.startswith(speaker):
            name = f"{speaker}_{name}"
        wanted = name
        if name in result.utterances:
            name = f"{speaker}_{_key(one.audio.parent.name)}_{name.removeprefix(f'{speaker}_')}"
        unique, n_same = name, 1
        while unique in result.utterances:
            n_same += 1
            unique = f"{name}-{n_same}"
        fault = fault_in_name(unique)
        if fault is not None:
            result.left_out.append(LeftOut(one.place, "bad-name", f"'{unique}' {fault}"))
            continue
        if unique != wanted:
            result.renamed[unique] = wanted
        file = one.audio.absolute()
        if file.suffix.lower() == SPHINX_SUFFIX:
            result.utterances[unique] = Utterance(unique, speaker, words, archive=file)
        else:
            result.utterances[unique] = Utterance(unique, speaker, words, file, one.start, one.end)
        result.places[unique], result.parts[unique] = one.place, one.part


def _key(name: str) -> str:
    """Return the name as a key of a list: without white space, slashes and control characters."""
    key = "_".join(name.split()).replace("/", "-").replace("\\", "-")
    key = "".join(character for character in key if character.isprintable())
    return key.lstrip(";")[:MAX_NAME_LENGTH]


def _use_channel(recordings: Recordings, out: Path, result: Prepared) -> None:
    audio = [one.audio for one in result.utterances.values() if one.audio is not None]
    files = recordings.written(audio, out / f"channel-{recordings.channel}")
    result.utterances = {
        name: one if one.audio is None else replace(one, audio=files[one.audio])
        for name, one in result.utterances.items()
    }


def _write(out: Path, result: Prepared, test_speakers: int | Sequence[str], seed: int) -> tuple[Path, ...]:
    """Write a data directory for each part; return their paths."""
    if test_speakers:
        chosen = _chosen_speakers(sorted({one.speaker for one in result.utterances.values()}), test_speakers, seed)
        result.parts = {name: "test" if one.speaker in chosen else "train" for name, one in result.utterances.items()}
    by_part: dict[str, list[Utterance]] = {}
    for name, utterance in result.utterances.items():
        by_part.setdefault(result.parts[name] or "", []).append(utterance)
    foreign = [out / part for part in by_part if exists(out / part / "wav.scp") and not exists(out / PREPARED)]
    if foreign:
        raise CorpusError(f"{foreign[0]}: has lists that asr prepare did not write. Use another folder.")
    for part, utterances in by_part.items():
        write_data_directory(out / part, utterances)
    return tuple(out / part for part in sorted(by_part))


def _chosen_speakers(speakers: Sequence[str], wanted: int | Sequence[str], seed: int) -> set[str]:
    if isinstance(wanted, int):
        if wanted >= len(speakers):
            raise ConfigError(
                f"--test-speakers (test_speakers=): {wanted} of {count(len(speakers), 'speaker')} leaves none for "
                "training."
            )
        return set(random.Random(seed).sample(speakers, wanted))
    chosen = {_key(name) for name in wanted}
    unknown = sorted(chosen.difference(speakers))
    if unknown:
        raise ConfigError(
            f"--test-speakers (test_speakers=): no speaker '{unknown[0]}'. Speakers: {some(speakers, 20)}."
        )
    if chosen == set(speakers):
        raise ConfigError(
            "--test-speakers (test_speakers=): every speaker is a test speaker; none is left for training."
        )
    return chosen


def _write_table(path: Path, result: Prepared) -> None:
    rows = [("place", "utterance", "code", "reason")]
    renamed = {name: f"renamed; the id {wanted} occurs twice" for name, wanted in result.renamed.items()}
    rows += [(place, name, "used", renamed.get(name, "")) for name, place in result.places.items()]
    rows += [(one.place, "", one.code, one.reason) for one in result.left_out]
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as temporary:
        lines = ["\t".join(map(printable, row)) + "\n" for row in rows]
        temporary.write_text("".join(lines), encoding="utf-8")
