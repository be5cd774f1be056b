"""Sound of training utterances for the report, with the words and phones that the mixtures aligned."""

from collections.abc import Sequence

from asr.alignment.alignment_check import segments_of_states
from asr.alignment.frame_times import frame_times
from asr.alignment.recording_labels import AlignedUtterance
from asr.alignment.transcript_graph import transcript_graph
from asr.corpus.data_directory import Utterance
from asr.report.clip import Clip, Tier, make_clips, sound_notes, tiers_of
from asr.training.dataset import Dataset
from asr.training.gmm_stages import AlignedGmms, TrainingContext
from asr.util.errors import Issue, attempt


def training_clips(
    context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms, names: Sequence[str]
) -> tuple[dict[str, Clip], list[str]]:
    """Return the clips of utterances, the most important first, and sentences for the page."""
    corpus = () if dataset.corpus is None else dataset.corpus.utterances
    with_audio = {one.id: one for one in corpus if one.audio is not None}
    wanted = [name for name in names if name in with_audio]
    tiers = {
        name: _tiers(context, dataset, mixtures, with_audio[name]) for name in wanted if name not in mixtures.failed
    }
    clips, issues = make_clips(wanted, with_audio, tiers)
    return clips, list(sound_notes(clips, issues, has_audio=bool(with_audio)))


def _tiers(context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms, utterance: Utterance) -> list[Tier]:
    """Return the words and phones of an utterance; empty if its audio can no longer be read."""
    times = attempt(frame_times, context.config.features, [utterance], dataset.static)
    if isinstance(times, Issue):
        return []
    topology = mixtures.topology
    graph = transcript_graph(dataset.transcripts[utterance.id], context.training_lexicon, topology)
    states = mixtures.states[dataset.static.rows(utterance.id)]
    phones, words = segments_of_states(states, graph, topology)
    return tiers_of(AlignedUtterance(utterance, words, phones, times[utterance.id]))
