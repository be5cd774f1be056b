"""The documentation builds without a warning, and its pages load nothing from the network."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADED = re.compile(
    r"""<(?:script|link|img|iframe)[^>]*\s(?:src|href)=["'](?:https?:)?//|@import|url\(["']?(?:https?:)?//"""
)


@pytest.mark.slow
def test_site_builds_without_warnings(tmp_path: Path) -> None:
    if not all(map(find_spec, ("sphinx", "myst_parser", "numpydoc", "sphinx_gallery", "furo", "latex2mathml"))):
        pytest.skip("the documentation's packages are not installed; make docs installs them")
    for path in ROOT.iterdir():
        if path.name not in ("docs", "build", "examples") and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    left_out = shutil.ignore_patterns("gallery", "generated", "settings.md", "commands.md")
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=left_out)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0", "docs", "site"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 100
    texts = {
        page: page.read_text(encoding="utf-8") for page in [*pages, *(tmp_path / "site" / "_static").glob("*.css")]
    }
    assert not [page for page, text in texts.items() if LOADED.search(text)]
    assert not [page for page, text in texts.items() if str(ROOT) in text or str(tmp_path) in text]
