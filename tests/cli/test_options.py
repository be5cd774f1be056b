"""Options of commands: declared once, given to typer and to the functions that do the work."""

from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.testing import CliRunner

import asr
from asr.cli import align, combine, compare, decode, features, lexicon, prepare, segment, train, tune, validate
from asr.cli.options import API, COMMAND, Options, argument, declared, flag, keywords, option, takes
from asr.commands.lexicon import convert_words, train_converter
from asr.lexicon import GraphemeToPhoneme


class PieceOptions(Options):
    source: Path = argument("Source.", "SOURCE")
    most: int = option("Largest number.", ..., min=1)
    dry_run: bool = flag("Write nothing.")
    form: str | None = option("Form.", None, "--format", to="writer")
    verbose: bool = flag("Show all.", "--verbose", "-v", to=COMMAND)


def required(**others: Any) -> PieceOptions:
    return PieceOptions(source=Path("x"), most=2, **others)


def test_options_have_the_declared_defaults() -> None:
    given = required()
    assert (given.dry_run, given.form, given.verbose) == (False, None, False)


@pytest.mark.parametrize("values", [{"source": Path("x")}, {"source": Path("x"), "most": 1, "least": 0}])
def test_missing_and_unknown_options_raise(values: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"most|least"):
        PieceOptions(**values)


def test_keywords_are_those_of_one_receiver() -> None:
    given = required(form="csv")
    assert keywords(given, most=3) == {"source": Path("x"), "most": 3, "dry_run": False}
    assert keywords(given, "writer") == {"form": "csv"}
    assert keywords(given, COMMAND) == {"verbose": False}


@pytest.mark.parametrize(
    ("line", "status", "found"),
    [
        ("in --most 3 --dry-run --format csv -v", 0, (Path("in"), 3, True, "csv", True)),
        ("in --most 1", 0, (Path("in"), 1, False, None, False)),
        ("in --most 0", 2, None),
        ("in --most 1 --no-dry-run", 2, None),
        ("in", 2, None),
        ("--most 1", 2, None),
    ],
)
def test_a_command_takes_its_options_as_one_object(line: str, status: int, found: tuple[object, ...] | None) -> None:
    taken: list[PieceOptions] = []
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    @takes(PieceOptions)
    def piece(given: PieceOptions) -> None:
        """Cut pieces."""
        taken.append(given)

    assert CliRunner().invoke(app, line.split()).exit_code == status
    assert [(one.source, one.most, one.dry_run, one.form, one.verbose) for one in taken] == ([found] if found else [])
    assert "Cut pieces." in CliRunner().invoke(app, ["--help"]).output


def names_of(function: Callable[..., Any]) -> set[str]:
    """Names of the keywords of a function, with those of a typed dictionary of further ones."""
    names = set()
    for name, parameter in signature(function).parameters.items():
        further = get_args(parameter.annotation) if parameter.kind is Parameter.VAR_KEYWORD else ()
        names |= set(further[0].__annotations__) if further else {name}
    return names


TRAINING = names_of(train_converter) | names_of(GraphemeToPhoneme.train)


@pytest.mark.parametrize(
    ("kind", "to", "taken"),
    [
        (align.AlignOptions, API, names_of(asr.align)),
        (combine.CombineOptions, API, names_of(asr.combine)),
        (compare.CompareOptions, API, names_of(asr.compare)),
        (decode.DecodeOptions, "model", names_of(asr.Recognizer.load)),
        (decode.DecodeOptions, "results", names_of(asr.Recognizer.decode)),
        (features.FeatureOptions, API, names_of(asr.extract_features)),
        (lexicon.LexiconOptions, "training", TRAINING),
        (lexicon.LexiconOptions, "conversion", names_of(convert_words)),
        (prepare.PrepareOptions, API, names_of(asr.prepare)),
        (segment.SegmentOptions, API, names_of(asr.segment)),
        (train.TrainOptions, API, names_of(asr.train)),
        (tune.TuneOptions, API, names_of(asr.tune)),
        (validate.ValidateOptions, API, names_of(asr.validate)),
    ],
)
def test_options_are_keywords_of_their_receiver(kind: type[Options], to: str, taken: set[str]) -> None:
    given = {name for name, one in declared(kind).items() if one.to == to}
    assert given
    assert given <= taken
