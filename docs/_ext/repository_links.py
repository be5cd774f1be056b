"""Links from pages to other files of the repository, which become downloads."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_LINK = re.compile(r"\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)")


def _to_downloads(app: Sphinx, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname))

    def changed(found: re.Match[str]) -> str:
        target = (page.parent / found[1]).resolve()
        if target.is_dir():
            target /= "README.md"
        if target.is_relative_to(app.srcdir) or not target.is_file():
            return found[0]
        return f"](path:{found[1].rstrip('/')}{'/README.md' * (target.name not in found[1])})"

    if page.suffix == ".md":
        source[0] = _LINK.sub(changed, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the change of links."""
    app.connect("source-read", _to_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
