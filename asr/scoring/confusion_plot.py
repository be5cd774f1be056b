"""Plot of the confusions of words or phones."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from asr.scoring.wer import ScoreReport
from asr.util.display import new_axes
from asr.util.errors import ConfigError
from asr.util.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OTHER, DELETED = "other", "deleted"
FORMATS = (".png", ".svg", ".pdf")


def confusion_matrix(report: ScoreReport, most: int = 40) -> tuple[list[str], np.ndarray]:
    """Return classes and, in % of the occurrences of each class, its recognitions: (n, n + 2).

    The columns are the classes, other classes, and deletions. The classes are those with the most errors, then the most
    frequent, sorted by name.
    """
    counts = Counter(pair for utterance in report.utterances for pair in utterance.pairs if pair[0] is not None)
    total, wrong = Counter[str](), Counter[str]()
    for (ref, hyp), number in counts.items():
        total[str(ref)] += number
        wrong[str(ref)] += number * (ref != hyp)
    classes = sorted(sorted(total, key=lambda name: (-wrong[name], -total[name], name))[:most])
    rows = {name: row for row, name in enumerate(classes)}
    matrix = np.zeros((len(classes), len(classes) + 2))
    for (ref, hyp), number in counts.items():
        if ref in rows:
            matrix[rows[ref], -1 if hyp is None else rows.get(hyp, -2)] += number
    return classes, 100.0 * matrix / matrix.sum(axis=1, keepdims=True)


def draw_confusions(report: ScoreReport, ax: "Axes | None" = None, most: int = 40) -> "Axes":
    """Draw the `confusion_matrix`, see `ScoreReport.plot_confusions`; ConfigError without reference words."""
    classes, matrix = confusion_matrix(report, most)
    if not classes:
        raise ConfigError("the references have no words to plot")
    axes = new_axes(*_size(len(classes))) if ax is None else ax
    image = axes.imshow(matrix, vmin=0.0, vmax=100.0, cmap="Blues", aspect="auto")
    axes.set_xticks(range(len(classes) + 2), [*classes, OTHER, DELETED], rotation=90, fontsize=8, parse_math=False)
    axes.set_yticks(range(len(classes)), classes, fontsize=8, parse_math=False)
    axes.set_xlabel("Recognized")
    axes.set_ylabel("Reference")
    axes.figure.colorbar(image, ax=axes, label="% of the reference")
    return axes


def write_confusions(report: ScoreReport, path: Path, most: int = 40) -> None:
    """Write the `confusion_matrix` as an image; raise ConfigError for endings other than .png, .svg and .pdf."""
    if path.suffix not in FORMATS:
        raise ConfigError(f"{path}: the ending {path.suffix!r} is not an image format. Expected {', '.join(FORMATS)}")
    import matplotlib.style
    from matplotlib.figure import Figure

    with matplotlib.style.context(["default", {"svg.hashsalt": "confusions"}]):
        figure = Figure(figsize=_size(len(confusion_matrix(report, most)[0])), layout="constrained")
        draw_confusions(report, figure.add_subplot(), most)
        with atomic_write(path) as temporary:
            metadata = (
                {"Date": None} if path.suffix == ".svg" else {"CreationDate": None} if path.suffix == ".pdf" else {}
            )
            figure.savefig(temporary, format=path.suffix[1:], dpi=150, metadata=metadata)


def _size(n_classes: int) -> tuple[float, float]:
    """Return width and height in inches."""
    return 3.5 + 0.22 * n_classes, 2.0 + 0.22 * n_classes
