"""Where ours is strong and where it is weak: by family, by wording, by number of calls, each beside the baseline."""

from collections.abc import Iterable, Mapping

from skillstill_training.report.page.table import cell, head, row, section, share, text
from skillstill_training.report.strips import pair_strip, scale
from skillstill_training.report.words import points
from skillstill_training.run.scorecard import ArmScore, Count, Scorecard

FEW = 40  # goals: a family's own share says little below
Counts = Mapping[str, Count]


def families(card: Scorecard) -> str:
    """Two tables: families, best against the baseline first; then wordings and calls."""
    ours, baseline = card.arm("ours"), card.arm("baseline")
    mine, other = _families(ours), _families(baseline)
    apart, apart_other = _apart(ours), _apart(baseline)
    legend = (
        '<p class=hint><svg class="key" aria-hidden="true"><circle class="dot ours" cx="7" cy="7" r="5"/></svg> ours '
        '<svg class="key" aria-hidden="true"><circle class="ring" cx="7" cy="7" r="4.5"/></svg> plain script'
        f" · fewer than {FEW} goals are marked <span class=few>few</span>: their share says little.</p>"
    )
    rows = [*_rows(mine, other, ranked=True), *_rows(apart, apart_other, note="held out of training", ranked=True)]
    return (
        section("families", "By family", _heads(), rows)
        + legend
        + section("wordings", "By wording and by number of calls", _heads(), _rows(_ways(ours), _ways(baseline)))
    )


def _families(arm: ArmScore | None) -> Counts:
    return arm.families if arm else {}


def _apart(arm: ArmScore | None) -> Counts:
    return arm.held_out if arm else {}


def _ways(arm: ArmScore | None) -> Counts:
    """Of one arm, what is not told by family."""
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
        names.sort(key=lambda name: _rank(mine.get(name), other.get(name)))
    return [_row(name, mine.get(name), other.get(name), note) for name in names]


def _rank(mine: Count | None, other: Count | None) -> float:
    return (_share(other) or 0) - (_share(mine) or 0)


def _row(name: str, mine: Count | None, other: Count | None, note: str) -> str:
    ours, theirs = _share(mine), _share(other)
    gap = "–" if ours is None or theirs is None else points(ours - theirs)
    asked = min((count.asked for count in (mine, other) if count), default=0)
    few = " <span class=few>few</span>" if asked < FEW else ""
    said = f" <small>{note}</small>" if note else ""
    strip = cell(pair_strip(ours, theirs), "plotted")
    return row(f"{text(name)}{few}{said}", [strip, _count(mine), _count(other), cell(gap)], "thin" if few else "")


def _share(count: Count | None) -> float | None:
    return count.solved / count.asked if count and count.asked else None


def _count(count: Count | None) -> str:
    """`31/40 78%`, tinted by fifths."""
    measured = _share(count)
    if count is None or measured is None:
        return cell("–", "none")
    shown = f"<small>{count.solved}/{count.asked}</small> {share(count.solved, count.asked)}"
    return cell(shown, f"tint{min(4, int(measured * 5))}")
