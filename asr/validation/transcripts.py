"""Checks of transcripts: words without a pronunciation, and duration of the audio."""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from asr.features.config import FeatureConfig
from asr.lexicon import Lexicon
from asr.util.counted_text import count, some
from asr.util.errors import Issue
from asr.util.unicode_text import without_punctuation
from asr.validation.directory import Directory
from asr.validation.findings import MIN_CASES, NEARLY_ALL, costing, warning

FASTEST = 8.0
"""Words per second; fast readers reach five."""
_HABIT = 10  # occurrences from which words in another letter case, or with marks, are not typos
_MIN_WORDS = 3  # for a reliable rate: a tightly cut word lasts 0.1 s
MAX_PAUSES_LENGTH, SECONDS_A_WORD = 10.0, 2.0
"""Maximum duration in seconds: a constant and an amount per word."""


@dataclass(frozen=True)
class Timed:
    """Duration of an utterance in seconds, and in frames if known."""

    seconds: float
    n_frames: int | None


def frames_of(seconds: float, config: FeatureConfig) -> int:
    """Return the number of whole frames, as `asr.features.mfcc` counts them."""
    n_samples = round(seconds * config.sample_rate)
    return max(0, 1 + (n_samples - config.window_samples) // config.shift_samples)


def shortest_frames(words: tuple[str, ...], lexicon: Lexicon, states_per_phone: int) -> int:
    """Return the minimum number of frames of a transcript: shortest pronunciations, no pauses."""
    return states_per_phone * sum(min(map(len, lexicon.pronunciations[word])) for word in words)


def check_words_there(directory: Directory) -> Iterator[Issue]:
    """Report utterances with an empty transcript."""
    for name, words in directory.words.items():
        if not words:
            message = f"'{name}' has no words; write what is said, or remove the utterance"
            line = directory.entries("text")[name].line
            yield costing("no-transcript", directory.lists["text"].path, line, message, [name])


def check_words_known(
    directory: Directory, lexicon: Lexicon, damaged: Set[str] = frozenset(), *, training: bool = True
) -> Iterator[Issue]:
    """Report unknown words at their first occurrence; in a test directory they only cost errors.

    Words that the lexicon has in another letter case or without surrounding marks are one finding if they are many or
    nearly all. `damaged` are words of unreadable lines of the lexicon, which are not reported.
    """
    places = defaultdict(list)
    n_times: dict[str, int] = defaultdict(int)
    for name, words in directory.words.items():
        for word in dict.fromkeys(words):
            if word not in lexicon.pronunciations and word not in damaged:
                places[word].append(name)
                n_times[word] += words.count(word)
    folded: dict[str, list[str]] = defaultdict(list)
    if places:
        for word in lexicon.words:
            folded[word.casefold()].append(word)
    spelled = {}
    for word in places:
        similar = folded.get(word.casefold()) or folded.get(without_punctuation(word).casefold())
        if similar:
            spelled[word] = similar
    often = sum(n_times[word] for word in spelled) >= _HABIT
    if len(spelled) >= (MIN_CASES if often else max(MIN_CASES, NEARLY_ALL * len(places))):
        of_spelling = {word: places.pop(word) for word in spelled}
        known = {word: similar[0] for word, similar in spelled.items()}
        yield _other_spelling(directory, lexicon, known, of_spelling, training=training)
    for word, names in places.items():
        path, line = directory.lists["text"].path, directory.entries("text")[names[0]].line
        remedy = _remedy(word, spelled.get(word, []))
        how_often = f"{count(n_times[word], 'time')}, in {count(len(names), 'utterance')}"
        message = f"the lexicon has no pronunciation for '{word}' ({how_often}); {remedy}"
        yield (
            costing("unknown-word", path, line, message, names)
            if training
            else warning("unknown-word", path, line, message)
        )


def _remedy(word: str, similar: Sequence[str]) -> str:
    """Return the remedy for an unknown word; `similar` are words that differ in letter case or marks only."""
    bare = without_punctuation(word)
    if not similar and not bare:
        return "punctuation is not a word: remove it from the transcript"
    if not similar and any(letter.isdigit() for letter in word):
        return "write numbers as they are spoken (FIFTY for 50), or add its pronunciation"
    if not similar and bare != word:
        return f"remove the punctuation marks around it, and add the pronunciation of '{bare}'"
    if not similar:
        return "add its pronunciation, or correct the word"
    there = f"it is in the lexicon as {some(similar)}"
    if word.casefold() in {known.casefold() for known in similar}:
        return f"{there}, and letter case counts: write it as there"
    case = "" if bare in similar else ", and letter case counts"
    return f"{there}: the marks around a word are no part of it{case}"


def _other_spelling(
    directory: Directory,
    lexicon: Lexicon,
    spelled: Mapping[str, str],
    places: Mapping[str, Sequence[str]],
    *,
    training: bool,
) -> Issue:
    """Return one finding for all words that differ from the lexicon's in letter case or marks only.

    `spelled` has the lexicon's spelling of each word, `places` the utterances with it.
    """
    path = directory.lists["text"].path
    lost = {name for names in places.values() for name in names}
    entries = directory.entries("text")
    pairs = some((f"'{word}', there {known}" for word, known in spelled.items()), 3)
    marked = [word for word in spelled if spelled[word].casefold() != word.casefold()]
    marks = "".join(sorted({mark for word in marked for mark in word.replace(without_punctuation(word), "", 1)}))
    words = count(len(spelled), "word")
    fact = (
        "letter case counts and marks around a word are no part of it, and the lexicon has "
        f"{words} of the transcripts in another case or without marks"
        if marked
        else f"letter case counts, and the lexicon has {words} of the transcripts in another one"
    )
    message = f"{fact} ({pairs}), which costs {count(len(lost), 'utterance')}; "
    message += _rewriting(directory, lexicon, spelled, marks)
    line = min(entries[name].line for name in lost)
    if training:
        return costing("unknown-word", path, line, message, lost)
    return warning("unknown-word", path, line, message)


def _rewriting(directory: Directory, lexicon: Lexicon, spelled: Mapping[str, str], marks: str) -> str:
    """Return a command that converts `spelled` to the lexicon's words, if it changes no correct word."""
    path = directory.lists["text"].path
    said = {word for words in directory.words.values() for word in words}
    meant = [word for word in said if word in spelled or word in lexicon.pronunciations]
    if any(word in lexicon.pronunciations and word != word.strip(marks) for word in meant if marks):
        return "write them as it does"
    for turn in (str, str.upper, str.lower):
        if all(turn(word.strip(marks) if marks else word) in lexicon.pronunciations for word in meant):
            stripped = f"[word.strip({json.dumps(marks)}) for word in words]" if marks else "words"
            turned = stripped if turn is str else f"map(str.{turn.__name__}, {stripped})"
            code = (
                f'for line in open({json.dumps(str(path))}, encoding="utf-8"): name, *words = line.split(); '
                f"print(name, *{turned})"
            )
            return (
                f"put in the place of {path.name} what this prints, by way of another file (a shell empties the one "
                f"that it writes to before it is read): python3 -c {shlex.quote(code)}"
            )
    return "write them as it does"


def check_lengths(
    directory: Directory, lexicon: Lexicon | None, timed: Mapping[str, Timed], states_per_phone: int
) -> Iterator[Issue]:
    """Report audio that is too short or far too long for its transcript."""
    for name, length in timed.items():
        words = directory.usable[name].words
        if length.n_frames == 0:
            message = f"'{name}' is shorter than one frame ({1000 * length.seconds:.0f} ms); leave it out"
            yield costing("too-short", *directory.place(name), message, [name])
            continue
        if not words:
            continue
        file, line = directory.lists["text"].path, directory.entries("text")[name].line
        said = f"'{name}' lasts {length.seconds:.2f} s and has {count(len(words), 'word')}"
        known = lexicon is not None and all(word in lexicon.pronunciations for word in words)
        needed = shortest_frames(words, lexicon, states_per_phone) if known and lexicon is not None else 0
        if length.n_frames is not None and length.n_frames < needed:
            message = (
                f"{said}: its {count(length.n_frames, 'frame')} are fewer than the {needed} that the transcript needs "
                "at the least; is the text that of another utterance, or the audio cut off?"
            )
            yield costing("too-short", file, line, message, [name])
        elif len(words) >= _MIN_WORDS and len(words) > FASTEST * length.seconds:
            message = (
                f"{said}, {len(words) / length.seconds:.0f} a second; is the text that of another utterance, or the "
                "audio cut off?"
            )
            yield warning("fast-speech", file, line, message)
        elif length.seconds > MAX_PAUSES_LENGTH + SECONDS_A_WORD * len(words):
            message = f"{said}; is something said that is not written?"
            yield warning("slow-speech", file, line, message)
