"""Writing of pages that are made from the code before each build."""

from pathlib import Path


def write_page(path: Path, lines: list[str]) -> None:
    """Write a page if its text has changed, so that unchanged pages are not read again."""
    text = "\n".join(lines) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
