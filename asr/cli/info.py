"""`asr info`: description of a model file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from asr.cli.options import ClassifierOfModel, require_model


def info(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by `asr train`.", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with sorted keys.")] = False,
    tree: Annotated[
        Literal["text", "dot"] | None,
        typer.Option(
            help="Print the decision trees that tie the states of phones in context, as text or as a Graphviz graph; "
            "for models trained with context = 3."
        ),
    ] = None,
    classifier: ClassifierOfModel = None,  # given to model files by the option
) -> None:
    """Describe a model file: its kind, front end, phones, settings and training data.

    \b
    Examples:
      asr info runs/mine/model.safetensors
      asr info runs/mine/model.safetensors --tree dot | dot -Tsvg > states.svg
    """
    require_model(model, "MODEL")

    import asr

    if tree is not None:
        for line in asr.Recognizer.load(model).tree(tree):
            typer.echo(line)
        return

    description = asr.describe(model)
    if as_json:
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
