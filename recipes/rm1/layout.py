"""Detection of the layout of Resource Management in a folder, and its files by case-insensitive names."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from asr.corpus.case_insensitive_dir import FoldedTree
from asr.util.errors import CorpusError

Layout = Literal["discs", "cepstra"]

TEST_SETS: Mapping[str, int] = {"feb89": 4, "oct89": 5, "feb91": 6, "sep92": 7}
"""DARPA's evaluations that are scored, with the number in front of their folders on the discs."""
TRAIN = "train"
_SIGNS: Mapping[Layout, Sequence[str]] = {"discs": ("rm1_audio1", "rm1_audio2"), "cepstra": ("rm1/etc", "rm1/feat")}
_SHOWN = 12  # missing files in one message


def find_layout(tree: FoldedTree) -> Layout:
    """Return the layout of a folder; CorpusError, with the expected names, if it has neither or both."""
    found: list[Layout] = [layout for layout, signs in _SIGNS.items() if any(tree.folder(sign) for sign in signs)]
    if len(found) == 1:
        return found[0]
    if found:
        raise CorpusError(
            f"{tree.root} has both the discs ({_SIGNS['discs'][0]}) and CMU's cepstra ({_SIGNS['cepstra'][0]}). "
            "Use a folder with one of them"
        )
    discs, cepstra = (" nor ".join(str(tree.root / sign) for sign in signs) for signs in _SIGNS.values())
    raise CorpusError(
        f"{tree.root}: Resource Management not found. Expected {discs} (the discs of LDC93S3A) or {cepstra} "
        "(CMU's cepstra, which --download downloads)"
    )


def require(tree: FoldedTree, wanted: Iterable[Sequence[str]]) -> list[Path]:
    """Return the required files and folders, each the first existing of some names; CorpusError lists all missing
    ones.
    """
    found, missing = [], []
    for names in wanted:
        path = next((path for path in map(tree.find, names) if path is not None), None)
        if path is None:
            missing.append(" or ".join(str(tree.root / name) for name in names))
        else:
            found.append(path)
    refuse_missing(tree.root, missing)
    return found


def refuse_missing(root: Path, missing: Sequence[str]) -> None:
    """Raise CorpusError that lists missing files, if any."""
    if missing:
        rest = f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        number = "1 file or folder is" if len(missing) == 1 else f"{len(missing)} files or folders are"
        raise CorpusError(f"{root}: {number} missing: {'; '.join(missing[:_SHOWN])}{rest}", code="missing-file")
