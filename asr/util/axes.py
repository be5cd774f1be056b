"""New axes of matplotlib for methods that draw."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(width: float, height: float) -> "Axes":
    """Return axes in a new pyplot figure of this size in inches; notebooks show it at the end of the cell."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return axes
