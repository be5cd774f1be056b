"""Detection of transcripts that probably do not match their audio, for a corpus, speakers and utterances.

Scores (`asr.alignment.transcript_scores`) are compared with those of other transcripts on the same frames. A wrong
transcript scores about as well as they do. If the given transcripts of a whole corpus score no better, they do not
match the audio. Utterances are judged by their trust (`asr.alignment.trust`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from asr.alignment.transcript_scores import TranscriptScore, draw_rivals
from asr.alignment.trust import Trust, trust_of

FIRST_RIVALS = 4  # per utterance
MIN_BEATEN = 75.0  # per cent; correct transcripts beat 91 to 100 % of the others, reversed ones 46 to 67 %
MIN_UTTERANCES = 8  # minimum for judging a corpus
SUSPICIOUS = 0.5  # trust below which a transcript is suspicious
MIN_LISTED, LISTED = 5, 0.02  # number and fraction of the least trusted utterances, which are listed in any case
SPEAKER_FEWEST, SPEAKER_NEAR_RIVALS = 4, 0.4
SPEAKER_OUTLIER, MIN_SPEAKERS = -6.0, 6
MIN_SPREAD = 0.04  # of scores, relative to the distance from the rivals; recorded speech has 0.04 to 0.4

_NOTHING = 1e-9


@dataclass(frozen=True)
class Suspect:
    """A corpus, speaker, utterance or training stage with an unusual score, or one of the least trusted utterances."""

    kind: Literal["corpus", "speaker", "utterance", "stage", "listed"]  # "listed": little trusted, but not suspicious
    name: str
    score: float  # natural log per frame of speech, the median for several utterances; nan for a stage
    reason: str  # a sentence


@dataclass(frozen=True)
class TranscriptCheck:
    """Fit of the transcripts of a corpus."""

    # log likelihood ratio of transcript and phone loop per frame of speech, at most 0; without failed utterances
    scores: Mapping[str, float]
    beaten: float  # per cent of other utterances' transcripts that fit worse; nan without others
    suspects: tuple[Suspect, ...]  # corpus, speakers, then utterances; the lowest score or trust of each first
    trust: Mapping[str, float] = field(default_factory=dict)  # probability that the transcript is right
    listed: tuple[Suspect, ...] = ()  # the least trusted of the other utterances

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


def check_transcripts(found: Mapping[str, TranscriptScore], speakers: Mapping[str, str]) -> TranscriptCheck:
    """Find the suspicious transcripts of a corpus.

    Parameters
    ----------
    found : mapping of utterance id to TranscriptScore
        Scores with `first_rivals`, preferably by models trained without the utterances, because others may have learned
        the errors. Utterances that cannot be aligned are left out.
    speakers : mapping of utterance id
        Speaker of each utterance.
    """
    scores = {name: one.score for name, one in found.items()}
    of_others = [one.rivals for one in found.values()]
    n_rivals = sum(map(len, of_others))
    beaten = 100.0 * sum(one.beaten for one in found.values()) / n_rivals if n_rivals else float("nan")
    parts = trust_of(found)
    trust = {name: part.value for name, part in parts.items()}
    if len(scores) < MIN_UTTERANCES or not n_rivals:
        return TranscriptCheck(scores, beaten, (), trust)
    if beaten < MIN_BEATEN:
        reason = (
            f"its transcripts fit better than only {beaten:.0f} % of the transcripts of other utterances. Check "
            "that the lines of `text` have the right utterance ids, and that the pronunciations are those of "
            "this language"
        )
        corpus = Suspect("corpus", "all", float(np.median(list(scores.values()))), reason)
        return TranscriptCheck(scores, beaten, (corpus,), trust)
    distance = max(0.0, float(np.median(list(scores.values())) - np.median(np.concatenate(of_others))))
    ordered = sorted(parts, key=lambda name: (trust[name], scores[name], name))
    n_suspicious = sum(value < SUSPICIOUS for value in trust.values())
    n_listed = max(MIN_LISTED, round(LISTED * len(ordered)))
    speaker_suspects = _speakers(found, speakers, scores, MIN_SPREAD * distance)
    suspects = [Suspect("utterance", name, scores[name], _reason(parts[name])) for name in ordered[:n_suspicious]]
    listed = [
        Suspect(
            "listed",
            name,
            scores[name],
            f"not suspected, but among the {n_listed} least trusted (trust {trust[name]:.2f})",
        )
        for name in ordered[n_suspicious:n_listed]
    ]
    return TranscriptCheck(scores, beaten, (*speaker_suspects, *suspects), trust, tuple(listed))


def _reason(trust: Trust) -> str:
    lowest = min(trust)
    if lowest == trust.transcript:
        reason = "fits hardly better than transcripts of other utterances"
    elif lowest == trust.no_word_added:
        reason = "fits better without one of its words"
    else:
        reason = "fits better with other phones between two words, so a word may be missing"
    return f"{reason} (trust {trust.value:.2f})"


def _by_speaker(names: Mapping[str, object], speakers: Mapping[str, str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(speakers[name], []).append(name)
    return groups


def _place(one: TranscriptScore, usual: float) -> float:
    """Return the position from the rivals' median (0) to the usual score (1); 1 unless the median is lower."""
    rivals = float(np.median(one.rivals)) if len(one.rivals) else usual
    return (one.score - rivals) / (usual - rivals) if rivals < usual else 1.0


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
