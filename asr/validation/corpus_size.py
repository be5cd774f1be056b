"""How much speech there is, and what so little of it can and cannot tell; no fault of the corpus, so a remark."""

from collections.abc import Iterator
from typing import Literal

from asr.acoustic.context_trees import FRAMES_A_STATE, states_for
from asr.util.counted_text import count
from asr.validation.directory import Directory
from asr.validation.report import Summary

FEW_WORDS = 500
"""Running words; a difference of a tenth between two systems shows in some hundred held-out ones at the earliest."""
LARGE_VOCABULARY, WORDS_A_WORD = 500, 10
"""From so many words on an n-gram is little worth where each was said fewer times on the average."""
MIN_SPEAKERS = 4
"""With fewer, training holds out utterances: a model of one or two speakers says little about one of three."""
SPEAKERS_FOR_MAPS = 3
"""`speakers.maps = "auto"` wants as many; of fewer a stranger's maps cannot be foretold."""
SECONDS_OF_A_SPEAKER = 10.0
"""`speakers.maps = "auto"` wants as much of half of the speakers."""
SECONDS_OF_AN_UTTERANCE = 1.0
"""`speakers.maps = "auto"` wants as much of half of the utterances; in half a second there is nothing to map by."""
SECONDS_FOR_CONTEXT = 1800.0
"""`context = "auto"` wants as much; with less, states in context hardly find frames enough."""


def remarks_on_amount(summary: Summary) -> Iterator[str]:
    """A sentence where words are few, and one where speakers are; none of a corpus of which nothing can be used."""
    if not summary.usable:
        return
    if summary.words < FEW_WORDS:
        lasting = "" if summary.seconds is None else f" ({summary.seconds:.0f} s)"
        room = "their speaker and room" if summary.speakers == 1 else "their speakers and rooms"
        yield (
            f"{count(summary.words, 'word')} in {count(summary.usable, 'utterance')}{lasting} are little speech. The "
            f"model will suit {room}, and its error rates will tell little; record an hour for a small vocabulary"
        )
    if summary.vocabulary >= LARGE_VOCABULARY and summary.words < WORDS_A_WORD * summary.vocabulary:
        yield (
            f"{count(summary.words, 'word')}, {summary.vocabulary:,} of them different, foresee little of other "
            "sentences: the default grammar is estimated from them; recognize with one of text of your own (--grammar, "
            "grammar=), or most words will be wrong"
        )
    if summary.speakers < MIN_SPEAKERS:
        whom, hold = ("one speaker", "this speaker") if summary.speakers == 1 else ("few speakers", "these speakers")
        yield (
            f"{whom}: with fewer than {MIN_SPEAKERS}, training holds out utterances instead of speakers, so that "
            f"its error rates hold for {hold} and say little of others"
        )


def remarks_on_context(
    summary: Summary, tied_states: int | Literal["auto"], states_per_phone: int, shift_ms: float
) -> Iterator[str]:
    """A sentence where states that may depend on a phone's neighbours are no more than those that do not."""
    if not summary.usable or not summary.phones:
        return
    n_phones = len(summary.phones)
    plain = n_phones * states_per_phone
    texts = f"context = 3: the {n_phones} phones have {plain} states without context"
    remedy = "so that no state will depend on a neighbour; take `context = 1`"
    if tied_states == "auto" and summary.seconds is not None:
        n_frames = round(1000 * summary.seconds / shift_ms)
        if states_for(n_frames) <= plain:
            yield (
                f"{texts}, and the {n_frames:,} frames of speech, at {FRAMES_A_STATE} each, are enough for no more, "
                f"{remedy}, or set `tied_states` above {plain}"
            )
    elif tied_states != "auto" and tied_states <= plain:
        yield f"{texts}, and tied_states = {tied_states} are no more, {remedy}, or set `tied_states` above {plain}"


def remarks_on_silent_tests(tests: list[Directory]) -> Iterator[str]:
    """A sentence for each test directory with utterances of which the transcript is empty."""
    for test in tests:
        empty = sum(not words for words in test.words.values())
        if empty:
            yield f"{test.path}: {count(empty, 'utterance')} without words; all that is recognized there is an error"
