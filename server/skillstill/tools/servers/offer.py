"""What an MCP server lists, as tools of a run: with our schemas, results that are text, and what is left out told."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as ListedTool

from skillstill.errors import Refusal
from skillstill.tools.box.output import excerpt, text_lines
from skillstill.tools.kit.tool import Line, Result, Tool
from skillstill.tools.servers.arguments import Arguments, translated
from skillstill.tools.servers.connection import Connection
from skillstill.types import ToolSchema
from skillstill.util.text import one_line
from skillstill.workspace import Workspace

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
DESCRIPTION = 400  # characters
SHOWN = 40  # characters of a name that is left out
REFUSED = 300  # characters of an error of a tool


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a server that a run has.

    left_out   tools that it does not have, each with the reason
    shortened  tools that lack an argument, each with its name
    """

    tools: tuple[Tool, ...] = ()
    left_out: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return all of it for a person."""
        told = {"left out": self.left_out, "without an argument": self.shortened}
        names = ", ".join(tool.name for tool in self.tools) or "no tools"
        return "; ".join([names, *(f"{what}: {', '.join(which)}" for what, which in told.items() if which)])


async def offered(connection: Connection, wanted: Collection[str], taken: Collection[str]) -> Offer:
    """Return the tools that are wanted of a server, all of them if none is named. `taken` are names of other tools.

    Raise Refusal if the server does not list them.
    """
    listed = await connection.tools()
    absent = [f"{name}: the server has no such tool" for name in wanted if name not in {one.name for one in listed}]
    tools, left_out, shortened = dict[str, Tool](), absent, list[str]()
    for one in listed:
        if wanted and one.name not in wanted:
            continue
        try:
            name, arguments = _name(one.name, {*taken, *tools}), translated(one.input_schema)
        except Refusal as refusal:
            left_out.append(f"{one_line(one.name, SHOWN)}: {refusal}")
            continue
        tools[name] = _tool(connection, one, name, arguments)
        shortened += [f"{name}: {one_line(missing, SHOWN)}" for missing in arguments.left_out]
    return Offer(tuple(tools.values()), tuple(left_out), tuple(shortened))


def _name(listed: str, taken: Collection[str]) -> str:
    """Return the name that a model can write. Raise Refusal if there is none, or if another tool has it."""
    name = re.sub(r"[-./]", "_", listed)
    if not NAME.fullmatch(name):
        raise Refusal("not a name that a call can have")
    if name in taken:
        raise Refusal("another tool has this name")
    return name


def _tool(connection: Connection, listed: ListedTool, name: str, arguments: Arguments) -> Tool:
    async def ask(workspace: Workspace, **fields: Any) -> Result:
        return _result(workspace, await connection.call(listed.name, arguments.named(fields)))

    description = one_line(listed.description or listed.title or listed.name, DESCRIPTION)
    schema = ToolSchema(name=name, description=description, parameters=dict(arguments.schema))
    return Tool(schema, ask, arguments.model, looks_outside=True)


def _result(workspace: Workspace, answer: CallToolResult) -> Result:
    """Return what a tool answered. Raise Refusal if it says that this is an error."""
    lines = list(_lines(workspace, answer))
    if answer.is_error:
        raise Refusal(one_line(" ".join(line.text for line in lines), REFUSED) or "it failed, and says nothing")
    return Result(tuple(excerpt(lines, is_cut=False)) or (Line("it answered nothing"),))


def _lines(workspace: Workspace, answer: CallToolResult) -> Iterator[Line]:
    texts = [one.text for one in answer.content if isinstance(one, TextContent)]
    if not answer.content and answer.structured_content is not None:
        texts = [json.dumps(answer.structured_content, ensure_ascii=False, indent=1)]
    for text in texts:
        yield from text_lines(workspace, text)
    yield from _unseen([one.type for one in answer.content if not isinstance(one, TextContent)])


def _unseen(kinds: Sequence[str]) -> Iterator[Line]:
    if kinds:
        yield Line(f"… left out, since it is no text: {', '.join(sorted(set(kinds)))}", omits=len(kinds))
