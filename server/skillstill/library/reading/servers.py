"""The MCP servers that a definition may use: those of its front matter, or of the nearest `.mcp.json` above it.

None is started. Of an environment only the names are kept: its values may be keys.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillstill.library.definition import NamedServer
from skillstill.library.reading.frontmatter import Fields
from skillstill.util.text import one_line

FILE = ".mcp.json"
FIELDS = ("mcpServers", "mcp-servers", "mcp_servers")
MOST, LONGEST = 20, 200  # servers of a file; characters of a name


def servers_in(content: bytes) -> tuple[NamedServer, ...]:
    """Return the servers of a `.mcp.json`; none if it cannot be read as one."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    named = whole.get("mcpServers", whole) if isinstance(whole, dict) else {}
    return tuple(_servers(named))[:MOST]


def named_servers(fields: Fields, tools: Sequence[str], around: Sequence[NamedServer]) -> tuple[NamedServer, ...]:
    """Return the servers of a definition with front matter and declared tools; `around` are those of the file above it.

    One that declares tools has only the servers whose tools are among them.
    """
    declared = next((fields[name] for name in FIELDS if name in fields), None)
    items = declared if isinstance(declared, list) else [declared]
    own = tuple(one for item in items if isinstance(item, dict) for one in _servers(item))[:MOST]
    by_name = {one.name: one for one in (*around, *own)}
    wanted = own or tuple(by_name[item] for item in items if isinstance(item, str) and item in by_name)
    found = wanted or (tuple(around) if declared is None else ())
    return tuple(one for server in found for one in _with_tools(server, tools, is_own=server in own))


def _servers(named: Any) -> Iterator[NamedServer]:
    for name, one in named.items() if isinstance(named, dict) else ():
        if isinstance(one, dict) and (one.get("command") or one.get("url")):
            yield NamedServer(
                name=one_line(str(name), LONGEST),
                command=str(one.get("command") or ""),
                args=tuple(map(str, args)) if isinstance(args := one.get("args"), list) else (),
                url=str(one.get("url") or ""),
                environment=tuple(map(str, env)) if isinstance(env := one.get("env"), Mapping) else (),
            )


def _with_tools(server: NamedServer, declared: Sequence[str], *, is_own: bool) -> Iterator[NamedServer]:
    """Yield the server with those of its tools that are declared: `mcp__NAME__TOOL`, or `mcp__NAME` for all."""
    pattern = re.compile(rf"mcp__(?:plugin_.+_)?{re.escape(server.name)}(?:__(.+))?")
    found = [match[1] or "*" for tool in declared if (match := pattern.fullmatch(tool))]
    if found or not declared or is_own:
        yield server if "*" in found or not found else server.model_copy(update={"tools": tuple(found)})
