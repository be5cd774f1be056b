"""The page of all commands, reference/commands.md, from the command line itself."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import typer
from generated import write_page
from sphinx.application import Sphinx

from asr.cli.app import EPILOG
from asr.cli.app import app as command_line

_AS_TYPED = "\b"  # opens a block whose lines are kept


def _text(help_text: str) -> list[str]:
    lines = []
    for block in help_text.split("\n\n"):
        first, _, rest = block.partition("\n")
        if first.strip() != _AS_TYPED:
            lines += [" ".join(block.split()), ""]
            continue
        title, code = ("", rest) if rest.startswith(" ") else rest.split("\n", 1)
        lines += [title, "", "```text", dedent(code), "```", ""]
    return lines


def _options(command: Any, context: Any) -> list[str]:
    lines = []
    for parameter in command.params:
        name, text = parameter.get_help_record(context) or (parameter.make_metavar(context), parameter.help or "")
        lines += [f"`{name}`", f": {text or 'Print the help of the command and exit.'}".replace("*", r"\*"), ""]
    return lines


def _write(app: Sphinx) -> None:
    group: Any = typer.main.get_command(command_line)
    with group.make_context("asr", [], resilient_parsing=True) as context:
        lines = ["# Commands", "", *_text(group.help), *_options(group, context), EPILOG, ""]
        for name, command in group.commands.items():
            inner = command.make_context(f"asr {name}", [], parent=context, resilient_parsing=True)
            usage = " ".join([f"asr {name}", *command.collect_usage_pieces(inner)])
            lines += [f"## asr {name}", "", "```text", usage, "```", "", *_text(command.help)]
            lines += ["### Options", "", *_options(command, inner)] if command.params else []
    write_page(Path(app.srcdir) / "reference" / "commands.md", lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page before the pages are read."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
