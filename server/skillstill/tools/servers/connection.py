"""A server that was started: its tools are asked for, and called. What it does wrong is told, and the run goes on."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

from mcp import Client, MCPError
from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult
from mcp.types import Tool as ListedTool
from mcp_types import REQUEST_TIMEOUT

from skillstill.errors import Refusal
from skillstill.sandbox.sandbox import Stream
from skillstill.tools.servers.wire import Wire
from skillstill.util.text import one_line

MOST_TOOLS, MOST_PAGES = 100, 10  # that a server is listened to
SAID = 200  # characters of a server's own words


class Connection:
    """A server that has answered. Each request gets so many `seconds`."""

    def __init__(self, name: str, client: Client, wire: Wire, seconds: float) -> None:
        self._name, self._client, self._wire, self._seconds = name, client, wire, seconds

    async def tools(self) -> Sequence[ListedTool]:
        """Return what it lists, or as much of it as anybody can use. Raise Refusal."""
        found, cursor = list[ListedTool](), None
        for _ in range(MOST_PAGES):
            with _told(self._name, self._wire, self._seconds):
                page = await self._client.list_tools(cursor=cursor)
            found, cursor = [*found, *page.tools], page.next_cursor
            if not cursor or len(found) >= MOST_TOOLS:
                break
        return found[:MOST_TOOLS]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Return what a tool answers. Raise Refusal if the server gives no answer.

        The library's own `call_tool` would check a result by the schema that the server wrote for it, whose patterns
        may take for ever.
        """
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        with _told(self._name, self._wire, self._seconds):
            return await self._client.session.send_request(request, CallToolResult)


@asynccontextmanager
async def connected(name: str, stream: Stream, seconds: float) -> AsyncIterator[Connection]:
    """Yield a server that has said who it is. Raise Refusal if it does not."""
    wire = Wire(stream)
    async with AsyncExitStack() as stack:
        with _told(name, wire, seconds):
            client = Client(wire.streams(), read_timeout_seconds=seconds, cache=None)
            await stack.enter_async_context(client)
        yield Connection(name, client, wire, seconds)


@contextmanager
def _told(name: str, wire: Wire, seconds: float) -> Iterator[None]:
    """Raise Refusal, which says what a server did wrong, in place of whatever the library makes of that."""
    try:
        yield
    except Exception as error:
        raise Refusal(f"the MCP server {name} {_wrong(error, wire, seconds)}") from error


def _wrong(error: Exception, wire: Wire, seconds: float) -> str:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    rubbish = f"; it wrote {wire.rubbish!r}, which is no message" if wire.rubbish else ""
    if wire.ended:
        return f"is gone: {one_line(wire.ended, SAID)}{rubbish}"
    if isinstance(error, TimeoutError) or (isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT):
        return f"did not answer within {seconds:g} seconds{rubbish}"
    if isinstance(error, MCPError):
        return f"refused: {one_line(error.message, SAID)}"
    return f"answered what MCP does not allow{rubbish}"
