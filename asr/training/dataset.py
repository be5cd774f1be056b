"""Transcribed features for training and scoring."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asr.alignment.transcript_graph import transcript_graph
from asr.corpus.data_directory import DataDirectory
from asr.features.augmentation import Augmentation
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.features.level import SILENT_WORDS, silent_utterances
from asr.features.warping import warped_copies
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.recognition.vocabulary import other_case
from asr.runs.outcome import require_some
from asr.util.errors import ConfigError, Issue, RunError
from asr.validation.transcripts import is_wrong_lexicon
from discriminants.parallel.workers import Workers

_LEFT_OUT = "left-out.json"


@dataclass(frozen=True)
class Dataset:
    """Static features of utterances, with their transcripts."""

    static: FrameTable  # MFCCs without differences, not normalized
    transcripts: Mapping[str, tuple[str, ...]]  # words by utterance id; may have additional utterances
    frame_shift: float = 0.01  # seconds between frames
    corpus: DataDirectory | None = None  # source of the audio, for copies with another speed or noise

    @property
    def seconds(self) -> float:
        """Duration of all utterances in seconds."""
        return self.static.n_frames * self.frame_shift

    @property
    def speakers(self) -> tuple[str, ...]:
        """Names of the speakers, sorted."""
        return tuple(sorted(set(self.static.speakers)))

    @property
    def references(self) -> dict[str, tuple[str, ...]]:
        """Transcripts of the utterances in the table."""
        return {name: self.transcripts[name] for name in self.static.ids}

    @property
    def utterance_speaker(self) -> dict[str, str]:
        """Speaker of each utterance."""
        return dict(zip(self.static.ids, self.static.speakers, strict=True))

    def of_speakers(self, speakers: Iterable[str]) -> "Dataset":
        """Return the utterances of the given speakers."""
        chosen = set(speakers)
        return self.where(lambda name, speaker: speaker in chosen)

    def where(self, condition: Callable[[str, str], bool]) -> "Dataset":
        """Return the utterances for which `condition(utterance id, speaker)` is true."""
        pairs = zip(self.static.ids, self.static.speakers, strict=True)
        static = self.static.subset(name for name, speaker in pairs if condition(name, speaker))
        return Dataset(static, self.transcripts, self.frame_shift, self.corpus)

    def warped(self, vtlp_warps: Sequence[float], config: FeatureConfig) -> "Dataset":
        """Return a copy of every utterance for each vocal-tract length warp, ordered by warp."""
        both = warped_copies(self.static, vtlp_warps, config)
        static = both.subset(both.ids[len(self.static) :])
        words = [self.transcripts[name] for name in self.static.ids]
        transcripts = {name: words[number % len(words)] for number, name in enumerate(static.ids)}
        return Dataset(static, transcripts, self.frame_shift)

    def augmented(self, augmentation: Augmentation, config: FeatureConfig, *, workers: Workers) -> "Dataset":
        """Return a copy of every utterance from modified audio; utterances and speakers are named `NAME/CHANGE`.

        Raises ConfigError if the data set has no audio. Utterances that fail are left out.
        """
        if self.corpus is None:
            raise ConfigError("copies with another speed or with noise require audio")
        static, _ = extract_static(
            self.corpus.subset(self.static.ids), config, augmentation=augmentation, workers=workers
        )
        ids = tuple(f"{name}/{augmentation.name}" for name in static.ids)
        speakers = tuple(f"{name}/{augmentation.name}" for name in static.speakers)
        transcripts = {new: self.transcripts[name] for new, name in zip(ids, static.ids, strict=True)}
        return Dataset(FrameTable(ids, speakers, static.frames, static.offsets), transcripts, self.frame_shift)

    def graphs(self, lexicon: Lexicon, topology: Topology) -> dict[str, StateGraph]:
        """Return the transcript graph of every utterance."""
        return {name: transcript_graph(self.transcripts[name], lexicon, topology) for name in self.static.ids}


def joined(parts: Sequence[Dataset]) -> Dataset:
    """Concatenate data sets with distinct utterance ids."""
    tables = [part.static for part in parts]
    static = FrameTable.from_utterances(
        [name for table in tables for name in table.ids],
        [speaker for table in tables for speaker in table.speakers],
        [table.utterance(number) for table in tables for number in range(len(table))],
    )
    transcripts = {name: words for part in parts for name, words in part.transcripts.items()}
    return Dataset(static, transcripts, parts[0].frame_shift, _joined_corpora([part.corpus for part in parts]))


def _joined_corpora(corpora: Sequence[DataDirectory | None]) -> DataDirectory | None:
    found = [corpus for corpus in corpora if corpus is not None]
    if len(found) < len(corpora):
        return None
    utterances = {utterance.id: utterance for corpus in found for utterance in corpus.utterances}
    return DataDirectory(found[0].path, tuple(utterances[name] for name in sorted(utterances)))


def trainable(
    corpus: DataDirectory, lexicon: Lexicon, *, known_only: bool = False
) -> tuple[DataDirectory, list[Issue]]:
    """Return the utterances with a known word, and the reasons for leaving out the others.

    All utterances with unknown words are left out if `known_only`, or if the lexicon is wrong (`is_wrong_lexicon`).
    """
    problems = list(corpus.problems)
    kept = []
    known_only = known_only or is_wrong_lexicon(lexicon, (utterance.words or () for utterance in corpus.utterances))
    for utterance in corpus.utterances:
        missing = sorted({word for word in utterance.words or () if word not in lexicon.pronunciations})
        if not utterance.words:
            problems.append(Issue("no-transcript", "it has no transcript", utterances=(utterance.id,)))
        elif missing and (known_only or len(missing) == len(set(utterance.words))):
            hint = other_case(missing, lexicon)
            reason = f"the lexicon has no pronunciation for {' '.join(missing)}{hint and '; '}{hint}"
            problems.append(Issue("unknown-word", reason, utterances=(utterance.id,)))
        else:
            kept.append(utterance.id)
    require_some(corpus.path, kept, problems)
    return corpus.subset(kept), problems


def build_static(
    directory: Path,
    corpus: DataDirectory,
    config: FeatureConfig,
    *,
    augmentation: Augmentation | None = None,
    silent_too: bool = True,
    workers: Workers,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Stage: write the table of static features of a corpus, and the list of unusable utterances.

    Unless `silent_too`, audio with only zero samples is unusable if its transcript has words.
    """
    table, problems = extract_static(corpus, config, augmentation=augmentation, workers=workers, progress=progress)
    if not silent_too:
        spoken = {utterance.id for utterance in corpus.utterances if utterance.words and utterance.audio is not None}
        silent = silent_utterances(table, config) & spoken
        problems += [Issue("silent", SILENT_WORDS, utterances=(name,)) for name in sorted(silent)]
        table = table.subset([name for name in table.ids if name not in silent]) if silent else table
    table.save(directory)
    (directory / _LEFT_OUT).write_text(
        json.dumps([(one.utterance, one.code, one.message) for one in problems]), encoding="utf-8"
    )


def left_out(directory: Path) -> list[Issue]:
    """Return the utterances that `build_static` could not use, also from an earlier process."""
    path = directory / _LEFT_OUT
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        return [Issue(code, reason, utterances=(name,)) for name, code, reason in written]
    except (OSError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise RunError(f"{path}: invalid list of unusable utterances ({error}); remove {directory.name}") from error


def load_dataset(directory: Path, corpus: DataDirectory, config: FeatureConfig) -> Dataset:
    """Load the table written by `build_static` (memory-mapped), with the corpus's transcripts."""
    static = FrameTable.load(directory)
    transcripts = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    return Dataset(static, transcripts, config.shift_ms / 1000.0, corpus)
