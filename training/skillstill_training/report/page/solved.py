"""The table of traces: what became of the goals, by teacher."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from skillstill_training.report.page.table import head, link, mean, number, row, section, share, text
from skillstill_training.teachers import TraceRow
from skillstill_training.util.reasons import kind_of

REASONS = 12  # commonest ones that are told; the others are added up
Rows = Sequence[TraceRow]


def solved(rows: Rows) -> str:
    """One column a teacher, and one for all where there are several."""
    columns: dict[str, Rows] = {name: [one for one in rows if one.teacher == name] for name in _teachers(rows)}
    if len(columns) > 1:
        columns["all teachers"] = rows
    heads = ["<tr><td></td>", *(head(text(name)) for name in columns), "</tr>"]
    return section("solved", "How it was solved", heads, _lines(rows, list(columns.values())))


def tokens(rows: Rows) -> int:
    """Those that were read anew or written."""
    return sum(one.trace.tally.tokens for one in rows if one.trace)


def _teachers(rows: Rows) -> Sequence[str]:
    return sorted({one.teacher for one in rows})


def _lines(rows: Rows, columns: Sequence[Rows]) -> Iterator[str]:
    yield _line("attempts", columns, lambda some: number(len(some)))
    yield _line(link("kept", outcome="kept"), columns, lambda some: _part(sum(one.kept for one in some), len(some)))
    yield _line(link("dropped", outcome="dropped"), columns, lambda some: _part(_dropped(some).total(), len(some)))
    yield from _counts(columns, _dropped(rows), _dropped, lambda kind: link(kind, outcome="dropped", q=kind))
    yield _line("detours taken", columns, lambda some: number(_detours(some).total()))
    yield from _counts(columns, _detours(rows), _detours, lambda kind: link(kind, q=f"detour: {kind}"))
    yield _line("mean calls", columns, lambda some: mean(len(one.trace.receipts) for one in some if one.trace))
    yield _line("tokens read and written", columns, lambda some: number(tokens(some)))


def _counts(
    columns: Sequence[Rows],
    total: Counter[str],
    counted: Callable[[Rows], Counter[str]],
    name: Callable[[str], str],
) -> Iterator[str]:
    """A line for each of the commonest kinds."""
    counts = [counted(some) for some in columns]
    common = [kind for kind, _ in total.most_common(REASONS)]
    for kind in common:
        yield row(name(kind), [f"<td>{number(one[kind])}</td>" for one in counts], "sub")
    if len(total) > len(common):
        rest = (one.total() - sum(one[kind] for kind in common) for one in counts)
        yield row(f"{len(total) - len(common)} rarer ones", [f"<td>{number(left)}</td>" for left in rest], "sub")


def _line(name: str, columns: Sequence[Rows], value: Callable[[Rows], str]) -> str:
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
