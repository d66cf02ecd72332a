"""The top of the page: the header, and the table of goals by family and split."""

from collections import Counter
from collections.abc import Iterator, Sequence

from skillstill.errors import StageError

from skillstill_training.authoring.goal import SPLITS, Goal, Split
from skillstill_training.report.page.table import cell, head, link, many, mean, number, row, section, share, text
from skillstill_training.report.page.trace_table import Rows, count_tokens
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import Band, Shares
from skillstill_training.sampling.gates import shares

MEASURES = {"deep": "≥ 3 calls", "several": "several hits", "absent": "absent"}  # of `gates.shares`
Goals = Sequence[Goal]


def render_header(skill: str, run: RunFolder, goals: Goals, rows: Rows) -> str:
    """Return the heading, a sentence and the figures."""
    return (
        f"<header><p class=over>skillstill · run {text(run.path.name)}</p><h1>{text(skill)}</h1>"
        f"<p class=lead>{text(_sentence(goals, rows))}</p></header>"
        f"<dl class=figures>{''.join(_figures(goals, rows))}</dl>"
    )


def render_goals(run: RunFolder, goals: Goals, rows: Rows) -> str:
    """Return the table of families and splits. The last row contains what the recipe wants."""
    families = dict.fromkeys(goal.family for goal in goals)
    bands = _bands(run)
    body = (_family_row(family, [goal for goal in goals if goal.family == family], rows, None) for family in families)
    foot = [_family_row("", goals, rows, bands), *([_wanted_row(bands)] if bands else [])]
    return section("asked", "What is asked", _heads(bool(rows)), body, foot)


def _sentence(goals: Goals, rows: Rows) -> str:
    families = many(len({goal.family for goal in goals}), "family", "families")
    places = many(len({goal.workspace for goal in goals}), "workspace")
    about = f"{many(len(goals), 'goal')} of {families}, in {places}"
    if not rows:
        return f"{about}. Nobody has tried to solve them yet."
    tried = len({one.goal for one in rows})
    return f"{about}. {tried:,} were tried, in {many(len(rows), 'attempt')}; what passed is kept."


def _figures(goals: Goals, rows: Rows) -> Iterator[str]:
    figures: dict[str, str] = {split: f"{sum(goal.split == split for goal in goals):,}" for split in SPLITS}
    figures["calls a goal"] = mean(goal.calls for goal in goals)
    if rows:
        figures["traces kept"] = share(sum(one.kept for one in rows), len(rows))
    if tokens := count_tokens(rows):  # a constructed teacher needs none
        figures["tokens"] = number(tokens)
    return (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items())


def _heads(solved: bool) -> Sequence[str]:
    under = head("goals", "group") + "".join(map(head, MEASURES.values()))
    first = [head("family", high=2), *(head(split, "group", wide=len(MEASURES) + 1) for split in SPLITS)]
    first += [head("all", "group", wide=2), *([head("traces", "group", wide=2)] if solved else [])]
    second = under * len(SPLITS) + head("goals", "group") + head("mean calls")
    second += head("kept", "group") + head("dropped") if solved else ""
    return f"<tr>{''.join(first)}</tr>", f"<tr>{second}</tr>"


def _family_row(family: str, goals: Goals, rows: Rows, bands: Shares | None) -> str:
    """Return a row of the table; without a name, the row of all families."""
    cells = [one for split in SPLITS for one in _split_cells(family, split, goals, bands)]
    cells += [_count_cell(len(goals), "group", family=family), cell(mean(goal.calls for goal in goals))]
    if rows:
        ids = {goal.id for goal in goals}
        kept = Counter(one.kept for one in rows if one.goal in ids)
        cells += [_count_cell(kept[True], "group", family=family, outcome="kept")]
        cells += [_count_cell(kept[False], "", family=family, outcome="dropped")]
    return row(link(family, family=family) if family else "all families", cells)


def _split_cells(family: str, split: Split, goals: Goals, bands: Shares | None) -> Iterator[str]:
    mine = [goal for goal in goals if goal.split == split]
    yield _count_cell(len(mine), "group", family=family, split=split)
    measured = shares(mine, ())
    for name in MEASURES:
        yield _share_cell(measured[name], getattr(bands, name) if bands else Band()) if mine else cell()


def _count_cell(count: int, classes: str, **filters: str) -> str:
    return cell(link(f"{count:,}", **filters) if count else "–", classes, "" if count else "none")


def _share_cell(measured: float, band: Band) -> str:
    """Return a cell with one of five tints, marked if the share is outside the band of the recipe."""
    off = "" if band.least <= measured <= band.most else "off"
    return cell(f"{measured:.0%}", f"tint{min(4, int(measured * 5))}" if measured else "none", off)


def _wanted_row(bands: Shares) -> str:
    cells = [cell("", "group"), *(cell(_format_band(getattr(bands, name))) for name in MEASURES)]
    return row("the recipe wants", cells * len(SPLITS), "wanted")


def _format_band(band: Band) -> str:
    if band.most == 1:
        return f"≥\u00a0{band.least:.0%}" if band.least else "any"
    return f"{band.least * 100:.0f}–{band.most:.0%}"


def _bands(run: RunFolder) -> Shares | None:
    try:
        return run.recipe().goals.shares
    except StageError:  # a page of goals alone is better than none
        return None
