"""The page of all settings, reference/settings.md, from their classes."""

from pathlib import Path
from typing import Any

from generated import write_page
from sphinx.application import Sphinx

from asr.training.annotated_settings import Setting, annotated_file, tables, toml

_OPENING = """\
# Settings

A settings file changes the defaults of a training: `asr train --config FILE`. It is a file in
[TOML](https://toml.io) and needs only the settings that differ. `asr train --print-settings` prints the
[example file](#example-file) below, which has every setting with its default.
"""


def _entry(setting: Setting) -> list[str]:
    default = "not set" if setting.default is None else f"`{toml(setting.default)}`"
    values = setting.values[0].upper() + setting.values[1:]
    return [f"`{setting.name}`", f": {setting.text}", "", f"  {values}. Default: {default}.", ""]


def _write(app: Sphinx) -> None:
    lines = [_OPENING]
    for table in tables():
        lines += [f"## `[{table.name}]`" if table.name else "## Top of the file", "", table.text, ""]
        if table.optional:
            lines += ["This table is absent by default.", ""]
        lines += [line for setting in table.settings for line in _entry(setting)]
    lines += ["## Example file", "", "```toml", annotated_file().rstrip(), "```"]
    write_page(Path(app.srcdir) / "reference" / "settings.md", lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page before the pages are read."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
