"""Places of settings in TOML files."""

import re
from collections.abc import Sequence
from pathlib import Path


def setting_place(file: Path | None, name: str) -> tuple[Path, int | None]:
    """Return file and line of the setting `name` ("hybrid.classifier"), or of its table.

    The text is searched because TOML parsers do not return lines.
    """
    if file is None:
        return Path("settings"), None
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return file, None
    while name:
        line = _line_of(lines, name)
        if line is not None:
            return file, line
        name = name.rpartition(".")[0]
    return file, None


def _line_of(lines: Sequence[str], name: str) -> int | None:
    table, _, key = name.rpartition(".")
    here = ""
    for number, line in enumerate(lines, 1):
        heading = re.match(r"\s*\[\[?([^\[\]]+)\]", line)
        if heading:
            here = re.sub(r"[\s\"']", "", heading[1])
            if here == name:
                return number
            continue
        written = re.match(r"\s*([\w.\"'\s-]+?)\s*=(.*)", line)
        if written is None:
            continue
        full = f"{here}.".removeprefix(".") + re.sub(r"[\s\"']", "", written[1])
        inside = full == table and re.search(rf"[{{,]\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", written[2])
        if full == name or inside:
            return number
    return None
