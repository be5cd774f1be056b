"""Checks of feature archives: missing matrices, and inconsistent sizes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from asr.corpus.data_directory import Utterance
from asr.corpus.feature_file import read_features
from asr.util.errors import Issue, attempt
from asr.validation.directory import Directory
from asr.validation.findings import costing
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import Workers

_BATCH = 32  # utterances per task of a worker


@dataclass(frozen=True)
class Matrix:
    """Size of an utterance's feature matrix."""

    n_frames: int
    n_columns: int


def read_sizes(
    utterances: Sequence[Utterance], *, workers: Workers, progress: Callable[[int], None] | None = None
) -> list[Matrix | Issue]:
    """Read the size of each utterance's matrix, in order, or a fault."""
    batches = [utterances[first : first + _BATCH] for first in range(0, len(utterances), _BATCH)]
    results: list[Matrix | Issue] = []
    for batch in in_threads(workers).map(_size_batch, batches):
        results += batch
        if progress is not None:
            progress(len(results))
    return results


def _size_batch(batch: Sequence[Utterance]) -> list[Matrix | Issue]:
    return [attempt(_size, utterance) for utterance in batch]


def _size(utterance: Utterance) -> Matrix:
    return Matrix(*read_features(utterance.source, utterance.offset).shape)


def check_archives(directory: Directory, sizes: Mapping[str, Matrix | Issue]) -> Iterator[Issue]:
    """Report entries of feats.scp without a matrix, or with another number of columns than the first."""
    first: tuple[str, int] | None = None
    for name, size in sizes.items():  # by id, as training reads them
        if isinstance(size, Issue):
            yield costing(size.code, *directory.place(name), size.message, [name])
        elif first is None:
            first = name, size.n_columns
        elif size.n_columns != first[1]:
            message = (
                f"'{name}' has {size.n_columns} features a frame, but '{first[0]}' has {first[1]}; make them alike"
            )
            yield costing("other-dimension", *directory.place(name), message, [name])
