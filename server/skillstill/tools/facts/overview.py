"""The tool `overview`: what a folder of logs holds, and the likeliest places for a text. It opens runs over logs."""

from collections.abc import Iterator
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.facts.index import FactIndex
from skillstill.tools.facts.locate import located
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.tool import Line, Result, Tool, tool
from skillstill.types import PROMPT_CHARACTERS, Copied, Span
from skillstill.workspace import Workspace

SHOWN_FILES, SHOWN_NAMES, PLACES = 3, 5, 5  # each costs tokens of every run
SECONDS = len("2026-03-01 10:00:00")  # of a time: its fraction helps nobody here
LOGS = "select path, format, entries, unread, first_time, last_time from log_files order by entries desc"
OTHERS = "select path from files where path not in (select path from log_files) order by size desc"
# What queries may ask for by name: each with how often it is there.
COUNTED = {
    "levels": "select level, count(*) from entries where level is not null group by level order by 2 desc, 1",
    "fields by name": "select name, count(*) from fields where name <> '' group by name order by 2 desc, 1",
    "fields by kind": "select kind, count(*) from fields where name = '' group by kind order by 2 desc, 1",
}


def overview_tool(references: tuple[str, ...]) -> Tool:
    """Return the tool over what these readers find. The reader of logs has to be one of them."""

    async def overview(
        workspace: Workspace,
        text: Annotated[str, Field(min_length=1, max_length=PROMPT_CHARACTERS, description="a question"), Copied()],
    ) -> Result:
        """Show the logs with their times, levels, names and kinds of fields, and the likeliest entries for a text."""
        index = await fresh_index(workspace, references)
        return await to_thread.run_sync(_overview, index, text)

    return tool(overview)


def _overview(index: FactIndex, text: str) -> Result:
    likely = located(index, text, PLACES).lines
    return Result((*_logs(index), *_others(index), *_counts(index), *likely), guess=True, is_folded=True)


def _logs(index: FactIndex) -> Iterator[Line]:
    found = index.ask(LOGS, SHOWN_FILES)
    for path, kind, entries, unread, first, last in found.rows:
        lost = f", {unread} lines unread" if unread else ""
        times = f", {first[:SECONDS]} to {last[:SECONDS]}" if first else ""
        yield Line(f"{path}: {kind}, {entries} entries{lost}{times}", (Span(path=path),))
    if found.count > SHOWN_FILES:
        rest = found.count - SHOWN_FILES
        yield Line(f"… {rest} more log{'s' * (rest != 1)}")


def _others(index: FactIndex) -> Iterator[Line]:
    """Yield a line of the files that are not read as logs: `search` and `read` show them."""
    found = index.ask(OTHERS, SHOWN_FILES)
    if found.count:
        named = ", ".join(path for (path,) in found.rows)
        rest = f" and {found.count - SHOWN_FILES} more" if found.count > SHOWN_FILES else ""
        yield Line(f"no logs: {named}{rest}", tuple(Span(path=path) for (path,) in found.rows))


def _counts(index: FactIndex) -> Iterator[Line]:
    for title, query in COUNTED.items():
        if rows := index.ask(query, SHOWN_NAMES).rows:
            yield Line(f"{title}: {', '.join(f'{name} {count}' for name, count in rows)}")
