"""Features and classes of the available sets of Suykens et al. (2002, section 3.4.2).

Balance scale and tic-tac-toe are enumerated, and the display with faulty segments is generated. Iris and wine come with
scikit-learn.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, load_wine

from asr.util.errors import CorpusError
from recipes.benchmarks.arrays_file import read_arrays
from recipes.benchmarks.datasets import check_samples

Samples = tuple[np.ndarray, np.ndarray]

N_DISPLAYS, FAULTY = 3000, 0.1
# Segments top, upper left, upper right, middle, lower left, lower right, bottom of the digits 0 to 9.
_SEGMENTS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def two_classes(path: Path) -> Samples:
    """Read a file of x (N, d) and y (N,)."""
    x, y = read_arrays(path, ("x", "y"))
    check_samples(path, "x", x, "y", y)
    return x.astype(np.float64), _numbered(path, y)


def joined_parts(path: Path) -> Samples:
    """Read a file with a split and join its parts."""
    x_train, y_train, x_test, y_test = read_arrays(path, ("x_train", "y_train", "x_test", "y_test"))
    x, y = np.concatenate([x_train, x_test]), np.concatenate([y_train, y_test])
    check_samples(path, "x", x, "y", y)
    return x.astype(np.float64), _numbered(path, y)


def adult(path: Path) -> Samples:
    """Read numbers, and one indicator for each value of a category; samples with missing values are dropped."""
    names = [f"{kind}_{part}" for part in ("train", "test") for kind in ("x_num", "x_cat", "y")]
    arrays = read_arrays(path, tuple(names))
    numbers, categories, y = (np.concatenate([arrays[i], arrays[i + 3]]) for i in range(3))
    check_samples(path, "x_num", numbers, "y", y)
    check_samples(path, "x_cat", categories, "y", y)
    whole = (categories >= 0).all(axis=1)
    indicators = [np.equal.outer(column, np.unique(column)) for column in categories[whole].T]
    return np.column_stack([numbers[whole], *indicators]).astype(np.float64), _numbered(path, y[whole])


def iris(_: Path) -> Samples:
    """Return 150 flowers of three species."""
    found: Samples = load_iris(return_X_y=True)
    return found


def wine(_: Path) -> Samples:
    """Return 178 wines of three growers."""
    found: Samples = load_wine(return_X_y=True)
    return found


def balance_scale(_: Path) -> Samples:
    """Return all weights and distances 1 to 5 on either arm: the scale tips left, is balanced, or tips right."""
    x = np.array(list(product(range(1, 6), repeat=4)), dtype=np.float64)
    return x, 1 + np.sign(x[:, 0] * x[:, 1] - x[:, 2] * x[:, 3]).astype(np.intp)


def tic_tac_toe(_: Path) -> Samples:
    """Return all final boards, x moves first: 1, -1 and 0 for x, o and empty; the class is whether x has won."""
    boards: dict[tuple[int, ...], bool] = {}
    seen: set[tuple[int, ...]] = set()

    def play(board: tuple[int, ...], player: int) -> None:
        if board in seen:
            return
        seen.add(board)
        for place in range(9):
            if board[place] == 0:
                after = (*board[:place], player, *board[place + 1 :])
                won = any(all(after[field] == player for field in line) for line in _LINES)
                if won or 0 not in after:
                    boards[after] = won and player == 1
                else:
                    play(after, -player)

    play((0,) * 9, 1)
    x = np.array(sorted(boards), dtype=np.float64)
    return x, np.array([boards[board] for board in sorted(boards)], dtype=np.intp)


def displays(_: Path) -> Samples:
    """Generate seven-segment digits, every segment wrong with probability 0.1 (Breiman et al. 1984); 3000 from seed
    0.
    """
    random = np.random.default_rng(0)
    lit = np.array([[int(segment) for segment in digit] for digit in _SEGMENTS])
    y = random.integers(10, size=N_DISPLAYS)
    return (lit[y] ^ (random.random((N_DISPLAYS, 7)) < FAULTY)).astype(np.float64), y.astype(np.intp)


READERS: dict[str, Callable[[Path], Samples]] = {
    "adu": adult,
    "bal": balance_scale,
    "iri": iris,
    "led": displays,
    "ttt": tic_tac_toe,
    "usp": joined_parts,
    "win": wine,
}
"""Data sets by name; the others are files of two classes."""


def _numbered(path: Path, y: np.ndarray) -> np.ndarray:
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise CorpusError(f"{path} has only one class. Expected at least two")
    return codes.astype(np.intp)
