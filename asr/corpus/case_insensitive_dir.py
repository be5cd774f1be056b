"""Case-insensitive file lookup, because media and corpus lists differ in letter case."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from asr.corpus.opening import faulty_file
from asr.util.errors import CorpusError
from asr.util.unicode_text import nfc
from discriminants.util.paths import is_dir


class FoldedTree:
    """A folder with case-insensitive lookup and cached listings."""

    def __init__(self, root: Path | str):
        self.root = Path(root)
        self._listings: dict[Path, Mapping[str, Sequence[str]]] = {}

    def find(self, name: str) -> Path | None:
        """Return the file or folder `name` (parts separated by `/`), or None; CorpusError if it is ambiguous."""
        path = self.root
        for part in name.split("/"):
            names = self._listing(path).get(nfc(part.casefold()), ())
            if not names:
                return None
            if part not in names and len(names) > 1:
                raise CorpusError(
                    f"{path}: '{names[0]}' and '{names[1]}' differ only in letter case from '{part}'; keep one of them",
                    code="missing-file",
                )
            path /= part if part in names else names[0]
        return path

    def folder(self, name: str) -> Path | None:
        """Return the folder `name`, or None."""
        found = self.find(name)
        return found if found is not None and is_dir(found) else None

    def names(self, folder: Path) -> list[str]:
        """Return the sorted names in a folder in their original case."""
        return sorted(name for names in self._listing(folder).values() for name in names)

    def _listing(self, folder: Path) -> Mapping[str, Sequence[str]]:
        if folder not in self._listings:
            names: dict[str, list[str]] = defaultdict(list)
            try:
                for entry in sorted(folder.iterdir()) if is_dir(folder) else ():
                    names[nfc(entry.name.casefold())].append(entry.name)
            except OSError as error:
                raise faulty_file(folder, error) from error
            self._listings[folder] = names
        return self._listings[folder]
