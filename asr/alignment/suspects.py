"""Detection of transcripts that probably do not match their audio, for a corpus, speakers and utterances.

Scores (`asr.alignment.transcript_scores`) are compared in two ways. First with each other: an utterance far below its
speaker's usual score stands out. The unit is a robust spread, the median absolute deviation, or that of the worse half
if it is larger, as for a model that fits its speech poorly. Second with the scores of other transcripts on the same
frames. A wrong transcript scores about as well as they do. If the given transcripts of a whole corpus score no better,
they do not match the audio. In a corpus with few different transcripts, such as single digits, the other transcripts
include the correct one; one of them must then fit as well as usual.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from asr.alignment.transcript_scores import TranscriptScore, draw_rivals

Scorer = Callable[[Mapping[str, tuple[str, ...]]], Mapping[str, TranscriptScore]]
"""Scores utterances (keys) and the transcripts of others (values) on their frames."""

FIRST_RIVALS, MORE_RIVALS = 4, 40  # per utterance; per candidate

MIN_BEATEN = 80.0  # per cent; correct transcripts beat 91 to 100 % of the others, reversed ones 57 to 67 %
MIN_UTTERANCES = 8  # minimum for judging a corpus
OUTLIER = -3.5  # robust standard deviations below which a transcript must be better than those of others ...
STRANGE = -8.0  # ... and below which it is always reported
CANDIDATE = -3.0
NEAR_RIVALS = (
    0.45  # position from the rivals' median (0) to the usual score (1) below which a transcript resembles the rivals
)
SAID_ELSEWHERE = 0.3  # maximum distance of the best rival below the usual score, relative to the rivals' median
MIN_REPETITIONS = 3  # mean repetitions of a transcript for rivals to include the correct one
WORSE, OF_NORMAL = 0.15, 1.036  # a quantile, and its distance from the mean of a normal distribution
# limit on the worse half's spread relative to that of all, so that many wrong ones do not hide each other
MAX_WIDER = 3.0
SPEAKER_FEWEST, SPEAKER_NEAR_RIVALS = 4, 0.4
SPEAKER_OUTLIER, MIN_SPEAKERS = -6.0, 6
PRIOR = 10.0  # weight, in utterances, of the corpus's median in a speaker's
MIN_SPREAD = 0.04  # of scores, relative to the distance from the rivals; recorded speech has 0.04 to 0.4

_NOTHING = 1e-9


@dataclass(frozen=True)
class Suspect:
    """A corpus, speaker, utterance or training stage with an unusual score."""

    kind: Literal["corpus", "speaker", "utterance", "stage"]
    name: str
    score: float  # natural log per frame of speech, the median for several utterances; nan for a stage
    reason: str  # a sentence


@dataclass(frozen=True)
class TranscriptCheck:
    """Fit of the transcripts of a corpus."""

    # log likelihood ratio of transcript and phone loop per frame of speech, at most 0; without failed utterances
    scores: Mapping[str, float]
    beaten: float  # per cent of other utterances' transcripts that fit worse; nan without others
    suspects: tuple[Suspect, ...]  # corpus, speakers, then utterances; the lowest score of each first

    @property
    def median(self) -> float:
        """Median score; nan without scores."""
        return float(np.median(list(self.scores.values()))) if self.scores else float("nan")

    def __str__(self) -> str:
        others = (
            "" if np.isnan(self.beaten) else f", better than {self.beaten:.0f} % of the transcripts of other utterances"
        )
        return f"the median score is {self.median:.2f} per frame of speech relative to free phone sequences{others}"


def first_rivals(transcripts: Mapping[str, tuple[str, ...]], seed: int = 0) -> dict[str, tuple[str, ...]]:
    """Draw the utterances whose transcripts each utterance is first compared with."""
    return draw_rivals(transcripts, FIRST_RIVALS, seed=seed)


def check_transcripts(
    first: Mapping[str, TranscriptScore],
    scorer: Scorer,
    transcripts: Mapping[str, tuple[str, ...]],
    speakers: Mapping[str, str],
    frames: Mapping[str, int],
    *,
    seed: int = 0,
) -> TranscriptCheck:
    """Find the suspicious transcripts of a corpus.

    Parameters
    ----------
    first : mapping of utterance id to TranscriptScore
        Scores with `first_rivals`, preferably by models trained without the utterances, because others may have learned
        the errors. Utterances that cannot be aligned are left out.
    scorer : callable
        Scores the candidates with more rivals.
    transcripts, speakers, frames : mappings of utterance id
        Words, speaker, and number of frames.
    """
    found = dict(first)
    scores = {name: one.score for name, one in found.items()}
    of_others = [one.rivals for one in found.values()]
    n_rivals = sum(map(len, of_others))
    beaten = 100.0 * sum(one.beaten for one in found.values()) / n_rivals if n_rivals else float("nan")
    if len(scores) < MIN_UTTERANCES or not n_rivals:
        return TranscriptCheck(scores, beaten, ())
    if beaten < MIN_BEATEN:
        reason = (
            f"its transcripts fit better than only {beaten:.0f} % of the transcripts of other utterances. Check "
            "that the lines of `text` have the right utterance ids, and that the pronunciations are those of "
            "this language"
        )
        return TranscriptCheck(
            scores, beaten, (Suspect("corpus", "all", float(np.median(list(scores.values()))), reason),)
        )
    usual = _usual_scores(scores, speakers)
    distance = max(0.0, float(np.median(list(scores.values())) - np.median(np.concatenate(of_others))))
    deviations = _deviations(scores, usual, frames, MIN_SPREAD * distance)
    candidates = [name for name, deviation in deviations.items() if deviation < CANDIDATE]
    repeated = len(set(transcripts.values())) * MIN_REPETITIONS <= len(transcripts)
    found.update(scorer(draw_rivals(transcripts, MORE_RIVALS, names=candidates, seed=seed)) if candidates else {})
    return TranscriptCheck(
        scores,
        beaten,
        (
            *_speakers(found, speakers, scores, MIN_SPREAD * distance),
            *_utterances(found, candidates, usual, deviations, repeated=repeated),
        ),
    )


def _usual_scores(scores: Mapping[str, float], speakers: Mapping[str, str]) -> dict[str, float]:
    """Return the expected score of every utterance: its speaker's median, interpolated with the corpus's."""
    overall = float(np.median(list(scores.values())))
    return {
        name: (len(own) * float(np.median(own)) + PRIOR * overall) / (len(own) + PRIOR)
        for of_speaker in _by_speaker(scores, speakers).values()
        for own in [[scores[name] for name in of_speaker]]
        for name in of_speaker
    }


def _by_speaker(names: Mapping[str, object], speakers: Mapping[str, str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(speakers[name], []).append(name)
    return groups


def _deviations(
    scores: Mapping[str, float], usual: Mapping[str, float], frames: Mapping[str, int], least: float
) -> dict[str, float]:
    """Return robust standard deviations from the usual scores, scaled by the square root of the length.

    The spread is that of all scores, or of the worse ones if larger, and at least `least`.
    """
    lengths = np.sqrt([frames[name] for name in scores])
    differences = np.array([scores[name] - usual[name] for name in scores]) * lengths
    of_all, of_worse = 1.4826 * float(np.median(np.abs(differences))), -float(np.quantile(differences, WORSE))
    of_all = max(of_all, least * float(np.median(lengths)), _NOTHING)
    spread = max(of_all, min(of_worse / OF_NORMAL, MAX_WIDER * of_all))
    return dict(zip(scores, (differences / spread).tolist(), strict=True))


def _place(one: TranscriptScore, usual: float) -> float:
    """Return the position from the rivals' median (0) to the usual score (1); 1 unless the median is lower."""
    rivals = float(np.median(one.rivals)) if len(one.rivals) else usual
    return (one.score - rivals) / (usual - rivals) if rivals < usual else 1.0


def _said_elsewhere(one: TranscriptScore, usual: float) -> bool:
    """Return whether a rival fits about as well as usual."""
    rivals = one.rivals
    return len(rivals) > 0 and usual - float(rivals.max()) < SAID_ELSEWHERE * (usual - float(np.median(rivals)))


def _speakers(
    found: Mapping[str, TranscriptScore], speakers: Mapping[str, str], scores: Mapping[str, float], least: float
) -> list[Suspect]:
    overall = float(np.median(list(scores.values())))
    groups = {speaker: names for speaker, names in _by_speaker(found, speakers).items() if len(names) >= SPEAKER_FEWEST}
    medians = {speaker: float(np.median([scores[name] for name in names])) for speaker, names in groups.items()}
    centre = float(np.median(list(medians.values()))) if medians else 0.0
    spread = 1.4826 * float(np.median([abs(median - centre) for median in medians.values()])) if medians else 0.0
    suspects = []
    for speaker in sorted(groups, key=lambda speaker: (medians[speaker], speaker)):
        if len(groups) < 2:  # one speaker is the whole corpus
            break
        deviation = (medians[speaker] - centre) / max(spread, least, _NOTHING)
        place = float(np.median([_place(found[name], overall) for name in groups[speaker]]))
        if place < SPEAKER_NEAR_RIVALS:
            reason = (
                f"the transcripts of {len(groups[speaker])} utterances fit about as well as those of other utterances"
            )
        elif len(groups) >= MIN_SPEAKERS and deviation < SPEAKER_OUTLIER:
            reason = (
                f"{len(groups[speaker])} utterances fit much worse than those of other speakers. Possible causes: "
                "another language, noise, or a defective recording"
            )
        else:
            continue
        suspects.append(Suspect("speaker", speaker, medians[speaker], reason))
    return suspects


def _utterances(
    found: Mapping[str, TranscriptScore],
    candidates: list[str],
    usual: Mapping[str, float],
    deviations: Mapping[str, float],
    *,
    repeated: bool,
) -> list[Suspect]:
    suspects = []
    for name in sorted(candidates, key=lambda name: (deviations[name], name)):
        one, deviation = found[name], deviations[name]
        like_rivals = _place(one, usual[name]) < NEAR_RIVALS and (not repeated or _said_elsewhere(one, usual[name]))
        if deviation < OUTLIER and like_rivals:
            reason = f"fits hardly better than {len(one.rivals)} transcripts of other utterances"
        elif deviation < STRANGE:
            reason = (
                "fits much worse than usual, but better than transcripts of other utterances, so a part of it "
                "may be wrong"
            )
        else:
            continue
        suspects.append(Suspect("utterance", name, one.score, f"{reason} ({deviation:.1f} standard deviations)"))
    return suspects
