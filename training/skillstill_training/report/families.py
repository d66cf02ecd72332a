"""The section with our success and that of the baseline: by family, by wording and by number of calls."""

from collections.abc import Iterable, Mapping

from skillstill_training.report.formats import format_points
from skillstill_training.report.page.table import cell, head, row, section, share, text
from skillstill_training.report.strips import pair_strip, scale
from skillstill_training.run.scorecard import ArmScore, Count, Scorecard

FEW = 40  # with fewer goals, the success of a family is marked as uncertain
Counts = Mapping[str, Count]


def render_families(card: Scorecard) -> str:
    """Return two tables: families, sorted by our lead over the baseline; then wordings and numbers of calls."""
    ours, baseline = card.arm("ours"), card.arm("baseline")
    legend = (
        '<p class=hint><svg class="key" aria-hidden="true"><circle class="dot ours" cx="7" cy="7" r="5"/></svg> ours '
        '<svg class="key" aria-hidden="true"><circle class="ring" cx="7" cy="7" r="4.5"/></svg> plain script'
        f" · fewer than {FEW} goals are marked <span class=few>few</span>: their share says little.</p>"
    )
    rows = [
        *_rows(_families(ours), _families(baseline), ranked=True),
        *_rows(_held_out(ours), _held_out(baseline), note="held out of training", ranked=True),
    ]
    return (
        section("families", "By family", _heads(), rows)
        + legend
        + section(
            "wordings",
            "By wording and by number of calls",
            _heads(),
            _rows(_wordings_and_calls(ours), _wordings_and_calls(baseline)),
        )
    )


def _families(arm: ArmScore | None) -> Counts:
    return arm.families if arm else {}


def _held_out(arm: ArmScore | None) -> Counts:
    return arm.held_out if arm else {}


def _wordings_and_calls(arm: ArmScore | None) -> Counts:
    if not arm:
        return {}
    calls = {f"{calls} call{'' if calls == '1' else 's'}": count for calls, count in arm.by_calls.items()}
    return {"wordings of training": arm.seen, "wordings from another hand": arm.unseen, **calls}


def _heads() -> Iterable[str]:
    ticks = scale([(at / 4, f"{at * 25}%") for at in range(5)])
    names = ["ours", "plain script", "difference"]
    return ["<tr>", head(""), head(ticks, "plotted"), *map(head, names), "</tr>"]


def _rows(mine: Counts, other: Counts, *, note: str = "", ranked: bool = False) -> Iterable[str]:
    names = list(dict.fromkeys([*mine, *other]))
    if ranked:
        names.sort(key=lambda name: _deficit(mine.get(name), other.get(name)))
    return [_row(name, mine.get(name), other.get(name), note) for name in names]


def _deficit(mine: Count | None, other: Count | None) -> float:
    return (_share(other) or 0) - (_share(mine) or 0)


def _row(name: str, mine: Count | None, other: Count | None, note: str) -> str:
    ours, theirs = _share(mine), _share(other)
    gap = "–" if ours is None or theirs is None else format_points(ours - theirs)
    asked = min((count.asked for count in (mine, other) if count), default=0)
    few = " <span class=few>few</span>" if asked < FEW else ""
    small_note = f" <small>{note}</small>" if note else ""
    strip = cell(pair_strip(ours, theirs), "plotted")
    return row(f"{text(name)}{few}{small_note}", [strip, _count(mine), _count(other), cell(gap)], "thin" if few else "")


def _share(count: Count | None) -> float | None:
    return count.solved / count.asked if count and count.asked else None


def _count(count: Count | None) -> str:
    """Return a cell like `31/40 78%`, with one of five tints."""
    measured = _share(count)
    if count is None or measured is None:
        return cell("–", "none")
    figures = f"<small>{count.solved}/{count.asked}</small> {share(count.solved, count.asked)}"
    return cell(figures, f"tint{min(4, int(measured * 5))}")
