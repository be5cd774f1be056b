"""The frames of many utterances in one array."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tokenize import TokenError

import numpy as np

from asr.util.errors import FeatureError
from asr.util.files import atomic_write, write_array

BATCH_FRAMES = 2048
# Errors of json and NumPy for a corrupt file; Python's own parser reads the type of an array.
_UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, OverflowError, RecursionError, SyntaxError, TokenError,
)  # fmt: skip
NOT_FINITE = "some values of its frames are not finite"


@dataclass(frozen=True)
class FrameTable:
    """Frames of utterances; utterance i is rows offsets[i] to offsets[i + 1]; FeatureError for inconsistent fields."""

    ids: tuple[str, ...]  # one entry per utterance
    speakers: tuple[str, ...]  # one entry per utterance
    frames: np.ndarray  # float32 (n_frames, n_features), C-contiguous, possibly memory-mapped
    offsets: np.ndarray  # int64 (n_utterances + 1,)

    def __post_init__(self) -> None:
        if self.frames.ndim != 2 or self.frames.dtype != np.float32 or not self.frames.flags.c_contiguous:
            raise FeatureError(
                f"The frames are {self.frames.dtype} of shape {self.frames.shape}. Expected a C-contiguous "
                "float32 matrix."
            )
        offsets = self.offsets
        if (
            offsets.shape != (len(self.ids) + 1,)
            or offsets.dtype != np.int64
            or offsets[0] != 0
            or offsets[-1] != len(self.frames)
        ):
            raise FeatureError(
                f"The offsets are not valid. Expected {len(self.ids) + 1} int64 numbers from 0 to {len(self.frames)}."
            )
        if np.any(np.diff(offsets) < 0):
            raise FeatureError("The offsets of a frame table must be nondecreasing.")
        if len(self.speakers) != len(self.ids) or len(set(self.ids)) != len(self.ids):
            raise FeatureError("A frame table needs one speaker for every utterance, and unique utterances.")

    @classmethod
    def from_utterances(
        cls, ids: Iterable[str], speakers: Iterable[str], matrices: Iterable[np.ndarray]
    ) -> "FrameTable":
        """Join the matrices (T_i, D) of utterances; FeatureError without utterances or if D differs."""
        parts = [np.asarray(matrix, dtype=np.float32) for matrix in matrices]
        if not parts:
            raise FeatureError("A frame table needs at least one utterance.")
        if len({part.shape[1:] for part in parts}) != 1:
            raise FeatureError(
                f"Utterances differ in their number of features: {sorted({part.shape[1:] for part in parts})}."
            )
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(tuple(ids), tuple(speakers), np.concatenate(parts), offsets)

    def each_alone(self, names: Iterable[str]) -> "FrameTable":
        """Return the same table with each of these utterances as its own speaker, named after the utterance."""
        alone = set(names)
        speakers = (name if name in alone else speaker for name, speaker in zip(self.ids, self.speakers, strict=True))
        return FrameTable(self.ids, tuple(speakers), self.frames, self.offsets)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_frames(self) -> int:
        """Frames of all utterances."""
        return len(self.frames)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.frames.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """Number of each utterance id."""
        return {key: number for number, key in enumerate(self.ids)}

    def utterance(self, which: int | str) -> np.ndarray:
        """Return the frames of an utterance, by number or id: a view (T, n_features)."""
        return self.frames[self.rows(which)]

    def rows(self, which: int | str) -> slice:
        """Return the rows of an utterance, by number or id; FeatureError for an unknown id."""
        if isinstance(which, str):
            if which not in self.index:
                raise FeatureError(f"Utterance '{which}' is not in this table of {len(self)} utterances.")
            which = self.index[which]
        return slice(int(self.offsets[which]), int(self.offsets[which + 1]))

    def batches(self, n_frames: int = BATCH_FRAMES) -> list["FrameTable"]:
        """Divide the table into views of whole utterances, with at least `n_frames` each except the last.

        The division does not depend on the workers, and keeps the overhead of each call small.
        """
        pieces, first = [], 0
        for end in range(1, len(self) + 1):
            if end == len(self) or self.offsets[end] - self.offsets[first] >= n_frames:
                rows = slice(int(self.offsets[first]), int(self.offsets[end]))
                offsets = self.offsets[first : end + 1] - rows.start
                pieces.append(FrameTable(self.ids[first:end], self.speakers[first:end], self.frames[rows], offsets))
                first = end
        return pieces

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> "FrameTable":
        """Apply a function to every utterance; it must keep the number of frames."""
        result: np.ndarray | None = None
        for number in range(len(self)):
            frames = self.utterance(number)
            mapped = function(frames)
            if len(mapped) != len(frames):
                raise FeatureError(
                    f"Utterance '{self.ids[number]}' had {len(frames)} frames and now has {len(mapped)}. Expected "
                    "the same number."
                )
            if result is None:
                result = np.empty((self.n_frames, mapped.shape[1]), np.float32)
            result[self.rows(number)] = mapped
        return FrameTable(self.ids, self.speakers, self.frames if result is None else result, self.offsets)

    def subset(self, ids: Iterable[str]) -> "FrameTable":
        """Return a table of these utterances, in the order given."""
        ids = tuple(ids)
        numbers = [self.index[key] for key in ids if key in self.index]
        parts = [self.utterance(key) for key in ids]
        return FrameTable.from_utterances(ids, [self.speakers[number] for number in numbers], parts)

    def save(self, directory: Path | str) -> None:
        """Write `frames.npy` and then `index.json`; a directory with the index is complete."""
        directory = Path(directory)
        (directory / "index.json").unlink(missing_ok=True)
        write_array(directory / "frames.npy", self.frames)
        index = {
            "ids": self.ids,
            "speakers": self.speakers,
            "offsets": self.offsets.tolist(),
            "n_features": self.n_features,
        }
        with atomic_write(directory / "index.json") as temporary:
            temporary.write_text(json.dumps(index, ensure_ascii=False, sort_keys=True), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path | str, mmap: bool = True) -> "FrameTable":
        """Read the files of `save`, with frames memory-mapped or in memory; FeatureError if they are incomplete."""
        directory = Path(directory)
        try:
            index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
            ids, speakers = tuple(index["ids"]), tuple(index["speakers"])
            offsets = np.array(index["offsets"], dtype=np.int64)
            # Always mapped first, so that a header larger than the file fails without allocating memory.
            frames = np.load(directory / "frames.npy", mmap_mode="r", allow_pickle=False)
        except _UNREADABLE as error:
            raise FeatureError(
                f"{directory} is not a complete frame table ({error}). Compute the features again."
            ) from error
        named = all(isinstance(name, str) for name in (*ids, *speakers))
        if not named or offsets.ndim != 1 or not isinstance(frames, np.ndarray):
            raise FeatureError(
                f"{directory} is not a complete frame table. Expected ids, speakers and offsets in index.json, "
                "and one array in frames.npy. Compute the features again."
            )
        return cls(ids, speakers, frames if mmap else np.array(frames), offsets)
