"""Charts in table cells: one row from 0 % to 100 %, or from worse to better, as wide as the column."""

from collections.abc import Sequence

from skillstill_training.report.charts import Kind
from skillstill_training.run.scorecard import Interval

HEIGHT = 22  # of a strip, in pixels


def interval_strip(value: Interval, kind: Kind, low: float = 0.0, high: float = 1.0) -> str:
    """Return a dot with its interval. There is a line at zero if zero lies between the bounds `low` and `high`."""
    left, middle, right = (_position(one, low, high) for one in (value.low, value.value, value.high))
    middle_line = _rule(_position(0, low, high), "zero") if low < 0 < high else ""
    bar = f'<line class="bar {kind}" x1="{left}" x2="{right}" y1="50%" y2="50%"/>'
    return _strip(_rules() + middle_line, bar, _dot(middle, kind))


def pair_strip(ours: float | None, other: float | None) -> str:
    """Return two shares joined by a line: ours is a disc, the other a ring."""
    marks = [_ring(_position(other))] if other is not None else []
    if ours is not None and other is not None:
        marks.insert(0, f'<line class="between" x1="{_position(ours)}" x2="{_position(other)}" y1="50%" y2="50%"/>')
    return _strip(_rules(), *marks, *([_dot(_position(ours), "ours")] if ours is not None else []))


def length_strip(share: float, kind: Kind = "ours") -> str:
    """Return a bar that starts at the left."""
    return _strip(f'<rect class="length {kind}" x="0" y="25%" width="{_position(share)}" height="50%"/>')


def scale(ticks: Sequence[tuple[float, str]]) -> str:
    """Return the scale in the head of a column of strips."""
    labels = "".join(_tick(at, words) for at, words in ticks)
    return f'<svg class="strip scale" height="18" aria-hidden="true">{labels}</svg>'


def _tick(at: float, words: str) -> str:
    """Return a label. Labels that are not at an end or in the middle are hidden if there is little room."""
    kind = "tick" if at in {0, 0.5, 1} else "tick minor"
    return f'<text class="{kind}" x="{at:.1%}" y="14" text-anchor="{_anchor(at)}">{words}</text>'


def _anchor(at: float) -> str:
    return "start" if at < 0.02 else "end" if at > 0.98 else "middle"


def _position(value: float, low: float = 0.0, high: float = 1.0) -> str:
    return f"{min(1.0, max(0.0, (value - low) / (high - low))):.1%}"


def _rules() -> str:
    return "".join(_rule(f"{at}%", "grid") for at in (0, 25, 50, 75, 100))


def _rule(x: str, kind: str) -> str:
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="100%"/>'


def _dot(x: str, kind: Kind) -> str:
    return f'<circle class="dot {kind}" cx="{x}" cy="50%" r="5"/>'


def _ring(x: str) -> str:
    return f'<circle class="ring" cx="{x}" cy="50%" r="4.5"/>'


def _strip(*marks: str) -> str:
    """Return the SVG. It is hidden from screen readers, because the figures are in the cells beside it."""
    return f'<svg class="strip" height="{HEIGHT}" aria-hidden="true">{"".join(marks)}</svg>'
