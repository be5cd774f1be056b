"""Checks of transcripts: words without a pronunciation, and duration of the audio."""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from asr.corpus.audio_stats import MAX_PAUSES_LENGTH
from asr.corpus.data_directory import DataLists
from asr.features.config import FeatureConfig
from asr.lexicon import Lexicon
from asr.lexicon.phone_units import has_phone_units
from asr.util.counted_text import count, some
from asr.util.errors import Issue
from asr.util.unicode_text import without_punctuation
from asr.validation.findings import MIN_CASES, NEARLY_ALL, costing, warning

FASTEST = 8.0
"""Words per second; fast readers reach five."""
_HABIT = 10  # occurrences from which words in another letter case, or with marks, are not typos
_MIN_WORDS = 3  # for a reliable rate: a tightly cut word lasts 0.1 s
SECONDS_A_WORD = 2.0
"""Maximum duration of a word in seconds, in addition to the pauses."""


MIN_KNOWN = 0.25
"""Fraction of the running words. A lexicon that has fewer is probably wrong, for example in another letter case."""

_COMPARE = "check whether the transcript is of another utterance, or the audio is cut off"


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
    """Return the minimum number of frames: shortest pronunciations, no pauses, unknown words as a single phone."""
    return states_per_phone * sum(min(map(len, lexicon.pronunciations.get(word, ("?",)))) for word in words)


def is_wrong_lexicon(lexicon: Lexicon, transcripts: Iterable[Sequence[str]]) -> bool:
    """Return whether the lexicon has less than `MIN_KNOWN` of the words of the transcripts."""
    known = [word in lexicon.pronunciations for words in transcripts for word in words]
    return sum(known) < MIN_KNOWN * len(known)


def check_words_there(directory: DataLists) -> Iterator[Issue]:
    """Report utterances with an empty transcript."""
    for name, words in directory.words.items():
        if not words:
            message = f"'{name}' has no words; write its transcript, or remove the utterance"
            yield costing("no-transcript", *_place(directory, [name]), message, [name])


def _place(directory: DataLists, names: Iterable[str]) -> tuple[Path, int]:
    """Return the first line of `text` with one of the utterances."""
    return directory.lists["text"].path, min(directory.entries("text")[name].line for name in names)


def check_words_known(
    directory: DataLists, lexicon: Lexicon, damaged: Set[str] = frozenset(), *, training: bool = True
) -> Iterator[Issue]:
    """Report unknown words at their first occurrence.

    They are warnings in a test directory, and for training in utterances with known words. Training leaves out the
    other utterances, and all with unknown words if the lexicon is wrong (`is_wrong_lexicon`).

    Words that the lexicon has in another letter case or without surrounding punctuation are one finding if they are
    many or nearly all. `damaged` are words of unreadable lines of the lexicon, which are not reported.
    """
    places = defaultdict(list)
    n_times: dict[str, int] = defaultdict(int)
    wrong = is_wrong_lexicon(lexicon, (one.words or () for one in directory.usable.values()))
    lost = set()
    for name, words in directory.words.items():
        if training and (wrong or not any(word in lexicon.pronunciations for word in words)):
            lost.add(name)
        for word in dict.fromkeys(words):
            if word not in lexicon.pronunciations and word not in damaged:
                places[word].append(name)
                n_times[word] += words.count(word)
    folded: dict[str, list[str]] = defaultdict(list)
    for word in lexicon.words if places else ():
        folded[word.casefold()].append(word)
    spelled = {}
    for word in places:
        similar = folded.get(word.casefold()) or folded.get(without_punctuation(word).casefold())
        if similar:
            spelled[word] = similar
    found: list[tuple[list[str], str]] = []
    often = sum(n_times[word] for word in spelled) >= _HABIT
    if len(spelled) >= (MIN_CASES if often else max(MIN_CASES, NEARLY_ALL * len(places))):
        names = sorted({name for word in spelled for name in places.pop(word)})
        known = {word: similar[0] for word, similar in spelled.items()}
        found.append((names, _other_spelling(directory, lexicon, known, len(names))))
    for word, names in places.items():
        times = f"{count(n_times[word], 'time')}, in {count(len(names), 'utterance')}"
        remedy = _remedy(word, spelled.get(word, []))
        found.append((names, f"the lexicon has no pronunciation for '{word}' ({times}); {remedy}"))
    for names, message in found:
        issue = costing("unknown-word", *_place(directory, names), message, lost.intersection(names))
        yield issue if issue.utterances else replace(issue, severity="warning")


def _remedy(word: str, similar: Sequence[str]) -> str:
    """Return the remedy for an unknown word; `similar` are words that differ in letter case or punctuation only."""
    bare = without_punctuation(word)
    if similar:
        cased = bare not in similar or word.casefold() in {known.casefold() for known in similar}
        return f"write it as in the lexicon: {some(similar)}{' (letter case matters)' if cased else ''}"
    if not bare:
        return "remove the punctuation from the transcript"
    if any(letter.isdigit() for letter in word):
        return "write numbers as they are spoken (FIFTY for 50), or add its pronunciation"
    if bare != word:
        return f"remove the punctuation around it, and add the pronunciation of '{bare}'"
    return "add its pronunciation, or correct the word"


def _other_spelling(directory: DataLists, lexicon: Lexicon, spelled: Mapping[str, str], n_utterances: int) -> str:
    """Return the message for all words that differ from the lexicon's in letter case or punctuation only.

    `spelled` has the lexicon's spelling of each word.
    """
    pairs = some((f"'{word}' is {known} there" for word, known in spelled.items()), 3)
    marked = [word for word in spelled if spelled[word].casefold() != word.casefold()]
    marks = "".join(sorted({mark for word in marked for mark in word.replace(without_punctuation(word), "", 1)}))
    other = "in another letter case or without punctuation" if marked else "in another letter case"
    words = count(len(spelled), "word")
    fact = f"{words} of the transcripts are in the lexicon {other} ({pairs}), in {count(n_utterances, 'utterance')}"
    return f"{fact}; {_rewriting(directory, lexicon, spelled, marks)}"


def _rewriting(directory: DataLists, lexicon: Lexicon, spelled: Mapping[str, str], marks: str) -> str:
    """Return a command that converts `spelled` to the lexicon's words, if it changes no correct word."""
    path = directory.lists["text"].path
    said = {word for words in directory.words.values() for word in words}
    meant = [word for word in said if word in spelled or word in lexicon.pronunciations]
    keeps = not any(word in lexicon.pronunciations and word != word.strip(marks) for word in meant if marks)
    for turn in (str, str.upper, str.lower) if keeps else ():
        if all(turn(word.strip(marks) if marks else word) in lexicon.pronunciations for word in meant):
            stripped = f"[word.strip({json.dumps(marks)}) for word in words]" if marks else "words"
            turned = stripped if turn is str else f"map(str.{turn.__name__}, {stripped})"
            code = (
                f'for line in open({json.dumps(str(path))}, encoding="utf-8"): name, *words = line.split(); '
                f"print(name, *{turned})"
            )
            return (
                f"write the output of this command to a new file, then rename it to {path.name}: "
                f"python3 -c {shlex.quote(code)}"
            )
    return "write them as in the lexicon"


def check_lengths(
    directory: DataLists, lexicon: Lexicon | None, timed: Mapping[str, Timed], states_per_phone: int
) -> Iterator[Issue]:
    """Report audio that is too short or far too long for its transcript."""
    phones = lexicon is not None and has_phone_units(lexicon)
    for name, length in timed.items():
        words = directory.usable[name].words
        if length.n_frames == 0:
            message = f"'{name}' is shorter than one frame ({1000 * length.seconds:.0f} ms); leave it out"
            yield costing("too-short", *directory.place(name), message, [name])
            continue
        if not words:
            continue
        place = _place(directory, [name])
        fact = f"'{name}' lasts {length.seconds:.2f} s and has {count(len(words), 'word')}"
        needed = 0 if lexicon is None else shortest_frames(words, lexicon, states_per_phone)
        if length.n_frames is not None and length.n_frames < needed:
            message = f"{fact}: {count(length.n_frames, 'frame')}, the transcript needs at least {needed}; {_COMPARE}"
            yield costing("too-short", *place, message, [name])
        elif not phones and len(words) >= _MIN_WORDS and len(words) > FASTEST * length.seconds:
            message = f"{fact}, {len(words) / length.seconds:.0f} words per second; {_COMPARE}"
            yield warning("fast-speech", *place, message)
        elif length.seconds > MAX_PAUSES_LENGTH + SECONDS_A_WORD * len(words):
            yield warning("slow-speech", *place, f"{fact}; check whether words are missing")
