"""The section with the score of each arm, and the difference between ours and each other arm."""

from collections.abc import Iterator

from skillstill_training.report.charts import Kind
from skillstill_training.report.formats import (
    ARM_LABELS,
    format_duration,
    format_interval,
    format_percent,
    format_points,
)
from skillstill_training.report.page.table import cell, head, number, row, section, text
from skillstill_training.report.strips import interval_strip, scale
from skillstill_training.run.scorecard import ArmScore, Difference, Scorecard

ON = {"all": "all goals", "unseen": "wordings from another hand", "hard": "hard families"}


def render_arms(card: Scorecard) -> str:
    """Return two tables, each a forest plot. The second is left out if there are no differences."""
    return _score_table(card) + (_difference_table(card) if card.differences else "")


def _score_table(card: Scorecard) -> str:
    heads = ["success", "95% interval", "goals", "a goal", "tokens", "saved", "repeated", "misused"]
    ticks = scale([(at / 4, f"{at * 25}%") for at in range(5)])
    first = [head(""), head(ticks, "plotted"), *map(head, heads)]
    ranked = sorted(card.arms, key=lambda arm: -arm.success.value)
    hint = (
        "<p class=hint>Success is the mean over families, each with the same weight; handing a goal back is none. "
        "Intervals draw whole workspaces. Slow arms are asked a fixed part of the goals. Seconds and tokens, read anew "
        "or written, are means of a goal; saved are the tokens of calls and results that a caller need not read, of "
        "right answers only; repeated and misused are shares of the runs with a call made twice, and with one that was "
        "refused or could not be read.</p>"
    )
    return section("arms", "How each arm did", ["<tr>", *first, "</tr>"], map(_score_row, ranked)) + hint


def _score_row(arm: ArmScore) -> str:
    kind: Kind = "ours" if arm.arm == "ours" else "other"
    figures = [format_percent(arm.success.value), format_interval(arm.success, format_percent), f"{arm.goals.asked:,}"]
    figures += [format_duration(arm.seconds), number(round(arm.read_tokens + arm.written_tokens))]
    figures += [number(round(arm.saved_tokens)), _rate(arm.repeated), _rate(arm.misused)]
    cells = [cell(interval_strip(arm.success, kind), "plotted"), *map(cell, figures)]
    return row(f"{ARM_LABELS[arm.arm]} {_label(arm)}", cells, kind)


def _label(arm: ArmScore) -> str:
    return f"<small>{text(arm.label)}</small>" if arm.label and arm.label != arm.arm else ""


def _rate(share: float) -> str:
    return "–" if not share else f"{share:.1%}"


def _difference_table(card: Scorecard) -> str:
    bound = _bound(card)
    middle = [(0.0, format_points(-bound)), (0.5, "0"), (1.0, format_points(bound))]
    heads = ["<tr>", head(""), head(scale(middle), "plotted"), *map(head, ["points", "95% interval", "goals"]), "</tr>"]
    return section(
        "differences", "Ours less the others, on the goals that both were asked", heads, _difference_rows(card, bound)
    )


def _bound(card: Scorecard) -> float:
    """Return the bound of the scale to both sides, rounded up to tens of format_points, so that 0 is in the middle."""
    largest = max(abs(edge) for one in card.differences for edge in (one.points.low, one.points.high))
    return max(0.1, -(-largest * 10 // 1) / 10)


def _difference_rows(card: Scorecard, bound: float) -> Iterator[str]:
    for one in card.differences:
        figures = [format_points(one.points.value), format_interval(one.points, format_points), f"{one.n:,}"]
        strip = cell(interval_strip(one.points, _kind(one), -bound, bound), "plotted")
        yield row(f"less {ARM_LABELS[one.other]} <small>{ON[one.on]}</small>", [strip, *map(cell, figures)])


def _kind(one: Difference) -> Kind:
    """Return our colour if the whole interval is above 0."""
    return "ours" if one.points.low > 0 else "other"
