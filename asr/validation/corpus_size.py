"""Remarks on the amount of speech and its consequences; these are not errors of the corpus."""

from collections.abc import Iterator
from typing import Literal

from asr.acoustic.context_trees import FRAMES_A_STATE, states_for
from asr.corpus.data_directory import DataLists
from asr.util.counted_text import count
from asr.validation.report import Summary

FEW_WORDS = 500
"""Running words; a relative difference of 10 % between systems needs at least a few hundred held-out words."""
LARGE_VOCABULARY, WORDS_A_WORD = 500, 10
"""Vocabulary size from which an n-gram needs this many occurrences per word."""
MIN_SPEAKERS = 4
"""Minimum number of speakers to hold out speakers instead of utterances: two predict little about a third."""
SPEAKERS_FOR_MAPS = 3
"""Minimum number of speakers for `speakers.maps = "auto"`; with fewer, transforms of new speakers are unreliable."""
SECONDS_OF_A_SPEAKER = 10.0
"""Duration that half of the speakers must reach for `speakers.maps = "auto"`."""
SECONDS_OF_AN_UTTERANCE = 1.0
"""Duration that half of the utterances must reach for `speakers.maps = "auto"`; 0.5 s is too short for a transform."""
SECONDS_FOR_CONTEXT = 1800.0
"""Duration for `context = "auto"`; with less, context-dependent states have too few frames."""


def remarks_on_amount(summary: Summary) -> Iterator[str]:
    """Yield remarks on few words and few speakers; none if no utterance is usable."""
    if not summary.usable:
        return
    if summary.words < FEW_WORDS:
        lasting = "" if summary.seconds is None else f" ({summary.seconds:.0f} s)"
        room = "only this speaker and room" if summary.speakers == 1 else "only these speakers and rooms"
        yield (
            f"only {count(summary.words, 'word')} in {count(summary.usable, 'utterance')}{lasting}. The model will fit "
            f"{room}, and error rates will be unreliable; record one hour for a small vocabulary"
        )
    if summary.vocabulary >= LARGE_VOCABULARY and summary.words < WORDS_A_WORD * summary.vocabulary:
        yield (
            f"only {count(summary.words, 'word')} for a vocabulary of {summary.vocabulary:,}. The default grammar "
            "is estimated from them and will not predict other sentences; use a grammar from more text (--grammar, "
            "grammar=)"
        )
    if summary.speakers < MIN_SPEAKERS:
        yield (
            f"only {count(summary.speakers, 'speaker')}. With fewer than {MIN_SPEAKERS}, training holds out utterances "
            "instead of speakers, so its error rates do not hold for other speakers"
        )


def remarks_on_context(
    summary: Summary, tied_states: int | Literal["auto"], states_per_phone: int, shift_ms: float
) -> Iterator[str]:
    """Yield a remark if context does not increase the number of states."""
    if not summary.usable or not summary.phones:
        return
    n_phones = len(summary.phones)
    plain = n_phones * states_per_phone
    fact = f"context = 3 has no effect: the {n_phones} phones have {plain} states without context"
    remedy = f"; set context = 1, or tied_states above {plain}"
    if tied_states == "auto" and summary.seconds is not None:
        n_frames = round(1000 * summary.seconds / shift_ms)
        if states_for(n_frames) <= plain:
            yield (f"{fact}, and {n_frames:,} frames of speech ({FRAMES_A_STATE} per state) do not allow more{remedy}")
    elif tied_states != "auto" and tied_states <= plain:
        yield f"{fact}, and tied_states = {tied_states} does not allow more{remedy}"


def remarks_on_silent_tests(tests: list[DataLists]) -> Iterator[str]:
    """Yield a remark for each test directory with empty transcripts."""
    for test in tests:
        empty = sum(not words for words in test.words.values())
        if empty:
            yield f"{test.path}: {count(empty, 'utterance')} without words, where each recognized word is an error"
