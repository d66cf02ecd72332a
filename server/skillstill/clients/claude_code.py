"""Claude Code: in which file and under which keys it is told of this server.

Files and keys are those that Claude Code 2.1.329 was seen to use.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skillstill.clients.client import CALL_SECONDS, Client, Scope
from skillstill.clients.document import DocumentPlace
from skillstill.util.storage import ALL_READ, OWNER_ONLY


def _other_fields(always_load: bool) -> dict[str, Any]:
    loading = {"alwaysLoad": True} if always_load else {}
    return {"type": "stdio", **loading, "timeout": CALL_SECONDS * 1_000}


def _file(scope: Scope, project: Path, name: str) -> DocumentPlace:
    if scope == "project":
        return DocumentPlace((project / ".mcp.json").resolve(), ("mcpServers", name), ALL_READ)
    above = ("projects", _project(project)) if scope == "local" else ()
    return DocumentPlace(_settings().resolve(), (*above, "mcpServers", name), OWNER_ONLY)


def _command(scope: Scope, name: str, entry: dict[str, Any]) -> Sequence[str]:
    """Return the command. It has no `alwaysLoad`: the first turns do not see a server that still connects."""
    return ["claude", "mcp", "add-json", name, json.dumps(entry, ensure_ascii=False), "--scope", scope]


def _settings() -> Path:
    """Return Claude Code's own file; old installations have it under another name."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    old = Path(chosen or Path.home() / ".claude") / ".config.json"
    return old if old.is_file() and old.stat().st_size else Path(chosen or Path.home()) / ".claude.json"


def _project(folder: Path) -> str:
    """Return what Claude Code calls a project: the git repository's main folder, elsewhere the folder itself."""
    root = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), None)
    return str(_main_folder(root) if root else folder)


def _main_folder(root: Path) -> Path:
    """Return the repository that one of git's linked worktrees is linked to, else `root`."""
    try:
        own = root / (root / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        linked_back = (own / (own / "gitdir").read_text(encoding="utf-8").strip()).resolve()
        common = (own / (own / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, RuntimeError, ValueError):
        return root
    if linked_back != root / ".git":
        return root
    return common.parent if common.name == ".git" else common


CLAUDE_CODE = Client(
    title="Claude Code",
    scopes=("local", "project", "user"),
    file=_file,
    beside=_other_fields,
    typed=_command,
    forgets=lambda scope, name: ["claude", "mcp", "remove", name, "--scope", scope],
    asks="Claude Code asks each person once before it starts what .mcp.json names.",
)
