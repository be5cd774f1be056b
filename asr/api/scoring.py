"""The command `asr score` as a function."""

from collections.abc import Mapping
from pathlib import Path

from asr.api.arguments import checked
from asr.api.commands import StrPath
from asr.api.transcripts import Transcripts, given_transcripts, is_list, name_of
from asr.scoring.files import read_utt2spk
from asr.scoring.letter_case import without_case
from asr.scoring.wer import ScoreReport, score_utterances
from asr.util.errors import CorpusError, printable
from asr.util.unicode_text import nfc


@checked
def score(
    reference: Transcripts,
    hypothesis: Transcripts,
    *,
    speakers: StrPath | Mapping[str, str] | None = None,
    ignore_case: bool = False,
) -> ScoreReport:
    """Count word errors, like the command `asr score`.

    Raises CorpusError if a file cannot be read, two lists differ in length, or the two have no common utterance.

    Parameters
    ----------
    reference, hypothesis : path, mapping or list
        Two files (Kaldi text, NIST trn or HTK MLF), words by utterance, or texts in the same order.
    speakers : path or mapping
        Speaker of each utterance, or the path of a `utt2spk`.
    ignore_case : bool
        Whether to ignore letter case.

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
    references, hypotheses = given_transcripts(reference), given_transcripts(hypothesis)
    if is_list(reference) and is_list(hypothesis) and len(references) != len(hypotheses):
        raise CorpusError(
            f"{len(references)} references and {len(hypotheses)} hypotheses. Expected one hypothesis for each reference"
        )
    if references.keys().isdisjoint(hypotheses):
        said, found = name_of(reference, "the reference"), name_of(hypothesis, "the hypothesis")
        ours, theirs = (printable(repr(next(iter(one)))) if one else "none" for one in (hypotheses, references))
        raise CorpusError(
            f"{found} and {said} have no utterance in common; their first utterances are {ours} and {theirs}. "
            "Expected the same utterance ids in both"
        )
    if ignore_case:
        references, hypotheses = without_case(references), without_case(hypotheses)
    of_utterance: Mapping[str, str] | None = None
    if isinstance(speakers, Mapping):
        of_utterance = {nfc(name): speaker for name, speaker in speakers.items()}
    elif speakers is not None:
        of_utterance = read_utt2spk(Path(speakers))
    return score_utterances(references, hypotheses, speakers=of_utterance)
