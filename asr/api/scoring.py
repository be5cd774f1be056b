"""The commands `asr score` and `asr compare` as functions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from asr.api.arguments import Transcripts, checked, given_hypotheses, given_references, is_list, name_of
from asr.api.commands import StrPath
from asr.scoring.comparison import SystemComparison, compare_reports
from asr.scoring.files import read_utt2spk
from asr.scoring.fold import folded, read_fold
from asr.scoring.references import References, without_case
from asr.scoring.wer import ScoreReport, score_utterances
from asr.util.counted_text import count, some
from asr.util.errors import ArgumentError, ConfigError, CorpusError, printable
from asr.util.unicode_text import nfc


@dataclass(frozen=True)
class ScoringInputs:
    """References and hypotheses, read, folded and checked."""

    references: References
    hypotheses: Mapping[str, Sequence[str]]

    def report(self, *, ignore_case: bool = False) -> ScoreReport:
        """Score the hypotheses."""
        references, hypotheses = self.references.words, self.hypotheses
        if ignore_case:
            references, hypotheses = without_case(references, hypotheses)
        return score_utterances(references, hypotheses, speakers=self.references.speakers)


@checked
def score(
    reference: Transcripts,
    hypothesis: Transcripts,
    *,
    speakers: StrPath | Mapping[str, str] | None = None,
    ignore_case: bool = False,
    fold: StrPath | None = None,
) -> ScoreReport:
    """Count word errors, like the command `asr score`.

    Raises CorpusError if a file cannot be read, two lists differ in length, or the two have no common utterance.

    Parameters
    ----------
    reference, hypothesis : path, mapping or list
        Two files (references: Kaldi text, NIST trn or STM, HTK MLF or CTM; hypotheses: the same without STM), words by
        utterance, or texts in the same order. Only trn and STM files can have alternatives.
    speakers : path or mapping
        Speaker of each utterance, or the path of a `utt2spk`. STM files have their own speakers, so ConfigError is
        raised if `speakers` is given too.
    ignore_case : bool
        Whether to ignore letter case.
    fold : path, optional
        File that maps symbols to classes, or `FILE:COLUMN`, see `asr.scoring.fold.read_fold`. Symbols of both sides are
        replaced before scoring.

    Returns
    -------
    ScoreReport
        With `wer` and `ser` in %, `errors`, `substitutions`, `deletions`, `insertions`, `words`, and the alignment of
        every utterance. See `asr.scoring.bootstrap.wer_interval` for its confidence interval.

    Examples
    --------
    >>> import asr
    >>> report = asr.score(["ONE TWO"], ["ONE NO TWO"])
    >>> report.insertions, report.wer
    (1, 50.0)
    """
    return read_inputs(reference, hypothesis, speakers=speakers, fold=fold).report(ignore_case=ignore_case)


@checked
def compare(
    reference: Transcripts,
    systems: Mapping[str, Transcripts] | Sequence[StrPath],
    *,
    speakers: StrPath | Mapping[str, str] | None = None,
    ignore_case: bool = False,
    fold: StrPath | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> SystemComparison:
    """Compare systems on the same utterances, like the command `asr compare`.

    Raises CorpusError if a file cannot be read, or a system lacks an utterance of the references or has others.

    Parameters
    ----------
    reference : path, mapping or list
        References, as in `score`.
    systems : mapping or list
        Hypotheses by name of the system, as in `score`, or a list of files; at least two.
    speakers, ignore_case, fold
        As in `score`.
    level : float
        Confidence level of the intervals; a difference is significant if its p-value is at most 1 - level.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    SystemComparison
        Scores of the systems, and the tests of each pair.

    Examples
    --------
    >>> import asr
    >>> truth = {f"u{n}": "SHOW ALL SHIPS" for n in range(40)}
    >>> made = asr.compare(truth, {"A": truth, "B": {name: "SHOW SHIPS" for name in truth}})
    >>> made.conclusions[0]
    'A makes fewer errors than B: 0.00 % vs 33.33 % WER, p < 0.001 (matched pairs)'
    """
    given = dict(systems) if isinstance(systems, Mapping) else {str(path): path for path in systems}
    if len(given) < len(systems):
        repeated = next(name for name, n in Counter(map(str, systems)).items() if n > 1)
        raise ArgumentError(printable(f"compare: {repeated} is given more than once. Expected a file for each system"))
    if len(given) < 2:
        raise ArgumentError(
            f"compare: systems has {count(len(given), 'name')}. Expected at least two different systems"
        )
    change = _change(fold)
    references = _references(reference, speakers, change)
    reports = {}
    for name, hypothesis in given.items():
        made = _against(references, reference, hypothesis, change).report(ignore_case=ignore_case)
        for names, fault in ((made.missing, "lacks"), (made.extra, "has, unlike the references,")):
            if names:
                raise CorpusError(
                    printable(f"{name} {fault} {count(len(names), 'utterance')}: {some(names)}. Expected the same "
                              "utterances in all files")
                )  # fmt: skip
        reports[name] = made
    return compare_reports(reports, level=level, seed=seed)


def read_inputs(
    reference: Transcripts,
    hypothesis: Transcripts,
    *,
    speakers: StrPath | Mapping[str, str] | None = None,
    fold: StrPath | None = None,
) -> ScoringInputs:
    """Read the inputs of `score`."""
    change = _change(fold)
    return _against(_references(reference, speakers, change), reference, hypothesis, change)


def _change(fold: StrPath | None) -> Callable[[str], str]:
    """Return the function that folds a word; without a map it changes nothing."""
    return str if fold is None else partial(folded, read_fold(fold if isinstance(fold, str) else Path(fold)))


def _references(
    reference: Transcripts, speakers: StrPath | Mapping[str, str] | None, change: Callable[[str], str]
) -> References:
    """Read and fold the references, with the given speakers."""
    references = given_references(reference).changed(change)
    if speakers is None:
        return references
    if references.segments:
        raise ConfigError(
            f"{name_of(reference, 'the reference')} is an STM file, which has its own speakers. Expected no --utt2spk "
            "(speakers=)"
        )
    if isinstance(speakers, Mapping):
        return replace(references, speakers={nfc(name): speaker for name, speaker in speakers.items()})
    known = read_utt2spk(Path(speakers))
    missing = next((name for name in references.words if name not in known), None)
    if missing is not None:
        raise CorpusError(f"{speakers}: no speaker of the utterance {missing}. Expected a line for each reference")
    return replace(references, speakers=known)


def _against(
    references: References, given: Transcripts, hypothesis: Transcripts, change: Callable[[str], str]
) -> ScoringInputs:
    """Read and fold the hypotheses for these references, which were read from `given`."""
    hypotheses = given_hypotheses(hypothesis, references)
    if is_list(given) and is_list(hypothesis) and len(references.words) != len(hypotheses):
        raise CorpusError(
            f"{len(references.words)} references and {len(hypotheses)} hypotheses. Expected one hypothesis for each "
            "reference"
        )
    if references.words.keys().isdisjoint(hypotheses):
        said, found = name_of(given, "the reference"), name_of(hypothesis, "the hypothesis")
        ours, theirs = (printable(repr(next(iter(one)))) if one else "none" for one in (hypotheses, references.words))
        raise CorpusError(
            f"{found} and {said} have no utterance in common; their first utterances are {ours} and {theirs}. "
            "Expected the same utterance ids in both"
        )
    folded_words = {name: tuple(filter(None, map(change, words))) for name, words in hypotheses.items()}
    return ScoringInputs(references, folded_words)
