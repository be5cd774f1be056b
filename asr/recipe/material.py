"""Transcribed frames: what models are trained on and scored against."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asr.align.transcript_graph import transcript_graph
from asr.corpus.data_directory import DataDirectory, Problem
from asr.errors import CorpusError
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.features.warping import warped_copies
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon

_LEFT_OUT = "left-out.json"


@dataclass(frozen=True)
class Material:
    """Static features of utterances and their transcripts.

    Attributes
    ----------
    static : FrameTable
        MFCCs without differences, not normalised.
    transcripts : mapping of utterance id to words
        One for every utterance of the table, maybe more.
    frame_shift : float
        Seconds from one frame to the next.
    """

    static: FrameTable
    transcripts: Mapping[str, tuple[str, ...]]
    frame_shift: float = 0.01

    @property
    def seconds(self) -> float:
        """Duration of all utterances."""
        return self.static.n_frames * self.frame_shift

    @property
    def speakers(self) -> tuple[str, ...]:
        """Names of the speakers, sorted."""
        return tuple(sorted(set(self.static.speakers)))

    @property
    def references(self) -> dict[str, tuple[str, ...]]:
        """Transcripts of the utterances of the table."""
        return {name: self.transcripts[name] for name in self.static.ids}

    @property
    def utterance_speaker(self) -> dict[str, str]:
        """Speaker of every utterance."""
        return dict(zip(self.static.ids, self.static.speakers, strict=True))

    def of_speakers(self, speakers: Iterable[str]) -> "Material":
        """The utterances of some speakers."""
        chosen = set(speakers)
        return self.where(lambda name, speaker: speaker in chosen)

    def where(self, condition: Callable[[str, str], bool]) -> "Material":
        """The utterances for which `condition(utterance id, speaker)` holds."""
        pairs = zip(self.static.ids, self.static.speakers, strict=True)
        static = self.static.subset(name for name, speaker in pairs if condition(name, speaker))
        return Material(static, self.transcripts, self.frame_shift)

    def warped(self, warps: Sequence[float], config: FeatureConfig) -> "Material":
        """With a copy of every utterance for each vocal-tract length warp, after the utterances themselves."""
        static = warped_copies(self.static, warps, config)
        n_utterances = len(self.static)
        words = [self.transcripts[name] for name in self.static.ids]
        transcripts = {name: words[number % n_utterances] for number, name in enumerate(static.ids)}
        return Material(static, transcripts, self.frame_shift)

    def graphs(self, lexicon: Lexicon, topology: Topology) -> dict[str, StateGraph]:
        """Transcript graph of every utterance."""
        return {name: transcript_graph(self.transcripts[name], lexicon, topology) for name in self.static.ids}


def joined(parts: Sequence[Material]) -> Material:
    """All utterances of several materials, whose ids must differ."""
    tables = [part.static for part in parts]
    static = FrameTable.from_utterances(
        [name for table in tables for name in table.ids],
        [speaker for table in tables for speaker in table.speakers],
        [table.utterance(number) for table in tables for number in range(len(table))],
    )
    transcripts = {name: words for part in parts for name, words in part.transcripts.items()}
    return Material(static, transcripts, parts[0].frame_shift)


def trainable(corpus: DataDirectory, lexicon: Lexicon) -> tuple[DataDirectory, list[Problem]]:
    """Leave out utterances without words or with words that the lexicon lacks; returns the rest and the reasons."""
    problems = list(corpus.problems)
    kept = []
    for utterance in corpus.utterances:
        missing = sorted({word for word in utterance.words or () if word not in lexicon.pronunciations})
        if not utterance.words:
            problems.append(Problem(utterance.id, "it has no transcript"))
        elif missing:
            problems.append(Problem(utterance.id, f"the lexicon has no pronunciation for {' '.join(missing)}"))
        else:
            kept.append(utterance.id)
    require_some(corpus.path, kept, problems)
    return corpus.subset(kept), problems


def require_some(path: Path, usable: Sequence[object], problems: Sequence[Problem]) -> None:
    """Raise CorpusError, with the first reason, when there is nothing to work on."""
    if usable:
        return
    if not problems:
        raise CorpusError(f"{path}: has no utterances")
    raise CorpusError(
        f"{path}: none of its {len(problems)} utterances can be used; the first: {problems[0].utterance_id}: "
        f"{problems[0].reason}"
    )


def build_static(
    directory: Path,
    corpus: DataDirectory,
    config: FeatureConfig,
    *,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Stage: write the static features of a corpus as a table, and a list of what could not be used."""
    table, problems = extract_static(corpus, config, jobs=jobs, progress=progress)
    table.save(directory)
    (directory / _LEFT_OUT).write_text(json.dumps(problems), encoding="utf-8")


def left_out(directory: Path) -> list[Problem]:
    """The utterances that `build_static` could not use, also if it ran in an earlier process."""
    return [Problem(*fields) for fields in json.loads((directory / _LEFT_OUT).read_text(encoding="utf-8"))]


def load_material(directory: Path, corpus: DataDirectory, config: FeatureConfig) -> Material:
    """The table written by `build_static`, mapped from its file, with the corpus's transcripts."""
    static = FrameTable.load(directory)
    transcripts = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    return Material(static, transcripts, config.shift_ms / 1000.0)
