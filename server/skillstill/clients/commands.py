"""`skillstill install`, `uninstall` and `bundle`: what a person types, and what is said back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skillstill.console.options import RegistryFile
from skillstill.errors import UsageError
from skillstill.util.text import clean

if TYPE_CHECKING:
    from skillstill.clients.client import Client

Name = Literal["claude-code", "codex", "gemini", "vscode", "cursor"]
Which = Annotated[Name, typer.Argument(help="The program that shall call the subagents.")]
Scope = Annotated[
    Literal["local", "project", "user"] | None,
    typer.Option(
        help="For you in this project (local: Claude Code only), for all who work on it (project), or for you "
        "everywhere (user). Default: local for Claude Code, user for Codex and Gemini CLI, project for editors.",
        show_default=False,
    ),
]
Called = Annotated[str, typer.Option("--name", help="What the client calls this server.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace another server of that name, or changed files, for good.")
]
Plugin = Annotated[
    Path | None,
    typer.Option("--plugin", help="A folder for a Claude Code plugin instead: server, agents, a skill that says when."),
]


def install(
    client: Which,
    scope: Scope = None,
    write: Annotated[bool, typer.Option("--write", help="Add it, instead of saying what to type.")] = False,
    name: Called = "skillstill",
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", help="The folder to serve. Default: where the client is started or opened."),
    ] = None,
    registry: RegistryFile = None,
    plugin: Plugin = None,
    force: Force = False,
) -> int:
    """Make the subagents tools of a client: say what to type for it, or add them with --write.

    Example: skillstill install claude-code --scope user --write
    """
    if plugin:
        return _write_plugin(client, plugin, workspace, registry, force=force)
    program, always = _program(client), _are_few(registry)
    where = scope or program.scopes[0]
    if not write:
        said = program.snippet(where, Path(), name=name, workspace=workspace, registry=registry, always_load=always)
        return _say(said)
    _say(
        program.install(
            where, Path(), name=name, workspace=workspace, registry=registry, always_load=always, force=force
        )
    )
    return _say(program.asks) if where == "project" else 0


def uninstall(client: Which, scope: Scope = None, name: Called = "skillstill", plugin: Plugin = None) -> int:
    """Take away from a client what `install` added, and nothing else.

    Example: skillstill uninstall claude-code --scope user
    """
    if plugin:
        from skillstill.clients.plugin import remove

        _claude_code_only(client)
        return _say(remove(plugin))
    program = _program(client)
    return _say(program.uninstall(scope or program.scopes[0], Path(), name=name))


def bundle(
    folder: Annotated[Path, typer.Argument(help="A new folder, or one that this command wrote.")],
    name: Annotated[
        str | None, typer.Option(help="Write server.json for the MCP registry too, for io.github.YOU/skillstill.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that were changed since, for good.")] = False,
) -> int:
    """Write skillstill.mcpb, which desktop clients install by a click, and server.json for the MCP registry.

    Both have uv, which the client or its user must have, fetch this version from the package index: so they work once
    it is published there.

    Example: skillstill bundle dist/mcp --name io.github.you/skillstill
    """
    from skillstill.clients.bundle import write

    _say(write(folder, name, force=force))
    return 0 if name else _say("No server.json: --name says under which name it shall be listed.")


def _write_plugin(client: Name, folder: Path, workspace: Path | None, registry: Path | None, *, force: bool) -> int:
    from skillstill.clients.plugin import write

    _claude_code_only(client)
    written = write(folder, workspace, registry, force=force)
    _say(written)
    added = f"/plugin marketplace add {written.folder.resolve()}"
    return _say(f"In Claude Code, type:\n\n{added}\n/plugin install skillstill@skillstill")


def _claude_code_only(client: Name) -> None:
    if client != "claude-code":
        raise UsageError(f"--plugin is for claude-code, not {client}")


def _program(name: Name) -> "Client":
    from skillstill.clients import others
    from skillstill.clients.claude_code import CLAUDE_CODE

    return {
        "claude-code": CLAUDE_CODE,
        "codex": others.CODEX,
        "gemini": others.GEMINI,
        "vscode": others.VSCODE,
        "cursor": others.CURSOR,
    }[name]


def _are_few(registry: Path | None) -> bool:
    """Return whether all subagents shall be in the client's context, and none be searched for. Raise RegistryError."""
    from skillstill.skills.registry import FEW, Registry

    return len(Registry(registry, Path()).entries()) <= FEW


def _say(what: object) -> int:
    typer.echo(clean(str(what)))
    return 0
