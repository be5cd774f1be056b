"""Functions shared by the examples that draw a figure."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

# For matrices this small, threads mostly wait for each other.
single_threaded = threadpool_limits.wrap(limits=1)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a command line parser with `--output-dir`."""
    command_line = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command_line.add_argument(
        "--output-dir", type=Path, default=Path(), help="folder for the figure (default: current folder)"
    )
    return command_line


def save(figure: Figure, output_dir: Path, name: str) -> None:
    output_dir.mkdir(parents=True, exist_ok=True)
    figure.savefig(output_dir / name, dpi=120)
    print(f"wrote {output_dir / name}")


def draw_boundary(
    ax: Any,
    decision_function: Callable[[np.ndarray], np.ndarray],
    x: tuple[float, float],
    y: tuple[float, float],
    **style: Any,
) -> None:
    """Draw the line on which a discriminant of the plane is zero, within the given ranges."""
    columns, rows = np.linspace(*x, 200), np.linspace(*y, 200)
    points = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
    ax.contour(columns, rows, decision_function(points).reshape(200, 200), levels=[0.0], **style)


def ripley_mixture(n_samples: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw points (n, 2) and classes (n,) 0 or 1: two Gaussians per class, as in Ripley's (1996) synthetic data; the
    Bayes error is about 8 %.
    """
    means = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
    y = random.integers(0, 2, n_samples)
    X = means[y, random.integers(0, 2, n_samples)] + np.sqrt(0.03) * random.normal(size=(n_samples, 2))
    return X, y


def rmse(outputs: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((outputs - truth) ** 2)))
