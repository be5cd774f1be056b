"""Word error rate: alignment of hypotheses with references by minimum edit distance, and error counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan
from typing import TYPE_CHECKING

from kaldialign import align

from asr.scoring.alternatives import Pair as Pair
from asr.scoring.alternatives import Reference, WordNetwork, align_network
from asr.util.counted_text import count
from asr.util.display import html_table
from asr.util.errors import CorpusError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_COMPARISONS = 10_000**2
"""Maximum product of lengths, about one hour of speech, which takes seconds and 400 MB."""

_GAP = ""  # words are never empty
_SHOWN_PROBLEMS = 3  # in notebooks


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Numbers of reference words, sentences and errors; counts can be added with `+`."""

    words: int = 0
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0
    sentences: int = 0
    wrong_sentences: int = 0

    def __add__(self, other: "ErrorCounts") -> "ErrorCounts":
        return ErrorCounts(
            self.words + other.words,
            self.substitutions + other.substitutions,
            self.deletions + other.deletions,
            self.insertions + other.insertions,
            self.sentences + other.sentences,
            self.wrong_sentences + other.wrong_sentences,
        )

    @property
    def errors(self) -> int:
        """S + D + I."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def correct(self) -> int:
        """Correctly recognized reference words."""
        return self.words - self.substitutions - self.deletions

    @property
    def wer(self) -> float:
        """(S + D + I) / N in %; without reference words nan, or infinite with insertions."""
        return self.percent(self.errors)

    @property
    def word_accuracy(self) -> float:
        """A = 100 - (S + I + D) / N 100 in % (Andelić 2007, equation 4.5); it can be negative."""
        return 100.0 - self.wer

    @property
    def ser(self) -> float:
        """Sentence error rate in %: share of utterances with at least one error."""
        return 100.0 * self.wrong_sentences / self.sentences if self.sentences else nan

    def percent(self, count: int) -> float:
        """`count` in % of the reference words."""
        if self.words:
            return 100.0 * count / self.words
        return inf if count else nan


@dataclass(frozen=True, slots=True)
class UtteranceScore:
    """Alignment of one utterance, and its counts.

    With alternatives in the reference, its words are those of the reading that fits the hypothesis best.
    """

    id: str
    speaker: str
    pairs: tuple[Pair, ...]
    counts: ErrorCounts
    has_alternatives: bool = False


@dataclass(frozen=True, slots=True)
class SpeakerScore:
    """Counts of one speaker's utterances."""

    speaker: str
    counts: ErrorCounts


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Utterance with only a reference or only a hypothesis, and its treatment in scoring."""

    utterance_id: str
    reason: str


@dataclass(frozen=True, repr=False)
class ScoreReport:
    """Scores of utterances, sorted by id.

    Attributes
    ----------
    utterances : tuple of UtteranceScore
        Every utterance that has a reference.
    missing : tuple of str
        Utterances without a hypothesis; all their words count as deleted.
    extra : tuple of str
        Hypotheses without a reference; not scored.

    Examples
    --------
    >>> import asr
    >>> report = asr.score({"a": "ONE TWO"}, {"a": "ONE"})
    >>> report.deletions, report.missing
    (1, ())
    """

    utterances: tuple[UtteranceScore, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]

    @cached_property
    def totals(self) -> ErrorCounts:
        """Counts over all utterances."""
        return sum((utterance.counts for utterance in self.utterances), ErrorCounts())

    @property
    def wer(self) -> float:
        """Word error rate in %."""
        return self.totals.wer

    @property
    def word_accuracy(self) -> float:
        """Word accuracy in %, 100 - WER."""
        return self.totals.word_accuracy

    @property
    def ser(self) -> float:
        """Sentence error rate in %."""
        return self.totals.ser

    @property
    def words(self) -> int:
        """Reference words, N."""
        return self.totals.words

    @property
    def errors(self) -> int:
        """S + D + I."""
        return self.totals.errors

    @property
    def substitutions(self) -> int:
        """Reference words recognized as another word, S."""
        return self.totals.substitutions

    @property
    def deletions(self) -> int:
        """Reference words without a recognized word, D."""
        return self.totals.deletions

    @property
    def insertions(self) -> int:
        """Recognized words without a reference word, I."""
        return self.totals.insertions

    @property
    def problems(self) -> tuple[Unpaired, ...]:
        """Utterances with only a reference or only a hypothesis."""
        missing = [Unpaired(id, "no hypothesis; all its words count as deleted") for id in self.missing]
        extra = [Unpaired(id, "hypothesis without a reference; not scored") for id in self.extra]
        return (*missing, *extra)

    def speakers(self) -> tuple[SpeakerScore, ...]:
        """Counts per speaker, sorted by speaker."""
        counts: defaultdict[str, ErrorCounts] = defaultdict(ErrorCounts)
        for utterance in self.utterances:
            counts[utterance.speaker] += utterance.counts
        return tuple(SpeakerScore(speaker, counts[speaker]) for speaker in sorted(counts))

    def worst(self, n: int) -> tuple[UtteranceScore, ...]:
        """Return at most `n` utterances with the most errors (then by rate and id)."""
        wrong = [utterance for utterance in self.utterances if utterance.counts.errors]
        return tuple(sorted(wrong, key=lambda u: (-u.counts.errors, -u.counts.wer, u.id))[:n])

    def as_row(self) -> dict[str, float]:
        """Return error rates in % and counts: wer, ser, words, errors, sub, del and ins."""
        return {
            "wer": self.wer,
            "ser": self.ser,
            "words": self.words,
            "errors": self.errors,
            "sub": self.substitutions,
            "del": self.deletions,
            "ins": self.insertions,
        }

    def confusions(self) -> tuple[tuple[Pair, int], ...]:
        """Count errors by type, most frequent first; None is the missing side."""
        pairs = (pair for utterance in self.utterances for pair in utterance.pairs)
        counts = Counter(pair for pair in pairs if pair[0] != pair[1])
        return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or "")))

    def plot_confusions(self, ax: "Axes | None" = None, *, most: int = 40) -> "Axes":
        """Draw the recognitions of each word, in % of its occurrences, with matplotlib, and return the axes.

        Raises ConfigError without reference words.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.
        most : int
            Number of words; those with the most errors are drawn.
        """
        from asr.scoring.confusion_plot import draw_confusions

        return draw_confusions(self, ax, most)

    def __repr__(self) -> str:
        kinds = f"{self.substitutions} substituted, {self.deletions} deleted, {self.insertions} inserted"
        return (
            f"<ScoreReport of {count(len(self.utterances), 'utterance')}: WER {self.wer:.2f} %, SER {self.ser:.2f} %, "
            f"{count(self.errors, 'error')} in {count(self.words, 'word')} ({kinds})>"
        )

    def _repr_html_(self) -> str:
        """Return a table of the speakers and their sum, for notebooks."""
        rows = [(one.speaker, one.counts) for one in self.speakers()]
        notes = [f"{one.utterance_id}: {one.reason}" for one in self.problems[:_SHOWN_PROBLEMS]]
        left_out = len(self.problems) - len(notes)
        return html_table(
            f"WER {self.wer:.2f} %, SER {self.ser:.2f} %",
            ("Speaker", "WER %", "SER %", "Words", "Errors", "Substituted", "Deleted", "Inserted"),
            [
                (name, c.wer, c.ser, c.words, c.errors, c.substitutions, c.deletions, c.insertions)
                for name, c in [*rows, *([("Sum", self.totals)] if len(rows) > 1 else [])]
            ],
            [*notes, *([f"and {left_out} more"] if left_out else [])],
        )


def align_words(reference: Reference, hypothesis: Sequence[str]) -> tuple[Pair, ...]:
    """Align two word sequences with the fewest substitutions, deletions and insertions (Levenshtein 1966).

    Of a reference with alternatives, the reading with the fewest errors is taken.

    Raises CorpusError for an empty word, and for sequences whose product of lengths (time and memory) exceeds
    `MAX_COMPARISONS`.
    """
    if _GAP in reference or _GAP in hypothesis:
        raise CorpusError(f"an empty word cannot be scored: {list(reference)} and {list(hypothesis)}")
    if len(reference) * len(hypothesis) > MAX_COMPARISONS:
        raise CorpusError(
            f"{len(reference)} reference words and {len(hypothesis)} hypothesis words are too many to compare. Divide "
            f"the recording into utterances of at most {round(MAX_COMPARISONS**0.5)} words"
        )
    if isinstance(reference, WordNetwork):
        return align_network(reference, hypothesis)
    return tuple((ref or None, hyp or None) for ref, hyp in align(reference, hypothesis, _GAP))


def count_errors(pairs: Iterable[Pair]) -> ErrorCounts:
    """Count the errors of an aligned sentence."""
    words = substitutions = deletions = insertions = 0
    for ref, hyp in pairs:
        words += ref is not None
        insertions += ref is None
        deletions += hyp is None
        substitutions += ref is not None and hyp is not None and ref != hyp
    wrong = substitutions + deletions + insertions > 0
    return ErrorCounts(words, substitutions, deletions, insertions, sentences=1, wrong_sentences=int(wrong))


def score_utterances(
    references: Mapping[str, Reference],
    hypotheses: Mapping[str, Sequence[str]],
    *,
    speakers: Mapping[str, str] | None = None,
) -> ScoreReport:
    """Score hypotheses against references, both by utterance id.

    A reference without hypothesis counts as all deleted and is listed in `missing`. A hypothesis without reference is
    listed in `extra` and not scored. All words of an empty reference's hypothesis are insertions.

    Raises CorpusError if `references` is empty, `speakers` lacks an utterance, or an utterance is too long.

    Parameters
    ----------
    references, hypotheses : mapping
        Words by utterance id; references may be networks of `asr.scoring.alternatives.parse_reference`.
    speakers : mapping, optional
        Speaker by utterance id (`utt2spk`); by default all belong to the speaker "all".

    Returns
    -------
    ScoreReport
        Counts and alignments of all utterances.

    Examples
    --------
    >>> from asr.scoring.wer import score_utterances
    >>> score_utterances({"a": ["ONE", "TWO"]}, {"a": ["ONE"]}).wer
    50.0
    """
    if not references:
        raise CorpusError("no references. Expected at least one utterance")
    utterances = []
    for id in sorted(references):
        if speakers is not None and id not in speakers:
            raise CorpusError(f"utterance {id} has a reference but no speaker. Add it to utt2spk")
        speaker = "all" if speakers is None else speakers[id]
        try:
            pairs = align_words(references[id], hypotheses.get(id, ()))
        except CorpusError as error:
            raise CorpusError(f"utterance {id}: {error}") from error
        varies = isinstance(references[id], WordNetwork)
        utterances.append(UtteranceScore(id, speaker, pairs, count_errors(pairs), varies))
    missing = tuple(sorted(references.keys() - hypotheses.keys()))
    extra = tuple(sorted(hypotheses.keys() - references.keys()))
    return ScoreReport(tuple(utterances), missing, extra)
