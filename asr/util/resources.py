"""Data files of the project: `data/` of a clone, `asr/data/` of an installed wheel."""

from importlib import resources
from pathlib import Path

from asr.util.errors import CorpusError
from discriminants.util.paths import exists


def resource(*parts: str) -> Path:
    """Return the path of a data file or folder, e.g. `resource("naval", "lexicon.txt")`.

    Raises CorpusError if it does not exist.
    """
    package = Path(str(resources.files("asr")))
    for root in (package / "data", package.parent / "data"):
        path = root.joinpath(*parts)
        if exists(path):
            return path
    raise CorpusError(
        f"Resource '{'/'.join(parts)}' is missing in {package / 'data'} and {package.parent / 'data'}. Install "
        "the package again, or use a complete clone"
    )
