"""`asr info`: description of a model file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import typer

from asr.cli.input_checks import require_model
from asr.cli.options import CLASSIFIER_OF_MODEL, Options, argument, flag, option, takes


class InfoOptions(Options):
    """Options of `asr info`."""

    model: Path = argument("Model file written by `asr train`.", "MODEL")
    as_json: bool = flag("Print one JSON object, with sorted keys.", "--json")
    tree: Literal["text", "dot"] | None = option(
        "Print the decision trees that tie the states of phones in context, as text or as a Graphviz graph; for models "
        "trained with context = 3."
    )
    classifier: str | None = CLASSIFIER_OF_MODEL


@takes(InfoOptions)
def info(given: InfoOptions) -> None:
    """Describe a model file: its kind, front end, phones, settings and training data.

    \b
    Examples:
      asr info runs/mine/model.safetensors
      asr info runs/mine/model.safetensors --tree dot | dot -Tsvg > states.svg
    """
    require_model(given.model, "MODEL")

    import asr

    if given.tree is not None:
        for line in asr.Recognizer.load(given.model).tree(given.tree):
            typer.echo(line)
        return

    description = asr.describe(given.model)
    if given.as_json:
        typer.echo(json.dumps(description, sort_keys=True, ensure_ascii=False, indent=2))
    else:
        for line in _indented(description):
            typer.echo(line)


def _indented(description: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Yield lines of `key: value`, nested mappings indented by two spaces."""
    for key, value in description.items():
        if isinstance(value, Mapping):
            yield f"{'  ' * depth}{key}:"
            yield from _indented(value, depth + 1)
        else:
            shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else value
            yield f"{'  ' * depth}{key}: {shown}"
