"""Cached results of searches of held-out speech, until the stage is finished."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TypeAlias

import numpy as np

from asr.acoustic.phone_hmm import PhoneHmm
from asr.hmm.state_graph import StateGraph
from asr.runs.checked_file import read_sealed, write_sealed
from asr.util.errors import RunError
from discriminants.util.paths import exists

log = logging.getLogger(__name__)

INTERVAL = 5.0
"""Seconds of search between writes; shorter searches are not cached."""

Words: TypeAlias = list[list[list[str]]]
"""Words by search and utterance of a batch."""


class SearchCache:
    """Words found in batches of utterances, cached in files of a directory.

    Each file has a sequence of batches and is complete or absent. File names are checksums of the search's inputs, so
    results for other models or speech are never used.

    Parameters
    ----------
    directory : Path
        From `asr.runs.run.Run.checkpoint`; created on the first write.
    hmm, graph
        Model and graph of the searches.
    scores : sequence of sequences of float32 (n_frames, n_states)
        State scores by batch and utterance.
    """

    def __init__(
        self, directory: Path, hmm: PhoneHmm, graph: StateGraph, scores: Sequence[Sequence[np.ndarray]]
    ) -> None:
        self._directory = directory
        of_graph = [getattr(graph, field.name) for field in fields(graph)]
        parts = [hmm.self_loops, hmm.topology.unit_state, *of_graph, *(one for batch in scores for one in batch)]
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            if isinstance(part, np.ndarray):
                digest.update(f"{part.dtype} {part.shape} ".encode())
                digest.update(np.ascontiguousarray(part).data)
            else:
                digest.update(f"{json.dumps(part)} ".encode())
        self._searched = digest.hexdigest()

    def through(self, how: object, search: Callable[[int], Iterable[Words]]) -> Iterator[Words]:
        """Yield the words of all batches in order: cached ones first, then those from `search`.

        `search` is called with the number of the first batch that is not cached. `how` (JSON values) identifies all
        other inputs of the search.
        """
        asked = json.dumps([self._searched, how], sort_keys=True).encode()
        key = hashlib.blake2b(asked, digest_size=16).hexdigest()
        n_done = 0
        while kept := self._read(self._file(key, n_done)):
            yield from kept
            n_done += len(kept)
        if n_done:
            log.debug("the words of %s batches were found before, and are kept", f"{n_done:,}")
        waiting: list[Words] = []
        begun = time.monotonic()
        for words in search(n_done):
            waiting.append(words)
            if time.monotonic() - begun >= INTERVAL:
                write_sealed(self._file(key, n_done), {"batches": waiting})
                n_done, waiting, begun = n_done + len(waiting), [], time.monotonic()
            yield words

    def _file(self, key: str, first: int) -> Path:
        return self._directory / f"{key}-{first}.json"

    def _read(self, file: Path) -> list[Words]:
        if not exists(file):
            return []
        try:
            found: list[Words] = read_sealed(file, "a record of searches", "these searches are made again")["batches"]
        except RunError as error:
            log.warning("%s", error)
            return []
        return found
