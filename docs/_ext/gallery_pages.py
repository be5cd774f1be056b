"""The examples in the gallery: their arguments, their figures, and the titles of their pages."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx_gallery.scrapers import figure_rst

FIGURES = "../build/gallery"  # relative to the folder of the examples
SHORTER = {"committee": ["--draws", "1"], "free_run": ["--runs", "1"]}  # of those that run for more than 20 s


def arguments(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """Return the command line of an example."""
    name = Path(script_vars["src_file"]).stem.removeprefix("plot_")
    return ["--output-dir", f"{FIGURES}/{name}", *SHORTER.get(name, [])]


def figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the figures that an example has written to its page."""
    source = Path(block_vars["src_file"])
    paths = []
    for path in sorted((source.parent / FIGURES / source.stem.removeprefix("plot_")).glob("*.png")):
        paths.append(next(block_vars["image_path_iterator"]))
        Path(paths[-1]).write_bytes(path.read_bytes())
        path.unlink()
    return figure_rst(paths, gallery_conf["src_dir"])


def _add_title(app: Sphinx, docname: str, source: list[str]) -> None:
    """Underline the first line of an example's docstring, and mark its command line as code."""
    if docname.startswith("gallery/"):
        label = r"(\.\. _sphx_glr_gallery_\w+\.py:\n\n(?:\.\. GENERATED.*\n\n)?)(.+?)\.?\n"
        source[0] = re.sub(label, lambda found: f"{found[1]}{found[2]}\n{'=' * len(found[2])}\n", source[0], count=1)
        source[0] = re.sub(r"\n\n(?=    (?:python examples/|pip install ))", "\n\n::\n\n", source[0], count=1)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the titles."""
    app.connect("source-read", _add_title)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
