"""Figures of the report as inline SVG, with the page's colors and reproducible bytes."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colors used in matplotlib, and their replacements in the page's style sheet.
_INK = "#010203"
_FAINT = "#040506"
_SERIES = tuple(f"#0a0b{10 + number:02x}" for number in range(8))
_STYLES = {_INK: "currentColor", _FAINT: "var(--line)"} | {
    colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)
}
_WIDTH = 4.4  # inches, about the width of a phone, to keep text readable there
_SETTINGS = {"svg.fonttype": "none", "text.parse_math": False, "text.color": _INK, "axes.labelcolor": _INK}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def speaker_bars(rates: Mapping[str, Mapping[str, float]], *, label: str, id: str, title: str, text: str) -> str:
    """Return horizontal bars as an SVG element, grouped by speaker with one bar per system.

    Parameters
    ----------
    rates : system -> speaker -> rate; speakers may be missing in a system
    label : name of the rate, with its unit
    id : prefix of all ids in the figure, unique on the page
    title, text : description for screen readers
    """
    speakers = sorted({speaker for by_speaker in rates.values() for speaker in by_speaker})
    group = max(0.28, 0.14 * len(rates) + 0.08)  # inches
    thickness = 0.8 / len(rates)

    def draw(axes: "Axes") -> None:
        for number, (system, by_speaker) in enumerate(rates.items()):
            rows = [row for row, speaker in enumerate(speakers) if speaker in by_speaker]
            axes.barh(
                [row + thickness * (number - (len(rates) - 1) / 2) for row in rows],
                [by_speaker[speakers[row]] for row in rows],
                height=0.88 * thickness,
                label=system,
                color=_SERIES[number % len(_SERIES)],
            )
        axes.set_yticks(range(len(speakers)), speakers)
        axes.set_ylim(len(speakers) - 0.5, -0.5)
        axes.set_xlim(left=0.0)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=_FAINT, linewidth=0.6)
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel(label)
        if len(rates) > 1:
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, ncols=2)

    height = 0.65 + 0.22 * ((len(rates) + 1) // 2) + group * len(speakers)
    return _draw_svg(draw, height, id, title, text)


def curve(values: Sequence[float], *, x_label: str, y_label: str, id: str, title: str, text: str) -> str:
    """Return a line through values at 1, 2, ... as an SVG element; `id`, `title` and `text` as in `speaker_bars`."""

    def draw(axes: "Axes") -> None:
        from matplotlib.ticker import MaxNLocator

        marker = "o" if len(values) <= 40 else None
        axes.plot(range(1, len(values) + 1), values, color=_SERIES[0], linewidth=1.8, marker=marker, markersize=3.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.ticklabel_format(useOffset=False)
        axes.grid(axis="y", color=_FAINT, linewidth=0.6)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)

    return _draw_svg(draw, 2.6, id, title, text)


def _draw_svg(draw: "Callable[[Axes], None]", height: float, id: str, title: str, text: str) -> str:
    """Run `draw` on new axes with matplotlib's default style, and return an SVG element for the page."""
    import matplotlib.style
    from matplotlib.figure import Figure

    buffer = io.StringIO()
    with matplotlib.style.context(["default", _SETTINGS | {"svg.hashsalt": id}]):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(_FAINT)
        axes.tick_params(color=_FAINT, labelcolor=_INK)
        draw(axes)
        figure.savefig(buffer, format="svg", transparent=True, metadata=_NO_METADATA)
    return _adopt_svg(buffer.getvalue(), id, title, text)


def _adopt_svg(svg: str, id: str, title: str, text: str) -> str:
    """Adapt matplotlib's SVG to the page: colors, fonts, unique ids, and a description."""
    from markupsafe import escape

    for colour, style in _STYLES.items():
        svg = svg.replace(colour, style)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)  # it would affect the whole page
    svg = re.sub(r"font-family: [^;\"]*; ", "", svg)
    svg = re.sub(r'\bid="', f'id="{id}-', svg)
    svg = re.sub(r'(?:xlink:)?href="#', f'href="#{id}-', svg)
    svg = svg.replace("url(#", f"url(#{id}-")
    opening = re.search(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', svg)
    assert opening is not None
    return (
        f'<svg {opening[1]} role="img" aria-labelledby="{id}-title {id}-text">'
        f'<title id="{id}-title">{escape(title)}</title><desc id="{id}-text">{escape(text)}</desc>'
        + svg[opening.end() :]
    )
