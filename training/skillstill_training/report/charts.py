"""Charts as SVG, drawn from numbers: few lines, each with its name beside it, each axis with its unit.

Colours are classes of `charts.css`, so that a page in the dark and a printed one have their own. A second series
differs in shape, too: colour alone tells nothing to some readers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from skillstill_training.report.page.table import text
from skillstill_training.report.words import percent

Point = tuple[float, float]
Kind = Literal["ours", "other", "faint"]
WIDTH, HEIGHT = 460, 260  # at this size, text is still readable where a phone shrinks it
LEFT, RIGHT, TOP, BOTTOM = 46, 24, 40, 44


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`; `told` writes a tick. `log`: equal steps multiply."""

    name: str
    low: float
    high: float
    ticks: Sequence[float]
    told: Callable[[float], str]
    log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis it lies, 0..1."""
        low, high, here = (math.log(one) for one in (self.low, self.high, value)) if self.log else self._plain(value)
        return min(1.0, max(0.0, (here - low) / (high - low)))

    def _plain(self, value: float) -> tuple[float, float, float]:
        return self.low, self.high, value


def shares(name: str, low: float = 0.0) -> Axis:
    """An axis of percentages, from a round one below `low` to all."""
    step = 0.25 if low < 0.25 else 0.1 if low < 0.75 else 0.05
    first = math.floor(low / step) * step
    count = round((1 - first) / step)
    return Axis(name, first, 1.0, [first + step * at for at in range(count + 1)], percent)


def round_axis(name: str, low: float, high: float, told: Callable[[float], str]) -> Axis:
    """About four round ticks around the values."""
    step = _round_step(max(high - low, abs(high) * 0.01, 1e-9) / 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return Axis(name, first * step, last * step, [at * step for at in range(first, last + 1)], told)


def doubling_axis(name: str, values: Sequence[float], told: Callable[[float], str]) -> Axis:
    """Each value has its tick, and as much room to its double as any other."""
    low, high = min(values), max(values)
    return Axis(name, low / 1.15, max(high, low * 2) * 1.15, sorted(values), told, log=True)


def _round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least so much."""
    size = 10.0 ** math.floor(math.log10(least))
    return next(size * step for step in (1, 2, 5, 10) if size * step >= least * 0.999)


@dataclass(frozen=True, slots=True)
class Plot:
    """The space between two axes, and what can be put there."""

    x: Axis
    y: Axis

    def at(self, point: Point) -> Point:
        across = LEFT + self.x.share(point[0]) * (WIDTH - LEFT - RIGHT)
        return round(across, 1), round(HEIGHT - BOTTOM - self.y.share(point[1]) * (HEIGHT - TOP - BOTTOM), 1)

    def line(self, values: Sequence[Point], kind: Kind = "ours") -> str:
        path = " ".join(f"{x},{y}" for x, y in map(self.at, values))
        return f'<polyline class="line {kind}" points="{path}"/>'

    def dot(self, value: Point, kind: Kind = "ours") -> str:
        x, y = self.at(value)
        return f'<circle class="dot {kind}" cx="{x}" cy="{y}" r="4"/>'

    def label(self, value: Point, words: str, *, below: bool = False, after: bool = False) -> str:
        """Over the point, under it, or after it; inward where the point lies at an edge."""
        x, y = self.at(value)
        up = 20 if below else -7 if after else -11
        anchor = "end" if x > WIDTH - RIGHT - 50 else "start" if after or x < LEFT + 30 else "middle"
        across = x + 7 if after and anchor == "start" else x
        return f'<text class="label" x="{across}" y="{y + up}" text-anchor="{anchor}">{text(words)}</text>'

    def wanted(self, value: float, words: str) -> str:
        """A line across at what was aimed at."""
        y = self.at((self.x.low, value))[1]
        return (
            f'<line class="wanted" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
            f'<text class="tick" x="{LEFT + 6}" y="{y + 14}">{text(words)}</text>'
        )

    def drawn(self, *marks: str) -> str:
        """The axes, and the marks over them."""
        return f"<g>{self._across()}{self._up()}{''.join(marks)}</g>"

    def _across(self) -> str:
        bottom = HEIGHT - BOTTOM
        places = [(self.at((tick, self.y.low))[0], self.x.told(tick)) for tick in self.x.ticks]
        ticks = (
            f'<text class="tick" x="{x}" y="{bottom + 17}" text-anchor="middle">{told}</text>' for x, told in places
        )
        name = f'<text class="name" x="{WIDTH - RIGHT}" y="{HEIGHT - 7}" text-anchor="end">{text(self.x.name)}</text>'
        return (
            f'<line class="base" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>{"".join(ticks)}{name}'
        )

    def _up(self) -> str:
        places = [(self.at((self.x.low, tick))[1], self.y.told(tick)) for tick in self.y.ticks]
        lines = (f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>' for y, _ in places[1:])
        ticks = (f'<text class="tick" x="{LEFT - 7}" y="{y + 4}" text-anchor="end">{told}</text>' for y, told in places)
        return f'{"".join(lines)}{"".join(ticks)}<text class="name" x="4" y="16">{text(self.y.name)}</text>'


def nothing(words: str) -> str:
    """In place of a plot that has no points yet."""
    return f'<g><text class="name" x="{WIDTH / 2}" y="{HEIGHT / 2}" text-anchor="middle">{text(words)}</text></g>'


def picture(told: str, *plots: str, style: str = "") -> str:
    """Plots one below another; `told` is for who hears the page. With a `style`, a file that stands alone."""
    stacked = (f'<g transform="translate(0 {HEIGHT * at})">{plot}</g>' for at, plot in enumerate(plots))
    alone = f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH * 2}" ' if style else ""
    own = f'<style>{style}</style><rect class="paper" width="100%" height="100%"/>' if style else ""
    size = f'viewBox="0 0 {WIDTH} {HEIGHT * len(plots)}"'
    return f'<svg class="plot" {alone}{size} role="img" aria-label="{text(told)}">{own}{"".join(stacked)}</svg>'
