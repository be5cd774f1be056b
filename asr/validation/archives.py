"""Checks of feature archives: missing matrices, and inconsistent sizes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from asr.corpus.data_directory import DataLists, Utterance
from asr.corpus.feature_file import read_features
from asr.util.errors import Issue
from asr.validation.findings import costing


@dataclass(frozen=True)
class Matrix:
    """Size of an utterance's feature matrix."""

    n_frames: int
    n_columns: int


def read_size(utterance: Utterance) -> Matrix:
    """Return the size of an utterance's matrix; CorpusError if it cannot be read."""
    return Matrix(*read_features(utterance.source, utterance.offset).shape)


def check_archives(directory: DataLists, sizes: Mapping[str, Matrix | Issue]) -> Iterator[Issue]:
    """Report entries of feats.scp without a matrix, or with another number of columns than most."""
    widths = Counter(size.n_columns for size in sizes.values() if not isinstance(size, Issue))
    expected = max(widths, key=widths.__getitem__, default=0)  # as in training: the first of equally frequent ones
    for name, size in sizes.items():  # by id, as training reads them
        if isinstance(size, Issue):
            yield costing(size.code, *directory.place(name), size.message, [name])
        elif size.n_columns != expected:
            message = f"'{name}' has {size.n_columns} features per frame. Expected {expected}"
            yield costing("other-dimension", *directory.place(name), message, [name])
