"""Lookup of the files named in lists."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from asr.corpus.opening import faulty_file
from asr.util.errors import Issue
from asr.util.unicode_text import existing_form
from discriminants.util.paths import exists, is_dir, is_file


class Places:
    """Finds the files of a data directory's entries."""

    def __init__(self, directory: Path, root: Path | str | None = None):
        self.directory = directory
        self.bases = ([] if root is None else [Path(root)]) + [directory.resolve().parent, directory]

    def find(self, name: str) -> Path | Issue:
        """Return the file's path, or why it is unusable."""
        return self.find_all([name])[name]

    def find_all(self, names: Iterable[str]) -> dict[str, Path | Issue]:
        """Return the path of each file, or why it is unusable, with a common remedy for missing files."""
        looked = {name: self._look(name) for name in dict.fromkeys(names)}
        missing = [name for name, found in looked.items() if found is None and not Path(name).is_absolute()]
        remedy = f"; {self._remedy(missing)}" if missing else ""
        return {name: self._missing(name, remedy) if found is None else found for name, found in looked.items()}

    def _remedy(self, missing: Sequence[str]) -> str:
        """Return the remedy for missing files: the `root` (given or above the data directory) with most of them."""
        n_there = {}
        for base in dict.fromkeys((Path.cwd(), *self.directory.absolute().parents)):
            places = Places(self.directory, base)
            n_there[base] = sum(isinstance(places._look(name), Path) for name in missing)
            if n_there[base] == len(missing):
                break
        best = max(n_there, key=n_there.__getitem__)
        if 2 * n_there[best] <= len(missing):
            return "use --root DIR (root=) for the folder of relative paths"
        which = "all" if n_there[best] == len(missing) else f"{n_there[best]:,} of the {len(missing):,}"
        return f"{which} missing files exist under {best}: use --root {shlex.quote(str(best))} (root=)"

    def _candidates(self, name: str) -> list[Path]:
        paths = [Path(name)] if Path(name).is_absolute() else [base / name for base in self.bases]
        return paths if name.isascii() else [existing_form(path) for path in paths]

    def _missing(self, name: str, remedy: str) -> Issue:
        first, *others = dict.fromkeys(map(str, self._candidates(name)))
        elsewhere = f" (also tried {', '.join(others)})" if others else ""
        if Path(name).is_absolute():
            remedy = ""
        if "\\" in name:
            remedy = "; use / instead of backslashes in paths"
        return Issue("missing-file", f"{first} does not exist{elsewhere}{remedy}")

    def _look(self, name: str) -> Path | Issue | None:
        for candidate in self._candidates(name):
            try:
                size = candidate.stat().st_size if is_file(candidate) else -1
            except OSError as error:  # an invalid file name, such as one of more than 255 bytes
                return Issue("unreadable", str(faulty_file(candidate, error)))
            if size >= 0:
                return candidate if size else Issue("empty-file", f"{candidate} is an empty file")
            if exists(candidate):
                what = "a directory" if is_dir(candidate) else "not a regular file"
                return Issue("unreadable", f"{candidate} is {what}")
        return None
