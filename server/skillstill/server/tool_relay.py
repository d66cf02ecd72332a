"""An MCP server whose calls somebody else executes: `python -m skillstill.server.tool_relay FOLDER`.

Whoever runs the loop leaves two things in the folder: TOOLS, the schemas that are offered, and SOCKET, where it gives
results. A call is answered by its id, which Claude Code sends along: the relay writes the id and a line feed to the
socket, and reads the result to its end. The relay executes nothing and reads no workspace.
"""

import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, ToolAnnotations
from mcp_types import Tool as WireTool
from pydantic import TypeAdapter

from skillstill.types import ToolSchema

TOOLS, SOCKET = "tools.json", "results.sock"
SCHEMAS = TypeAdapter(tuple[ToolSchema, ...])
CALL_ID = "claudecode/toolUseId"  # in a request's `_meta`


def main() -> None:
    """Serve until the client closes standard input."""
    anyio.run(serve, Path(sys.argv[1]))


async def serve(folder: Path) -> None:
    tools = SCHEMAS.validate_json((folder / TOOLS).read_bytes())

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_wire(tool) for tool in tools])

    async def call_tool(context: Any, params: Any) -> CallToolResult:
        return await answer(folder, (params.meta or {}).get(CALL_ID))

    server: Server[Any] = Server("tools", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (requests, replies):
        await server.run(requests, replies, server.create_initialization_options())


async def answer(folder: Path, call: object) -> CallToolResult:
    """Return the result of the call with this id; an error if there is no id, or nobody to execute it."""
    if not isinstance(call, str):
        return _said("this call has no id", is_error=True)
    try:
        async with await anyio.connect_unix(folder / SOCKET) as stream:
            await stream.send(f"{call}\n".encode())
            data = b"".join([chunk async for chunk in stream])
    except (OSError, anyio.BrokenResourceError):
        return _said("nobody is there to execute this call", is_error=True)
    return _said(data.decode())


def _wire(tool: ToolSchema) -> WireTool:
    said = {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
    return WireTool(**said, annotations=ToolAnnotations(read_only_hint=True))


def _said(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)


if __name__ == "__main__":
    main()
