"""Which transcripts are probably not those of their audio: of a corpus, a speaker, an utterance.

Scores (`asr.alignment.transcript_scores`) are compared in two ways. With each other: an utterance far below the usual
score of its speaker stands out, in units of a spread that a few wrong ones do not move: the median absolute deviation,
or where the worse half spreads wider, as of a model that knows its speech badly, that of this half. And with
something absolute: what transcripts of other utterances score on the same frames. A wrong transcript does about as well
as they do; where the given ones of a whole corpus do no better, its transcripts are in disorder, although none stands
out from the others. In a corpus of few different transcripts, such as single digits, those drawn from others hold what
was really said, and one of them has to fit as well as is usual.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from asr.alignment.transcript_scores import TranscriptScore, draw_rivals

Scorer = Callable[[Mapping[str, tuple[str, ...]]], Mapping[str, TranscriptScore]]
"""Scores utterances, the keys, and the transcripts of others, the values, on their frames."""

FIRST_RIVALS, MORE_RIVALS = 4, 40  # of every utterance; of those that stand out

MIN_BEATEN = 80.0  # per cent; right transcripts beat 91 to 100 % of the others', reversed ones 57 to 67 %
MIN_UTTERANCES = 8  # that a corpus is judged by
OUTLIER = (
    -3.5
)  # robust standard deviations at which an utterance's transcript has to be better than those of others ...
STRANGE = -8.0  # ... and below which it is named in any case
CANDIDATE = -3.0
NEAR_RIVALS = (
    0.45  # place between the rivals' median, 0, and the usual score, 1, below which a transcript is like theirs
)
SAID_ELSEWHERE = 0.3  # of the way from the usual score to the rivals' median that the best rival may be below the first
MIN_REPETITIONS = 3  # of a transcript, in the mean, for rivals to hold what was really said
WORSE, OF_NORMAL = 0.15, 1.036  # a quantile, and how many standard deviations below the mean a normal one lies
MAX_WIDER = 3.0  # times the spread of all that the worse may have, so that many wrong ones do not hide each other
SPEAKER_FEWEST, SPEAKER_NEAR_RIVALS = 4, 0.4
SPEAKER_OUTLIER, MIN_SPEAKERS = -6.0, 6
PRIOR = 10.0  # utterances by which a speaker's median is drawn towards the corpus's
MIN_SPREAD = 0.04  # of scores, as part of the way down to the rivals; recorded speech has 0.04 to 0.4

_NOTHING = 1e-9


@dataclass(frozen=True)
class Suspect:
    """Something whose score is out of the ordinary.

    Attributes
    ----------
    kind : "corpus", "speaker", "utterance" or "stage"
    name : str
    score : float
        Natural log a frame of speech, the median where it stands for many; nan for a stage.
    reason : str
        A sentence.
    """

    kind: Literal["corpus", "speaker", "utterance", "stage"]
    name: str
    score: float
    reason: str


@dataclass(frozen=True)
class TranscriptCheck:
    """How well the transcripts of a corpus fit.

    Attributes
    ----------
    scores : mapping of utterance id to float
        Natural log of the likelihood ratio of transcript and free phone loop a frame of speech, at most 0; utterances
        that cannot be aligned are left out.
    beaten : float
        Per cent of the transcripts drawn from other utterances that fit worse than the given ones; nan where there
        are no others.
    suspects : tuple of Suspect
        Corpus first, then speakers, then utterances, the least of each first.
    """

    scores: Mapping[str, float]
    beaten: float
    suspects: tuple[Suspect, ...]

    @property
    def median(self) -> float:
        """Of the scores; nan where there are none."""
        return float(np.median(list(self.scores.values()))) if self.scores else float("nan")

    def __str__(self) -> str:
        others = "" if np.isnan(self.beaten) else f", {self.beaten:.0f} % of those of other utterances fit worse"
        return f"transcripts score {self.median:.2f} a frame of speech against any phones{others}"


def first_rivals(transcripts: Mapping[str, tuple[str, ...]], seed: int = 0) -> dict[str, tuple[str, ...]]:
    """Utterances whose transcripts every one is compared with before anything is known."""
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
    """Name the transcripts of a corpus that are out of the ordinary.

    Parameters
    ----------
    first : mapping of utterance id to TranscriptScore
        Beside `first_rivals`; best by models that have not seen the utterances, which otherwise have learnt what is
        wrong. Utterances that cannot be aligned are not there.
    scorer : callable
        As `Scorer`, for a closer look at those that stand out.
    transcripts, speakers, frames : mappings of utterance id
        To words, to the speaker, and to the number of frames.
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
            f"its transcripts fit hardly better than those of other utterances, of which they beat {beaten:.0f} %: are "
            "the lines of `text` with the right utterances, and the pronunciations those of this language?"
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
    """The score to be expected of every utterance: its speaker's median, drawn towards the corpus's."""
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
    """Robust standard deviations from what is usual; the score of a short utterance is a mean of fewer frames.

    The spread is that of all scores or, where it is larger, that of the worse ones. `least` is the smallest that is
    believed.
    """
    lengths = np.sqrt([frames[name] for name in scores])
    differences = np.array([scores[name] - usual[name] for name in scores]) * lengths
    of_all, of_worse = 1.4826 * float(np.median(np.abs(differences))), -float(np.quantile(differences, WORSE))
    of_all = max(of_all, least * float(np.median(lengths)), _NOTHING)
    spread = max(of_all, min(of_worse / OF_NORMAL, MAX_WIDER * of_all))
    return dict(zip(scores, (differences / spread).tolist(), strict=True))


def _place(one: TranscriptScore, usual: float) -> float:
    """Between the median of the rivals, 0, and the usual score, 1; 1 where there are none or they are no worse."""
    rivals = float(np.median(one.rivals)) if len(one.rivals) else usual
    return (one.score - rivals) / (usual - rivals) if rivals < usual else 1.0


def _said_elsewhere(one: TranscriptScore, usual: float) -> bool:
    """Whether a rival fits about as well as is usual."""
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
        if len(groups) < 2:  # then it is the corpus, of which was spoken
            break
        deviation = (medians[speaker] - centre) / max(spread, least, _NOTHING)
        place = float(np.median([_place(found[name], overall) for name in groups[speaker]]))
        if place < SPEAKER_NEAR_RIVALS:
            reason = f"the transcripts of {len(groups[speaker])} utterances fit about as well as those of others"
        elif len(groups) >= MIN_SPEAKERS and deviation < SPEAKER_OUTLIER:
            reason = (
                f"{len(groups[speaker])} utterances fit much worse than those of other speakers: there may be another "
                "language, noise, or a fault of the recording"
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
            reason = f"fits hardly better than transcripts of other utterances, of which {len(one.rivals)} were tried"
        elif deviation < STRANGE:
            reason = (
                "fits much worse than usual; those of other utterances fit worse still, so a part of it may be wrong"
            )
        else:
            continue
        suspects.append(Suspect("utterance", name, one.score, f"{reason} ({deviation:.1f} standard deviations)"))
    return suspects
