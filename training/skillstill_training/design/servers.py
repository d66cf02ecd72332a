"""The MCP servers of a foreign skill as servers in our sandbox, or why one cannot be had there."""

import re
from collections.abc import Sequence

from pydantic import ValidationError
from skillstill.errors import GoalsError
from skillstill.library.definition import Definition, NamedServer
from skillstill.library.reading.naming import slug
from skillstill.skills.skill import McpServer, mistake

RUNNERS = {"uvx": (), "uv": ("tool", "run"), "pipx": ("run",)}  # programs that run a package, and what comes before it
PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)(\[[\w,.-]+\])?(?:==|@)(\d[\w.+!-]*)")
LEFT_OUT = tuple[tuple[str, str], ...]  # servers, with the reason


def mapped_servers(definition: Definition) -> tuple[tuple[McpServer, ...], LEFT_OUT]:
    """Return those that run in a sandbox, and the others with the reason."""
    servers, left_out = dict[str, McpServer](), list[tuple[str, str]]()
    for one in definition.servers:
        try:
            server = _mapped(one)
            servers.setdefault(server.name, server)
        except GoalsError as error:
            left_out.append((one.name, str(error)))
    return tuple(servers.values()), tuple(left_out)


def _mapped(server: NamedServer) -> McpServer:
    if server.url:
        raise GoalsError("it runs elsewhere, and no tool may leave this machine")
    if server.environment:
        raise GoalsError(f"it wants an environment ({', '.join(server.environment)}), and none is handed in")
    if any("$" in part for part in server.args):
        raise GoalsError("its arguments name variables, which the sandbox does not have")
    package, program, args = _package(server)
    try:
        return McpServer(name=slug(server.name), command=program, args=args, packages=(package,), tools=server.tools)
    except ValidationError as error:
        raise GoalsError(" ".join(mistake(error))) from error


def _package(server: NamedServer) -> tuple[str, str, tuple[str, ...]]:
    """Return the pinned package, the program and its arguments. Raise GoalsError."""
    before = RUNNERS.get(server.command)
    if before is None or server.args[: len(before)] != before:
        raise GoalsError(f"{server.command} is no program that runs a package of Python's index")
    source, program, args = _source(server.args[len(before) :])
    found = PINNED.fullmatch(source)
    if not found:
        raise GoalsError(f"name one version of its package, as in {source or 'name'}==1.2.3")
    return f"{found[1]}{found[2] or ''}=={found[3]}", program or found[1], args


def _source(words: Sequence[str]) -> tuple[str, str, tuple[str, ...]]:
    """Return what is run: the package, the program if it is named apart, and its arguments."""
    if len(words) > 2 and words[0] in {"--from", "--spec"}:
        return words[1], words[2], tuple(words[3:])
    return (words[0], "", tuple(words[1:])) if words else ("", "", ())
