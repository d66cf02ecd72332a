"""Line charts as SVG. Lines and axes are labelled in the chart.

Colours are classes of `charts.css`, which has colours for dark mode and for print. A second series has another shape as
well, for readers who cannot distinguish the colours.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from skillstill_training.report.formats import format_percent
from skillstill_training.report.page.table import text

Point = tuple[float, float]
Kind = Literal["ours", "other", "faint"]
WIDTH, HEIGHT = 460, 260  # at this size, text is still readable on a phone
LEFT, RIGHT, TOP, BOTTOM = 46, 24, 40, 44


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`. `format` writes the label of a tick. `log`: a logarithmic axis."""

    name: str
    low: float
    high: float
    ticks: Sequence[float]
    format: Callable[[float], str]
    log: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value on the axis, 0..1. Values outside are clipped."""
        low, high, here = (
            (math.log(one) for one in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        return min(1.0, max(0.0, (here - low) / (high - low)))


def percent_axis(name: str, low: float = 0.0) -> Axis:
    """Build an axis of percentages, from a round one at or below `low` to 100 %."""
    step = 0.25 if low < 0.25 else 0.1 if low < 0.75 else 0.05
    first = math.floor(low / step) * step
    count = round((1 - first) / step)
    return Axis(name, first, 1.0, [first + step * at for at in range(count + 1)], format_percent)


def round_axis(name: str, low: float, high: float, format: Callable[[float], str]) -> Axis:
    """Build an axis with about four round ticks from `low` to `high`."""
    step = _round_step(max(high - low, abs(high) * 0.01, 1e-9) / 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return Axis(name, first * step, last * step, [at * step for at in range(first, last + 1)], format)


def doubling_axis(name: str, values: Sequence[float], format: Callable[[float], str]) -> Axis:
    """Build a logarithmic axis with a tick at each value."""
    low, high = min(values), max(values)
    return Axis(name, low / 1.15, max(high, low * 2) * 1.15, sorted(values), format, log=True)


def _round_step(least: float) -> float:
    """Return the smallest step of 1, 2 or 5 times a power of ten that is not below `least`."""
    size = 10.0 ** math.floor(math.log10(least))
    return next(size * step for step in (1, 2, 5, 10) if size * step >= least * 0.999)


@dataclass(frozen=True, slots=True)
class Plot:
    """The area between two axes. Its methods return SVG marks."""

    x: Axis
    y: Axis

    def position(self, point: Point) -> Point:
        """Return the coordinates of a point in the SVG."""
        across = LEFT + self.x.share(point[0]) * (WIDTH - LEFT - RIGHT)
        return round(across, 1), round(HEIGHT - BOTTOM - self.y.share(point[1]) * (HEIGHT - TOP - BOTTOM), 1)

    def line(self, values: Sequence[Point], kind: Kind = "ours") -> str:
        path = " ".join(f"{x},{y}" for x, y in map(self.position, values))
        return f'<polyline class="line {kind}" points="{path}"/>'

    def dot(self, value: Point, kind: Kind = "ours") -> str:
        x, y = self.position(value)
        return f'<circle class="dot {kind}" cx="{x}" cy="{y}" r="4"/>'

    def label(self, value: Point, words: str, *, below: bool = False, after: bool = False) -> str:
        """Return a label above the point, below it, or after it; at an edge it is moved inward."""
        x, y = self.position(value)
        up = 20 if below else -7 if after else -11
        anchor = "end" if x > WIDTH - RIGHT - 50 else "start" if after or x < LEFT + 30 else "middle"
        across = x + 7 if after and anchor == "start" else x
        return f'<text class="label" x="{across}" y="{y + up}" text-anchor="{anchor}">{text(words)}</text>'

    def target_line(self, value: float, words: str) -> str:
        """Return a labelled horizontal line."""
        y = self.position((self.x.low, value))[1]
        return (
            f'<line class="wanted" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
            f'<text class="tick" x="{LEFT + 6}" y="{y + 14}">{text(words)}</text>'
        )

    def render(self, *marks: str) -> str:
        """Return the axes with the marks on top."""
        return f"<g>{self._x_axis()}{self._y_axis()}{''.join(marks)}</g>"

    def _x_axis(self) -> str:
        bottom = HEIGHT - BOTTOM
        places = [(self.position((tick, self.y.low))[0], self.x.format(tick)) for tick in self.x.ticks]
        ticks = (
            f'<text class="tick" x="{x}" y="{bottom + 17}" text-anchor="middle">{label}</text>' for x, label in places
        )
        name = f'<text class="name" x="{WIDTH - RIGHT}" y="{HEIGHT - 7}" text-anchor="end">{text(self.x.name)}</text>'
        return (
            f'<line class="base" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>{"".join(ticks)}{name}'
        )

    def _y_axis(self) -> str:
        places = [(self.position((self.x.low, tick))[1], self.y.format(tick)) for tick in self.y.ticks]
        lines = (f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>' for y, _ in places[1:])
        ticks = (
            f'<text class="tick" x="{LEFT - 7}" y="{y + 4}" text-anchor="end">{label}</text>' for y, label in places
        )
        return f'{"".join(lines)}{"".join(ticks)}<text class="name" x="4" y="16">{text(self.y.name)}</text>'


def empty_plot(words: str) -> str:
    """Return the text that replaces a plot without points."""
    return f'<g><text class="name" x="{WIDTH / 2}" y="{HEIGHT / 2}" text-anchor="middle">{text(words)}</text></g>'


def render_svg(description: str, *plots: str, style: str = "") -> str:
    """Return an SVG element with plots below each other; with a `style`, the content of a file.

    `description` is for screen readers.
    """
    stacked = (f'<g transform="translate(0 {HEIGHT * at})">{plot}</g>' for at, plot in enumerate(plots))
    namespace = f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH * 2}" ' if style else ""
    head = f'<style>{style}</style><rect class="paper" width="100%" height="100%"/>' if style else ""
    size = f'viewBox="0 0 {WIDTH} {HEIGHT * len(plots)}"'
    label = f'role="img" aria-label="{text(description)}"'
    return f'<svg class="plot" {namespace}{size} {label}>{head}{"".join(stacked)}</svg>'
