"""`skillstill install` and `uninstall`: what a person types, and what is said back."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from skillstill.text import clean

Client = Annotated[Literal["claude-code"], typer.Argument(help="The program that shall call the subagents.")]
Scope = Annotated[
    Literal["local", "project", "user"],
    typer.Option(help="For you in this project, for all who work on it (.mcp.json), or for you everywhere."),
]
Name = Annotated[str, typer.Option(help="What the client calls this server.")]


def install(
    client: Client,
    scope: Scope = "local",
    write: Annotated[bool, typer.Option("--write", help="Add it, instead of saying what to type.")] = False,
    name: Name = "skillstill",
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", help="The folder to serve. Default: where the client is started."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace another server of that name, for good.")] = False,
) -> int:
    """Make the subagents tools of a client: say what to type for it, or add them with --write.

    Example: skillstill install claude-code --scope user --write
    """
    from skillstill.clients import claude_code

    if not write:
        return _say(claude_code.snippet(scope, Path(), name=name, workspace=workspace))
    _say(claude_code.install(scope, Path(), name=name, workspace=workspace, force=force))
    if scope == "project":
        _say("Claude Code asks each person once before it starts what .mcp.json names.")
    return 0


def uninstall(client: Client, scope: Scope = "local", name: Name = "skillstill") -> int:
    """Take away from a client what `install` added, and nothing else.

    Example: skillstill uninstall claude-code --scope user
    """
    from skillstill.clients import claude_code

    return _say(claude_code.uninstall(scope, Path(), name=name))


def _say(what: object) -> int:
    typer.echo(clean(str(what)))
    return 0
