"""Division of long transcribed utterances at words that a recognition finds (Moreno et al. 1998).

Pieces between pauses are recognized with an n-gram of the transcript itself. Runs of words that agree with the
transcript are anchors. Gaps between anchors are recognized again with an n-gram of their own words.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from asr.acoustic.model_file import SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.anchors import anchors
from asr.alignment.passages import Anchor, gaps
from asr.decode.graph_compiler import compile_graph
from asr.decode.path_segments import Segment
from asr.features.frame_table import FrameTable
from asr.features.pieces import divided, divided_at, loudness, pause_cuts
from asr.grammar.ngram import transcript_ngram
from asr.lexicon import Lexicon
from asr.recognition.decoder import Found, SearchParts, recognize_batch
from asr.recognition.long_recordings import shifted
from asr.recognition.search import BATCH_FRAMES
from asr.recognition.speaker_transforms import frames_of
from asr.recognition.unknown_words import with_unknown_phone
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import Workers
from discriminants.util.blas_threads import one_blas_thread

MIN_GROUP, NEAR_WORDS, NEAR_SECONDS = 5, 3, 2.0  # words of a group of anchors; words and seconds between its anchors
PIECES = (4.0, 12.0, 0.3)  # seconds: minimum and maximum of a piece, and the pauses at its ends
NORMALIZED = (20.0, 40.0)
"""Seconds that are normalized together, because speakers and rooms may change within a long recording."""
BEAM, MAX_ACTIVE = 150.0, 1000
"""Search of the anchors. It may lose words, because anchors need only some of them."""


class Anchoring:
    """Recognition of the words of one long utterance in its frames."""

    def __init__(self, model: SpeechModel, static: FrameTable, name: str, lexicon: Lexicon, workers: Workers):
        own = model if model.speakers is None else _independent(model)
        one = static.subset([name])
        config = model.front_end.config
        parts = divided(one, config, limit=0.0, shortest=NORMALIZED[0], longest=NORMALIZED[1]).table
        with one_blas_thread():
            self.frames = frames_of(own, parts.each_alone(parts.ids), {}).frames
        self.hmm, self.lexicon, self.workers = own.hmm, lexicon, in_threads(workers)
        self.search = model.search.model_copy(
            update={"beam": min(model.search.beam, BEAM), "max_active": MAX_ACTIVE, "min_phone_llr": None,
                    "min_silence_llr": None}
        )  # fmt: skip
        self.shift = config.shift_samples / config.sample_rate
        self.loudness = loudness(one.frames, one, config)

    def anchors(self, words: Sequence[str], unknown: Collection[str]) -> tuple[list[Anchor], list[Segment]]:
        """Return the anchors of a transcript, and all recognized words; `unknown` words are not recognized."""
        n_frames = len(self.frames)
        found_words = self.recognized(words, unknown, 0, n_frames)
        found = _anchored(words, found_words, 0)
        for gap in gaps(found, len(words), n_frames, self.shift):
            if gap.end - gap.start >= PIECES[0] / self.shift:
                own = words[gap.first : gap.last]
                again = self.recognized(own, unknown, gap.start, gap.end)
                found += _anchored(own, again, gap.first)
        return supported(sorted(found), self.shift), found_words

    def recognized(self, words: Sequence[str], unknown: Collection[str], start: int, end: int) -> list[Segment]:
        """Return the words recognized between two frames with an n-gram of `words`."""
        known = [word for word in words if word not in unknown]
        if not known:
            return []
        graph = compile_graph(self.lexicon, transcript_ngram(known), self.hmm.topology)
        part = FrameTable(("part",), ("part",), self.frames[start:end], np.array([0, end - start], np.int64))
        cuts = pause_cuts(self.loudness[start:end], *(round(one / self.shift) for one in PIECES))
        pieces = divided_at(part, lambda name: cuts, self.shift)
        batches = pieces.table.batches(BATCH_FRAMES)
        shared = self.workers.share(SearchParts(self.hmm, graph, self.search, None, None))
        found: list[Segment] = []
        first = start
        for batch, (results, _) in zip(batches, self.workers.map(recognize_batch, batches, shared), strict=True):
            for number, result in enumerate(results):
                if isinstance(result, Found):
                    found += [shifted(word, first + int(batch.offsets[number])) for word in result.words]
            first += batch.n_frames
        return found


def supported(anchors: Sequence[Anchor], shift: float) -> list[Anchor]:
    """Return the anchors without groups of fewer than `MIN_GROUP` words, which a wrong passage can have by chance.

    Anchors belong to one group if at most `NEAR_WORDS` words and `NEAR_SECONDS` lie between them.
    """
    groups: list[list[Anchor]] = []
    for anchor in anchors:
        last = groups[-1][-1] if groups else None
        if last and anchor.word - last.word <= NEAR_WORDS + 1 and (anchor.start - last.end) * shift <= NEAR_SECONDS:
            groups[-1].append(anchor)
        else:
            groups.append([anchor])
    return [anchor for group in groups if len(group) >= MIN_GROUP for anchor in group]


def _independent(model: SpeechModel) -> SpeechModel:
    """Return the speaker-independent mixtures of a model with speaker transforms."""
    assert model.speakers is not None
    return replace(model, hmm=_as_wide(model.speakers.first, model), front_end=model.speakers.front_end, speakers=None)


def _as_wide(hmm: PhoneHmm, model: SpeechModel) -> PhoneHmm:
    """Return the phone HMMs, with the phone of unknown words if the model has it."""
    return with_unknown_phone(hmm) if len(model.hmm.topology.phones) > len(hmm.topology.phones) else hmm


def _anchored(words: Sequence[str], found_words: Sequence[Segment], first: int) -> list[Anchor]:
    """Return the recognized words that are anchors of `words`, whose number in the transcript begins at `first`."""
    found: list[Anchor] = []
    before = None
    for pair in anchors(words, [one.label for one in found_words]):
        follows = before is not None and pair.reference == before.reference + 1 and pair.hypothesis == before[1] + 1
        one = found_words[pair.hypothesis]
        found.append(Anchor(first + pair.reference, one.start, one.end, follows))
        before = pair
    return found
