"""The table of traces: how many were kept and dropped, by teacher."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from skillstill_training.report.page.table import head, link, mean, number, row, section, share, text
from skillstill_training.teachers import TraceRow
from skillstill_training.util.reasons import kind_of

REASONS = 12  # the commonest are listed, the others are summed up
Rows = Sequence[TraceRow]


def render_traces(rows: Rows) -> str:
    """Return a table with a column for each teacher, and one for all if there are several."""
    columns: dict[str, Rows] = {name: [one for one in rows if one.teacher == name] for name in _teachers(rows)}
    if len(columns) > 1:
        columns["all teachers"] = rows
    heads = ["<tr><td></td>", *(head(text(name)) for name in columns), "</tr>"]
    return section("solved", "How it was solved", heads, _rows(rows, list(columns.values())))


def count_tokens(rows: Rows) -> int:
    """Return the number of tokens that were read anew or written."""
    return sum(one.trace.tally.tokens for one in rows if one.trace)


def _teachers(rows: Rows) -> Sequence[str]:
    return sorted({one.teacher for one in rows})


def _rows(rows: Rows, columns: Sequence[Rows]) -> Iterator[str]:
    yield _row("attempts", columns, lambda some: number(len(some)))
    yield _row(link("kept", outcome="kept"), columns, lambda some: _part(sum(one.kept for one in some), len(some)))
    yield _row(link("dropped", outcome="dropped"), columns, lambda some: _part(_dropped(some).total(), len(some)))
    yield from _kind_rows(columns, _dropped(rows), _dropped, lambda kind: link(kind, outcome="dropped", q=kind))
    yield _row("detours taken", columns, lambda some: number(_detours(some).total()))
    yield from _kind_rows(columns, _detours(rows), _detours, lambda kind: link(kind, q=f"detour: {kind}"))
    yield _row("mean calls", columns, lambda some: mean(len(one.trace.receipts) for one in some if one.trace))
    yield _row("tokens read and written", columns, lambda some: number(count_tokens(some)))


def _kind_rows(
    columns: Sequence[Rows],
    total: Counter[str],
    counted: Callable[[Rows], Counter[str]],
    name: Callable[[str], str],
) -> Iterator[str]:
    """Yield a row for each of the commonest kinds, and one for the others."""
    counts = [counted(some) for some in columns]
    common = [kind for kind, _ in total.most_common(REASONS)]
    for kind in common:
        yield row(name(kind), [f"<td>{number(one[kind])}</td>" for one in counts], "sub")
    if len(total) > len(common):
        rest = (one.total() - sum(one[kind] for kind in common) for one in counts)
        yield row(f"{len(total) - len(common)} rarer ones", [f"<td>{number(left)}</td>" for left in rest], "sub")


def _row(name: str, columns: Sequence[Rows], value: Callable[[Rows], str]) -> str:
    return row(name, [f"<td>{value(some)}</td>" for some in columns])


def _part(count: int, whole: int) -> str:
    return f"{number(count)} <small>{share(count, whole)}</small>" if count else "–"


def _dropped(rows: Rows) -> Counter[str]:
    return Counter(kind_of(one.reason) for one in rows if not one.kept)


def _detours(rows: Rows) -> Counter[str]:
    taken: Counter[str] = Counter()
    for one in rows:
        taken.update(dict(one.detours))
    return taken
