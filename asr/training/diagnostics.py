"""What to turn first where held-out speech is recognized badly, graded by how badly."""

from collections.abc import Mapping, Sequence

from asr.alignment.suspects import TranscriptCheck
from asr.validation.corpus_size import WORDS_A_WORD
from asr.validation.findings import count

HARDLY_ANYTHING, MOSTLY_WRONG, MANY_WRONG = 80.0, 50.0, 25.0
"""% of word errors above which the best system is of little use, mostly wrong, or wrong often enough to say so."""
LITTLE_SPEECH, FEW_SPEAKERS = 5000, 8
"""Running words, of which an hour of short sentences has some more, and speakers."""
_MANY_SUSPECTS = 0.05
"""Part of the utterances, above which wrong transcripts are the first thing to mend."""


def advice(
    wer: float,
    grammar: str,
    spoken: Mapping[str, Sequence[str]],
    speakers: Mapping[str, str],
    transcripts: TranscriptCheck,
    complaints: Sequence[str] = (),
) -> list[str]:
    """A sentence on how much is wrong and one on what helps, the likeliest first; none where little is wrong.

    Parameters
    ----------
    wer : float
        Word errors of the best system, in %.
    grammar : str
        What the speech was recognized with.
    spoken, speakers : mappings of utterance id to words, and to the speaker
        Of the training speech.
    transcripts : TranscriptCheck
        How well these fit.
    complaints : sequence of str
        What looks wrong in their alignment.
    """
    if wer <= MANY_WRONG:
        return []
    if wer > HARDLY_ANYTHING:
        grade = f"so little is recognized ({wer:.1f} % word errors at the best) that the models are of little use"
    elif wer > MOSTLY_WRONG:
        grade = f"most words are wrong ({wer:.1f} % word errors at the best)"
    else:
        grade = f"many words are wrong ({wer:.1f} % word errors at the best)"
    steps = [
        *_of_transcripts(transcripts, complaints),
        *_of_amount(spoken, speakers),
        "a grammar that allows less (--grammar, grammar=), or text of the task to estimate one from",
        "pronunciations as the words are really said, and the variants that there are",
    ]
    if wer > MOSTLY_WRONG:
        steps.append(
            "the audio: `asr validate` names what is clipped, silent or of a lower rate, and [features] has the "
            "sample_rate of the speech"
        )
    numbered = "; ".join(f"({number}) {step}" for number, step in enumerate(steps, 1))
    return [
        f"{grade} under this grammar, the {grammar} of the training transcripts",
        f"what helps, the likeliest first: {numbered}",
    ]


def _of_transcripts(transcripts: TranscriptCheck, complaints: Sequence[str]) -> list[str]:
    """Wrong transcripts come first: nothing else helps before they are mended."""
    kinds = [suspect.kind for suspect in transcripts.suspects]
    wrong = kinds.count("utterance") > _MANY_SUSPECTS * max(1, len(transcripts.scores))
    if wrong or "corpus" in kinds or "speaker" in kinds:
        return ["transcripts that are those of the audio: suspects.tsv lists which do not seem to be"]
    return ["the alignment, of which complaints are told here: listen to the utterances named"] if complaints else []


def _of_amount(spoken: Mapping[str, Sequence[str]], speakers: Mapping[str, str]) -> list[str]:
    n_words, vocabulary = sum(map(len, spoken.values())), len({word for words in spoken.values() for word in words})
    n_speakers = len({speakers[name] for name in spoken if name in speakers})
    wanted = [
        *(["more speech"] if n_words < max(LITTLE_SPEECH, WORDS_A_WORD * vocabulary) else []),
        *(["more speakers"] if n_speakers < FEW_SPEAKERS else []),
    ]
    heard = f"{count(n_words, 'word')}, {vocabulary:,} of them different, of {count(n_speakers, 'speaker')}"
    return [f"{' and '.join(wanted)}: training heard {heard}"] if wanted else []
