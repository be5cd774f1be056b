"""Check that transcripts match the audio: a stage after the mixtures, which writes `suspects.tsv`.

A model trained on wrong transcripts fits them: with 16 Gaussians per state, 31 utterances with exchanged transcripts
score as well as correct ones. So each utterance is scored by cross-validation, with Gaussians of the aligned states of
other folds; these do not fit exchanged transcripts.
"""

import json
import logging
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import SpeechModel
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.alignment.alignment_check import AlignmentCheck
from asr.alignment.score_files import SCORES, SUSPECTS, log_suspects, write_scores, write_suspects
from asr.alignment.suspects import Suspect, TranscriptCheck, check_transcripts, first_rivals
from asr.alignment.transcript_scores import TranscriptScore, score_transcripts
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.recognition.speaker_transforms import frames_of_states
from asr.runs.progress import counted
from asr.training.dataset import Dataset
from asr.training.gmm_stages import AlignedGmms, TrainingContext
from asr.util.counted_text import count

log = logging.getLogger(__name__)

FOLDS = 4
FEW_UTTERANCES, FOLDS_OF_FEW = 400, 10  # with few utterances, larger training parts: each one left out weakens a model
GAUSSIANS = 4  # per state; a single one separates right from wrong transcripts less well
MAX_NOT_ALIGNED = 5.0  # % of the utterances
MIN_FALL = 1.0  # of the log-likelihood per frame; floors of weights and variances cost a few tenths


def find_suspects(context: TrainingContext, name: str, dataset: Dataset, mixtures: AlignedGmms) -> TranscriptCheck:
    """Stage `name`: score the transcripts that `mixtures` aligned, and log a summary.

    The run's directory gets `suspects.tsv`: anomalies of the corpus, speakers, utterances and mixture training.
    `scores.tsv` in the stage's directory has the score and trust of every utterance.
    """

    def build(directory: Path) -> str:
        check = check_transcripts(cross_fitted_scores(context, dataset, mixtures), dataset.utterance_speaker)
        write_scores(directory / SCORES, check)
        values = {
            "scores": dict(check.scores),
            "beaten": None if np.isnan(check.beaten) else check.beaten,
            "trust": dict(check.trust),
            "suspects": [(one.kind, one.name, one.score, one.reason) for one in check.suspects],
            "listed": [(one.kind, one.name, one.score, one.reason) for one in check.listed],
        }
        (directory / "transcripts.json").write_text(json.dumps(values, sort_keys=True), encoding="utf-8")
        return f"{count(len(check.scores), 'utterance')} checked, {count(len(check.suspects), 'suspect')}"

    directory = context.stage(name, build)
    written = json.loads((directory / "transcripts.json").read_text(encoding="utf-8"))
    beaten = float("nan") if written["beaten"] is None else written["beaten"]
    suspects = (*(Suspect(*fields) for fields in written["suspects"]), *_of_stage(mixtures, len(dataset.static)))
    listed = tuple(Suspect(*fields) for fields in written["listed"])
    check = TranscriptCheck(written["scores"], beaten, suspects, written["trust"], listed)
    path = context.run.directory / SUSPECTS
    write_suspects(path, (*suspects, *listed), dataset.transcripts)
    log_suspects(check, path, level=logging.DEBUG)
    return check


def cross_fitted_scores(
    context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms
) -> dict[str, TranscriptScore]:
    """Score the transcripts by cross-validation; utterances that cannot be aligned are left out."""
    model = mixtures.largest.load()
    topology, self_loops = model.hmm.topology, model.hmm.self_loops
    with threadpool_limits(1):
        table = _frames(model, dataset.static, mixtures.states, context)
    graphs = dataset.graphs(context.training_lexicon, topology)
    used = [name for name in table.ids if name not in mixtures.failed]
    n_folds = min(FOLDS_OF_FEW if len(used) < FEW_UTTERANCES else FOLDS, len(used))
    if n_folds < 2:
        return {}
    drawn = np.random.default_rng(context.config.seed).permutation(len(used)) % n_folds
    fold_of = dict(zip(used, drawn.tolist(), strict=True))
    models = []
    with counted(n_folds, "checking transcripts: models") as finished:
        for fold in range(n_folds):
            states = mixtures.states.copy()
            for name in used:
                if fold_of[name] == fold:
                    states[table.rows(name)] = -1
            models.append(
                mixtures_of_states(table.frames, states, topology.n_states, GAUSSIANS, workers=context.workers)
            )
            finished(fold + 1)

    transcripts = {name: dataset.transcripts[name] for name in used}
    rivals = first_rivals(transcripts, context.config.seed)
    found: dict[str, TranscriptScore] = {}
    for fold, gaussians in enumerate(models):
        found |= score_transcripts(
            gaussians.log_likelihood,
            table.subset([name for name in used if fold_of[name] == fold]),
            graphs,
            rivals,
            topology,
            self_loops,
            transcripts,
            context.training_lexicon,
            workers=context.workers,
        )
    return {name: found[name] for name in used if name in found}


def _frames(model: SpeechModel, static: FrameTable, states: np.ndarray, context: TrainingContext) -> FrameTable:
    """Return the model's frames, normalized by speaker instead of by corpus, so that voices do not affect the score."""
    config = model.front_end.config
    if config.normalize == "corpus" and config.lda_dimension is None:
        return FrontEnd(config.model_copy(update={"normalize": "speaker"})).fit(static).transform(static)
    return frames_of_states(model, static, states, workers=context.workers)


def alignment_of(mixtures: AlignedGmms) -> AlignmentCheck:
    """Load the alignment statistics of the largest mixtures from their stage."""
    path = mixtures.largest.path.parent / "alignment.json"
    return AlignmentCheck(**json.loads(path.read_text(encoding="utf-8")))


def _of_stage(mixtures: AlignedGmms, n_utterances: int) -> list[Suspect]:
    """Return the anomalies in the training of the mixtures."""
    found = alignment_of(mixtures).complaints()
    share = 100.0 * len(mixtures.failed) / n_utterances
    if share > MAX_NOT_ALIGNED:
        found.append(f"{len(mixtures.failed)} of {n_utterances} utterances could not be aligned")
    for n_components, trained in sorted(mixtures.models.items()):
        curve = trained.curves.get("log-likelihood per frame", ())
        if len(curve) > 1 and curve[-1] < curve[0] - MIN_FALL:
            found.append(
                f"the log-likelihood a frame fell from {curve[0]:.2f} to {curve[-1]:.2f} at "
                f"{count(n_components, 'Gaussian')}"
            )
    return [Suspect("stage", mixtures.largest.path.parent.name, float("nan"), complaint) for complaint in found]
