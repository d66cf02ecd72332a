"""How each arm did on the same goals, and how far ours is from each."""

from collections.abc import Iterator

from skillstill_training.report.charts import Kind
from skillstill_training.report.page.table import cell, head, number, row, section, text
from skillstill_training.report.strips import interval_strip, scale
from skillstill_training.report.words import NAMES, duration, percent, points, within
from skillstill_training.run.scorecard import ArmScore, Difference, Scorecard

ON = {"all": "all goals", "unseen": "wordings from another hand", "hard": "hard families"}


def arms(card: Scorecard) -> str:
    """Two tables, each a forest plot; the second only where there is something to compare."""
    return _arms(card) + (_differences(card) if card.differences else "")


def _arms(card: Scorecard) -> str:
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
    return section("arms", "How each arm did", ["<tr>", *first, "</tr>"], map(_arm, ranked)) + hint


def _arm(arm: ArmScore) -> str:
    kind: Kind = "ours" if arm.arm == "ours" else "other"
    figures = [percent(arm.success.value), within(arm.success, percent), f"{arm.goals.asked:,}"]
    figures += [duration(arm.seconds), number(round(arm.read_tokens + arm.written_tokens))]
    figures += [number(round(arm.saved_tokens)), _rate(arm.repeated), _rate(arm.misused)]
    cells = [cell(interval_strip(arm.success, kind), "plotted"), *map(cell, figures)]
    return row(f"{NAMES[arm.arm]} {_label(arm)}", cells, kind)


def _label(arm: ArmScore) -> str:
    return f"<small>{text(arm.label)}</small>" if arm.label and arm.label != arm.arm else ""


def _rate(share: float) -> str:
    return "–" if not share else f"{share:.1%}"


def _differences(card: Scorecard) -> str:
    bound = _bound(card)
    middle = [(0.0, points(-bound)), (0.5, "0"), (1.0, points(bound))]
    heads = ["<tr>", head(""), head(scale(middle), "plotted"), *map(head, ["points", "95% interval", "goals"]), "</tr>"]
    return section("differences", "Ours less the others, on the goals that both were asked", heads, _lines(card, bound))


def _bound(card: Scorecard) -> float:
    """The same to both sides, so that the middle is no difference; in tens of points."""
    far = max(abs(edge) for one in card.differences for edge in (one.points.low, one.points.high))
    return max(0.1, -(-far * 10 // 1) / 10)


def _lines(card: Scorecard, bound: float) -> Iterator[str]:
    for one in card.differences:
        figures = [points(one.points.value), within(one.points, points), f"{one.n:,}"]
        strip = cell(interval_strip(one.points, _kind(one), -bound, bound), "plotted")
        yield row(f"less {NAMES[one.other]} <small>{ON[one.on]}</small>", [strip, *map(cell, figures)])


def _kind(one: Difference) -> Kind:
    """In our colour where the whole interval says that ours is better."""
    return "ours" if one.points.low > 0 else "other"
