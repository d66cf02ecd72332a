"""The tool `overview`: what a folder of logs holds, as a query needs to know it. It opens runs over logs."""

from collections.abc import Iterator

from anyio import to_thread

from skillstill.facts.ask import FactRows
from skillstill.facts.index import FactIndex
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.tool import Line, Result, Tool, tool
from skillstill.types import Span
from skillstill.util.text import one_line, shorten
from skillstill.workspace import Workspace

ROOM = 3_000  # characters: 1,000 tokens, read once a folder
FILES, NAMES, NAMED, MESSAGES = 6, 6, 14, 24  # that are shown: logs, values of a column, fields and templates
VALUED = 7  # fields that are shown with values
MESSAGE, VALUE = 90, 24  # characters
SECONDS = len("2026-03-01 10:00:00")  # of a time: its fraction helps nobody here
LOGS = "select path, format, entries, unread, first_time, last_time from log_files order by entries desc"
OTHERS = "select path from files where path not in (select path from log_files) order by size desc"
COLUMN = "select {0}, count(*) from entries where {0} is not null group by {0} order by 2 desc, 1"
TEMPLATES = "select template, count(*) from entries where template is not null group by template order by 2 desc, 1"
FIELDS = (  # ordered as numbers if all values of a field are some
    "select kind, name, count(*), count(distinct value), iif(count(number) < count(*), min(value), min(number)),"
    " iif(count(number) < count(*), max(value), max(number)) from fields group by kind, name order by 3 desc, 1, 2"
)


def overview_tool(references: tuple[str, ...]) -> Tool:
    """Return the tool over what these readers find. The reader of logs has to be one of them."""

    async def overview(workspace: Workspace) -> Result:
        """Show the logs with their times, levels, components, fields and commonest messages, <*> for what varies."""
        index = await fresh_index(workspace, references)
        return await to_thread.run_sync(_overview, index)

    return tool(overview)


def _overview(index: FactIndex) -> Result:
    columns = (line for column in ("level", "component", "host") for line in _column(index, column))
    lines = (*_logs(index), *_others(index), *columns, *_fields(index), *_messages(index))
    return Result(lines, guess=True, room=ROOM)


def _logs(index: FactIndex) -> Iterator[Line]:
    found = index.ask(LOGS, FILES)
    for path, kind, entries, unread, first, last in found.rows:
        lost = f", {unread} lines unread" if unread else ""
        times = f", {first[:SECONDS]} to {last[:SECONDS]}" if first else ""
        yield Line(f"{path}: {kind or 'no known format'}, {entries} entries{lost}{times}", (Span(path=path),))
    yield from _left(found.count - FILES, "log")


def _others(index: FactIndex) -> Iterator[Line]:
    """Yield a line of the files that are not read as logs: `search` and `read` show them."""
    found = index.ask(OTHERS, FILES)
    if found.count:
        named = ", ".join(path for (path,) in found.rows)
        yield Line(f"no logs: {named}{_others_of(found)}", tuple(Span(path=path) for (path,) in found.rows))


def _column(index: FactIndex, column: str) -> Iterator[Line]:
    found = index.ask(COLUMN.format(column), NAMES)
    if found.count:
        named = ", ".join(f"{_cut(name)} {count}" for name, count in found.rows)
        yield Line(f"{column}: {named}{_others_of(found)}")


def _fields(index: FactIndex) -> Iterator[Line]:
    """Yield the fields of messages, the commonest with their least and greatest values."""
    found = index.ask(FIELDS, NAMED)
    for kind, name, count, distinct, least, most in found.rows[:VALUED]:
        values = _cut(least) if distinct == 1 else f"{distinct} values, {_cut(least)} to {_cut(most)}"
        yield Line(f"{_field(kind, name)} {count}: {values}")
    if further := [f"{_field(kind, name)} {count}" for kind, name, count, *_ in found.rows[VALUED:]]:
        yield Line(f"further fields: {', '.join(further)}{_others_of(found)}")


def _field(kind: str, name: str | None) -> str:
    return f"name {name} ({kind})" if name else f"kind {kind}"


def _messages(index: FactIndex) -> Iterator[Line]:
    found = index.ask(TEMPLATES, MESSAGES)
    for template, count in found.rows:
        yield Line(f"{count} {shorten(one_line(template, 2 * MESSAGE), MESSAGE)}")
    yield from _left(found.count - MESSAGES, "kind of message", "kinds of message")


def _others_of(found: FactRows) -> str:
    """Return how many rows there are beside those that are shown."""
    left = found.count - len(found.rows)
    return f" and {left} more" if left else ""


def _left(count: int, one: str, several: str = "") -> Iterator[Line]:
    if count > 0:
        yield Line(f"… {count} more {one if count == 1 else several or f'{one}s'}")


def _cut(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    return shorten(one_line(str(value), 2 * VALUE), VALUE)
