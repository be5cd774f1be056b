"""`asr align`: the times of the words and phones of transcribed utterances."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import load_model
from asr.align.ctm import ctm_rows, write_ctm
from asr.align.forced_alignment import Alignment, align_utterance
from asr.align.textgrid import write_textgrid
from asr.align.transcript_graph import transcript_graph
from asr.corpus.data_directory import Problem
from asr.decode.path_segments import frame_states, phone_segments, word_segments
from asr.errors import AlignmentError
from asr.files import atomic_write
from asr.lexicon import read_lexicon
from asr.recipe.decoding import corpus_for, static_frames
from asr.recipe.material import trainable
from asr.recipe.outcome import Outcome
from asr.recipe.progress import progress


def align(
    model: Path,
    data: Path,
    out: Path,
    *,
    root: Path | None = None,
    lexicon: Path | None = None,
    textgrid: bool = False,
    jobs: int = 1,
) -> Outcome:
    """Align, and write `out/words.ctm`, `out/phones.ctm`, `out/states.npz` and `out/textgrid/*.TextGrid`.

    Raises
    ------
    AsrError
        One of its kinds; AlignmentError if no utterance at all could be aligned.
    """
    speech_model = load_model(model)
    topology = speech_model.hmm.topology
    pronunciations = speech_model.lexicon if lexicon is None else read_lexicon(lexicon)
    pronunciations.require_phones(topology.phones)
    corpus, problems = trainable(corpus_for(speech_model, data, root), pronunciations)
    static, failed = static_frames(speech_model, corpus, jobs)
    problems += failed
    words = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    shift = speech_model.front_end.config.shift_ms / 1000.0

    def one(name: str) -> Alignment | str:
        return align_utterance(
            speech_model.hmm.log_likelihood(frames.utterance(name)),
            transcript_graph(words[name], pronunciations, topology),
            topology,
            speech_model.hmm.self_loops,
        )

    aligned: dict[str, Alignment] = {}
    with threadpool_limits(1), ThreadPoolExecutor(jobs) as pool:
        frames = speech_model.front_end.transform(static)
        for name, result in zip(progress(frames.ids, "aligning"), pool.map(one, frames.ids), strict=True):
            if isinstance(result, str):
                problems.append(Problem(name, result))
            else:
                aligned[name] = result
    if not aligned:
        raise AlignmentError(
            f"no utterance could be aligned; the first: {problems[0].utterance_id}: {problems[0].reason}"
        )

    out.mkdir(parents=True, exist_ok=True)
    word_rows, phone_rows = [], []
    for name, alignment in aligned.items():
        spoken = word_segments(alignment.path, alignment.graph, topology)
        phones = phone_segments(alignment.path, alignment.graph, topology)
        word_rows += ctm_rows(name, spoken, shift)
        phone_rows += ctm_rows(name, phones, shift)
        if textgrid:
            (out / "textgrid").mkdir(exist_ok=True)
            write_textgrid(
                out / "textgrid" / f"{name}.TextGrid",
                {"words": spoken, "phones": phones},
                shift_seconds=shift,
                duration=alignment.path.n_frames * shift,
            )
    write_ctm(out / "words.ctm", word_rows)
    write_ctm(out / "phones.ctm", phone_rows)
    states = {name: frame_states(alignment.path, alignment.graph, topology) for name, alignment in aligned.items()}
    with atomic_write(out / "states.npz") as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **states)
    return Outcome(len(aligned), problems)
