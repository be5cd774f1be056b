"""Recipes over toy corpora."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from asr.experiments.recipe import Arguments, Recipe, open_recipe
from asr.training.config import TrainingConfig
from tests.toy_corpus import make_toy_corpus

ToyRecipe = Callable[..., Recipe]


@pytest.fixture
def toy_recipe(tmp_path: Path) -> Iterator[ToyRecipe]:
    """Open a recipe over a toy corpus in `tmp_path / "corpus"`, which is closed at the end of the test."""
    with ExitStack() as opened:

        def open_toy(config: TrainingConfig, n_utterances: int = 16, splits: tuple[str, ...] = ("train",)) -> Recipe:
            corpus = make_toy_corpus(tmp_path / "corpus", n_utterances=n_utterances)
            recipe = open_recipe("toy", Arguments(corpus, tmp_path / "run", 1, False), corpus, config, (), (), splits)
            opened.callback(recipe.resources.close)
            return recipe

        yield open_toy
