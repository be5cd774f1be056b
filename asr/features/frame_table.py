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
# What json and NumPy raise of a spoilt file; the type of an array is read by Python's own parser.
_UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, OverflowError, RecursionError, SyntaxError, TokenError,
)  # fmt: skip
NOT_FINITE = "its frames hold values that are not finite numbers"


@dataclass(frozen=True)
class FrameTable:
    """Utterance i is rows offsets[i] to offsets[i + 1] of `frames`.

    `ids` and `speakers` have one entry an utterance; `frames` is float32 (n_frames, n_features),
    C-contiguous, and may be mapped from a file; `offsets` is int64 (n_utterances + 1,). Raises FeatureError
    when these do not fit together.
    """

    ids: tuple[str, ...]
    speakers: tuple[str, ...]
    frames: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:
        if self.frames.ndim != 2 or self.frames.dtype != np.float32 or not self.frames.flags.c_contiguous:
            raise FeatureError(
                f"Frames must be a C-contiguous float32 matrix, not {self.frames.dtype} of shape {self.frames.shape}."
            )
        offsets = self.offsets
        if (
            offsets.shape != (len(self.ids) + 1,)
            or offsets.dtype != np.int64
            or offsets[0] != 0
            or offsets[-1] != len(self.frames)
        ):
            raise FeatureError(f"The offsets must be {len(self.ids) + 1} int64 numbers from 0 to {len(self.frames)}.")
        if np.any(np.diff(offsets) < 0):
            raise FeatureError("The offsets of a frame table must not fall.")
        if len(self.speakers) != len(self.ids) or len(set(self.ids)) != len(self.ids):
            raise FeatureError("A frame table needs one speaker for every utterance and no utterance twice.")

    @classmethod
    def from_utterances(
        cls, ids: Iterable[str], speakers: Iterable[str], matrices: Iterable[np.ndarray]
    ) -> "FrameTable":
        """Join matrices (T_i, D), one an utterance; FeatureError when there is none or they differ in D."""
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
        """The same, but each of these utterances is of a speaker of its own, who has its name."""
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
        """Columns."""
        return int(self.frames.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """From utterance id to its number."""
        return {key: number for number, key in enumerate(self.ids)}

    def utterance(self, which: int | str) -> np.ndarray:
        """The frames of an utterance, by number or id: a view (T, n_features)."""
        return self.frames[self.rows(which)]

    def rows(self, which: int | str) -> slice:
        """The rows of an utterance, by number or id; FeatureError when it is not there."""
        if isinstance(which, str):
            if which not in self.index:
                raise FeatureError(f"Utterance '{which}' is not in this table of {len(self)} utterances.")
            which = self.index[which]
        return slice(int(self.offsets[which]), int(self.offsets[which + 1]))

    def batches(self, n_frames: int = BATCH_FRAMES) -> list["FrameTable"]:
        """The table in pieces of whole utterances, of about `n_frames` or one utterance; their frames are views.

        What one worker does at a time: long enough that handing it over costs little, and divided in the same way
        whoever works.
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
        """A table of function(frames) for every utterance; the function keeps the number of frames."""
        result: np.ndarray | None = None
        for number in range(len(self)):
            frames = self.utterance(number)
            mapped = function(frames)
            if len(mapped) != len(frames):
                raise FeatureError(
                    f"Utterance '{self.ids[number]}' had {len(frames)} frames and now has {len(mapped)}; "
                    "they must stay."
                )
            if result is None:
                result = np.empty((self.n_frames, mapped.shape[1]), np.float32)
            result[self.rows(number)] = mapped
        return FrameTable(self.ids, self.speakers, self.frames if result is None else result, self.offsets)

    def subset(self, ids: Iterable[str]) -> "FrameTable":
        """A table of the named utterances, in the order given."""
        ids = tuple(ids)
        numbers = [self.index[key] for key in ids if key in self.index]
        parts = [self.utterance(key) for key in ids]
        return FrameTable.from_utterances(ids, [self.speakers[number] for number in numbers], parts)

    def save(self, directory: Path | str) -> None:
        """Write `frames.npy` and, last, `index.json`; a directory that has the index is whole."""
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
        """Read what `save` wrote, frames mapped from the file or in memory; FeatureError when not whole."""
        directory = Path(directory)
        try:
            index = json.loads((directory / "index.json").read_text(encoding="utf-8"))
            ids, speakers = tuple(index["ids"]), tuple(index["speakers"])
            offsets = np.array(index["offsets"], dtype=np.int64)
            # Mapped first in either case: a header that promises more than the file holds is found without memory.
            frames = np.load(directory / "frames.npy", mmap_mode="r", allow_pickle=False)
        except _UNREADABLE as error:
            raise FeatureError(
                f"{directory}: is not a whole frame table ({error}); compute the features again."
            ) from error
        named = all(isinstance(name, str) for name in (*ids, *speakers))
        if not named or offsets.ndim != 1 or not isinstance(frames, np.ndarray):
            raise FeatureError(
                f"{directory}: is not a whole frame table (index.json must list ids, speakers and offsets, and "
                "frames.npy hold one array); compute the features again."
            )
        return cls(ids, speakers, frames if mmap else np.array(frames), offsets)
