"""Codex, Gemini CLI, VS Code and Cursor: in which file and under which keys each is told of this server.

Those of Codex 0.169.0 and Gemini CLI 0.61.0 are what these programs were seen to write and read; those of the editors
are what their documentation says. An editor starts a server in the folder that is open only if a project's file
names it, and only there can it be asked for that folder.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from skillstill.clients.client import CALL_SECONDS, START_SECONDS, Client, Scope
from skillstill.clients.document import DocumentPlace
from skillstill.clients.jsontext import JsonText
from skillstill.clients.tomltext import TomlText
from skillstill.util.storage import ALL_READ, OWNER_ONLY

WITH_COMMENTS = JsonText(comments=True)
AS_EDITORS_READ = JsonText(comments=True, last_commas=True)
OPEN_FOLDER = "${workspaceFolder}"


def _codex(scope: Scope, project: Path, name: str) -> DocumentPlace:
    keys = ("mcp_servers", name)
    if scope == "project":
        return DocumentPlace((project / ".codex" / "config.toml").resolve(), keys, ALL_READ, TomlText())
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    return DocumentPlace((home / "config.toml").resolve(), keys, OWNER_ONLY, TomlText())


def _codex_command(scope: Scope, name: str, entry: dict[str, Any]) -> Sequence[str]:
    return ["codex", "mcp", "add", name, "--", entry["command"], *entry["args"]] if scope == "user" else ()


def _gemini(scope: Scope, project: Path, name: str) -> DocumentPlace:
    above, mode = (project, ALL_READ) if scope == "project" else (_gemini_home(), OWNER_ONLY)
    return DocumentPlace((above / ".gemini" / "settings.json").resolve(), ("mcpServers", name), mode, WITH_COMMENTS)


def _gemini_home() -> Path:
    return Path(os.environ.get("GEMINI_CLI_HOME") or Path.home())


def _gemini_command(scope: Scope, name: str, entry: dict[str, Any]) -> Sequence[str]:
    options = ["--scope", scope, "--timeout", str(CALL_SECONDS * 1_000)]
    return ["gemini", "mcp", "add", *options, name, entry["command"], *entry["args"]]


def _vscode(scope: Scope, project: Path, name: str) -> DocumentPlace:
    keys = ("servers", name)
    if scope == "project":
        return DocumentPlace((project / ".vscode" / "mcp.json").resolve(), keys, ALL_READ, AS_EDITORS_READ)
    file = user_config_path("Code", appauthor=False, roaming=True) / "User" / "mcp.json"
    return DocumentPlace(file.resolve(), keys, OWNER_ONLY, AS_EDITORS_READ)


def _vscode_command(scope: Scope, name: str, entry: dict[str, Any]) -> Sequence[str]:
    server = {"name": name, "command": entry["command"], "args": entry["args"]}
    return ["code", "--add-mcp", json.dumps(server, ensure_ascii=False)] if scope == "user" else ()


def _cursor(scope: Scope, project: Path, name: str) -> DocumentPlace:
    above, mode = (project, ALL_READ) if scope == "project" else (Path.home(), OWNER_ONLY)
    return DocumentPlace((above / ".cursor" / "mcp.json").resolve(), ("mcpServers", name), mode, AS_EDITORS_READ)


def _open_folder(scope: Scope) -> str | None:
    return OPEN_FOLDER if scope == "project" else None


CODEX = Client(
    title="Codex",
    scopes=("user", "project"),
    file=_codex,
    beside=lambda _: {"startup_timeout_sec": START_SECONDS, "tool_timeout_sec": CALL_SECONDS},
    typed=_codex_command,
    forgets=lambda scope, name: ["codex", "mcp", "remove", name] if scope == "user" else (),
    asks="Codex reads .codex/config.toml only in projects that each person has said to trust.",
)
GEMINI = Client(
    title="Gemini CLI",
    scopes=("user", "project"),
    file=_gemini,
    beside=lambda _: {"timeout": CALL_SECONDS * 1_000},
    typed=_gemini_command,
    forgets=lambda scope, name: ["gemini", "mcp", "remove", "--scope", scope, name],
    replaces="$",
    asks="Gemini CLI reads .gemini/settings.json only in folders that each person has said to trust.",
)
VSCODE = Client(
    title="VS Code",
    scopes=("project", "user"),
    file=_vscode,
    beside=lambda _: {"type": "stdio"},
    typed=_vscode_command,
    opened=_open_folder,
    asks="VS Code asks each person once before it starts what .vscode/mcp.json names.",
)
CURSOR = Client(
    title="Cursor",
    scopes=("project", "user"),
    file=_cursor,
    beside=lambda _: {"type": "stdio"},
    opened=_open_folder,
    asks="Cursor starts what .cursor/mcp.json names once each person has switched it on.",
)
